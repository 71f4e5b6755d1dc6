package conformance

import (
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// listensLocally judges on which interfaces the gateway listened. It was told an address of the loopback interface.
func listensLocally(traces []*trace.Trace, revision string) report.Result {
	verdict, message := report.NotApplicable, "the gateway is launched, or this machine has no other interface"
	for _, t := range traces {
		for i := range t.Events {
			p := t.Events[i].Process
			switch {
			case t.Header.Revision != revision || p == nil:
			case p.Listened == trace.OnInterfaces:
				return *gatewayResult(gatewayLocal, server.Revision(revision), report.Warn, "expected connections to the "+
					"gateway on the loopback interface only, as it is told, found that it accepts them on all interfaces")
			case p.Listened == trace.OnLoopback:
				verdict, message = report.Pass, "the gateway accepts connections on the loopback interface only"
			}
		}
	}
	return *gatewayResult(gatewayLocal, server.Revision(revision), verdict, message)
}

package conformance

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// gatewayDies: a call in which the server dies ends for the client.
const gatewayDies = "server-dies"

// dyingLimit is how long the client waits.
const dyingLimit = 10 * time.Second

// dying is a session in which the server dies in the call. If it is called again, it responds.
type dying struct{ single }

func thatDies(limit time.Duration) *dying { return &dying{single{name: gatewayDies, limit: limit}} }

func (d *dying) handle(s *server.Session) (any, error) {
	d.mu.Lock()
	d.called = true
	d.mu.Unlock()
	if s.Call().Number > 1 {
		return "alive again", nil
	}
	return "dead", s.Transport().CloseConnection()
}

func (d *dying) judge(revision server.Revision) *report.Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	verdict, message := report.Pass, "a call in which the server dies ends for the client, which gets a result"
	switch {
	case !d.called:
		verdict, message = report.Warn, "expected a call at the server, found none"
	case d.late:
		verdict, message = report.Fail, "expected an error for the client in whose call the server dies, found nothing "+
			"within "+d.limit.String()
	case d.failed != nil:
		message = "a call in which the server dies ends for the client, which gets an error: " + d.failed.Error()
	}
	return gatewayResult(d.name, revision, verdict, message)
}

package declare

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// right is a client that connects and calls the tool.
func right(*session) {}

func TestCapabilitiesAreObjects(t *testing.T) {
	for _, c := range []struct{ declares, wrong string }{
		{tracetest.Everything, ""},
		{`{"sampling":{"tools":{"parallel":true},"context":{}},"roots":{"listChanged":true}}`, ""},
		{nothing, ""},
		{`{"elicitation":true}`, ""},
		{`{"sampling":true}`, "capabilities.sampling, found true"},
		{`{"sampling":null}`, "capabilities.sampling, found null"},
		{`{"sampling":{"tools":"yes"}}`, `capabilities.sampling.tools, found "yes"`},
		{`{"sampling":{"context":[]}}`, "capabilities.sampling.context, found []"},
		{`[]`, "capabilities, found []"},
	} {
		verdict := report.Pass
		if c.wrong != "" {
			verdict = report.Fail
		}
		judges(t, "shape", "sampling", declares(c.declares, row(c.declares, right, verdict, c.wrong)))
	}
}

const (
	version      = `"` + evidence.MetaVersion + `":"2026-07-28"`
	capabilities = `"` + evidence.MetaCapabilities + `":{}`
	info         = `"` + evidence.MetaInfo + `":{"name":"c","version":"1"}`
)

// lists is a client that also sends prompts/list with members of _meta.
func lists(meta string) steps {
	return sends(`{"jsonrpc":"2.0","id":9,"method":"prompts/list","params":{"_meta":{` + meta + `}}}`)
}

func sends(message string) steps {
	return func(s *session) { s.Frame("", trace.FromClient, 0, message) }
}

func TestRequestsHaveTheMetaOfTheClient(t *testing.T) {
	judges(t, "meta-fields", "sampling",
		modern(passes("both", right)),
		modern(fails("no version", lists(capabilities), "a string as "+evidence.MetaVersion+" in the _meta of prompts/list")),
		modern(fails("a number as version", lists(`"`+evidence.MetaVersion+`":20260728,`+capabilities),
			evidence.MetaVersion)),
		modern(fails("no capabilities", lists(version), "an object as "+evidence.MetaCapabilities)),
		modern(passes("nothing in a notification",
			sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`))),
		modern(passes("initialize of an older revision first",
			sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))),
		modern(fails("refused from the start", func(s *session) {
			s.Trace.Events = s.Trace.Events[:1] // the start of the client
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"_meta"}}`)
		}, "tools/list")),
	)
	unversioned := version + "," + capabilities + `,"` + evidence.MetaInfo + `":{"name":"c"}`
	judges(t, "client-info", "sampling",
		modern(passes("name and version", right)),
		modern(warns("nothing", lists(version+","+capabilities), "prompts/list")),
		modern(warns("no version", lists(unversioned), "prompts/list")),
	)
}

func TestHeadersMatchTheBody(t *testing.T) {
	// sets is a client that changes a header of its call.
	sets := func(name, value string) steps {
		return func(s *session) {
			h := s.Trace.Events[len(s.Trace.Events)-1].Frame.HTTP.Header
			delete(h, name)
			if value != "" {
				h[name] = value
			}
		}
	}
	judges(t, "http-headers", "sampling",
		modern(passes("all", right)),
		modern(passes("an encoded name", sets("Mcp-Name", "=?base64?eA==?="))),
		modern(passes("a method without a name", lists(version+","+capabilities+","+info))),
		modern(fails("another version", sets("Mcp-Protocol-Version", "2025-11-25"),
			`expected "2026-07-28" as header Mcp-Protocol-Version of tools/call, found "2025-11-25"`)),
		modern(fails("no method", sets("Mcp-Method", ""), `"tools/call" as header Mcp-Method of tools/call, found nothing`)),
		modern(fails("another method", sets("Mcp-Method", "TOOLS/CALL"), `found "TOOLS/CALL"`)),
		modern(fails("another encoded name", sets("Mcp-Name", "=?base64?eHg=?="),
			`"x" as header Mcp-Name of tools/call, found "xx"`)),
		modern(fails("a name that is not base64", sets("Mcp-Name", "=?base64?%%?="), "found a value that has the form")),
		modern(inapplicable("a transport without headers", func(s *session) {
			for _, e := range s.Trace.Events {
				if e.Frame != nil && e.Frame.Dir == trace.FromClient {
					e.Frame.HTTP = nil
				}
			}
		})),
	)
}

package always_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// right is a client that connects and calls the tool.
func right(*session) {}

const (
	version      = `"` + evidence.MetaVersion + `":"2026-07-28"`
	capabilities = `"` + evidence.MetaCapabilities + `":{}`
	info         = `"` + evidence.MetaInfo + `":{"name":"c","version":"1"}`
)

// lists is a client that also sends prompts/list with members of _meta.
func lists(meta string) steps {
	return sends(`{"jsonrpc":"2.0","id":9,"method":"prompts/list","params":{"_meta":{%s}}}`, meta)
}

func TestRequestsSayWhoTheClientIs(t *testing.T) {
	unversioned := version + "," + capabilities + `,"` + evidence.MetaInfo + `":{"name":"c"}`
	judges(t, "client-info", "basic/question",
		tracetest.Modern(passes("name and version", right)),
		tracetest.Modern(tracetest.Warns("nothing", lists(version+","+capabilities), "prompts/list")),
		tracetest.Modern(tracetest.Warns("no version", lists(unversioned), "prompts/list")),
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
	judges(t, "http-headers", "basic/question",
		tracetest.Modern(passes("all", right)),
		tracetest.Modern(passes("an encoded name", sets("Mcp-Name", "=?base64?eA==?="))),
		tracetest.Modern(passes("a method without a name", lists(version+","+capabilities+","+info))),
		tracetest.Modern(fails("another version", sets("Mcp-Protocol-Version", "2025-11-25"),
			`expected "2026-07-28" as header Mcp-Protocol-Version of tools/call, found "2025-11-25"`)),
		tracetest.Modern(fails("no method", sets("Mcp-Method", ""),
			`"tools/call" as header Mcp-Method of tools/call, found nothing`)),
		tracetest.Modern(fails("another method", sets("Mcp-Method", "TOOLS/CALL"), `found "TOOLS/CALL"`)),
		tracetest.Modern(fails("another encoded name", sets("Mcp-Name", "=?base64?eHg=?="),
			`"x" as header Mcp-Name of tools/call, found "xx"`)),
		tracetest.Modern(fails("a name that is not base64", sets("Mcp-Name", "=?base64?%%?="),
			"found a value that has the form")),
		tracetest.Modern(inapplicable("a transport without headers", func(s *session) {
			s.Trace.Header.Transport = trace.Stdio
		}, "no headers")),
	)
}

func TestRequestsHaveTheMetaOfTheClient(t *testing.T) {
	judges(t, "meta-fields", "basic/question",
		tracetest.Modern(passes("both", right)),
		tracetest.Modern(fails("no version", lists(capabilities),
			"a string as "+evidence.MetaVersion+" in the _meta of prompts/list")),
		tracetest.Modern(fails("a number as version", lists(`"`+evidence.MetaVersion+`":20260728,`+capabilities),
			evidence.MetaVersion)),
		tracetest.Modern(fails("no capabilities", lists(version), "an object as "+evidence.MetaCapabilities)),
		tracetest.Modern(passes("nothing in a notification",
			sends(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`))),
		tracetest.Modern(passes("initialize of an older revision first",
			sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`))),
		tracetest.Modern(fails("refused from the start", func(s *session) {
			s.Trace.Events = s.Trace.Events[:1] // the start of the client
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			s.Frame("", trace.ToClient, 400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"_meta"}}`)
		}, "tools/list")),
	)
}

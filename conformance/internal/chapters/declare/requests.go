package declare

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The checks in this file judge all requests of the session of declare/sampling.

// eachRequest returns a Judge that passes, with the message, unless fault returns a verdict for one of the requests.
func eachRequest(pass string, fault func(*evidence.ClientRequest) *check.Verdict) func(*evidence.Case) check.Verdict {
	return func(e *evidence.Case) check.Verdict {
		for i := range e.Session.Requests {
			if v := fault(&e.Session.Requests[i]); v != nil {
				return *v
			}
		}
		if len(e.Session.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("%s", pass)
	}
}

var declaredShape = check.Check{
	ID: "shape", Cases: []string{"sampling"}, Whole: true,
	Rule:   "Capabilities MUST be objects",
	Levels: check.Must,
	Statements: []string{
		"2025-03-26/schema/ClientCapabilities", "2025-06-18/schema/ClientCapabilities",
		"2025-11-25/schema/ClientCapabilities", "2026-07-28/schema/ClientCapabilities",
	},
	Cause: "a capability is true, or an unset value is encoded as null",
	Fix:   `Declare "sampling": {}, and in it "tools": {}. Omit what the client does not support.`,
	Judge: func(e *evidence.Case) check.Verdict {
		declared := 0
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			for _, path := range []capability{nil, forSampling, forTools, {"sampling", "context"}} {
				value := r.Declared(path...)
				if value == nil {
					continue
				}
				if value[0] != '{' {
					at, raw := r.CapabilitiesAt().At(path.String()), evidence.Compact(value)
					name := strings.TrimSuffix("capabilities."+path.String(), ".")
					return check.Fail("expected an object as %s, found %s", name, raw).Show(at, "%s", raw)
				}
				declared++
			}
		}
		if declared == 0 {
			return check.NotObserved("the client declared nothing at all")
		}
		return check.Pass("the declared capabilities are objects")
	},
}

var metaFields = check.Check{
	ID: "meta-fields", Cases: []string{"sampling"}, Whole: true,
	Rule:   "Every request MUST have the protocol version and the client's capabilities in its _meta",
	Levels: check.InModern(report.Must), Statements: []string{"2026-07-28/basic/31", "2026-07-28/mrtr/02"},
	Cause: "only the first request has them, or a retry is built without them",
	Fix: "Set " + evidence.MetaVersion + " and " + evidence.MetaCapabilities +
		" in params._meta of each request, retries included.",
	Judge: eachRequest("every request has both", func(r *evidence.ClientRequest) *check.Verdict {
		for _, want := range []struct {
			kind, name string
			first      byte // of the JSON value
			value      json.RawMessage
		}{
			{"a string", evidence.MetaVersion, '"', r.Version}, {"an object", evidence.MetaCapabilities, '{', r.Capabilities},
		} {
			if want.value == nil || want.value[0] != want.first {
				return check.Instead(check.Fail("expected %s as %s in the _meta of %s", want.kind, want.name, r.Method).
					ShowJSON(r.Place, want.value))
			}
		}
		return nil
	}),
}

var clientInfo = check.Check{
	ID: "client-info", Cases: []string{"sampling"}, Whole: true,
	Rule:   "Every request SHOULD have the client's name and version in its _meta",
	Levels: check.InModern(report.Should), Statements: []string{"2026-07-28/basic/33"},
	Cause: "the clientInfo of initialize was not moved into _meta",
	Fix: "Set " + evidence.MetaInfo + " with name and version in params._meta of each request, " +
		"unless the user wants it omitted.",
	Judge: eachRequest("every request has the client's name and version", func(r *evidence.ClientRequest) *check.Verdict {
		var info struct{ Name, Version *string }
		if json.Unmarshal(r.Info, &info) == nil && info.Name != nil && info.Version != nil {
			return nil
		}
		return check.Instead(check.Fail("expected name and version as %s in the _meta of %s", evidence.MetaInfo, r.Method).
			Show(r.Place, "%s: %s", evidence.MetaInfo, check.OrMissing(r.Info)))
	}),
}

var httpHeaders = check.Check{
	ID: "http-headers", Cases: []string{"sampling"}, Whole: true,
	Rule:   "The headers of every POST MUST repeat the version, the method and, if it has one, the name of its body",
	Levels: check.InModern(report.Must),
	Statements: []string{
		"2026-07-28/streamable-http/10", "2026-07-28/streamable-http/04",
		"2026-07-28/streamable-http/08", "2026-07-28/streamable-http/09", "2026-07-28/streamable-http/22",
	},
	Cause: "the headers are set once per connection, or a retry is sent without them",
	Fix: "Set MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get and resources/read, Mcp-Name from the " +
		"body of each request. Encode a name that is not plain ASCII as =?base64?…?=.",
	Judge: func(e *evidence.Case) check.Verdict {
		judged := false
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			if r.Header == nil {
				continue
			}
			judged = true
			if v := wrongHeader(r); v != nil {
				return *v
			}
		}
		if !judged {
			return check.NotApplicable("the transport has no headers")
		}
		return check.Pass("the headers of every request match its body")
	},
}

// wrongHeader returns the verdict for the first header that does not match the body; nil if all match.
func wrongHeader(r *evidence.ClientRequest) *check.Verdict {
	var version string
	_ = json.Unmarshal(r.Version, &version) // meta-fields judges a version that is not a string
	for _, want := range []struct {
		name, value string
		required    bool
	}{
		{"Mcp-Protocol-Version", version, r.Version != nil},
		{"Mcp-Method", r.Method, true},
		{"Mcp-Name", r.Name, evidence.CarryingMethods[r.Method] != ""},
	} {
		if !want.required {
			continue
		}
		got, sent := r.Header[want.name]
		value, line := got, want.name+": "+got
		var err error
		if want.name == "Mcp-Name" {
			value, err = server.DecodeHeaderValue(got)
		}
		found := strconv.Quote(value)
		switch {
		case !sent:
			found, line = "nothing", "there is no "+want.name
		case err != nil:
			found = "a value that " + err.Error()
		case value == want.value:
			continue
		}
		return check.Instead(check.Fail("expected %q as header %s of %s, found %s", want.value, want.name, r.Method, found).
			Show(r.Place, "%s", line))
	}
	return nil
}

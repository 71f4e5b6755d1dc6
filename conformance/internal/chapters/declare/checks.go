package declare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var samplingRule = []string{"2025-03-26/sampling/capabilities", "2025-06-18/sampling/capabilities", "2025-11-25/sampling/05", "2026-07-28/sampling/06"}

var samplingDeclared = check.Check{
	ID: "sampling-declared", Rule: "a client that answers sampling declares it", Levels: check.Everywhere(report.Must), Requests: 1,
	Cases: []string{"sampling"}, Statements: samplingRule,
	Cause: "the handler is registered, and the capability is forgotten, or declared on the first request only",
	Fix:   "declare sampling in initialize; from 2026-07-28 on, in the _meta of every tools/call, prompts/get and resources/read, retries too",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		at := r.Declared.CapabilitiesAt()
		a := r.Result()
		switch {
		case a == nil && r.Declared.Declares("sampling"):
			return check.Pass("the client declares sampling").Show(at, "%s", check.OrMissing(r.Declared.Declared()))
		case a == nil:
			return check.NotApplicable("the client neither declares sampling nor answers it")
		case !r.Declared.Declares("sampling"):
			return check.Fail("the client answers sampling and does not declare it").Show(at, "%s", check.OrMissing(r.Declared.Declared())).Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		if !e.Revision.Modern() {
			return check.Pass("the client declares sampling, and answers it").Show(at, "%s", check.OrMissing(r.Declared.Declared()))
		}
		return declaredEverywhere(e.Session)
	},
}

// declaredEverywhere judges a client of the second era that answers sampling, and so declares it with every request that may come to it; with
// others that is no more than good to have.
func declaredEverywhere(s *evidence.Session) check.Verdict {
	var elsewhere *evidence.ClientRequest
	for i := range s.Requests {
		r := &s.Requests[i]
		switch {
		case r.Declares("sampling"):
		case evidence.CarryingMethods[r.Method] != "":
			return check.Fail("the client answers sampling and does not declare it with every %s", r.Method).Show(r.CapabilitiesAt(), "%s", check.OrMissing(r.Declared()))
		case elsewhere == nil:
			elsewhere = r
		}
	}
	if elsewhere != nil {
		return check.Warn("the client declares sampling with the requests that need it, and not with %s", elsewhere.Method).
			Show(elsewhere.CapabilitiesAt(), "%s", check.OrMissing(elsewhere.Declared()))
	}
	return check.Pass("the client declares sampling with every request")
}

var toolsDeclared = check.Check{
	ID: "tools-declared", Rule: "a client that answers with tool use declares sampling.tools", Levels: check.SinceTools(report.Must), Requests: 1,
	Cases: []string{"tools"}, Statements: []string{"2025-11-25/sampling/03", "2026-07-28/sampling/04"},
	Cause: "sampling is declared as {}, and tools are handed on to the model whatever was declared",
	Fix:   `declare {"sampling": {"tools": {}}}, or refuse requests with tools`,
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		at := r.Declared.CapabilitiesAt()
		a := r.Result()
		switch {
		case r.Declared.Declares("sampling", "tools"):
			return check.Pass("the client declares sampling.tools").Show(at, "%s", check.OrMissing(r.Declared.Declared()))
		case a == nil || len(a.Uses()) == 0:
			return check.NotApplicable("the client neither declares sampling.tools nor answers with tool use")
		case !r.Declared.Declares("sampling"):
			return check.NotApplicable("the client declares no sampling at all (see declare/sampling-declared)")
		}
		return check.Fail("the client answers with tool use and does not declare sampling.tools").
			Show(at, "%s", check.OrMissing(r.Declared.Declared())).Show(a.At("content"), "%s", evidence.Describe(a.Uses()))
	},
}

var declaredShape = check.Check{
	ID: "shape", Rule: "capabilities are declared as objects", Levels: check.Everywhere(report.Must), Whole: true,
	Cases:      []string{"sampling"},
	Statements: []string{"2025-03-26/schema/ClientCapabilities", "2025-06-18/schema/ClientCapabilities", "2025-11-25/schema/ClientCapabilities", "2026-07-28/schema/ClientCapabilities"},
	Cause:      "a capability is switched on with true, or a value that is not set goes out as null",
	Fix:        `declare "sampling": {}, and in it "tools": {}; leave out what the client cannot do`,
	Judge: func(e *evidence.Case) check.Verdict {
		declared := 0
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			for _, path := range [][]string{nil, {"sampling"}, {"sampling", "tools"}, {"sampling", "context"}} {
				value := r.Declared(path...)
				if value == nil {
					continue
				}
				if value[0] != '{' {
					name := strings.Join(append([]string{"capabilities"}, path...), ".")
					return check.Fail("%s is %s, where an object is due", name, evidence.Compact(value)).Show(r.CapabilitiesAt().At(strings.Join(path, ".")), "%s", evidence.Compact(value))
				}
				declared++
			}
		}
		if declared == 0 {
			return check.NotObserved("the client declared nothing at all")
		}
		return check.Pass("what is declared are objects")
	},
}

var metaFields = check.Check{
	ID: "meta-fields", Rule: "every request says the protocol version and the client's capabilities in its _meta", Levels: check.InModern(report.Must), Whole: true,
	Cases: []string{"sampling"}, Statements: []string{"2026-07-28/basic/31", "2026-07-28/mrtr/02"},
	Cause: "the first request has them and later ones rely on it, or a retry is built anew without them",
	Fix:   "set " + evidence.MetaVersion + " and " + evidence.MetaCapabilities + " in params._meta of each request, retries too",
	Judge: func(e *evidence.Case) check.Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			if r.Version == nil || r.Version[0] != '"' {
				return check.Fail("a %s has no string %s in its _meta", r.Method, evidence.MetaVersion).Show(r.Place, "%s", check.OrMissing(r.Version))
			}
			if r.Capabilities == nil || r.Capabilities[0] != '{' {
				return check.Fail("a %s has no object %s in its _meta", r.Method, evidence.MetaCapabilities).Show(r.Place, "%s", check.OrMissing(r.Capabilities))
			}
		}
		if len(e.Session.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("every request says both")
	},
}

var clientInfo = check.Check{
	ID: "client-info", Rule: "every request says in its _meta which client it is from", Levels: check.InModern(report.Should), Whole: true,
	Cases: []string{"sampling"}, Statements: []string{"2026-07-28/basic/33"},
	Cause: "what initialize said before has not moved into _meta",
	Fix:   "set " + evidence.MetaInfo + " with name and version in params._meta of each request, unless the user wants it left out",
	Judge: func(e *evidence.Case) check.Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			var info struct{ Name, Version *string }
			if json.Unmarshal(r.Info, &info) != nil || info.Name == nil || info.Version == nil {
				return check.Fail("a %s does not say in its _meta which client it is from", r.Method).Show(r.Place, "%s: %s", evidence.MetaInfo, check.OrMissing(r.Info))
			}
		}
		if len(e.Session.Requests) == 0 {
			return check.NotObserved("the client sent no request")
		}
		return check.Pass("every request says which client it is from")
	},
}

var httpHeaders = check.Check{
	ID: "http-headers", Rule: "the headers of every POST repeat the version, the method and, where it has one, the name in its body", Levels: check.InModern(report.Must),
	Whole: true, Cases: []string{"sampling"}, Statements: []string{"2026-07-28/streamable-http/10", "2026-07-28/streamable-http/04",
		"2026-07-28/streamable-http/08", "2026-07-28/streamable-http/09", "2026-07-28/streamable-http/22"},
	Cause: "headers are set once for a connection, or a retry is sent without them",
	Fix:   "set MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get and resources/read, Mcp-Name from the body of each request; a name that is not plain ASCII as =?base64?…?=",
	Judge: func(e *evidence.Case) check.Verdict {
		judged := false
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			if r.Header == nil {
				continue
			}
			judged = true
			if name, why := wrongHeader(r); why != "" {
				return check.Fail("the header %s of a %s %s", name, r.Method, why).Show(r.Place, "%s", headerLine(name, r.Header))
			}
		}
		if !judged {
			return check.NotApplicable("the transport has no headers")
		}
		return check.Pass("the headers of every request say what its body says")
	},
}

// wrongHeader returns the first header that does not say what the body says, and what is wrong with it.
func wrongHeader(r *evidence.ClientRequest) (name, why string) {
	var version string
	_ = json.Unmarshal(r.Version, &version) // of another type: meta-fields says so
	wanted := []struct {
		name, value string
		due         bool
	}{
		{"Mcp-Protocol-Version", version, r.Version != nil},
		{"Mcp-Method", r.Method, true},
		{"Mcp-Name", r.Name, evidence.CarryingMethods[r.Method] != ""},
	}
	for _, w := range wanted {
		if !w.due {
			continue
		}
		got, there := r.Header[w.name]
		if !there {
			return w.name, "is missing"
		}
		if w.name == "Mcp-Name" {
			decoded, err := server.HeaderValue(got)
			if err != nil {
				return w.name, err.Error()
			}
			got = decoded
		}
		if got != w.value {
			return w.name, fmt.Sprintf("is %q, where the body has %q", got, w.value)
		}
	}
	return "", ""
}

func headerLine(name string, header map[string]string) string {
	if value, ok := header[name]; ok {
		return name + ": " + value
	}
	return "there is no " + name
}

var overDeclared = check.Check{
	ID: "over-declared", Rule: "what the client declares it also serves", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"sampling", "tools"},
	Cause: "the library declares sampling by default, or tools as well, and no handler stands behind it",
	Fix:   "declare what the client serves, and nothing else",
	Judge: func(e *evidence.Case) check.Verdict {
		capability := []string{"sampling"}
		if strings.HasSuffix(e.Case.ID, "/tools") {
			capability = append(capability, "tools")
		}
		r, name := e.Rounds[0], strings.Join(capability, ".")
		a := r.Result()
		tell := func(v check.Verdict) check.Verdict {
			return v.Show(r.Declared.CapabilitiesAt(), "%s", check.OrMissing(r.Declared.Declared())).Show(r.Asked, "%s", evidence.Compact(r.Raw))
		}
		switch {
		case !r.Declared.Declares(capability...):
			return check.NotApplicable("the client does not declare %s", name)
		case len(r.Answers) == 0:
			return tell(check.Fail("the client declares %s and never answered when it was asked for it", name))
		case a == nil:
			return tell(check.Fail("the client declares %s and answers with an error when it is asked for it%s", name, e.WhyNoResult(1)))
		}
		return check.Pass("the client declares %s, and serves it", name).Show(a.Place, "")
	},
}

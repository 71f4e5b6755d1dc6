package conformance

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var samplingRule = []string{"2025-03-26/sampling/capabilities", "2025-06-18/sampling/capabilities", "2025-11-25/sampling/05", "2026-07-28/sampling/06"}

var samplingDeclared = Check{
	ID: "sampling-declared", Rule: "a client that answers sampling declares it", Levels: everywhere(report.Must), Asked: 1,
	Cases: []string{"sampling"}, Requirements: samplingRule,
	Cause: "the handler is registered, and the capability is forgotten, or declared on the first request only",
	Fix:   "declare sampling in initialize; from 2026-07-28 on, in the _meta of every tools/call, prompts/get and resources/read, retries too",
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		at := r.Declared.capabilities()
		a := r.Result()
		switch {
		case a == nil && r.Declared.declares("sampling"):
			return Pass("the client declares sampling").See(at, "%s", orMissing(r.Declared.declared()))
		case a == nil:
			return NotApplicable("the client neither declares sampling nor answers it")
		case !r.Declared.declares("sampling"):
			return Broken("the client answers sampling and does not declare it").See(at, "%s", orMissing(r.Declared.declared())).See(a.Place, "%s", compact(a.Result))
		}
		if !e.Revision.Modern() {
			return Pass("the client declares sampling, and answers it").See(at, "%s", orMissing(r.Declared.declared()))
		}
		return declaredEverywhere(e.Session)
	},
}

// declaredEverywhere judges a client of the second era that answers sampling, and so declares it with every request that may come to it; with
// others that is no more than good to have.
func declaredEverywhere(s *Session) Verdict {
	var elsewhere *ClientRequest
	for i := range s.Requests {
		r := &s.Requests[i]
		switch {
		case r.declares("sampling"):
		case carrying[r.Method] != "":
			return Broken("the client answers sampling and does not declare it with every %s", r.Method).See(r.capabilities(), "%s", orMissing(r.declared()))
		case elsewhere == nil:
			elsewhere = r
		}
	}
	if elsewhere != nil {
		return Warn("the client declares sampling with the requests that need it, and not with %s", elsewhere.Method).
			See(elsewhere.capabilities(), "%s", orMissing(elsewhere.declared()))
	}
	return Pass("the client declares sampling with every request")
}

var toolsDeclared = Check{
	ID: "tools-declared", Rule: "a client that answers with tool use declares sampling.tools", Levels: sinceTools(report.Must), Asked: 1,
	Cases: []string{"tools"}, Requirements: []string{"2025-11-25/sampling/03", "2026-07-28/sampling/04"},
	Cause: "sampling is declared as {}, and tools are handed on to the model whatever was declared",
	Fix:   `declare {"sampling": {"tools": {}}}, or refuse requests with tools`,
	Judge: func(e *Evidence) Verdict {
		r := e.Rounds[0]
		at := r.Declared.capabilities()
		a := r.Result()
		switch {
		case r.Declared.declares("sampling", "tools"):
			return Pass("the client declares sampling.tools").See(at, "%s", orMissing(r.Declared.declared()))
		case a == nil || len(a.uses()) == 0:
			return NotApplicable("the client neither declares sampling.tools nor answers with tool use")
		case !r.Declared.declares("sampling"):
			return NotApplicable("the client declares no sampling at all (see declare/sampling-declared)")
		}
		return Broken("the client answers with tool use and does not declare sampling.tools").
			See(at, "%s", orMissing(r.Declared.declared())).See(a.At("content"), "%s", describe(a.uses()))
	},
}

var declaredShape = Check{
	ID: "shape", Rule: "capabilities are declared as objects", Levels: everywhere(report.Must), Whole: true,
	Cases:        []string{"sampling"},
	Requirements: []string{"2025-03-26/schema/ClientCapabilities", "2025-06-18/schema/ClientCapabilities", "2025-11-25/schema/ClientCapabilities", "2026-07-28/schema/ClientCapabilities"},
	Cause:        "a capability is switched on with true, or a value that is not set goes out as null",
	Fix:          `declare "sampling": {}, and in it "tools": {}; leave out what the client cannot do`,
	Judge: func(e *Evidence) Verdict {
		declared := 0
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			for _, path := range [][]string{nil, {"sampling"}, {"sampling", "tools"}, {"sampling", "context"}} {
				value := r.declared(path...)
				if value == nil {
					continue
				}
				if value[0] != '{' {
					name := strings.Join(append([]string{"capabilities"}, path...), ".")
					return Broken("%s is %s, where an object is due", name, compact(value)).See(r.capabilities().At(strings.Join(path, ".")), "%s", compact(value))
				}
				declared++
			}
		}
		if declared == 0 {
			return NotObserved("the client declared nothing at all")
		}
		return Pass("what is declared are objects")
	},
}

var metaFields = Check{
	ID: "meta-fields", Rule: "every request says the protocol version and the client's capabilities in its _meta", Levels: inModern(report.Must), Whole: true,
	Cases: []string{"sampling"}, Requirements: []string{"2026-07-28/basic/31", "2026-07-28/mrtr/02"},
	Cause: "the first request has them and later ones rely on it, or a retry is built anew without them",
	Fix:   "set " + metaVersion + " and " + metaCapabilities + " in params._meta of each request, retries too",
	Judge: func(e *Evidence) Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			if r.Version == nil || r.Version[0] != '"' {
				return Broken("a %s has no string %s in its _meta", r.Method, metaVersion).See(r.Place, "%s", orMissing(r.Version))
			}
			if r.Capabilities == nil || r.Capabilities[0] != '{' {
				return Broken("a %s has no object %s in its _meta", r.Method, metaCapabilities).See(r.Place, "%s", orMissing(r.Capabilities))
			}
		}
		if len(e.Session.Requests) == 0 {
			return NotObserved("the client sent no request")
		}
		return Pass("every request says both")
	},
}

var clientInfo = Check{
	ID: "client-info", Rule: "every request says in its _meta which client it is from", Levels: inModern(report.Should), Whole: true,
	Cases: []string{"sampling"}, Requirements: []string{"2026-07-28/basic/33"},
	Cause: "what initialize said before has not moved into _meta",
	Fix:   "set " + metaInfo + " with name and version in params._meta of each request, unless the user wants it left out",
	Judge: func(e *Evidence) Verdict {
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			var info struct{ Name, Version *string }
			if json.Unmarshal(r.Info, &info) != nil || info.Name == nil || info.Version == nil {
				return Broken("a %s does not say in its _meta which client it is from", r.Method).See(r.Place, "%s: %s", metaInfo, orMissing(r.Info))
			}
		}
		if len(e.Session.Requests) == 0 {
			return NotObserved("the client sent no request")
		}
		return Pass("every request says which client it is from")
	},
}

var httpHeaders = Check{
	ID: "http-headers", Rule: "the headers of every POST repeat the version, the method and, where it has one, the name in its body", Levels: inModern(report.Must),
	Whole: true, Cases: []string{"sampling"}, Requirements: []string{"2026-07-28/streamable-http/10", "2026-07-28/streamable-http/04",
		"2026-07-28/streamable-http/08", "2026-07-28/streamable-http/09", "2026-07-28/streamable-http/22"},
	Cause: "headers are set once for a connection, or a retry is sent without them",
	Fix:   "set MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get and resources/read, Mcp-Name from the body of each request; a name that is not plain ASCII as =?base64?…?=",
	Judge: func(e *Evidence) Verdict {
		judged := false
		for i := range e.Session.Requests {
			r := &e.Session.Requests[i]
			if r.Header == nil {
				continue
			}
			judged = true
			if name, why := r.wrongHeader(); why != "" {
				return Broken("the header %s of a %s %s", name, r.Method, why).See(r.Place, "%s", headerLine(name, r.Header))
			}
		}
		if !judged {
			return NotApplicable("the transport has no headers")
		}
		return Pass("the headers of every request say what its body says")
	},
}

// wrongHeader returns the first header that does not say what the body says, and what is wrong with it.
func (r *ClientRequest) wrongHeader() (name, why string) {
	var version string
	_ = json.Unmarshal(r.Version, &version) // of another type: meta-fields says so
	wanted := []struct {
		name, value string
		due         bool
	}{
		{"Mcp-Protocol-Version", version, r.Version != nil},
		{"Mcp-Method", r.Method, true},
		{"Mcp-Name", r.Name, carrying[r.Method] != ""},
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

var overDeclared = Check{
	ID: "over-declared", Rule: "what the client declares it also serves", Levels: everywhere(report.Robust), Asked: 1,
	Cases: []string{"sampling", "tools"},
	Cause: "the library declares sampling by default, or tools as well, and no handler stands behind it",
	Fix:   "declare what the client serves, and nothing else",
	Judge: func(e *Evidence) Verdict {
		capability := []string{"sampling"}
		if strings.HasSuffix(e.Case.ID, "/tools") {
			capability = append(capability, "tools")
		}
		r, name := e.Rounds[0], strings.Join(capability, ".")
		a := r.Result()
		tell := func(v Verdict) Verdict {
			return v.See(r.Declared.capabilities(), "%s", orMissing(r.Declared.declared())).See(r.Asked, "%s", compact(r.Raw))
		}
		switch {
		case !r.Declared.declares(capability...):
			return NotApplicable("the client does not declare %s", name)
		case len(r.Answers) == 0:
			return tell(Broken("the client declares %s and never answered when it was asked for it", name))
		case a == nil:
			return tell(Broken("the client declares %s and answers with an error when it is asked for it%s", name, e.why(1)))
		}
		return Pass("the client declares %s, and serves it", name).See(a.Place, "")
	},
}

package always

import (
	"encoding/json"
	"strconv"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

func someRequest(s *evidence.Session, pass string) check.Verdict {
	if len(s.Requests) == 0 {
		return check.NotObserved("the client sent no request")
	}
	return check.Pass("%s", pass)
}

var clientInfo = check.Check{
	ID:     "client-info",
	Rule:   "Every request SHOULD have the client's name and version in its _meta",
	Levels: check.InModern(report.Should), Statements: []string{"basic/33"},
	Cause: "the clientInfo of initialize was not moved into _meta",
	Fix: "Set " + evidence.MetaInfo + " with name and version in params._meta of each request, " +
		"unless the user wants it omitted.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		for _, r := range s.Requests {
			var info struct{ Name, Version string }
			if json.Unmarshal(r.Info, &info) != nil || info.Name == "" || info.Version == "" {
				return check.Fail("expected name and version as %s in the _meta of %s", evidence.MetaInfo, r.Method).
					Show(r.Place, "%s: %s", evidence.MetaInfo, check.OrMissing(r.Info))
			}
		}
		return someRequest(s, "every request has the client's name and version")
	},
}

var httpHeaders = check.Check{
	ID:     "http-headers",
	Rule:   "The headers of every POST MUST repeat the version, the method and, if it has one, the name of its body",
	Levels: check.InModern(report.Must),
	Statements: []string{"streamable-http/10", "streamable-http/04", "streamable-http/08", "streamable-http/09",
		"streamable-http/11", "streamable-http/19", "streamable-http/20", "streamable-http/21", "streamable-http/22"},
	Cause: "the headers are set once per connection, or a retry is sent without them",
	Fix: "Set MCP-Protocol-Version, Mcp-Method and, for tools/call, prompts/get and resources/read, Mcp-Name from the " +
		"body of each request. Encode a name that is not plain ASCII as =?base64?…?=.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		posts := 0
		for i := range s.Requests {
			if s.OverStdio() || s.Requests[i].Header == nil {
				continue
			}
			posts++
			if v := wrongHeader(&s.Requests[i]); v != nil {
				return *v
			}
		}
		if posts == 0 && len(s.Requests) > 0 {
			return check.NotApplicable("the transport has no headers")
		}
		return someRequest(s, "the headers of every request match its body")
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
		{"Mcp-Name", r.Name, replay.Carriers[r.Method] != ""},
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
		v := check.Fail("expected %q as header %s of %s, found %s", want.value, want.name, r.Method, found).
			Show(r.Place, "%s", line)
		if sent && want.name == "Mcp-Name" {
			v = v.Because("the client sends the name unencoded, or writes the markers in capitals",
				"If a name is not ASCII, or begins with =?base64? and ends with ?=, send its UTF-8 as =?base64?<Base64>?=.")
		}
		return &v
	}
	return nil
}

var metaFields = check.Check{
	ID:     "meta-fields",
	Rule:   "Every request MUST have the protocol version and the client's capabilities in its _meta",
	Levels: check.InModern(report.Must), Statements: []string{"basic/31", "mrtr/02"},
	Cause: "only the first request has them, or a retry is built without them",
	Fix: "Set " + evidence.MetaVersion + " and " + evidence.MetaCapabilities +
		" in params._meta of each request, retries included.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		for _, r := range s.Requests {
			for _, want := range []struct {
				kind, name string
				first      byte // of the JSON value
				value      json.RawMessage
			}{
				{"a string", evidence.MetaVersion, '"', r.Version}, {"an object", evidence.MetaCapabilities, '{', r.Capabilities},
			} {
				if want.value == nil || want.value[0] != want.first {
					return check.Fail("expected %s as %s in the _meta of %s", want.kind, want.name, r.Method).
						ShowJSON(r.Place, want.value)
				}
			}
		}
		return someRequest(s, "every request has both")
	},
}

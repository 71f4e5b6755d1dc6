package transport

import (
	"maps"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// wholeSession is the case whose session the rules about HTTP requests judge, from its first request to its last.
var wholeSession = []string{"plain"}

func sentHTTP(e *evidence.Case) *check.Verdict {
	for range e.Session.HTTPRequests() {
		return nil
	}
	return check.Instead(check.NotObserved("the client sent no HTTP request"))
}

var endsSession = check.Check{
	ID: "ends-session", Rule: "The client SHOULD end a session that it no longer needs",
	Levels: check.InNewestLegacy(report.Should), Cases: wholeSession, Whole: true,
	Statements: []string{"transports/22"}, Needs: []check.Need{overHTTP, endedCleanly, sentHTTP},
	Cause: "the client closes its connections and does not notify the server",
	Fix:   "Send a DELETE with the session id at the end.",
	Judge: func(e *evidence.Case) check.Verdict {
		open := maps.Clone(e.Session.Issued)
		for ev := range e.Session.HTTPRequests() {
			if ev.Frame.HTTP.Method == "DELETE" {
				delete(open, ev.Frame.Session)
			}
		}
		if len(open) == 0 {
			return check.Pass("the client ended its session")
		}
		v := check.Fail("expected a DELETE for every session, found none for %d of %d", len(open), len(e.Session.Issued))
		for _, r := range e.Session.Requests {
			if r.Method == "initialize" {
				return v.At(evidence.Place{Ref: r.Ref, Label: r.Method})
			}
		}
		return v.At(evidence.Place{})
	},
}

func endedCleanly(e *evidence.Case) *check.Verdict {
	s := e.Session
	return check.Unless(s.Ended != nil && s.Ended.Clean() && len(s.Issued) > 0,
		check.NotObserved("the session did not end cleanly: %s", s.Ending()))
}

// Prompts with names that a header cannot contain, or that look like an encoded name.
var (
	encodedName   = named("transport/encoded-name", "Größe in 東京")
	lookAlikeName = named("transport/look-alike-name", "=?base64?bG9vay1hbGlrZQ==?=")
)

func named(id, name string) harness.Case {
	return story.Delivered(harness.Case{ID: id, Name: name, Carrier: server.PromptsGet,
		Revisions: check.Modern}, askOnce())
}

var headerValue = check.Check{
	ID: "header-value", Levels: check.InModern(report.Must), Whole: true,
	Cases:      []string{"encoded-name", "look-alike-name"},
	Rule:       "The client MUST encode a name in Mcp-Name as =?base64?…?= if it is not plain ASCII, or looks encoded",
	Statements: []string{"streamable-http/11", "streamable-http/19", "streamable-http/20", "streamable-http/21"},
	Needs:      []check.Need{overHTTP, carrierSent},
	Cause:      "the client sends the name unencoded, or writes the markers in capitals",
	Fix:        "If a name is not ASCII, or begins with =?base64? and ends with ?=, send its UTF-8 as =?base64?<Base64>?=.",
	Judge: func(e *evidence.Case) check.Verdict {
		value, ok := e.Session.Trace.Find(e.FirstCall).Frame.HTTP.Header["Mcp-Name"]
		if !ok {
			return check.Fail("expected the header Mcp-Name in a %s, found none", e.Case.Carrier).At(e.CallPlace())
		}
		decoded, err := server.DecodeHeaderValue(value)
		switch {
		case err != nil:
			return check.Fail("expected a valid Mcp-Name in a %s: it %v", e.Case.Carrier, err).
				Show(e.CallPlace(), "Mcp-Name: %q", value)
		case decoded != e.Case.Tool:
			return check.Fail("expected the name %q in the Mcp-Name of a %s, found %q", e.Case.Tool, e.Case.Carrier, decoded).
				Show(e.CallPlace(), "Mcp-Name: %q", value)
		}
		return check.Pass("Mcp-Name has the name, encoded")
	},
}

func carrierSent(e *evidence.Case) *check.Verdict {
	return check.Unless(e.Session.Trace.Find(e.FirstCall) != nil,
		check.Unsupported("the client never sent %s: make it use the prompts of MCP_CONFORMANCE_CONTEXT "+
			"(Env.Prompts), or declare that it has none (--has tools-only)", e.Case.Carrier))
}

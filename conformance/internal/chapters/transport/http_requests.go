package transport

import (
	"encoding/json"
	"iter"
	"maps"
	"math/big"
	"mime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// wholeSession is the case whose session the rules about HTTP requests judge, from its first request to its last.
var wholeSession = []string{"plain"}

// httpRequests returns the client's HTTP requests and their messages, in order.
func httpRequests(s *evidence.Session) iter.Seq2[*trace.Event, *evidence.Message] {
	return func(yield func(*trace.Event, *evidence.Message) bool) {
		for e := range s.FromClient() {
			if e.Frame.HTTP != nil && e.Frame.HTTP.Method != "" && !yield(e, s.Message(e)) {
				return
			}
		}
	}
}

func sentHTTP(e *evidence.Case) *check.Verdict {
	for range httpRequests(e.Session) {
		return nil
	}
	return check.Instead(check.NotObserved("the client sent no HTTP request"))
}

func requestAt(e *trace.Event, m *evidence.Message) evidence.Place {
	return at(e, strings.TrimSpace(e.Frame.HTTP.Method+" "+m.Method))
}

var acceptHeader = check.Check{
	ID: "accept-header", Rule: "A POST MUST accept JSON and event streams, and a GET event streams", Levels: mustBoth,
	Cases: wholeSession, Whole: true, Needs: []check.Need{overHTTP, sentHTTP},
	Statements: []string{"2025-11-25/transports/08", "2025-11-25/transports/15", "2026-07-28/streamable-http/03"},
	Cause:      "the header is the default of an HTTP library: plain JSON only, or a wildcard",
	Fix:        "Send Accept: application/json, text/event-stream with every POST, and text/event-stream with a GET.",
	Judge: func(e *evidence.Case) check.Verdict {
		wanted := map[string][]string{"POST": {"application/json", "text/event-stream"}, "GET": {"text/event-stream"}}
		for ev, m := range httpRequests(e.Session) {
			http := ev.Frame.HTTP
			accepted := mediaTypes(http.Header["Accept"])
			for _, media := range wanted[http.Method] {
				if !slices.Contains(accepted, media) {
					return check.Fail("expected %s in the Accept header of a %s, found %q", media, http.Method, http.Header["Accept"]).
						Show(requestAt(ev, m), "Accept: %s", http.Header["Accept"])
				}
			}
		}
		return check.Pass("every request accepts the required media types")
	},
}

// mediaTypes returns the media types in an Accept header.
func mediaTypes(header string) []string {
	var list []string
	for item := range strings.SplitSeq(header, ",") {
		if media, _, err := mime.ParseMediaType(item); err == nil {
			list = append(list, media)
		}
	}
	return list
}

var oneMessage = check.Check{
	ID: "one-message", Rule: "The client MUST send every message in a POST of its own", Levels: mustBoth,
	Cases: wholeSession, Whole: true, Needs: []check.Need{overHTTP, sentHTTP},
	Statements: []string{"2025-11-25/transports/06", "2025-11-25/transports/07", "2025-11-25/transports/09",
		"2026-07-28/streamable-http/01", "2026-07-28/streamable-http/02", "2026-07-28/streamable-http/05"},
	Cause: "the client sends batches, which only 2025-03-26 has",
	Fix:   "Send each request, notification and response in a POST of its own.",
	Judge: func(e *evidence.Case) check.Verdict {
		for ev := range httpRequests(e.Session) {
			if raw := strings.TrimLeft(string(ev.Frame.Raw), " \t\r\n"); strings.HasPrefix(raw, "[") {
				return check.Fail("expected one message in a POST, found an array").Show(at(ev, "POST"), "%s", raw)
			}
		}
		return check.Pass("every POST had one message")
	},
}

var responsePost = check.Check{
	ID: "response-post", Levels: must, Cases: wholeSession, Whole: true, Needs: []check.Need{overHTTP, sentHTTP},
	Rule:       "Every request after initialize, and every response, MUST have the session id and the protocol version",
	Statements: []string{"2025-11-25/transports/23", "2025-11-25/transports/20", "2025-11-25/transports/24"},
	Cause:      "the code that posts responses does not set the headers",
	Fix:        "Send Mcp-Session-Id and MCP-Protocol-Version with every request and response except initialize.",
	Judge: func(e *evidence.Case) check.Verdict {
		responses, s := 0, e.Session
		for ev, m := range httpRequests(s) {
			header := ev.Frame.HTTP.Header
			if m.Method == "initialize" || m.Method == "server/discover" || evidence.ModernVersion(ev.Frame, m) != "" {
				continue // the client does not know session and version yet
			}
			switch version := header["Mcp-Protocol-Version"]; {
			case header["Mcp-Session-Id"] == "" && len(s.Issued) > 0:
				return check.Fail("expected the header Mcp-Session-Id, found none").At(requestAt(ev, m))
			case version == "":
				return check.Fail("expected the header MCP-Protocol-Version, found none").At(requestAt(ev, m))
			case version != string(s.Revision):
				return check.Warn("expected MCP-Protocol-Version %s, found %s", s.Revision, version).At(requestAt(ev, m))
			}
			if m.IsResponse() {
				responses++
			}
		}
		if responses == 0 {
			return check.NotObserved("the client sent no response in this session")
		}
		return check.Pass("every request had both headers")
	},
}

var ownIDs = check.Check{
	ID: "own-ids", Rule: "The id of a request MUST be a string or an integer that is new in the session", Levels: must,
	Cases: wholeSession, Whole: true,
	Statements: []string{"2025-11-25/basic/02", "2025-11-25/basic/03", "2025-11-25/basic/04"},
	Cause:      "the client counts ids per connection or per kind of request, or uses one id for all",
	Fix:        "Count requests over the whole session.",
	Judge: func(e *evidence.Case) check.Verdict {
		type key struct{ session, id string }
		used := map[key]evidence.Place{}
		for _, r := range e.Session.Requests {
			place := evidence.Place{Ref: r.Ref, Path: "id", Label: r.Method}
			id, ok := canonicalID(r.ID)
			if !ok {
				return check.Fail("expected a string or an integer as a request id, found another value").Show(place, "%s", r.ID)
			}
			if r.Session == "" { // without a session, each request may have a connection of its own
				continue
			}
			if first, again := used[key{r.Session, id}]; again {
				return check.Fail("expected a new id for each request of the session, found one twice").
					Show(first, "%s", r.ID).Show(place, "%s", r.ID)
			}
			used[key{r.Session, id}] = place
		}
		if len(used) == 0 {
			return check.NotObserved("the client sent no request in a session")
		}
		return check.Pass("every request of the session had a new id")
	},
}

// canonicalID returns the same text for equal ids, and whether the id is a string or an integer.
func canonicalID(raw json.RawMessage) (id string, ok bool) {
	if raw[0] == '"' {
		var text string
		err := json.Unmarshal(raw, &text)
		return `"` + text, err == nil
	}
	number, ok := new(big.Rat).SetString(string(raw))
	if !ok || !number.IsInt() {
		return "", false
	}
	return number.Num().String(), true
}

var endsSession = check.Check{
	ID: "ends-session", Rule: "The client SHOULD end a session that it no longer needs",
	Levels: check.InNewestLegacy(report.Should), Cases: wholeSession, Whole: true,
	Statements: []string{"2025-11-25/transports/22"}, Needs: []check.Need{overHTTP, endedCleanly, sentHTTP},
	Cause: "the client closes its connections and does not notify the server",
	Fix:   "Send a DELETE with the session id at the end.",
	Judge: func(e *evidence.Case) check.Verdict {
		open := maps.Clone(e.Session.Issued)
		for ev := range httpRequests(e.Session) {
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
		Revisions: []server.Revision{server.V20260728}}, askOnce(asIs))
}

var headerValue = check.Check{
	ID: "header-value", Levels: check.InModern(report.Must), Whole: true,
	Cases: []string{"encoded-name", "look-alike-name"},
	Rule:  "The client MUST encode a name in Mcp-Name as =?base64?…?= if it is not plain ASCII, or looks encoded",
	Statements: []string{"2026-07-28/streamable-http/11", "2026-07-28/streamable-http/19", "2026-07-28/streamable-http/20",
		"2026-07-28/streamable-http/21"},
	Needs: []check.Need{overHTTP, carrierSent},
	Cause: "the client sends the name unencoded, or writes the markers in capitals",
	Fix:   "If a name is not ASCII, or begins with =?base64? and ends with ?=, send its UTF-8 as =?base64?<Base64>?=.",
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
			"(Env.Prompts)", e.Case.Carrier))
}

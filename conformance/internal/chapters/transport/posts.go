package transport

import (
	"encoding/json"
	"maps"
	"math/big"
	"mime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// ofTheSession are the cases that show rules of HTTP requests: those of the whole session that one case is in.
var ofTheSession = []string{"plain"}

// eachHTTP calls see with each HTTP request of the client, in order, until it returns a verdict. Pass is the one where it does not.
func eachHTTP(s *evidence.Session, see func(e *trace.Event, m *evidence.Message) *check.Verdict, pass check.Verdict) check.Verdict {
	any := false
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame == nil || e.Frame.Dir != trace.FromClient || e.Frame.HTTP == nil || e.Frame.HTTP.Method == "" {
			continue
		}
		any = true
		if v := see(e, s.Message(e)); v != nil {
			return *v
		}
	}
	if !any {
		return check.NotObserved("the client sent no HTTP request")
	}
	return pass
}

// request is the place of an HTTP request.
func requestAt(e *trace.Event, m *evidence.Message) evidence.Place {
	label := e.Frame.HTTP.Method
	if m.Method != "" {
		label += " " + m.Method
	}
	return evidence.Place{Ref: e.Ref(), Label: label}
}

var acceptHeader = check.Check{
	ID: "accept-header", Rule: "a POST accepts JSON and event streams, and a GET event streams", Levels: check.SinceTools(report.Must), Cases: ofTheSession, Whole: true,
	Statements: []string{"2025-11-25/transports/08", "2025-11-25/transports/15", "2026-07-28/streamable-http/03"},
	Cause:      "the header is that of a library for plain JSON, or a wildcard",
	Fix:        "send Accept: application/json, text/event-stream with every POST, and Accept: text/event-stream with a GET",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		return eachHTTP(e.Session, func(ev *trace.Event, m *evidence.Message) *check.Verdict {
			wanted := map[string][]string{"POST": {"application/json", "text/event-stream"}, "GET": {"text/event-stream"}}[ev.Frame.HTTP.Method]
			accepted := accepts(ev.Frame.HTTP.Header["Accept"])
			for _, media := range wanted {
				if !slices.Contains(accepted, media) {
					v := check.Fail("a %s of the client does not list %s among what it accepts", ev.Frame.HTTP.Method, media).Show(requestAt(ev, m), "Accept: %s", ev.Frame.HTTP.Header["Accept"])
					return &v
				}
			}
			return nil
		}, check.Pass("every request lists what it has to accept"))
	}),
}

// accepts are the media types that an Accept header lists.
func accepts(header string) []string {
	var list []string
	for item := range strings.SplitSeq(header, ",") {
		if media, _, err := mime.ParseMediaType(item); err == nil {
			list = append(list, media)
		}
	}
	return list
}

var oneMessage = check.Check{
	ID: "one-message", Rule: "each message of the client is a POST of its own", Levels: check.SinceTools(report.Must), Cases: ofTheSession, Whole: true,
	Statements: []string{"2025-11-25/transports/06", "2025-11-25/transports/07", "2025-11-25/transports/09",
		"2026-07-28/streamable-http/01", "2026-07-28/streamable-http/02", "2026-07-28/streamable-http/05"},
	Cause: "messages are batched, as 2025-03-26 had it",
	Fix:   "send each request, notification and response in a POST of its own",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		return eachHTTP(e.Session, func(ev *trace.Event, m *evidence.Message) *check.Verdict {
			if raw := strings.TrimLeft(string(ev.Frame.Raw), " \t\r\n"); strings.HasPrefix(raw, "[") {
				v := check.Fail("the client posted an array, and no single message").Show(evidence.Place{Ref: ev.Ref(), Label: "POST"}, "%s", raw)
				return &v
			}
			return nil
		}, check.Pass("every POST was one message"))
	}),
}

var headerValue = check.Check{
	ID: "header-value", Rule: "a name that no header can hold, or that looks like an encoded one, is Base64 between =?base64? and ?= in the header Mcp-Name", Levels: check.InModern(report.Must),
	Cases: []string{"encoded-name", "look-alike-name"}, Whole: true,
	Statements: []string{"2026-07-28/streamable-http/11", "2026-07-28/streamable-http/19", "2026-07-28/streamable-http/20", "2026-07-28/streamable-http/21"},
	Cause:      "the name is put into the header as it is, or the markers are written in capitals",
	Fix:        "where a name is not plain ASCII, or begins with =?base64? and ends in ?=, send =?base64?, the Base64 of its UTF-8, and ?=",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		called := e.Session.Trace.Find(e.FirstCall)
		if called == nil {
			return check.Unsupported("the client never made the %s: it takes one that heeds the prompts in MCP_CONFORMANCE_CONTEXT (Env.Prompts)", e.Case.Carrier)
		}
		value, there := called.Frame.HTTP.Header["Mcp-Name"]
		if !there {
			return check.Fail("a %s has no Mcp-Name", e.Case.Carrier).Show(e.CallPlace(), "")
		}
		decoded, err := server.HeaderValue(value)
		switch {
		case err != nil:
			return check.Fail("the header Mcp-Name of a %s %v", e.Case.Carrier, err).Show(e.CallPlace(), "Mcp-Name: %q", value)
		case decoded != e.Case.Tool:
			return check.Fail("the header Mcp-Name of a %s says %q, and its body %q", e.Case.Carrier, decoded, e.Case.Tool).Show(e.CallPlace(), "Mcp-Name: %q", value)
		}
		return check.Pass("the header holds the name, encoded")
	}),
}

var responsePost = check.Check{
	ID: "response-post", Rule: "every request after the first has the session's id and the protocol version, and so has each answer", Levels: check.InNewestLegacy(report.Must), Cases: ofTheSession, Whole: true,
	Statements: []string{"2025-11-25/transports/23", "2025-11-25/transports/20", "2025-11-25/transports/24"},
	Cause:      "answers are posted by other code than requests, which does not know the headers",
	Fix:        "keep session id and version with the connection, and send Mcp-Session-Id and MCP-Protocol-Version with every request but initialize",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		s := e.Session
		answers := 0
		v := eachHTTP(s, func(ev *trace.Event, m *evidence.Message) *check.Verdict {
			header := ev.Frame.HTTP.Header
			session, version := header["Mcp-Session-Id"], header["Mcp-Protocol-Version"]
			switch {
			case m.Method == "initialize" || m.Method == "server/discover" || evidence.ModernVersion(ev.Frame, m) != "":
				return nil // which finds out what there is
			case session == "" && len(s.Issued) > 0:
				v := check.Fail("a request of the client has no Mcp-Session-Id").Show(requestAt(ev, m), "")
				return &v
			case version == "":
				v := check.Fail("a request of the client has no MCP-Protocol-Version").Show(requestAt(ev, m), "")
				return &v
			case version != string(s.Revision):
				v := check.Warn("a request of the client has the version %s, and %s was agreed on", version, s.Revision).Show(requestAt(ev, m), "")
				return &v
			}
			if m.IsResponse() {
				answers++
			}
			return nil
		}, check.Pass("every request had both headers"))
		if v.Kind == report.Pass && answers == 0 {
			return check.NotObserved("the client has answered nothing in this session")
		}
		return v
	}),
}

var ownIDs = check.Check{
	ID: "own-ids", Rule: "a request of the client has an id, a string or an integer, that it has not used before in the session", Levels: check.InNewestLegacy(report.Must), Cases: ofTheSession, Whole: true,
	Statements: []string{"2025-11-25/basic/02", "2025-11-25/basic/03", "2025-11-25/basic/04"},
	Cause:      "ids are counted for each connection or each kind of request, or are one for all",
	Fix:        "count requests over the whole session",
	Judge: func(e *evidence.Case) check.Verdict {
		type used struct{ session, id string }
		before := map[used]evidence.Place{}
		for _, r := range e.Session.Requests {
			number, isNumber := new(big.Rat).SetString(string(r.ID))
			id := string(r.ID)
			at := evidence.Place{Ref: r.Ref, Path: "id", Label: r.Method}
			switch {
			case isNumber && id[0] != '"' && !number.IsInt():
				return check.Fail("the id of a request is no integer").Show(at, "%s", id)
			case isNumber && id[0] != '"':
				id = number.Num().String()
			default:
				var text string
				if json.Unmarshal(r.ID, &text) != nil || id[0] != '"' {
					return check.Fail("the id of a request is no string and no integer").Show(at, "%s", id)
				}
				id = "\"" + text
			}
			if r.Session == "" { // before there is one, each request may be of a connection of its own
				continue
			}
			key := used{r.Session, id}
			if first, again := before[key]; again {
				return check.Fail("two requests of a session have one id").Show(first, "%s", r.ID).Show(at, "%s", r.ID)
			}
			before[key] = at
		}
		if len(before) == 0 {
			return check.NotObserved("the client made no request in a session")
		}
		return check.Pass("no id came twice")
	},
}

// opened is the first initialize of the session.
func opened(s *evidence.Session) evidence.Place {
	for i := range s.Requests {
		if r := &s.Requests[i]; r.Method == "initialize" {
			return evidence.Place{Ref: r.Ref, Label: r.Method}
		}
	}
	return evidence.Place{}
}

var endsSession = check.Check{
	ID: "ends-session", Rule: "a client that needs its session no more ends it", Levels: check.InNewestLegacy(report.Should), Cases: ofTheSession, Whole: true,
	Statements: []string{"2025-11-25/transports/22"},
	Cause:      "the connections are closed, and nobody tells the server",
	Fix:        "send a DELETE with the session's id at the end",
	Judge: overHTTP(0, func(e *evidence.Case) check.Verdict {
		s := e.Session
		if s.Ended == nil || !s.Ended.Clean() || len(s.Issued) == 0 {
			return check.NotObserved("the session did not come to an end in order: %s", s.Ending())
		}
		open := maps.Clone(s.Issued)
		v := eachHTTP(s, func(ev *trace.Event, m *evidence.Message) *check.Verdict {
			if ev.Frame.HTTP.Method == "DELETE" {
				delete(open, ev.Frame.Session)
			}
			return nil
		}, check.Pass("the client ended its session"))
		if v.Kind == report.Pass && len(open) > 0 {
			return check.Fail("the client came to its end, and its session is still open: no DELETE came").Show(opened(s), "")
		}
		return v
	}),
}

package always

import (
	"math"
	"mime"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// eachHTTPRequest returns a judge that passes, with the message, unless judge returns a verdict for an HTTP request of
// the session.
func eachHTTPRequest(pass string, judge func(*evidence.Session, *trace.Event, *evidence.Message) *check.Verdict,
) func(*evidence.Session) check.Verdict {
	return func(s *evidence.Session) check.Verdict {
		found := false
		for e, m := range s.HTTPRequests() {
			found = true
			if v := judge(s, e, m); v != nil {
				return *v
			}
		}
		if !found {
			return check.NotApplicable("the client sent no HTTP request")
		}
		return check.Pass("%s", pass)
	}
}

func requestAt(e *trace.Event, m *evidence.Message) evidence.Place {
	label := e.Frame.HTTP.Method + " " + m.Method
	if m.IsResponse() {
		label = "a response"
	}
	return evidence.Place{Ref: e.Ref(), Label: strings.TrimSpace(label)}
}

var acceptHeader = check.Check{
	ID:         "accept-header",
	Rule:       "A POST MUST accept JSON and event streams, and a GET event streams",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"streamable-http/03", "transports/15"},
	Cause:      "the header is the default of an HTTP library: plain JSON only, or a wildcard",
	Fix:        "Send Accept: application/json, text/event-stream with every POST, and text/event-stream with a GET.",
	JudgeSession: eachHTTPRequest("every request accepts the required media types",
		func(_ *evidence.Session, e *trace.Event, m *evidence.Message) *check.Verdict {
			wanted := map[string][]string{"POST": {"application/json", "text/event-stream"}, "GET": {"text/event-stream"}}
			http := e.Frame.HTTP
			accepted := mediaTypes(http.Header["Accept"])
			for _, media := range wanted[http.Method] {
				if !slices.Contains(accepted, media) {
					return check.Instead(check.Fail("expected %s in the Accept header of a %s, found %q", media, http.Method,
						http.Header["Accept"]).Show(requestAt(e, m), "Accept: %s", http.Header["Accept"]))
				}
			}
			return nil
		}),
}

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
	ID:         "one-message",
	Rule:       "The client MUST send every message in a POST of its own",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"streamable-http/01", "streamable-http/02", "streamable-http/05"},
	Cause:      "the client sends batches, which only 2025-03-26 has",
	Fix:        "Send each request, notification and response in a POST of its own.",
	JudgeSession: eachHTTPRequest("every POST had one message",
		func(_ *evidence.Session, e *trace.Event, _ *evidence.Message) *check.Verdict {
			raw := strings.TrimLeft(string(e.Frame.Raw), " \t\r\n")
			return check.Unless(!strings.HasPrefix(raw, "["), check.Fail("expected one message in a POST, found an array").
				Show(evidence.Place{Ref: e.Ref(), Label: "POST"}, "%s", raw))
		}),
}

var sessionHeaders = check.Check{
	ID:         "session-headers",
	Rule:       "Every request after initialize, and every response, MUST have the session id and the protocol version",
	Levels:     check.InNewestLegacy(report.Must),
	Statements: []string{"transports/23", "transports/20", "transports/24"},
	Cause:      "the code that posts responses or notifications/initialized does not set the headers",
	Fix:        "Send Mcp-Session-Id and MCP-Protocol-Version with every request and response except initialize.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		begins := sessionBegins(s)
		known := false // the client has sent a message since then
		return eachHTTPRequest("every request had both headers",
			func(s *evidence.Session, e *trace.Event, m *evidence.Message) *check.Verdict {
				unreadable := e.Frame.HTTP.Method == "POST" && m.Method == "" && !m.IsResponse()
				if m.Method == "initialize" || m.Method == "server/discover" || evidence.ModernVersion(e.Frame, m) != "" ||
					unreadable || s.Order[e.Ref()] < begins {
					return nil // the client does not know session and version yet
				}
				known = known || e.Frame.HTTP.Method == "POST"
				if !known && e.Frame.HTTP.Method == "GET" {
					return nil // it may have been sent before the result of initialize arrived
				}
				return headersMissing(s, e, m)
			})(s)
	},
}

// headersMissing returns the verdict for a request without its session or version; nil for any other.
func headersMissing(s *evidence.Session, e *trace.Event, m *evidence.Message) *check.Verdict {
	header := e.Frame.HTTP.Header
	v := check.Verdict{}
	switch version := header["Mcp-Protocol-Version"]; {
	case header["Mcp-Session-Id"] == "" && len(s.Issued) > 0 && !s.Issued[""]: // some servers give no id
		v = check.Fail("expected the header Mcp-Session-Id, found none")
	case version == "":
		v = check.Fail("expected the header MCP-Protocol-Version, found none")
	case version != string(s.Revision):
		v = check.Warn("expected MCP-Protocol-Version %s, found %s", s.Revision, version)
	default:
		return nil
	}
	return check.Instead(v.At(requestAt(e, m)))
}

// sessionBegins returns the index of the server's first result of initialize: before it, the client knows neither
// session nor version. It returns [math.MaxInt] without such a result.
func sessionBegins(s *evidence.Session) int {
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Frame != nil && e.Frame.Dir == trace.ToClient && evidence.HasMember(s.Message(e).Result, "protocolVersion") {
			return i
		}
	}
	return math.MaxInt
}

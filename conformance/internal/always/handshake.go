package always

import (
	"encoding/json"
	"maps"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var initialized = check.Check{
	ID: "initialized",
	Rule: "The client MUST name a revision of the protocol, and itself with name and version, in initialize, and send " +
		"notifications/initialized after the response",
	Levels:     check.InLegacy(report.Must),
	Statements: []string{"lifecycle/initialized", "schema/Implementation"},
	Cause:      "the client calls tools right after initialize, or leaves clientInfo empty",
	Fix: "Send name and version as clientInfo. Once the server has responded to initialize, send " +
		"notifications/initialized, once, then the first request.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		h := handshakes{open: map[string]*handshake{}, done: map[string]bool{}, overStdio: s.OverStdio()}
		for i := range s.Trace.Events {
			e := &s.Trace.Events[i]
			if e.Frame == nil || e.Frame.Raw.IsZero() || e.Frame.Lost || e.Frame.Resent {
				continue
			}
			if v := h.add(e, s.Message(e)); v != nil {
				return *v
			}
		}
		for _, session := range slices.Sorted(maps.Keys(h.open)) {
			if now := h.open[session]; now.served != nil {
				return check.Fail("expected notifications/initialized before %s, found none", now.served.Label).At(*now.served)
			}
		}
		if len(h.done) == 0 {
			return check.NotApplicable("no session of the client was initialized")
		}
		if h.again != nil {
			return check.Warn("expected notifications/initialized once in a session, found it twice: some servers refuse " +
				"the second").At(*h.again)
		}
		return check.Pass("the client initialized its session")
	},
}

// handshakes are those of a client, by session. Done are the sessions that the client initialized, and again is the
// first notification in one of them.
type handshakes struct {
	open  map[string]*handshake
	done  map[string]bool
	again *evidence.Place

	overStdio bool
}

// handshake is a session whose initialize got a result. Served is a later request that the server responded to. Over
// HTTP, the first request may overtake the notification, and the server may respond to it at once. Went on is true once
// the client has sent something else behind that request.
type handshake struct {
	requests map[string]evidence.Place
	served   *evidence.Place
	wentOn   bool
}

// add adds a message, and returns the verdict if it breaks the rule.
func (h *handshakes) add(e *trace.Event, m *evidence.Message) *check.Verdict {
	session := e.Frame.Session
	now := h.open[session]
	isRequest := m.ID != nil && m.Method != "" && m.Method != "ping"
	switch {
	case e.Frame.Dir == trace.ToClient:
		h.addFromServer(session, m)
	case m.Method == "initialize":
		return badInitialize(e, m)
	case m.Method == "notifications/initialized":
		return h.initialized(e)
	case now == nil:
	case now.served != nil && isRequest:
		return check.Instead(check.Fail("expected notifications/initialized before %s, found none", now.served.Label).
			At(*now.served))
	default:
		now.wentOn = len(now.requests) > 0
		if isRequest {
			now.requests[evidence.CanonicalID(m.ID)] = evidence.Place{Ref: e.Ref(), Label: m.Method}
		}
	}
	return nil
}

// initialized adds the notification that ends a handshake.
func (h *handshakes) initialized(e *trace.Event) *check.Verdict {
	session := e.Frame.Session
	now, place := h.open[session], evidence.Place{Ref: e.Ref(), Label: "notifications/initialized"}
	switch {
	case now == nil:
		named := session != "" || h.overStdio // else it may be one of several clients
		if h.done[session] && named && h.again == nil {
			h.again = &place
		}
		return nil
	case now.served != nil && (now.wentOn || e.Frame.HTTP == nil):
		return check.Instead(check.Fail("expected notifications/initialized before other requests, found it after %s",
			now.served.Label).At(*now.served, place))
	}
	delete(h.open, session)
	h.done[session] = true
	return nil
}

func (h *handshakes) addFromServer(session string, m *evidence.Message) {
	now := h.open[session]
	switch {
	case evidence.HasMember(m.Result, "protocolVersion"):
		h.open[session] = &handshake{requests: map[string]evidence.Place{}}
	case now != nil && m.IsResponse():
		if asked, ok := now.requests[evidence.CanonicalID(m.ID)]; ok && now.served == nil {
			now.served = &asked
		}
	}
}

// badInitialize returns the verdict for an initialize without the client's name and version, or with a version of the
// protocol that cannot exist; nil for any other.
func badInitialize(e *trace.Event, m *evidence.Message) *check.Verdict {
	params := evidence.ObjectOf(m.Params)
	raw := params["clientInfo"]
	var info struct{ Name, Version *string }
	if json.Unmarshal(raw, &info) != nil || info.Name == nil || info.Version == nil {
		return check.Instead(check.Fail("expected clientInfo with name and version in initialize, found %s",
			check.OrMissing(raw)).ShowJSON(evidence.Place{Ref: e.Ref(), Path: "params.clientInfo", Label: m.Method}, raw))
	}
	version := params.Text("protocolVersion")
	if _, err := time.Parse(time.DateOnly, version); err == nil || strings.HasPrefix(version, "DRAFT") {
		return nil
	}
	return check.Instead(check.Fail("expected a revision such as 2025-11-25 as protocolVersion in initialize, found %s",
		check.OrMissing(params["protocolVersion"])).
		At(evidence.Place{Ref: e.Ref(), Path: "params.protocolVersion", Label: m.Method}))
}

var contentType = check.Check{
	ID:     "content-type",
	Rule:   "A POST to the server says that its body is JSON",
	Levels: check.Robust,
	Cause:  "the HTTP library's default is text/plain or a form, and one place that posts messages does not change it",
	Fix:    "Send Content-Type: application/json with every POST, responses included.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		posts := 0
		for e, m := range s.FromClient() {
			http := e.Frame.HTTP
			if http == nil || http.Method != "POST" || m.Method == "" && !m.IsResponse() {
				continue
			}
			posts++
			kind := http.Header["Content-Type"]
			if media, _, err := mime.ParseMediaType(kind); err == nil && media == "application/json" {
				continue
			}
			what := m.Method
			if m.IsResponse() {
				what = "a response"
			}
			v := check.Fail("expected Content-Type application/json in the POST of %s, found %q%s", what, kind, refusedFor(s, e))
			return v.Show(evidence.Place{Ref: e.Ref(), Label: "POST"}, "Content-Type: %s", kind)
		}
		if posts == 0 {
			return check.NotApplicable("the client sent no POST")
		}
		return check.Pass("every POST says application/json")
	},
}

// refusedFor says that the server refused a POST for its media type; "" if it did not.
func refusedFor(s *evidence.Session, post *trace.Event) string {
	for i := s.Order[post.Ref()]; i < len(s.Trace.Events); i++ {
		f := s.Trace.Events[i].Frame
		if f != nil && f.HTTP != nil && f.HTTP.Status == unsupportedMediaType {
			return "; the server refused it with HTTP 415"
		}
	}
	return ""
}

const unsupportedMediaType = 415

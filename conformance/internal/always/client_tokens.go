package always

import (
	"cmp"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var tokenUnique = check.Check{
	ID:         "token-unique",
	Rule:       "The client's own progress tokens MUST be unique among its requests in progress",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"progress/03"},
	Cause:      "the token is a constant, or a counter of its own for each kind of request",
	Fix:        "Use a token that no other request has, such as the id of the request.",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		var together *clientToken
		var shared *check.Verdict
		tokens := clientTokens(s)
		for i := range tokens {
			for j := range tokens[:i] {
				a, b := &tokens[j], &tokens[i]
				if a.until < b.from || a.session != b.session {
					continue
				}
				if string(a.id) == string(b.id) {
					return check.NotApplicable("several clients are at work without sessions, so their requests look alike")
				}
				if evidence.SameID(a.token, b.token) {
					v := b.show(a.show(check.Fail("expected a progress token of its own for each request in progress, found %s twice",
						evidence.Compact(a.token))))
					shared = cmp.Or(shared, &v)
				}
				together = b
			}
		}
		switch {
		case shared != nil:
			return *shared
		case together == nil:
			return check.NotApplicable("the client's requests with a progress token are never in progress together")
		}
		return together.show(check.Pass("requests in progress together have tokens of their own"))
	},
}

// clientToken is the progress token of a request of the client.
type clientToken struct {
	evidence.Place
	token, id   json.RawMessage // as they were written
	session     string
	from, until int // the positions between which the request is in progress
}

func (t *clientToken) show(v check.Verdict) check.Verdict {
	return v.ShowJSON(t.Place, t.token)
}

// clientTokens returns the progress tokens of the client's requests, in order. A request that the client cancels, or
// hangs up on, counts only until the next one: that may arrive before the cancel does.
func clientTokens(s *evidence.Session) []clientToken {
	t := tokenReader{session: s, pending: map[string]int{}}
	for i := range s.Trace.Events {
		if e := &s.Trace.Events[i]; e.Frame != nil {
			t.take(i, e, s.Message(e))
		}
	}
	return t.tokens
}

// tokenReader collects the progress tokens of a session, event by event.
type tokenReader struct {
	session *evidence.Session
	tokens  []clientToken
	pending map[string]int // by session and request id, the index of the token
}

func (t *tokenReader) take(position int, e *trace.Event, m *evidence.Message) {
	if e.Frame.Dir == trace.ToClient {
		if m.IsResponse() {
			t.end(e.Frame.Session, m.ID, position)
		}
		return
	}
	token := evidence.TokenIn(m.Params)
	cancelled, isCancel := evidence.CancelOf(m)
	switch {
	case isCancel:
		t.end(e.Frame.Session, cancelled, -1)
	case e.Frame.Closed && e.Case != "": // the stream of a call
		for _, i := range t.pending {
			open := t.tokens[i]
			of := &t.session.Trace.Events[open.from]
			if of.Case == e.Case && of.Call == e.Call && open.session == e.Frame.Session {
				t.end(open.session, open.id, -1)
			}
		}
	case m.Method != "" && m.ID != nil && token != nil:
		at := evidence.Place{Ref: e.Ref(), Path: "params._meta.progressToken", Label: m.Method}
		t.pending[e.Frame.Session+" "+string(m.ID)] = len(t.tokens)
		t.tokens = append(t.tokens, clientToken{at, token, m.ID, e.Frame.Session, position, len(t.session.Trace.Events)})
	}
}

// end ends a request at a position; -1 if that is unknown.
func (t *tokenReader) end(session string, id json.RawMessage, position int) {
	key := session + " " + string(id)
	i, ok := t.pending[key]
	if !ok {
		return
	}
	delete(t.pending, key)
	t.tokens[i].until = max(position, t.tokens[i].from)
}

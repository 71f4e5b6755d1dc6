package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// Replay serves the server's side of a recorded session to the client under test: a trace, or a folder of traces. The
// client gets the recorded result of each of its requests, and in the course of a call the same requests for samples at
// the same points:
//
//	srv := server.Replay(t, "testdata/session.ndjson")
//	// connect the client to srv.URL and let it do what it did then
//
// A request is recognised by its method and params without _meta; equal ones are answered in their order. The test
// fails for a request that was not recorded, for an answer to a sample that differs, and for a recorded call that no
// client makes. The messages name the first difference. Ignore has the paths of members that may differ, such as
// "params.arguments.now" of a request or "result.content.text" of an answer.
func Replay(t TB, path string, ignore ...string) *Server {
	t.Helper()
	srv, err := StartReplay(Options{}, path, ReplayOptions{Ignore: ignore})
	return started(t, srv, err)
}

// ReplayOptions say how a recording is compared.
type ReplayOptions struct {
	// Ignore has the paths of members that may differ: see [Replay].
	Ignore []string
	// Repeat answers a call that was made as often as it was recorded from the first recorded one again.
	Repeat bool
	// Differs, unless nil, is told at once what the client sends otherwise than recorded.
	Differs func(string)
}

// StartReplay starts a server for [Replay], which the caller closes. [Options.Revisions] are those of the recording.
// [Server.Problems] has what the client sent otherwise, and [Server.Uncalled] the calls that it did not make.
func StartReplay(o Options, path string, r ReplayOptions) (*Server, error) {
	rules, err := replay.NewRules(r.Ignore)
	if err != nil {
		return nil, err
	}
	recordings, err := replay.Read(path)
	if err != nil {
		return nil, err
	}
	o.Revisions = nil
	for _, revision := range AllRevisions() {
		spoken := func(q *replay.Request) bool { return q.Revision == string(revision) && q.HasResponse() }
		for _, r := range recordings {
			if slices.ContainsFunc(r.Requests, spoken) && !slices.Contains(o.Revisions, revision) {
				o.Revisions = append(o.Revisions, revision)
			}
		}
	}
	if o.Revisions == nil {
		return nil, fmt.Errorf("%s: no response of the server in a revision of %v", path, AllRevisions())
	}
	return start(o, &replayed{book: replay.NewBook(recordings, rules, r.Repeat), rules: rules, differs: r.Differs})
}

// replayed is a recording that is served.
type replayed struct {
	book    *replay.Book
	rules   *replay.Rules
	differs func(string)
	calls   atomic.Int64
}

// differ records what the client sent otherwise than recorded, and returns the error for the client.
func (s *Server) differ(of scope, why error) *RPCError {
	s.problem(of, "replay: %v", why)
	if s.replay.differs != nil {
		s.replay.differs(why.Error())
	}
	return rpcErrorf(codeInvalidParams, "replay: %v", why)
}

// initialized responds to initialize as the server did, in the revision of the recording.
func (r *replayed) initialized(x *exchange, m *inbound, session *legacySession) {
	q, err := r.book.Next(string(session.revision), "initialize", m.Params)
	if err != nil {
		session.server.fail(x, m.ID, session.server.differ(scope{}, err))
		return
	}
	session.server.respond(x, responseTo(m.ID, q), false)
}

// responseTo returns the recorded response under another id.
func responseTo(id json.RawMessage, q *replay.Request) []byte {
	if q.Error != nil {
		return rawErrorFrame(id, q.Error)
	}
	return resultFrame(id, q.Result)
}

// replayed responds to a request of a session as recorded, with all that the server sent before the response.
func (l *legacySession) replayed(m *inbound) {
	s := l.server
	q, err := s.replay.book.Next(string(l.revision), *m.Method, m.Params)
	name := replay.Name(*m.Method, m.Params)
	of := scope{name, 0}
	s.received(of, l.id, m)
	x := newExchange(s, m, of, l.id)
	switch {
	case err != nil && *m.Method == "ping":
		s.respond(x, resultFrame(m.ID, []byte("{}")), false)
	case err != nil:
		s.fail(x, m.ID, s.differ(of, err))
	case len(q.Steps) == 0 && q.HasResponse():
		s.respond(x, responseTo(m.ID, q), false)
	default:
		handler := func(c *Session) (any, error) { return s.play(c, q) }
		tool := &serverTool{index: int(s.replay.calls.Add(1)), Tool: Tool{Name: name, Handler: handler}}
		l.handle(m, x, tool, callParams{arguments: m.params["arguments"], meta: m.meta})
	}
}

// play does what the server did during a request: it asks and notifies, and waits where it got an answer.
func (s *Server) play(c *Session, q *replay.Request) (any, error) {
	pending := map[*replay.Ask]*Pending{}
	for _, step := range q.Steps {
		switch {
		case step.Asked != nil:
			ask := step.Asked
			sent, err := c.protocol.start(outgoing{params: c.onOneLine(ask.Params), hostile: true, method: Method(ask.Method),
				id: ask.ID})
			if err != nil {
				return nil, err
			}
			pending[ask] = sent
		case step.Answered != nil && pending[step.Answered] != nil:
			if why := s.compareAnswer(step.Answered, pending[step.Answered]); why != nil {
				return s.differ(c.scope(), fmt.Errorf("%s: %w", c.tool.Name, why)), nil
			}
		case step.Notified != nil:
			if frame := renotify(step.Notified, c.currentMeta(), pending); frame != nil {
				_ = c.protocol.notify(c.onOneLine(frame)) // lost if the client has gone
			}
		case step.Canceled:
			<-c.ctx.Done()
			if s.closing() {
				_ = s.differ(c.scope(), fmt.Errorf("%s: the recorded client canceled it, and this one did not", c.tool.Name))
			}
		}
	}
	if !q.HasResponse() {
		<-c.ctx.Done()
	}
	if q.Error != nil {
		return CallToolResult{rawError: q.Error}, nil
	}
	return RawResult(q.Result), nil
}

// compareAnswer waits for the client's answer and compares it with the recorded one.
func (s *Server) compareAnswer(recorded *replay.Ask, sent *Pending) error {
	<-sent.done
	answer := sent.answer
	refused, isRefusal := answer.Err.(*RPCError) //nolint:errorlint // as it was received
	var difference *replay.Difference
	switch {
	case answer.Err != nil && !isRefusal:
		return answer.Err
	case isRefusal && recorded.Error == nil:
		return fmt.Errorf("the recorded answer to %s is a result, found the error: %w", recorded.Method, refused)
	case isRefusal:
		return nil // the words of errors are the client's own
	case recorded.Error != nil:
		return fmt.Errorf("the recorded answer to %s is the error %s, found a result", recorded.Method, recorded.Error)
	default:
		difference = s.replay.rules.Compare("result", replay.Comparable(recorded.Result), replay.Comparable(answer.Result))
	}
	if difference == nil {
		return nil
	}
	return fmt.Errorf("the answer to %s differs: %s", recorded.Method, difference)
}

// renotify returns a recorded notification with the progress token and the request ids of today; nil for progress
// without a token.
func renotify(raw json.RawMessage, meta object, pending map[*replay.Ask]*Pending) []byte {
	o := objectOf(raw)
	method, _ := o.text("method")
	params := objectOf(o["params"])
	switch method {
	case "notifications/progress":
		token := progressToken(meta)
		if token == nil || params == nil {
			return nil
		}
		params["progressToken"] = token
	case methodCancelled:
		for ask, sent := range pending {
			if string(ask.ID) == string(params["requestId"]) {
				params["requestId"] = sent.id
			}
		}
	default:
		return raw
	}
	return requestFrame(nil, method, mustEncode(params))
}

// replayModern responds to a request as recorded. A retry is a request of its own, which holds the client's answers.
func (s *Server) replayModern(m *inbound) {
	of := scope{replay.Name(*m.Method, m.Params), 0}
	s.received(of, "", m)
	x := newExchange(s, m, of, "")
	if status, why := s.checkModern(m); why != nil {
		x.respond(status, errorFrame(m.ID, why), false)
		return
	}
	version, _ := m.meta.text(metaVersion)
	q, err := s.replay.book.Next(version, *m.Method, m.Params)
	if err != nil {
		s.fail(x, m.ID, s.differ(of, err))
		return
	}
	for _, step := range q.Steps {
		if step.Notified == nil {
			continue
		}
		if frame := renotify(step.Notified, m.meta, nil); frame != nil {
			_ = x.event(of, frame, false)
		}
	}
	if !q.HasResponse() {
		x.wait(func() {}) // until the client gives it up, as it did
		return
	}
	status := http.StatusOK
	if q.Status != 0 {
		status = q.Status
	}
	if x.responses == SSE {
		x.open("post")
	}
	x.respond(status, responseTo(m.ID, q), false)
}

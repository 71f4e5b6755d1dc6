package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// legacy is the wire of the first era: a session, opened by initialize, in which the server sends requests of its own.
type legacy struct {
	env    harness.Env
	model  *model
	pipe   *pipe // nil over HTTP
	free   bool  // to agree on any revision that it knows
	lastID atomic.Int64

	mu     sync.Mutex
	header http.Header // of every request

	turn     chan struct{}            // holds a token while a request is answered, by a client that answers one at a time
	reported atomic.Pointer[progress] // what a client that does not stop reporting goes on with
	served   served
	tasks    tasks

	listening *listening  // nil where there is no such stream
	renewed   bool        // the session is not the first
	moved     atomic.Bool // over to that stream: broken on purpose
}

// openLegacy connects, or launches the server, and initializes a session: in the revision of env or, where the client is free, in any that it knows.
func openLegacy(ctx context.Context, env harness.Env, m *model, free bool) (*legacy, error) {
	l := &legacy{env: env, model: m, free: free, turn: make(chan struct{}, 1), header: http.Header{"Accept": {"application/json, text/event-stream"}}}
	if f := m.config.broken.allHeaders; f != nil {
		f(env.Key, l.header)
	}
	if env.Launch != nil {
		var err error
		if l.pipe, err = openPipe(ctx, m, func(m *message) func() error { return l.take(ctx, m) }); err != nil {
			return nil, err
		}
	}
	err := l.initialize(ctx)
	if err != nil && l.pipe != nil {
		err = errors.Join(err, l.pipe.close())
	}
	return l, err
}

// initialize agrees on a revision, and listens.
func (l *legacy) initialize(ctx context.Context) error {
	wanted := l.env.Revision
	raw, err := l.request(ctx, "initialize", map[string]any{
		"protocolVersion": wanted, "capabilities": l.model.capabilities(), "clientInfo": clientInfo,
	})
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	var agreed struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(raw, &agreed); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if err := l.agree(server.Revision(agreed.ProtocolVersion)); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if err := l.send(ctx, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); err != nil || l.pipe != nil {
		return err
	}
	return l.listen(ctx)
}

// request sends a request and returns its result, or gives it up. One that finds the session lost is made again in a new one.
func (l *legacy) request(base context.Context, method string, params map[string]any) (json.RawMessage, error) {
	ctx, done := l.model.begin(base, method, params)
	defer done()
	result, err := l.once(ctx, base, method, params)
	if errors.Is(err, errNotTaken) && method != "initialize" {
		if err = l.renew(base); err == nil {
			result, err = l.once(ctx, base, method, params)
		}
	}
	if isGivenUp(ctx) {
		return nil, errToldTo
	}
	return result, err
}

// once sends one request of its own id and returns the result.
func (l *legacy) once(ctx, base context.Context, method string, params map[string]any) (json.RawMessage, error) {
	number := l.lastID.Add(1)
	id := number
	if l.model.config.broken.transport.cyclesIDs {
		id = number % 3
	}
	if method == "tools/call" || method == "ping" { // which may take their time
		params = maps.Clone(params)
		params["_meta"] = map[string]any{"progressToken": l.model.token(number)}
		l.model.config.broken.tasks.calling(method, params)
	}
	if l.pipe != nil {
		answer, err := l.pipe.request(ctx, id, method, params)
		return resultOf(answer, err)
	}
	return l.exchange(ctx, base, id, method, params)
}

// cancelIf cancels a request of the client's that was given up.
func (l *legacy) cancelIf(ctx context.Context, givenUp bool, id int64) error {
	if !givenUp || l.model.config.broken.givesUpSilently {
		return nil
	}
	return l.send(ctx, l.model.cancels(id))
}

// answer answers a request of the server: over HTTP in a POST of its own.
func (l *legacy) answer(ctx context.Context, m *message, one *serving) error {
	response := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if l.model.config.broken.blocksPings {
		l.turn <- struct{}{}
		defer func() { <-l.turn }()
	}
	switch m.Method {
	case "ping":
		response["result"] = map[string]any{}
		if l.model.config.broken.pongsByText {
			response["id"] = string(m.ID)
		}
	case "sampling/createMessage":
		if l.renewed && l.model.config.broken.transport.forgetsHandlers {
			response["error"] = &rpcError{-32601, "broken on purpose: nobody is registered for " + m.Method}
			break
		}
		if refused := l.refusesPlain(m); refused != nil {
			response["error"] = refused
			break
		}
		if l.asTask(m) {
			return l.answerTask(ctx, m, one)
		}
		return l.answerSampling(ctx, m, one, response)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/list":
		if l.takesTasks() {
			return l.answerAboutTask(ctx, m, one)
		}
		fallthrough
	default:
		response["error"] = &rpcError{-32601, "method " + m.Method + " is not supported"}
	}
	l.served.end(m.ID, one)
	return l.send(ctx, response)
}

func (l *legacy) answerSampling(ctx context.Context, m *message, one *serving, response map[string]any) error {
	broken := &l.model.config.broken
	if broken.neverAnswers || broken.leavesOpen(m.Params) {
		return nil
	}
	if err := broken.dies(m.Params); err != nil {
		return err
	}
	progress := l.progressOf(m.Params)
	err := errors.Join(progress.report(ctx), progress.looksAfter(ctx))
	if broken.progressGoesOn {
		err = errors.Join(err, l.goesOn(ctx, progress))
	}
	result, refused := l.model.createMessage(one, m.Params)
	if l.served.end(m.ID, one) && !broken.answersCancelled {
		return err
	}
	err = errors.Join(err, progress.report(ctx))
	if l.served.spoiled() {
		refused = &rpcError{codeInternal, "broken on purpose: cancelled"}
	}
	switch refused {
	case errUnanswered:
		return err
	case errDeadly:
		return errors.New(refused.Error()) // an error of the protocol would be an answer
	}
	if refused != nil {
		response["error"] = refused
	} else {
		response["result"] = result
	}
	edit(broken.response, response)
	if broken.runsTools || broken.runsUnoffered {
		l.model.runTools(ctx, l, m.Params, result)
	}
	err = errors.Join(err, l.send(ctx, response))
	if broken.answersTwice {
		err = errors.Join(err, l.send(ctx, response))
	}
	if broken.answersAGhost {
		response["id"] = fmt.Sprintf("ghost of %s", m.ID)
		err = errors.Join(err, l.send(ctx, response))
	}
	if refused != nil && (broken.diesOf(refused) || broken.diesOfImbalance && unbalanced(m.Params)) {
		err = errors.Join(err, errors.New("broken on purpose: "+refused.Error()))
	}
	return err
}

// send sends a message to which no response is due.
func (l *legacy) send(ctx context.Context, m map[string]any) error {
	if l.pipe != nil {
		return l.pipe.send(m)
	}
	header := l.headers()
	if l.model.config.broken.transport.dropsVersion && m["method"] == nil {
		header.Del("Mcp-Protocol-Version")
	}
	resp, err := post(ctx, l.env.HTTP, l.env.URL, header, marshal(m))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return l.refused(resp)
	}
	return nil
}

// close ends the session.
func (l *legacy) close(ctx context.Context) error {
	if l.pipe != nil {
		return l.pipe.close()
	}
	broken := &l.model.config.broken.transport
	if broken.postsArrays {
		if resp, err := post(ctx, l.env.HTTP, l.env.URL, l.headers(), []byte(twoInOne)); err == nil {
			_ = resp.Body.Close()
		}
	}
	if broken.neverDeletes {
		if l.listening != nil {
			l.listening.stop()
		}
		return l.stopListening()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, l.env.URL, nil)
	if err != nil {
		return err
	}
	req.Header = l.headers()
	resp, err := l.env.HTTP.Do(req)
	if err != nil {
		return errors.Join(err, l.stopListening())
	}
	return errors.Join(resp.Body.Close(), l.stopListening())
}

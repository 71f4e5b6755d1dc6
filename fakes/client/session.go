package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// errNotTaken means that the server refused a request because it does not know the session.
var errNotTaken = fmt.Errorf("%w: the server did not take the request", ErrSessionLost)

// session is the protocol up to 2025-11-25: a session that initialize opens, in which the server sends requests too.
type session struct {
	client *Client
	pipe   *pipe // nil over HTTP
	free   bool  // to agree on any revision with initialize
	lastID atomic.Int64

	mu     sync.Mutex
	header http.Header // of every request

	served    served
	tasks     tasks
	renewing  chan struct{} // holds a token while the session is replaced
	listening *listening    // nil without a GET stream
}

// openSession connects, or launches the server, and initializes a session; after is the connection that it continues,
// nil for a new one. With free the server may answer with any revision that has sessions.
func (c *Client) openSession(free bool, after *stateless) (wire, error) {
	s := &session{client: c, free: free, renewing: make(chan struct{}, 1), header: http.Header{"Accept": {jsonOrEvents}}}
	if after != nil {
		s.lastID.Store(after.lastID.Load())
	}
	switch {
	case after != nil && after.pipe != nil:
		s.pipe = after.pipe
		s.pipe.giveTo(s.take)
	case c.options.Launch != nil:
		var err error
		if s.pipe, err = c.openPipe(s.take); err != nil {
			return nil, err
		}
	}
	if err := s.initialize(); err != nil {
		if s.pipe != nil {
			err = errors.Join(err, s.pipe.shut()) // err says why it ended
		}
		return nil, err
	}
	return s, nil
}

// initialize agrees on a revision and opens the GET stream.
func (s *session) initialize() error {
	c := s.client
	raw, err := s.request(c.ctx, "initialize", map[string]any{
		"protocolVersion": c.Revision(), "capabilities": c.capabilities(), "clientInfo": c.options.Info,
	})
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	var agreed struct {
		ProtocolVersion server.Revision `json:"protocolVersion"`
	}
	if err := json.Unmarshal(raw, &agreed); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if c.options.greeted != nil {
		c.options.greeted(raw)
	}
	if err := s.agree(agreed.ProtocolVersion); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if err := s.send(request(nil, "notifications/initialized", nil)); err != nil || s.pipe != nil {
		return err
	}
	return s.listen()
}

func (s *session) agree(on server.Revision) error {
	asked := s.client.Revision()
	known := slices.Contains(server.AllRevisions(), on) && !on.Modern()
	if on != asked && !(s.free && known) {
		return fmt.Errorf("the server speaks %q, this client was started for %s", on, asked)
	}
	s.client.setRevision(on)
	s.setHeader(headerRevision, string(on))
	return nil
}

// request sends a request and returns its result. If the server has lost the session, the request is sent once more in
// a new one.
func (s *session) request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	lost := s.headers().Get(headerSession)
	result, err := s.once(ctx, method, params)
	if errors.Is(err, errNotTaken) && method != "initialize" {
		if err = s.renew(lost); err == nil {
			result, err = s.once(ctx, method, params)
		}
	}
	return result, err
}

// once sends one request under an id of its own.
func (s *session) once(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	id := s.lastID.Add(1)
	if method == "tools/call" || method == "ping" {
		params = maps.Clone(params)
		params["_meta"] = withMeta(params, map[string]any{"progressToken": id})
	}
	if s.pipe != nil {
		return resultOf(s.pipe.request(ctx, id, method, params))
	}
	return s.exchange(ctx, id, method, params)
}

func withMeta(params, own map[string]any) map[string]any {
	if given, ok := params["_meta"].(map[string]any); ok {
		given = maps.Clone(given)
		maps.Copy(given, own)
		return given
	}
	return own
}

func (s *session) send(m map[string]any) error {
	if s.pipe != nil {
		return s.pipe.send(m)
	}
	resp, err := s.client.post(s.client.ctx, s.headers(), m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusAccepted:
		return nil
	case resp.StatusCode/100 == 2:
		return fmt.Errorf("expected HTTP 202 for a message that is not a request, found %w", readStatus(resp))
	}
	return s.refused(resp)
}

// take receives a message that is not a response, on the goroutine that reads, and returns the work that answers it.
func (s *session) take(ctx context.Context, m *message) func() error {
	switch {
	case m.ID != nil:
		if one := s.served.begin(ctx, m.ID); one != nil {
			return func() error { return s.answer(m, one) }
		}
	case m.Method == methodCancelled:
		s.served.cancelled(m.Params)
	default:
		s.client.notified(m)
	}
	return nil
}

func (s *session) answer(m *message, one *serving) error {
	var result map[string]any
	refused := &Error{Code: CodeMethodNotFound, Message: "method " + m.Method + " is not supported"}
	method := m.Method
	if s.client.options.replaying != nil {
		method = methodRoots // answered in any case
	}
	switch method {
	case "ping":
		result, refused = map[string]any{}, nil
	case methodSampling:
		if s.client.takesTasks() && wantsTask(m) {
			return s.answerAsTask(m, one)
		}
		return s.answerSampling(m, one)
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/list":
		if s.client.takesTasks() {
			result, refused = s.aboutTask(one, m)
		}
	case methodElicit, methodRoots:
		if s.client.answers(m.Method) {
			result, refused = s.client.respond(one.ctx, m.Method, m.Params)
		}
	}
	if s.served.end(m.ID, one) {
		return nil
	}
	return s.send(response(m.ID, result, refused))
}

func (s *session) answerSampling(m *message, one *serving) error {
	progress := s.progressOf(m.Params)
	err := errors.Join(progress.report(), progress.ping())
	result, refused := s.client.respond(one.ctx, methodSampling, m.Params)
	if s.served.end(m.ID, one) {
		return err
	}
	return errors.Join(err, progress.report(), s.send(response(m.ID, result, refused)))
}

// renew starts a new session in place of a lost one, unless another call has done so (2025-11-25,
// basic/transports#session-management).
func (s *session) renew(lost string) error {
	s.renewing <- struct{}{}
	defer func() { <-s.renewing }()
	if s.headers().Get(headerSession) != lost {
		return nil
	}
	if err := s.stopListening(); err != nil {
		return err
	}
	s.setHeader(headerSession, "")
	s.setHeader(headerRevision, "")
	s.served.reset()
	return s.initialize()
}

func (s *session) close() error {
	if s.pipe != nil {
		return s.pipe.close()
	}
	req, err := http.NewRequestWithContext(s.client.ctx, http.MethodDelete, s.client.options.URL, nil)
	if err != nil {
		return err
	}
	req.Header = s.headers()
	resp, err := s.client.options.HTTP.Do(req)
	if err == nil {
		err = resp.Body.Close()
	}
	return errors.Join(err, s.stopListening())
}

func (s *session) refused(resp *http.Response) error {
	if resp.StatusCode == http.StatusNotFound && s.headers().Get(headerSession) != "" {
		return errors.Join(ErrSessionLost, readStatus(resp))
	}
	return readStatus(resp)
}

func (s *session) headers() http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header.Clone()
}

// setHeader sets a header of all further requests; "" removes it.
func (s *session) setHeader(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header.Del(name)
	if value != "" {
		s.header.Set(name, value)
	}
}

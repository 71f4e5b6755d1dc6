package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Fields of _meta that the second era reserves (2026-07-28, basic/index#meta).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// postModern serves a POST of the second era.
func (s *Server) postModern(w http.ResponseWriter, r *http.Request, raw []byte, m *message) {
	switch {
	case m.isResponse():
		s.refuse(w, r, raw, http.StatusBadRequest, rpcErrorf(codeInvalidRequest, "a client sends no JSON-RPC responses in %s", s.modern[0]))
		return
	case m.isNotification():
		s.received(scope{}, r, raw)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	var (
		p         callParams
		offer     *offered
		bad       *RPCError
		continued *parking
		of        scope
	)
	if *m.Method == "tools/call" {
		p, offer, bad = s.readCall(m.Params)
	}
	isRetry := p.RequestState != nil || p.InputResponses != nil
	if offer != nil && isRetry {
		of.tool = offer.Name
		if continued = s.findParked(offer, p); continued != nil {
			of = continued.call.scope()
		}
	} else if offer != nil {
		of = scope{offer.Name, s.count(offer)}
	}
	s.received(of, r, raw)
	x := newExchange(s, w, of, "", "")
	if status, why := s.checkModern(r, m); why != nil {
		x.respond(status, errorFrame(m.ID, why))
		return
	}
	switch {
	case bad != nil:
		x.respond(http.StatusOK, errorFrame(m.ID, bad))
	case *m.Method == "server/discover":
		s.result(x, m.ID, s.modern[0], schema.DiscoverResult, s.complete(map[string]any{
			"supportedVersions": slices.Concat(s.modern, s.legacy),
			"capabilities":      map[string]any{"tools": map[string]any{}},
			"ttlMs":             0, "cacheScope": "private",
		}))
	case *m.Method == "tools/list":
		s.result(x, m.ID, s.modern[0], schema.ListToolsResult, s.complete(map[string]any{
			"tools": s.toolList(), "ttlMs": 0, "cacheScope": "private",
		}))
	case isRetry && !s.claim(continued):
		x.respond(http.StatusOK, errorFrame(m.ID, rpcErrorf(codeInvalidParams, "no call waits for this retry: its requestState or input keys are unknown, or were used before")))
	case isRetry:
		continued.call.next(r, x, m.ID, p)
	case offer != nil:
		s.callModern(r, x, m.ID, offer, p)
	default:
		x.respond(http.StatusNotFound, errorFrame(m.ID, rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method)))))
	}
}

// complete adds what every result of the second era has.
func (s *Server) complete(result map[string]any) map[string]any {
	result["resultType"] = "complete"
	result["_meta"] = map[string]any{metaServerInfo: s.info()}
	return result
}

// checkModern holds headers and _meta against each other and against what the server speaks
// (2026-07-28, basic/transports/streamable-http#server-validation, basic/index#meta).
func (s *Server) checkModern(r *http.Request, m *message) (int, *RPCError) {
	mismatch := func(format string, args ...any) (int, *RPCError) {
		return http.StatusBadRequest, rpcErrorf(codeHeaderMismatch, format, args...)
	}
	version := r.Header.Get(headerVersion)
	meta := metaOf(m.Params)
	var said string
	hasMeta := json.Unmarshal(meta[metaVersion], &said) == nil
	if !hasMeta && len(s.legacy) == 0 && *m.Method == "initialize" {
		return s.unsupported(m)
	}
	if version == "" {
		return mismatch("header %s is missing", headerVersion)
	}
	if hasMeta && said != version {
		return mismatch("header %s is %q, _meta has %q", headerVersion, version, said)
	}
	if !slices.Contains(s.modern, Revision(version)) {
		return s.unsupported(m)
	}
	if got := r.Header.Get(headerMethod); got != *m.Method {
		return mismatch("header %s is %q, the body's method is %q", headerMethod, got, *m.Method)
	}
	if name, ok := carriedName(m); ok {
		got, err := headerValue(r.Header.Get(headerName))
		if err != nil || got != name {
			return mismatch("header %s is %q, the body has %q", headerName, got, name)
		}
	}
	if !hasMeta {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no %s", metaVersion)
	}
	if capabilities := meta[metaCapabilities]; len(capabilities) == 0 || capabilities[0] != '{' {
		return http.StatusBadRequest, rpcErrorf(codeInvalidParams, "_meta has no object %s", metaCapabilities)
	}
	return 0, nil
}

// unsupported is the answer to a revision that the server does not speak.
func (s *Server) unsupported(m *message) (int, *RPCError) {
	var p struct {
		Version string                     `json:"protocolVersion"`
		Meta    map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) == nil && p.Version == "" {
		_ = json.Unmarshal(p.Meta[metaVersion], &p.Version) // nothing was requested, then
	}
	err := rpcErrorf(codeUnsupportedVersion, "unsupported protocol version: this server speaks %v", slices.Concat(s.modern, s.legacy))
	err.Data = mustEncode(map[string]any{"supported": slices.Concat(s.modern, s.legacy), "requested": p.Version})
	return http.StatusBadRequest, err
}

// carriedName returns what Mcp-Name has to say, for the methods that need it.
func carriedName(m *message) (string, bool) {
	var p struct{ Name, URI string }
	_ = json.Unmarshal(m.Params, &p) // params that cannot be read carry no name
	switch *m.Method {
	case "tools/call", "prompts/get":
		return p.Name, true
	case "resources/read":
		return p.URI, true
	}
	return "", false
}

// headerValue decodes the sentinel form of a header value (basic/transports/streamable-http#value-encoding).
func headerValue(value string) (string, error) {
	encoded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok || !strings.HasSuffix(encoded, "?=") {
		return value, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "?="))
	return string(decoded), err
}

// modernCall is a call of the second era through all its rounds, and the way of its play to the client.
type modernCall struct {
	*Session
	cancel context.CancelFunc
	resume chan *Retry // takes one; filled by the retry that was waited for

	mu   sync.Mutex
	x    *exchange // the round that is pending
	id   json.RawMessage
	keys int
}

// callModern starts the play of a tool and waits until it has answered or wants input.
func (s *Server) callModern(r *http.Request, x *exchange, id json.RawMessage, tool *offered, p callParams) {
	if why := tool.checkArguments(p.Arguments); why != "" {
		s.finish(x, id, s.modern[0], callResult(nil, errors.New(why)))
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	c := &modernCall{x: x, id: id, cancel: cancel, resume: make(chan *Retry, 1), Session: &Session{server: s, tool: tool,
		number: x.scope.call, ctx: ctx, revision: Revision(r.Header.Get(headerVersion)), arguments: p.Arguments, meta: p.Meta, declared: p.Meta[metaCapabilities]}}
	c.carrier = c
	if s.opts.Responses == SSE {
		x.open()
	}
	started := s.startPlay(func() {
		defer cancel()
		result, err := c.run()
		x, id := c.pending()
		switch {
		case ctx.Err() != nil:
			x.drop()
		case errors.Is(err, ErrUndeclared):
			x.respond(http.StatusBadRequest, errorFrame(id, missingCapability(err)))
		default:
			s.finish(x, id, c.revision, result)
		}
	})
	if started {
		c.wait(r, x)
	}
}

// wait waits for the end of a round. A client that hangs up before it has cancelled the call
// (basic/transports/streamable-http#cancellation).
func (c *modernCall) wait(r *http.Request, x *exchange) {
	if x.wait(r) {
		c.cancel()
	}
}

func (c *modernCall) pending() (*exchange, json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.x, c.id
}

// finish answers a call of the second era with its result.
func (s *Server) finish(x *exchange, id json.RawMessage, revision Revision, result CallToolResult) {
	full := s.complete(map[string]any{"content": result.Content})
	if result.IsError {
		full["isError"] = true
	}
	if result.StructuredContent != nil {
		full["structuredContent"] = result.StructuredContent
	}
	s.result(x, id, revision, schema.CallToolResult, full)
}

// missingCapability is how the second era says that a client has to declare more (basic/index#meta).
func missingCapability(undeclared error) *RPCError {
	needed := map[string]any{}
	if strings.HasSuffix(undeclared.Error(), "sampling.tools") {
		needed["tools"] = map[string]any{}
	}
	err := rpcErrorf(codeMissingCapability, "%v", undeclared)
	err.Data = mustEncode(map[string]any{"requiredCapabilities": map[string]any{"sampling": needed}})
	return err
}

// sample asks for all the samples in one InputRequiredResult.
func (c *modernCall) sample(requests []outgoing) []Answer {
	inputs, keys, wrong := map[string]any{}, make([]string, len(requests)), false
	for i, request := range requests {
		c.keys++
		keys[i] = fmt.Sprintf("%s-%d", c.tool.Name, c.keys)
		inputs[keys[i]] = rawInput{"sampling/createMessage", request.params}
		wrong = wrong || request.hostile
	}
	state := c.server.token()
	retry, err := c.ask(Input{Requests: inputs, State: &state}, wrong)
	answers := make([]Answer, len(requests))
	for i, key := range keys {
		switch {
		case err != nil:
			answers[i].Err = err
		case retry.Responses[key] == nil:
			answers[i].Err = fmt.Errorf("%w: the retry has no response under %s", errNotFulfilled, key)
		default:
			answers[i].Result = retry.Responses[key]
		}
	}
	return answers
}

type rawInput struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

func (c *modernCall) inputRequired(in Input) (*Retry, error) { return c.ask(in, true) }

// ask answers the pending round with an InputRequiredResult and waits for the retry. The call is parked before the client can see
// the result: its retry may be here at once.
func (c *modernCall) ask(in Input, hostile bool) (*Retry, error) {
	result := map[string]any{"resultType": "input_required", "_meta": map[string]any{metaServerInfo: c.server.info()}}
	if in.Requests != nil {
		result["inputRequests"] = in.Requests
	}
	if in.State != nil {
		result["requestState"] = *in.State
	}
	raw, err := encode(result)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if !hostile {
		c.server.validFrame(c.scope(), c.revision, schema.InputRequiredResult, raw)
	}
	c.park(in)
	x, id := c.pending()
	x.respond(http.StatusOK, resultFrame(id, raw))
	select {
	case retry := <-c.resume:
		return retry, nil
	case <-c.ctx.Done():
		return nil, fmt.Errorf("%w: no retry came", errNotFulfilled)
	}
}

// parking is a call that waits for its retry. It stays known after that, so that a second retry is seen for what it is.
type parking struct {
	call  *modernCall
	taken bool
}

// park makes the call known by its state or, without one, by each of its keys.
func (c *modernCall) park(in Input) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	waiting := &parking{call: c}
	if in.State != nil {
		c.server.byState[*in.State] = waiting
		return
	}
	for key := range in.Requests {
		c.server.byInput[key] = waiting
	}
}

// findParked returns the call that a retry continues; nil where none is known.
func (s *Server) findParked(tool *offered, p callParams) *parking {
	s.mu.Lock()
	defer s.mu.Unlock()
	var state string
	if p.RequestState != nil && json.Unmarshal(p.RequestState, &state) == nil {
		if waiting := s.byState[state]; waiting != nil && waiting.call.tool == tool {
			return waiting
		}
		return nil
	}
	for key := range p.InputResponses {
		if waiting := s.byInput[key]; waiting != nil && waiting.call.tool == tool {
			return waiting
		}
	}
	return nil
}

// claim reports whether the call is there and was still waiting; from then on it is not.
func (s *Server) claim(waiting *parking) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting == nil || waiting.taken {
		return false
	}
	waiting.taken = true
	return true
}

// next hands a retry to the play that waits for it, whose pending round it becomes.
func (c *modernCall) next(r *http.Request, x *exchange, id json.RawMessage, p callParams) {
	c.mu.Lock()
	c.x, c.id = x, id
	c.mu.Unlock()
	if c.server.opts.Responses == SSE {
		x.open()
	}
	c.resume <- &Retry{Responses: p.InputResponses, State: p.RequestState}
	c.wait(r, x)
}

// send writes a frame before the pending round's response, which makes a stream of it.
func (c *modernCall) send(frame []byte, hostile bool) error {
	x, _ := c.pending()
	return x.event(frame, hostile)
}

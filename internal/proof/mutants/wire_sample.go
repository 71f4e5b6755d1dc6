package mutants

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// JSON-RPC error codes of responses to sampling requests.
const (
	codeDeclined       = -1
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// Sample is one sampling request and what the client makes of it, in either era. Whether an edit applies to it can
// depend on all that is here: the request's number, its turn, its tools.
type Sample struct {
	Wire *Wire
	// Asked holds the params as the server sent them; nil if they are not an object.
	Asked object
	// Params holds the params as the client gets them.
	Params object
	// Number counts the sampling requests of the run from 1.
	Number int
	// Key is the key of the input request (modern era); "" in the legacy era. ID is the request's id (legacy era).
	Key string
	ID  any
	// Result or Error is what the client answers. Error is always nil in the modern era: such a client sends nothing.
	Result, Error object

	about     Facts // if the edit has a condition
	answered  bool  // in place of the client, before it was asked
	withheld  bool
	cancelled bool // by the server
}

// Turn is the number of the model's turn that the request is for, from 1.
func (s *Sample) Turn() int {
	turn := 1
	for _, m := range jsonvalue.Messages(s.Asked) {
		if m["role"] == "assistant" {
			turn++
		}
	}
	return turn
}

// Refuse answers with an error, in place of the client or instead of its result. In the modern era the client abandons
// the call.
func (s *Sample) Refuse(code int, message string) {
	s.Result, s.Error = nil, object{"code": code, "message": message}
}

// Answer answers with a result, in place of the client.
func (s *Sample) Answer(result object) { s.Result, s.Error = result, nil }

// Withhold keeps the request from the client. In the modern era the client answers the other input requests.
func (s *Sample) Withhold() { s.withheld = true }

// Call is a call of the modern era and its retries. Edits see it when they edit a retry.
type Call struct {
	// Method and Params are those of the call, and ID is its id.
	Method string
	Params object
	ID     any
	// Result is the result that asks for input, and States the states of all such results, nil for none.
	Result object
	States []*string
	// Retries is how many retries the client has made before this one.
	Retries int

	last    any  // id of the latest request
	asks    bool // the latest result asked for input
	samples map[string]*Sample
}

// stateMember is the member of results and retries that holds the state, in the revision of the call.
func (c *Call) stateMember() string {
	version, _ := member(c.Params, "_meta")[metaVersion].(string)
	return server.Revision(version).StateMember()
}

// Latest is the newest state before this round; nil if no result had one.
func (c *Call) Latest() *string {
	for _, state := range slices.Backward(c.States[:len(c.States)-1]) {
		if state != nil {
			return state
		}
	}
	return nil
}

// Call returns the latest call of the modern era; nil before the first.
func (w *Wire) Call() *Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.traffic.call
}

// sample edits a sampling request before the client sees it.
func (w *Wire) sample(params object, key string, id any, atOnce int) *Sample {
	s := &Sample{Wire: w, Params: params, Key: key, ID: id}
	if params != nil {
		s.Asked = copyOf(params)
	}
	if w.knows() {
		s.about = w.known(params, atOnce)
	}
	w.mu.Lock()
	w.sampled++
	s.Number = w.sampled
	w.ofCall = append(w.ofCall, s)
	w.mu.Unlock()
	applies := w.holds(s.about)
	if w.edit.Asked != nil && applies {
		w.edit.Asked(s)
	}
	s.answered = s.Result != nil || s.Error != nil
	if w.edit.Params != nil && applies && !s.answered && !s.withheld && w.Serves(s.Params) {
		w.edit.Params(s.Params)
	}
	return s
}

// Serves reports whether a correct client passes a request with these params to the model.
func (w *Wire) Serves(params object) bool {
	return w.Declares(params) && w.validate(params) == nil
}

func (w *Wire) validate(params object) error {
	return client.Validate(cmp.Or(w.Env.Revision, server.DefaultRevisions()[0]), params)
}

// Declares reports whether the client was told to declare what the request needs.
func (w *Wire) Declares(params object) bool {
	sampling, ok := w.told()["sampling"].(object)
	return ok && (sampling["tools"] != nil || params["tools"] == nil && params["toolChoice"] == nil)
}

// settle edits what the client answered.
func (w *Wire) settle(s *Sample) {
	if s.answered || !w.holds(s.facts()) {
		return
	}
	if w.edit.Result != nil && s.Result != nil {
		w.edit.Result(s.Result)
	}
	if w.edit.Answered != nil {
		w.edit.Answered(s)
	}
}

// asked handles a request from the server (legacy era).
func (w *Wire) asked(m *Message) {
	w.mu.Lock()
	w.traffic.toClient[Key(m.id)] = m
	if task := jsonvalue.TextIn(m.Params(), "taskId"); m.Method() == "tasks/result" {
		m.Sample = w.traffic.samples["task "+task]
	}
	w.mu.Unlock()
	if m.Method() != methodSample {
		return
	}
	params, _ := m.Body["params"].(object)
	m.Sample = w.sample(params, "", m.id, len(w.inFlight())+1)
	m.about = append(m.about, m.Sample.about)
	w.mu.Lock()
	w.traffic.samples[Key(m.id)] = m.Sample
	w.mu.Unlock()
	switch s := m.Sample; {
	case s.withheld:
		m.Drop()
	case s.Error != nil:
		m.Body["method"] = unknownMethod
	case s.Result != nil:
		m.Body["method"] = "ping"
		delete(m.Body, "params")
	}
}

// unknownMethod is a request that every client refuses.
const unknownMethod = "mutant/refused"

// answers handles a response of the client (legacy era).
func (w *Wire) answers(m *Message) {
	if m.Request == nil || m.Request.Sample == nil {
		return
	}
	s := m.Request.Sample
	m.Sample = s
	if task, ok := m.Result()["task"].(object); ok {
		w.mu.Lock()
		w.traffic.samples["task "+jsonvalue.TextIn(task, "taskId")] = s
		w.mu.Unlock()
		return
	}
	if !s.answered {
		s.Result, _ = m.Body["result"].(object)
		s.Error, _ = m.Body["error"].(object)
	}
	applies := w.applies(m)
	w.settle(s)
	delete(m.Body, "result")
	delete(m.Body, "error")
	if s.Error != nil {
		m.Body["error"] = s.Error
	} else {
		m.Body["result"] = s.Result
	}
	if w.edit.Response != nil && applies {
		w.edit.Response(m.Body)
	}
}

// wantsInput handles a result that may ask for input (modern era).
func (w *Wire) wantsInput(m *Message) {
	w.mu.Lock()
	c := w.traffic.call
	w.mu.Unlock()
	result, ok := m.Body["result"].(object)
	if c == nil || !ok || m.Request.Call() != c {
		return
	}
	c.asks = result["resultType"] == "input_required"
	if !c.asks {
		return
	}
	c.Result = copyOf(result)
	c.States = append(c.States, nil)
	if state, ok := result[c.stateMember()].(string); ok {
		c.States[len(c.States)-1] = &state
	}
	c.samples = map[string]*Sample{}
	requests, _ := result["inputRequests"].(object)
	samples := samplesIn(requests)
	for _, key := range slices.Sorted(maps.Keys(samples)) {
		request, _ := requests[key].(object)
		s := w.sample(samples[key], key, nil, len(samples))
		c.samples[key] = s
		m.about = append(m.about, s.about)
		switch {
		case s.withheld:
			delete(requests, key)
		case s.Error != nil:
			request["method"] = unknownMethod
		case s.Result != nil:
			request["method"] = "roots/list"
			delete(request, "params")
		}
	}
}

// Call returns the call that a message of the modern era makes or repeats, or nil.
func (m *Message) Call() *Call { return m.call }

// requests handles a request of the client.
func (w *Wire) requests(m *Message) {
	w.mu.Lock()
	w.traffic.toServer[Key(m.Body["id"])] = m
	c := w.traffic.call
	w.mu.Unlock()
	method, params := m.Method(), m.Params()
	if !slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, method) || m.nested() {
		return
	}
	w.mu.Lock()
	w.calling = cmp.Or(text(params, "name"), text(params, "uri"))
	w.mu.Unlock()
	if m.Meta()[metaVersion] == nil {
		w.calls()
		return
	}
	if c == nil || !c.asks || c.Method != method || c.Params["name"] != params["name"] {
		m.call = &Call{Method: method, Params: copyOf(params), ID: m.Body["id"], last: m.Body["id"]}
		w.calls()
		w.mu.Lock()
		w.traffic.call = m.call
		w.mu.Unlock()
		return
	}
	m.call, c.asks, c.last = c, false, m.Body["id"]
	responses, _ := params["inputResponses"].(object)
	for _, key := range slices.Sorted(maps.Keys(c.samples)) {
		s := c.samples[key]
		result, ok := responses[key].(object)
		if !ok {
			continue
		}
		if !s.answered {
			s.Result = result
		}
		w.settle(s)
		m.about = append(m.about, s.facts())
		if s.withheld {
			delete(responses, key)
		} else {
			responses[key] = s.Result
		}
		if s.Error != nil { // there is no error to send: the client has to abandon the call
			m.Drop()
			m.Reply("result", impossible())
			return
		}
	}
	if w.edit.Retry != nil && w.holds(c.facts(true)...) {
		w.edit.Retry(c, params)
	}
	c.Retries++
}

// calls forgets what belongs to the call before.
func (w *Wire) calls() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ofCall, w.failed = nil, false
}

func impossible() object {
	return object{"resultType": "input_required", "inputRequests": object{"refused": object{"method": unknownMethod}}}
}

package mutants

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Message is a message on the wire to the server, on its way in or out.
type Message struct {
	Wire *Wire
	// Body is the JSON-RPC message.
	Body object
	// Header holds the HTTP headers of a message that goes out; nil over stdio.
	Header http.Header
	// Request is what a response answers, as the side that asked wrote it; nil for other messages, and for a response
	// that nobody waits for.
	Request *Message
	// Sample is the sampling request that a message of the legacy era is, or answers; nil for others.
	Sample *Sample
	// Listening is true for a message from the stream that the client opened with GET, and Post is the request whose
	// response stream a message came on.
	Listening bool
	Post      *Message
	// Streamed is true for a message from an event stream.
	Streamed bool

	call          *Call
	id            any    // as it came
	renamed       string // the Key of the id that it got
	out           bool   // to the server
	dropped       bool
	reply         object
	before, after []object
	about         []Facts // of the samples that it belongs to, if somebody needs them
}

// Method returns the method; "" for a response.
func (m *Message) Method() string { return jsonvalue.TextIn(m.Body, "method") }

// Params returns the params, or an empty object that is not part of the message.
func (m *Message) Params() object { return member(m.Body, "params") }

// Meta returns the _meta of the params, or an empty object that is not part of the message.
func (m *Message) Meta() object { return member(m.Params(), "_meta") }

// Result returns the result of a response, or an empty object that is not part of the message.
func (m *Message) Result() object { return member(m.Body, "result") }

// IsRequest reports whether the message is a request.
func (m *Message) IsRequest() bool { return m.Method() != "" && m.Body["id"] != nil }

// IsResponse reports whether the message is a response.
func (m *Message) IsResponse() bool { return m.Method() == "" }

// nested reports whether the message calls a tool for the model, in a loop of the client's own. Its other calls have no
// arguments but those of the environment.
func (m *Message) nested() bool {
	return m.Method() == "tools/call" && len(member(m.Params(), "arguments")) > 0 &&
		m.Wire.Env.Arguments[text(m.Params(), "name")] == nil
}

// Answers reports whether the message is a response to a request of one of the methods.
func (m *Message) Answers(methods ...string) bool {
	for _, method := range methods {
		if m.IsResponse() && m.Request != nil && m.Request.Method() == method {
			return true
		}
	}
	return false
}

// AnswersSample reports whether the message is the response to a sampling request, and not that to tasks/result.
func (m *Message) AnswersSample() bool {
	return m.Sample != nil && m.IsResponse() && m.Request.Method() != "tasks/result" && m.Result()["task"] == nil
}

// Drop keeps the message from arriving. The side that sent it does not notice.
func (m *Message) Drop() { m.dropped = true }

// Reply answers a request of the client in place of the server.
func (m *Message) Reply(member string, value any) {
	m.reply = object{"jsonrpc": "2.0", "id": m.Body["id"], member: value}
}

// Before sends another message to the same side, before this one.
func (m *Message) Before(body object) { m.before = append(m.before, body) }

// After sends another message to the same side, after this one.
func (m *Message) After(body object) { m.after = append(m.after, body) }

// Key names an id, whatever its type.
func Key(id any) string { return string(jsonvalue.Marshal(id)) }

// member returns an object in an object, or an empty one.
func member(o object, name string) object {
	if inner, ok := o[name].(object); ok {
		return inner
	}
	return object{}
}

func copyOf(o object) object {
	c, err := jsonvalue.ReadObject(jsonvalue.Marshal(o))
	if err != nil {
		panic(fmt.Sprintf("mutants: copying an object: %v", err))
	}
	return c
}

// traffic is what the wire knows of the messages that went over it. The lock of the wire is held where it is used.
type traffic struct {
	toServer, toClient map[string]*Message // requests without a response, by id
	samples            map[string]*Sample  // by id of the request, or of the task
	renamed            map[renamed]any     // the ids that requests had
	call               *Call               // the latest one of the modern era
}

func newTraffic() traffic {
	return traffic{map[string]*Message{}, map[string]*Message{}, map[string]*Sample{}, map[renamed]any{}, nil}
}

// renamed is the id that the wire gave a request, and whether that was the client's.
type renamed struct {
	key string
	out bool
}

// Rename changes the id of a request. Its response gets the old one back.
func (w *Wire) Rename(m *Message, id any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if Key(id) != Key(m.Body["id"]) {
		m.renamed = Key(id)
		w.traffic.renamed[renamed{Key(id), m.out}] = m.Body["id"]
		m.Body["id"] = id
	}
}

// restore gives a response the id that its request had, and finds the request.
func (w *Wire) restore(m *Message, requests map[string]*Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := Key(m.Body["id"])
	if m.Post != nil && m.Post.renamed == key { // ids can repeat, and each response has its own stream
		m.Body["id"] = m.Post.id
		key = Key(m.Post.id)
	} else if id, ok := w.traffic.renamed[renamed{key, !m.out}]; ok {
		delete(w.traffic.renamed, renamed{key, !m.out})
		m.Body["id"] = id
		key = Key(id)
	}
	m.Request = requests[key]
	delete(requests, key)
}

// Running returns the ids of the server's sampling requests that the client has not answered yet.
func (w *Wire) Running() []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []any
	for _, m := range w.traffic.toClient {
		if m.Sample != nil {
			ids = append(ids, m.Body["id"])
		}
	}
	return ids
}

// Seen reports whether the server has sent a sampling request with the id, and whether the client has answered it.
func (w *Wire) Seen(id any) (seen, answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := Key(id)
	return w.traffic.samples[key] != nil, w.traffic.samples[key] != nil && w.traffic.toClient[key] == nil
}

// incoming edits a message from the server. It returns the messages that the client gets.
func (w *Wire) incoming(m *Message) []object {
	was := jsonvalue.Marshal(m.Body)
	m.id = m.Body["id"]
	if m.IsResponse() {
		w.restore(m, w.traffic.toServer)
	}
	if m.IsResponse() && m.Request == nil && w.isOwn(m.Body["id"]) {
		return nil
	}
	if w.edit.In != nil && w.applies(m) {
		w.edit.In(m)
	}
	switch {
	case m.dropped:
	case m.IsRequest():
		w.asked(m)
	case m.Request != nil:
		w.wantsInput(m)
	case m.Method() == methodCancelled:
		w.cancelled(m)
	}
	return w.changed(m, was)
}

// outgoing edits a message from the client. It returns the messages that the server gets.
func (w *Wire) outgoing(m *Message) []object {
	was := jsonvalue.Marshal(m.Body)
	m.id, m.out = m.Body["id"], true
	switch {
	case m.IsResponse():
		w.restore(m, w.traffic.toClient)
		w.answers(m)
	case m.IsRequest():
		w.requests(m)
	case m.Method() == methodCancelled:
		w.mu.Lock()
		key := Key(m.Params()["requestId"])
		if cancelled := w.traffic.toServer[key]; cancelled != nil {
			m.Params()["requestId"] = cancelled.Body["id"]
			delete(w.traffic.toServer, key)
		}
		w.mu.Unlock()
	}
	if w.edit.Declared != nil && w.applies(m) {
		if c, ok := m.Params()["capabilities"].(object); ok && m.Method() == "initialize" {
			w.edit.Declared(c)
		}
		if c, ok := m.Meta()[metaCapabilities].(object); ok {
			w.edit.Declared(c)
		}
	}
	if w.edit.Out != nil && w.applies(m) {
		w.edit.Out(m)
	}
	return w.changed(m, was)
}

// changed lists what arrives in place of a message, and notes whether that differs from the message.
func (w *Wire) changed(m *Message, was []byte) []object {
	var arrives []object
	arrives = append(arrives, m.before...)
	if !m.dropped {
		arrives = append(arrives, m.Body)
	}
	arrives = append(arrives, m.after...)
	if len(arrives) != 1 || m.dropped || m.reply != nil || !bytes.Equal(was, jsonvalue.Marshal(m.Body)) {
		w.fire(m.about)
	}
	return arrives
}

const (
	methodCancelled  = "notifications/cancelled"
	methodSample     = "sampling/createMessage"
	methodProgress   = "notifications/progress"
	methodTaskStatus = "notifications/tasks/status"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClientInfo   = "io.modelcontextprotocol/clientInfo"
	relatedTask      = "io.modelcontextprotocol/related-task"
)

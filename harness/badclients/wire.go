package badclients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
)

// object is a JSON object that is written as it is.
type object = map[string]any

// wire speaks the protocol as it should be spoken.
type wire struct {
	env     harness.Env
	client  *Client
	http    *http.Client
	session string
	ids     int
	// change alters a request before it is sent.
	change func(*http.Request)
}

// sample is a request for a sample: what to answer, and where.
type sample struct {
	id     json.RawMessage // of the request, in the first era
	params json.RawMessage
	stream io.Reader // that it came on, in the first era
	// retry is the call with its input, in the second era, less the answer; key is what the answer goes under.
	retry object
	key   string
	name  string // of the tool
}

func newWire(env harness.Env, c *Client) *wire {
	return &wire{env: env, client: c, http: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
}

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// result is what a call came to.
type result struct {
	ResultType    string                  `json:"resultType"`
	RequestState  *string                 `json:"requestState"`
	InputRequests map[string]message      `json:"inputRequests"`
	Tools         []struct{ Name string } `json:"tools"`
}

// build makes the HTTP request of a message.
func (w *wire) build(method, rpcMethod, name string, body io.Reader) *http.Request {
	r, err := http.NewRequest(method, w.env.URL, body)
	if err != nil {
		panic(err) // the URL was read before
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" || w.env.Revision.Modern() {
		r.Header.Set("MCP-Protocol-Version", string(w.env.Revision))
	}
	if w.session != "" {
		r.Header.Set("MCP-Session-Id", w.session)
	}
	if w.env.Revision.Modern() {
		r.Header.Set("Mcp-Method", rpcMethod)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	if w.change != nil {
		w.change(r)
	}
	return r
}

// post sends a message and returns the response.
func (w *wire) post(m object, name string) (*http.Response, error) {
	method, _ := m["method"].(string)
	return w.http.Do(w.build(http.MethodPost, method, name, bytes.NewReader(dialect.Marshal(m))))
}

// notify sends what is not answered, and reads what comes all the same.
func (w *wire) notify(m object) error {
	resp, err := w.post(m, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// request makes a request and returns its result, answering what is asked meanwhile.
func (w *wire) request(method, name string, params object) (*result, error) {
	w.ids++
	id := w.ids
	if w.env.Revision.Modern() {
		params["_meta"] = object{"io.modelcontextprotocol/protocolVersion": w.env.Revision, "io.modelcontextprotocol/clientCapabilities": w.env.Declare,
			"io.modelcontextprotocol/clientInfo": object{"name": "bad-client", "version": "1"}}
	}
	resp, err := w.post(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params}, name)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if w.session == "" {
		w.session = resp.Header.Get("MCP-Session-Id")
	}
	stream := bufio.NewReader(resp.Body)
	next := func() (m message, err error) {
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			return event(stream)
		}
		return m, json.NewDecoder(stream).Decode(&m)
	}
	for {
		m, err := next()
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: the answer ended (HTTP %d): %w", method, resp.StatusCode, err)
		case m.Method == "sampling/createMessage":
			w.answer(&sample{id: m.ID, params: m.Params, stream: stream, name: name})
		case m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error)
		case m.Result != nil:
			var r result
			return &r, json.Unmarshal(m.Result, &r)
		}
	}
}

// event reads the next message of a stream of server-sent events.
func event(r *bufio.Reader) (m message, err error) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return m, err
		}
		if data, ok := strings.CutPrefix(line, "data:"); ok && strings.TrimSpace(data) != "" {
			return m, json.Unmarshal([]byte(data), &m)
		}
	}
}

// open connects.
func (w *wire) open() error {
	if w.env.Revision.Modern() {
		return nil
	}
	if _, err := w.request("initialize", "", object{"protocolVersion": w.env.Revision, "capabilities": w.env.Declare,
		"clientInfo": object{"name": "bad-client", "version": "1"}}); err != nil {
		return err
	}
	return w.notify(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// tools are the tools to call.
func (w *wire) tools() ([]string, error) {
	if w.env.Tools != nil {
		return w.env.Tools, nil
	}
	r, err := w.request("tools/list", "", object{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// call calls a tool, and calls it again with what it asks for.
func (w *wire) call(name string) error {
	params := object{"name": name, "arguments": object{}}
	for {
		r, err := w.request("tools/call", name, params)
		if err != nil {
			return err
		}
		if r.ResultType != "input_required" {
			return nil
		}
		params = object{"name": name, "arguments": object{}, "inputResponses": object{}}
		if r.RequestState != nil {
			params["requestState"] = *r.RequestState
		}
		for key, in := range r.InputRequests {
			w.answer(&sample{params: in.Params, retry: params, key: key, name: name})
		}
	}
}

// answer answers a sample with what the model says, unless the client has another idea.
func (w *wire) answer(s *sample) {
	if w.client.asked != nil {
		w.client.asked(w, s)
		return
	}
	w.give(s, w.ask(s))
}

// ask asks the model.
func (w *wire) ask(s *sample) json.RawMessage {
	r, err := http.NewRequest(http.MethodPost, w.env.Model[dialect.Native], bytes.NewReader(s.params))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.http.Do(r)
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return answer
}

// give gives the answer: by a response, or as input of the call that is made again.
func (w *wire) give(s *sample, answer json.RawMessage) {
	if s.retry != nil {
		s.retry["inputResponses"].(object)[s.key] = answer
		return
	}
	_ = w.notify(object{"jsonrpc": "2.0", "id": s.id, "result": answer}) // that it was refused the server knows
}

// close ends the session.
func (w *wire) close() error {
	if w.session == "" {
		return nil
	}
	resp, err := w.http.Do(w.build(http.MethodDelete, "", "", nil))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return errors.New("the session could not be ended: " + resp.Status)
	}
	return nil
}

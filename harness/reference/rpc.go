package reference

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// message is any JSON-RPC message; ids stay as they were written.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *refusal        `json:"error,omitempty"`
}

// refusal is an error that came, with what it says besides.
type refusal struct {
	rpcError
	Data json.RawMessage `json:"data"`
}

func (r *refusal) Unwrap() error { return &r.rpcError }

// unpack returns the messages of what came as one: a message or, in 2025-03-26, a batch of them (basic/index#batching). Its error says that it is
// neither.
func (m *model) unpack(raw []byte) ([]message, error) {
	broken := &m.config.broken
	if m.env.Revision == server.V20250326 && bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("[")) && !broken.batches.unknown {
		var batch []message
		err := json.Unmarshal(raw, &batch)
		if broken.batches.firstOnly {
			batch = batch[:min(len(batch), 1)]
		}
		return batch, err
	}
	var one message
	err := json.Unmarshal(raw, &one)
	return []message{one}, err
}

// object reads a JSON object, its numbers as they were written.
func object(raw []byte) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var o map[string]any
	if err := dec.Decode(&o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, fmt.Errorf("want an object, got null")
	}
	return o, nil
}

// marshal is json.Marshal without the escaping of HTML, which would change a text's bytes on the wire.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("reference: encoding a %T of our own: %v", v, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// post sends a JSON body and returns the response, whatever its status.
func post(ctx context.Context, c *http.Client, url string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return c.Do(req)
}

// statusError reads a response that is no success into an error.
func statusError(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // the status alone says enough
	var m message
	if json.Unmarshal(body, &m) == nil && m.Error != nil {
		return fmt.Errorf("HTTP %d: %w", resp.StatusCode, m.Error)
	}
	return &statusCode{resp.StatusCode, string(body)}
}

// statusCode is a response that is no success, and holds no error of the protocol.
type statusCode struct {
	code int
	body string
}

func (s *statusCode) Error() string { return fmt.Sprintf("HTTP %d: %s", s.code, s.body) }

// messages calls take with each JSON-RPC message of a response, stream or not, until take returns false.
func (m *model) messages(resp *http.Response, at *reading, take func(*message) bool) error {
	var bad error
	one := func(raw []byte) bool {
		if len(raw) == 0 { // an event that only primes reconnection
			return true
		}
		several, err := m.unpack(raw)
		if err != nil && m.config.broken.batches.skipped {
			return true
		} else if bad = err; bad != nil {
			return false
		}
		for i := range several {
			if !take(&several[i]) {
				return false
			}
		}
		return true
	}
	if isStream(resp) {
		err := at.events(resp.Body, one)
		if bad != nil {
			return bad
		}
		return err
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	one(raw)
	return bad
}

// resultOf is what a request comes to: the result of its response, or an error.
func resultOf(response *message, err error) (json.RawMessage, error) {
	switch {
	case err != nil:
		return nil, err
	case response == nil:
		return nil, errors.New("the stream ended without a response")
	case response.Error != nil:
		return nil, response.Error
	}
	return response.Result, nil
}

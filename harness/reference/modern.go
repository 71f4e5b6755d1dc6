package reference

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/harness"
)

// maxRounds is how often a call may come back for input before the client gives up on it.
const maxRounds = 80

// modern is the wire of the second era: every request stands alone, and sampling comes as a result that asks for input.
type modern struct {
	env    harness.Env
	model  *model
	pipe   *pipe // nil over HTTP
	lastID atomic.Int64
}

// openModern launches the server, where it is launched; there is nothing to connect to.
func openModern(ctx context.Context, env harness.Env, m *model) (*modern, error) {
	wire := &modern{env: env, model: m}
	if env.Launch == nil {
		return wire, nil
	}
	var err error
	wire.pipe, err = openPipe(ctx, m, func(n *message) func() error {
		if n.ID == nil { // a request has no place here and gets no answer
			m.noted(n)
		}
		return nil
	})
	return wire, err
}

// result is the part of a result that says how to go on.
type result struct {
	ResultType    string             `json:"resultType"`
	InputRequests map[string]message `json:"inputRequests"`
	RequestState  *string            `json:"requestState"`
}

// request sends a request, and again with what was asked for, until it is complete (basic/patterns/mrtr).
func (m *modern) request(base context.Context, method string, params map[string]any) (json.RawMessage, error) {
	ctx, params, done := m.model.begin(base, method, params)
	defer done()
	retry := params
	for range maxRounds {
		raw, err := m.once(ctx, method, retry)
		if isGivenUp(ctx) {
			return nil, errToldTo
		}
		if err != nil {
			return nil, err
		}
		var r result
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, err
		}
		switch r.ResultType {
		case "", "complete":
			return raw, nil
		case "input_required":
		default:
			return nil, fmt.Errorf("result type %q is unknown", r.ResultType)
		}
		retry = maps.Clone(params)
		if r.RequestState != nil {
			retry["requestState"] = *r.RequestState
		}
		if r.InputRequests != nil {
			responses, err := m.fulfil(ctx, r.InputRequests)
			if isGivenUp(ctx) {
				return m.givesUp(base, method, retry)
			}
			if err != nil && m.model.config.broken.diesOf(err) {
				return nil, errors.New("broken on purpose: " + err.Error())
			}
			if isDeclined(err) && m.model.config.broken.consent.retriesWithout {
				responses, err = map[string]any{}, nil
			}
			if err != nil {
				// Nothing is owed to the server, which must not count on a retry. The call is over, and what it was for has failed.
				return raw, nil
			}
			retry["inputResponses"] = responses
		}
	}
	return nil, fmt.Errorf("%w after %d rounds of input", errGivenUp, maxRounds)
}

// givesUp gives up a call that has come back for input: the request is over, so that there is nothing to cancel, and no other one is due.
func (m *modern) givesUp(ctx context.Context, method string, retry map[string]any) (json.RawMessage, error) {
	broken := &m.model.config.broken
	if broken.cancelsEnded {
		if err := m.notify(ctx, m.model.cancels(m.lastID.Load())); err != nil {
			return nil, err
		}
	}
	if broken.retriesGivenUp {
		retry["inputResponses"] = map[string]any{}
		return m.once(ctx, method, retry)
	}
	return nil, errToldTo
}

// notify sends a notification.
func (m *modern) notify(ctx context.Context, n map[string]any) error {
	if m.pipe != nil {
		return m.pipe.send(n)
	}
	resp, err := post(ctx, m.env.HTTP, m.env.URL, http.Header{"Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(m.env.Revision)}, "Mcp-Method": {methodCancelled}}, marshal(n))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

var errGivenUp = errors.New("given up")

// fulfil answers every input request, or none.
func (m *modern) fulfil(ctx context.Context, requests map[string]message) (map[string]any, error) {
	responses := map[string]any{}
	broken := &m.model.config.broken
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		if method := requests[key].Method; method != "sampling/createMessage" {
			return nil, fmt.Errorf("input request %s: method %q was not declared", key, method)
		}
		if broken.neverAnswers {
			return nil, errors.New("broken on purpose: never answers")
		}
		answer, err := m.model.createMessage(ctx, requests[key].Params)
		if err != nil && isDeclined(err) && broken.consent.answersWithError {
			answer, err = map[string]any{"error": err}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("input request %s: %w", key, err)
		}
		if broken.runsTools || broken.runsUnoffered {
			m.model.runTools(ctx, m, requests[key].Params, answer)
		}
		responses[key] = answer
	}
	return responses, nil
}

// once sends one request of its own id and returns the result.
func (m *modern) once(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	params = maps.Clone(params)
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    m.env.Revision,
		"io.modelcontextprotocol/clientInfo":         clientInfo,
		"io.modelcontextprotocol/clientCapabilities": m.model.capabilities(),
	}
	if given, ok := params["_meta"].(map[string]any); ok {
		maps.Copy(meta, given)
	}
	params["_meta"] = meta
	broken := &m.model.config.broken
	if broken.meta != nil {
		broken.meta(params, meta)
	}
	id := m.lastID.Add(1)
	if m.pipe != nil {
		answer, err := m.pipe.request(ctx, id, method, params)
		return resultOf(answer, err)
	}
	header := http.Header{
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(m.env.Revision)},
		"Mcp-Method":           {method},
	}
	if name, ok := params["name"].(string); ok {
		header.Set("Mcp-Name", headerValue(name))
	}
	if broken.header != nil {
		broken.header(params, header)
	}
	resp, err := post(ctx, m.env.HTTP, m.env.URL, header, marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp)
	}
	var answer *message
	err = messages(resp, func(got *message) bool {
		if got.Method == "" && string(got.ID) == fmt.Sprint(id) {
			answer = got
		} else if got.ID == nil {
			m.model.noted(got)
		}
		return answer == nil // anything else is a notification, or a request, which has no place here and gets no answer
	})
	return resultOf(answer, err)
}

// headerValue encodes a value that is no plain header (basic/transports/streamable-http#value-encoding).
func headerValue(v string) string {
	plain := v == strings.TrimSpace(v) && !(strings.HasPrefix(v, "=?base64?") && strings.HasSuffix(v, "?="))
	for _, c := range v {
		plain = plain && c >= 0x20 && c <= 0x7e
	}
	if plain {
		return v
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(v)) + "?="
}

func (m *modern) close(context.Context) error {
	if m.pipe != nil {
		return m.pipe.close()
	}
	return nil
}

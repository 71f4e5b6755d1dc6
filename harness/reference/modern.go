package reference

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/harness"
)

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
	wire.pipe, err = openPipe(ctx, m, func(n *message) func() error { return wire.take(ctx, n) })
	return wire, err
}

// take takes a message of the server's that is no response, and returns what there is to do about it. A request has no place here and gets
// no answer.
func (m *modern) take(ctx context.Context, n *message) func() error {
	if n.ID == nil {
		m.model.noted(n)
		return nil
	}
	answers := m.direct(ctx)
	if answers == nil {
		return nil
	}
	return func() error { return answers(n) }
}

// once sends one request of its own id and returns the result.
func (m *modern) once(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	params = maps.Clone(params)
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    m.env.Revision,
		"io.modelcontextprotocol/clientInfo":         clientInfo,
		"io.modelcontextprotocol/clientCapabilities": m.model.capabilities(),
	}
	number := m.lastID.Add(1)
	if method == "tools/call" {
		meta["progressToken"] = m.model.token(number)
	}
	params["_meta"] = meta
	broken := &m.model.config.broken
	if broken.meta != nil {
		broken.meta(params, meta)
	}
	if broken.keyInMeta {
		meta["example.com/context"] = map[string]any{"key": m.env.Key}
	}
	id := any(number)
	if broken.rounds.fractions && params["name"] == nil && params["uri"] == nil {
		id = 1.5
	}
	if m.pipe != nil {
		answer, err := m.pipe.request(ctx, id, method, params)
		return resultOf(answer, err)
	}
	header := http.Header{
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(m.env.Revision)},
		"Mcp-Method":           {method},
	}
	for _, member := range []string{"name", "uri"} {
		if name, ok := params[member].(string); ok {
			header.Set("Mcp-Name", headerValue(name))
		}
	}
	if broken.header != nil {
		broken.header(params, header)
	}
	if broken.allHeaders != nil {
		broken.allHeaders(m.env.Key, header)
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
	err = m.model.messages(resp, &reading{broken: broken.transport}, func(got *message) bool {
		if got.Method == "" && string(got.ID) == fmt.Sprint(id) {
			answer = got
		} else if work := m.take(ctx, got); work != nil && got.Method != "" {
			_ = work() // the server says that it was wrong, which is no matter here
		}
		return answer == nil
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

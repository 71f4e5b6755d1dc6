package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// stateless is the protocol of 2026-07-28: every request stands alone, and a result may ask for input.
type stateless struct {
	client   *Client
	revision server.Revision
	pipe     *pipe // nil over HTTP
	lastID   atomic.Int64
}

// openStateless launches the server over stdio. Over HTTP there is nothing to open.
func (c *Client) openStateless() (*stateless, error) {
	s := &stateless{client: c, revision: c.Revision()}
	if c.options.Launch == nil {
		return s, nil
	}
	var err error
	s.pipe, err = c.openPipe(s.take)
	return s, err
}

// take receives a message that is not a response. Requests of the server do not exist in this revision and get none.
func (s *stateless) take(_ context.Context, m *message) func() error {
	if m.Method != "" && m.ID == nil {
		s.client.notified(m)
	}
	return nil
}

// once sends one request under an id of its own and returns its result.
func (s *stateless) once(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	id := s.lastID.Add(1)
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    s.revision,
		"io.modelcontextprotocol/clientInfo":         s.client.options.Info,
		"io.modelcontextprotocol/clientCapabilities": s.client.capabilities(),
	}
	if method == "tools/call" {
		meta["progressToken"] = id
	}
	params = maps.Clone(params)
	params["_meta"] = withMeta(params, meta)
	if s.pipe != nil {
		return resultOf(s.pipe.request(ctx, id, method, params))
	}
	resp, err := s.client.post(ctx, s.headers(method, params), request(id, method, params))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, readStatus(resp)
	}
	var answer *message
	err = s.client.messages(resp, &sse.Reader{}, func(m *message) bool {
		if m.Method == "" && string(m.ID) == fmt.Sprint(id) {
			answer = m
		}
		s.take(ctx, m)
		return answer == nil
	})
	return resultOf(answer, err)
}

// headers repeat parts of the request (basic/transports/streamable-http).
func (s *stateless) headers(method string, params map[string]any) http.Header {
	header := http.Header{"Accept": {jsonOrEvents}, headerRevision: {string(s.revision)}, "Mcp-Method": {method}}
	for _, member := range []string{"name", "uri"} {
		if name, ok := params[member].(string); ok {
			header.Set("Mcp-Name", headerValue(name))
		}
	}
	return header
}

// headerValue encodes a value that cannot be a plain header (basic/transports/streamable-http#value-encoding).
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

func (s *stateless) close() error {
	if s.pipe != nil {
		return s.pipe.close()
	}
	return nil
}

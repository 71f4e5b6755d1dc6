package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// sampledParams calls the tool "ask" with a _meta and returns the params of its sampling request.
func (c *httpClient) sampledParams(meta string) string {
	c.t.Helper()
	c.meta = meta
	call := c.call(1, "ask")
	if c.revision.Modern() {
		return string(loosely(call.last().call(c.t).InputRequests["ask-1"]).Params)
	}
	sample := call.next()
	c.post(sample.response(`{}`))
	call.last()
	return string(sample.Params)
}

func TestMetaOfTheCallIsCopiedIntoSamples(t *testing.T) {
	const raw = `{ "messages":[], "maxTokens":1.0,` + "\n" + `"x":"<>" }`
	const params = `"maxTokens":1,"messages":[]}`
	for name, c := range map[string]struct {
		meta   string
		params any
		want   string
	}{
		"nothing to copy": {``, json.RawMessage(raw), raw},
		"reserved fields": {`"progressToken":"p","io.modelcontextprotocol/related-task":{"taskId":"1"}`,
			json.RawMessage(raw), raw},
		"one field": {`"progressToken":"p","com.example/tie":{"a": 1},"io.modelcontextprotocol/x":1`, json.RawMessage(raw),
			`{"_meta":{"com.example/tie":{"a":1}},"maxTokens":1.0,"messages":[],"x":"<>"}`},
		"own fields win": {`"a":1,"b":2`, json.RawMessage(`{"_meta":{"b":3,"c":4},` + params),
			`{"_meta":{"a":1,"b":3,"c":4},` + params},
		"trace context": {`"traceparent":"00-0a-00-01"`, json.RawMessage(`{` + params),
			`{"_meta":{"traceparent":"00-0a-00-01"},` + params},
		"hostile null _meta": {`"a":1`, json.RawMessage(`{"_meta":null}`), `{"_meta":null}`},
		"hostile array":      {`"a":1`, json.RawMessage(`[1]`), `[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, append(server.AllRevisions()[:1], bothProtocols...), func(t *testing.T, revision server.Revision) {
				var hostile []server.RequestOption
				if strings.HasPrefix(name, "hostile") {
					hostile = append(hostile, server.Hostile())
				}
				c2 := start(t, tool("ask", samples(c.params, hostile...))).client(revision, tools)
				require.Equal(t, c.want, c2.sampledParams(c.meta))
			})
		})
	}
}

func TestNoMetaEcho(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		c := startWith(t, server.Options{NoMetaEcho: true}, tool("ask", ask)).client(revision, tools)
		require.NotContains(t, c.sampledParams(`"a":1`), "_meta")
	})
}

package server_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestStartSaysWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, taken.Close())
	good := server.Tool{Name: "good", Handler: always(nil, nil)}
	schema := func(raw string) server.Tool {
		return server.Tool{Name: "t", Handler: always(nil, nil), InputSchema: json.RawMessage(raw)}
	}
	for name, c := range map[string]struct {
		options server.Options
		tools   []server.Tool
		want    string
	}{
		"no revision":         {server.Options{Revisions: []server.Revision{}}, nil, "no revision to speak: want some of [2025-03-26 2025-06-18 2025-11-25 2026-07-28], or nil for all"},
		"unknown revision":    {server.Options{Revisions: []server.Revision{"2024-11-05"}}, nil, `revision "2024-11-05" is unknown: want one of [2025-03-26 2025-06-18 2025-11-25 2026-07-28]`},
		"no name":             {server.Options{}, []server.Tool{{Handler: always(nil, nil)}}, `tool name "": want 1 to 128 characters of [A-Za-z0-9_.-]`},
		"long name":           {server.Options{}, []server.Tool{{Name: strings.Repeat("a", 129), Handler: always(nil, nil)}}, "want 1 to 128 characters"},
		"no play":             {server.Options{}, []server.Tool{{Name: "t"}}, "tool t has no play"},
		"twice":               {server.Options{}, []server.Tool{good, good}, "tool good is offered twice"},
		"schema not JSON":     {server.Options{}, []server.Tool{schema(`{`)}, "input schema of tool t: unexpected EOF"},
		"schema not written":  {server.Options{}, []server.Tool{{Name: "t", Handler: always(nil, nil), InputSchema: make(chan int)}}, "input schema of tool t: json: unsupported type: chan int"},
		"schema of a string":  {server.Options{}, []server.Tool{schema(`{"type":"string"}`)}, `input schema of tool t: want a schema with "type": "object", got {"type":"string"}`},
		"schema not valid":    {server.Options{}, []server.Tool{schema(`{"type":"object","required":1}`)}, "input schema of tool t: "},
		"reference to a file": {server.Options{}, []server.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`)}, "input schema of tool t: failing loading \"file:///etc/passwd\": file:///etc/passwd is outside of the schema, and references are not followed"},
		"reference outwards":  {server.Options{}, []server.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}`)}, "https://example.com/a is outside of the schema, and references are not followed"},
		"unknown dialect":     {server.Options{}, []server.Tool{schema(`{"type":"object","$schema":"https://example.com/mine"}`)}, "https://example.com/mine is outside of the schema, and references are not followed"},
		"endless number":      {server.Options{}, []server.Tool{schema(`{"type":"object","properties":{"a":{"maximum":1e999999999}}}`)}, "input schema of tool t: a number is out of all bounds: 1e999999999"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := server.Start(c.options, c.tools...)
			require.Nil(t, srv)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestOlderDialectsOfJSONSchemaAreUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always(nil, nil),
			InputSchema: json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}]}}}`)})
		got := r.legacy(server.V20251125, nothing).post(request(1, "tools/call", `{"name":"tool","arguments":{"a":[1]}}`)).last().call(t)
		require.Equal(t, "the arguments of tool do not fit its input schema: arguments.a.0: got number, want string", got.text(t))
	})
}

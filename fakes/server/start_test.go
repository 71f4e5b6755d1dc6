package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestStartRejectsInvalidOptionsAndTools(t *testing.T) {
	good := tool("good", ask)
	withSchema := func(schema any) server.Tool { return server.Tool{Name: "t", Handler: ask, InputSchema: schema} }
	schema := func(raw string) server.Tool { return withSchema(json.RawMessage(raw)) }
	for name, c := range map[string]struct {
		revisions []server.Revision
		tools     []server.Tool
		want      string
	}{
		"no revision": {[]server.Revision{}, nil,
			fmt.Sprintf("expected some of %v, or nil for all", server.AllRevisions())},
		"unknown revision": {[]server.Revision{"2024-11-05"}, nil, `"2024-11-05"`},
		"no name":          {nil, []server.Tool{{Handler: ask}}, `tool name ""`},
		"long name":        {nil, []server.Tool{tool(strings.Repeat("a", 129), ask)}, "expected 1 to 128 characters"},
		"no handler":       {nil, []server.Tool{{Name: "t"}}, "tool t has no Handler"},
		"unknown carrier": {nil, []server.Tool{{Name: "t", Carrier: "tools/list", Handler: ask}},
			"expected prompts/get, resources/read"},
		"duplicate":          {nil, []server.Tool{good, good}, "two tools are named good"},
		"schema is not JSON": {nil, []server.Tool{schema(`{`)}, "input schema of tool t: unexpected EOF"},
		"schema is a channel": {nil, []server.Tool{withSchema(make(chan int))},
			"input schema of tool t: json: unsupported type: chan int"},
		"schema of a string": {nil, []server.Tool{schema(`{"type":"string"}`)}, `found {"type":"string"}`},
		"invalid schema":     {nil, []server.Tool{schema(`{"type":"object","required":1}`)}, "input schema of tool t: "},
		"reference to a file": {nil,
			[]server.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`)},
			"file:///etc/passwd is outside of the schema"},
		"external reference": {nil,
			[]server.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}`)},
			"https://example.com/a is outside of the schema"},
		"unknown dialect": {nil, []server.Tool{schema(`{"type":"object","$schema":"https://example.com/mine"}`)},
			"https://example.com/mine is outside of the schema"},
		"huge number": {nil, []server.Tool{schema(`{"type":"object","properties":{"a":{"maximum":1e999999999}}}`)},
			"out of range: 1e999999999"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, err := server.Start(server.Options{Revisions: c.revisions}, c.tools...)
			require.Nil(t, srv)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestInputSchemaMayBeInDraft07(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, server.Tool{Name: "tool", Handler: ask, InputSchema: json.RawMessage(`{
			"$schema":"http://json-schema.org/draft-07/schema#",
			"type":"object","properties":{"a":{"items":[{"type":"string"}]}}}`)}).legacy(nothing)
		require.Contains(t, c.call(1, "tool", `"arguments":{"a":[1]}`).text(), "arguments.a.0: expected string, found number")
	})
}

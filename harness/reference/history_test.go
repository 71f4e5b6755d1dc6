package reference

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAHistoryIsRefusedWhereUsesAndResultsDoNotBalance(t *testing.T) {
	const (
		ask     = `{"role":"user","content":{"type":"text","text":"Weather?"}}`
		use     = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"w","input":{}},{"type":"tool_use","id":"b","name":"w","input":{}}]}`
		resultA = `{"type":"tool_result","toolUseId":"a","content":[]}`
		resultB = `{"type":"tool_result","toolUseId":"b","content":[]}`
		text    = `{"type":"text","text":"and?"}`
	)
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	for name, c := range map[string]struct{ messages, want string }{
		"a question":        {ask, ""},
		"balanced":          {ask + "," + use + "," + user(resultB+","+resultA), ""},
		"gone on from":      {ask + "," + use + "," + user(resultA+","+resultB) + "," + `{"role":"assistant","content":` + text + `}`, ""},
		"missing result":    {ask + "," + use + "," + user(resultA), "messages[2]: a tool use before it has no result"},
		"no result":         {ask + "," + use + "," + user(text), "messages[2]: a tool use before it has no result"},
		"trailing use":      {ask + "," + use, "the history ends with a tool use that has no result"},
		"mixed content":     {ask + "," + use + "," + user(resultA+","+resultB+","+text), "messages[2]: tool results are mixed with other content"},
		"orphan result":     {user(resultA), `messages[0]: tool result for "a" has no tool use in the message before it`},
		"duplicate result":  {ask + "," + use + "," + user(resultA+","+resultA), `messages[2]: tool result for "a" is there twice`},
		"duplicate use":     {ask + `,{"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"tool_use","id":"a"}]}`, `messages[1]: tool use "a" is there twice`},
		"use in user":       {user(`{"type":"tool_use","id":"a"}`), `messages[0]: tool use "a" is under the role user`},
		"late result":       {ask + "," + use + "," + user(text) + "," + user(resultA+","+resultB), "messages[2]: a tool use before it has no result"},
		"result elsewhere":  {ask + `,{"role":"assistant","content":[` + resultA + `]}`, `messages[1]: tool result for "a" is under the role assistant`},
		"unknown role":      {`{"role":"system","content":[]}`, `messages[0]: role "system" is neither user nor assistant`},
		"unknown content":   {user(`{"type":"video"}`), "messages[0]: content type video is unknown"},
		"content a string":  {`{"role":"user","content":"hello"}`, "messages[0]: content block 0 is not an object"},
		"a message is null": {"null", "messages[0] is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			params, err := object(fmt.Appendf(nil, `{"maxTokens":1,"messages":[%s]}`, c.messages))
			require.NoError(t, err)
			if err = checkRequest(params); c.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
	require.EqualError(t, checkRequest(map[string]any{"messages": []any{}}), "maxTokens is missing")
	require.EqualError(t, checkRequest(map[string]any{"maxTokens": 1}), "messages is not an array")
}

func TestMutantsAreFoundByTheirNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Mutants() {
		require.False(t, seen[m.Name], "%s is there twice", m.Name)
		seen[m.Name] = true
		require.NotEmpty(t, m.Doc, m.Name)
		require.NotEmpty(t, m.Kills, m.Name)
		require.Equal(t, m.Name, Find(m.Name).Name)
	}
	require.Nil(t, Find("no-such-mutant"))
}

package server_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// runTool calls a tool with a client that declares tools and answers its samples in order.
func runTool(t *testing.T, revision server.Revision, tool server.Tool, answers ...string) (asked []string,
	text string) {
	synctest.Test(t, func(t *testing.T) {
		tool.Name = "tool"
		text = start(t, tool).client(revision, tools).converse("tool", func(params string) string {
			asked = append(asked, params)
			return answers[len(asked)-1]
		}).text(t)
	})
	return asked, text
}

func TestAskAddsTheMarkToItsTexts(t *testing.T) {
	asked, _ := runTool(t, server.V20251125, server.Tool{Mark: "m7", Handler: does(func(s *server.Session) {
		for _, text := range []string{"one", "two"} {
			_, err := s.Sample(s.Ask(text, server.Tool{Name: "t", Description: "d"}))
			require.NoError(t, err)
		}
	})}, sampled("a"), sampled("b"))
	const rest = `,"maxTokens":1000,"tools":[{"name":"t","description":"d",` +
		`"inputSchema":{"properties":{},"type":"object"}}]}`
	require.Equal(t, []string{
		`{"messages":[{"role":"user","content":{"type":"text","text":"one (conversation m7n1)"}}],` +
			`"systemPrompt":"You are a helpful assistant. (conversation m7n1)"` + rest,
		`{"messages":[{"role":"user","content":{"type":"text","text":"two (conversation m7n2)"}}],` +
			`"systemPrompt":"You are a helpful assistant. (conversation m7n2)"` + rest,
	}, asked)
}

// results returns the name of each tool use as its result.
func results(uses []server.ToolUseContent) []server.ToolResultContent {
	var given []server.ToolResultContent
	for _, use := range uses {
		given = append(given, use.Result(server.Text(use.Name)))
	}
	return given
}

// asksWithResults is a handler that samples, and samples again with the tool results.
func asksWithResults(s *server.Session) (any, error) {
	ask := s.Ask("?", server.Tool{Name: "t"})
	first, err := s.Sample(ask)
	if err != nil {
		return nil, err
	}
	next := ask.After(first, results)
	if len(ask.Messages) != 1 {
		panic("After changed the request")
	}
	return s.Sample(next)
}

func TestAfterContinuesWithTheToolResults(t *testing.T) {
	const use = `{"type":"tool_use","id":"c1","name":"t","input":{"a": 1.0}}`
	for _, content := range []string{use, `[{"type":"text","text":"let me see"},` + use + `]`} {
		for _, revision := range bothProtocols {
			asked, text := runTool(t, revision, server.Tool{Handler: asksWithResults},
				`{"role":"user","model":"m","content":`+content+`}`, sampled("done"))
			require.Equal(t, sampled("done"), text)
			var p struct {
				Messages []json.RawMessage `json:"messages"`
			}
			require.NoError(t, json.Unmarshal([]byte(asked[1]), &p))
			require.Len(t, p.Messages, 3)
			require.JSONEq(t, `{"role":"assistant","content":`+content+`}`, string(p.Messages[1]))
			require.JSONEq(t, `{"role":"user","content":[{"type":"tool_result","toolUseId":"c1",`+
				`"content":[{"type":"text","text":"t"}]}]}`,
				string(p.Messages[2]))
		}
	}
}

func TestAfterReportsAResultThatCannotBeContinued(t *testing.T) {
	content := func(content string) string { return `{"role":"assistant","model":"m","content":` + content + `}` }
	for want, answers := range map[string][]string{
		"has no tool use": {content(`{"type":"text","text":"no"}`), content(`[]`),
			`{"role":"assistant","model":"m"}`},
		`must be an object, found "text"`:   {`"text"`},
		"must be an object, found null":     {`null`},
		": messages[1].content.input":       {content(`{"type":"tool_use","id":"c","name":"t","input":7}`)},
		": messages[1].content[1]: missing": {content(`[{"type":"tool_use","id":"c","name":"t","input":{}},{}]`)},
		"cannot be continued: the request":  {content(`{"type":"tool_use","id":"c","name":"t","input":7}`)},
	} {
		for _, answer := range answers {
			_, text := runTool(t, server.V20251125, server.Tool{Handler: func(s *server.Session) (any, error) {
				_, err := asksWithResults(s)
				require.False(t, server.Refused(err))
				return nil, err
			}}, answer)
			require.Contains(t, text, want)
		}
	}
}

func TestToolUses(t *testing.T) {
	for _, result := range []string{``, `null`, `7`, `{}`, `{"content":7}`,
		`{"content":[{"type":"tool_use","id":1,"name":"b"}]}`,
		`{"content":[7,null,{"type":"text"},{"Type":"tool_use"}]}`} {
		require.Empty(t, server.ToolUses(json.RawMessage(result)), result)
	}
	require.Equal(t, []server.ToolUseContent{{Type: "tool_use", ID: "a", Name: "b", Input: json.RawMessage(`{"c": 1}`)}},
		server.ToolUses(json.RawMessage(`{"content":{"type":"tool_use","id":"a","name":"b","input":{"c": 1}}}`)))
	const two = `{"content":[{"type":"tool_use","id":"a"},{"type":"text"},{"type":"tool_use","name":"b"}]}`
	require.Equal(t, []server.ToolUseContent{{Type: "tool_use", ID: "a"}, {Type: "tool_use", Name: "b"}},
		server.ToolUses(json.RawMessage(two)))
}

func TestContentBlocksMarshalAsInTheProtocol(t *testing.T) {
	use := server.ToolUseContent{ID: "a"}
	failed := use.Result()
	failed.IsError, failed.StructuredContent = true, map[string]int{"b": 1}
	const result = `{"type":"tool_result","toolUseId":"a","content":[]`
	for want, block := range map[string]any{
		`{"type":"text","text":""}`:                             server.Text(""),
		`{"type":"image","data":"AP8=","mimeType":"image/png"}`: server.Image("image/png", []byte{0, 255}),
		`{"type":"image","data":"","mimeType":"image/png"}`:     server.Image("image/png", nil),
		`{"type":"audio","data":"","mimeType":"audio/wav"}`:     server.Audio("audio/wav", nil),
		result + `}`: use.Result(),
		result + `,"structuredContent":{"b":1},"isError":true}`: failed,
	} {
		raw, err := json.Marshal(block)
		require.NoError(t, err)
		require.Equal(t, want, string(raw))
	}
}

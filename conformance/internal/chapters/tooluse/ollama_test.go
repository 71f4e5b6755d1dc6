package tooluse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAnIDThatIsNotReadTellsNobodyThatAToolFailed(t *testing.T) {
	given := func(failed string) []dialect.Block {
		req, err := llm.Decode(dialect.Ollama, "/api/chat", []byte(`{"model":"llama3.2:no-ids","messages":[{"role":"assistant","tool_calls":[
			{"id":"a","function":{"name":"w","arguments":{}}},{"id":"b","function":{"name":"w","arguments":{}}}]},
			{"role":"tool","content":"one","tool_name":"w","tool_call_id":"a"},{"role":"tool","content":"`+failed+`two","tool_name":"w","tool_call_id":"b"}]}`))
		require.NoError(t, err)
		return evidence.Turns(req.Messages, dialect.ToolResult)
	}
	sent := func(text string) *dialect.Block {
		return &dialect.Block{Content: []dialect.Block{{Type: dialect.Text, Text: text}}}
	}
	use := &dialect.Block{Input: []byte(`{}`)}
	silent, telling := given(""), given("Error: ")
	require.Equal(t, tracetest.Shape(&silent[0], sent("one"), use), tracetest.Shape(&silent[1], sent("two"), use))
	require.NotEqual(t, tracetest.Shape(&telling[0], sent("one"), use), tracetest.Shape(&telling[1], sent("two"), use))
}

func TestAtOllamaASchemaNeedsOnlyWhatOllamaReads(t *testing.T) {
	for name, c := range map[string]struct {
		path, dialect, schema string
		want                  report.Verdict
	}{
		"what it reads is there": {"/api/chat", dialect.Ollama, `{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"d"}}}`, report.Pass},
		"a description is lost":  {"/api/chat", dialect.Ollama, `{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`, report.Fail},
		"required is lost":       {"/api/chat", dialect.Ollama, `{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`, report.Fail},
		"another provider reads all": {"/v1/responses", dialect.OpenAIResponses,
			`{"type":"object","required":["a"],"properties":{"a":{"type":"string","description":"d"}}}`, report.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracetest.Begin(t, catalogue, server.V20251125, c.dialect, "tool-use/one-tool")
			s.Asks(tracetest.Asking("Go.", server.Tool{Name: "go", InputSchema: story.Object{"type": "object", "additionalProperties": false, "required": []string{"a"},
				"properties": story.Object{"a": story.Object{"type": "string", "description": "d", "minLength": 1}}}}))
			tool := story.Object{"type": "function", "function": story.Object{"name": "go", "parameters": evidence.Decoded([]byte(c.schema))}}
			body := story.Object{"model": "m", "messages": []any{story.Object{"role": "user", "content": "Go."}}, "tools": []any{tool}}
			if c.dialect == dialect.OpenAIResponses {
				body = story.Object{"model": "m", "input": "Go.", "tools": []any{story.Object{"type": "function", "name": "go", "parameters": evidence.Decoded([]byte(c.schema))}}}
			}
			s.Models++
			s.Add(s.CaseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.Models, Dialect: c.dialect, Method: "POST", Path: c.path, Body: dialect.Marshal(body)}})
			s.Add(s.CaseID, trace.Event{End: &trace.ModelEnd{Exchange: s.Models, Status: 200}})
			s.Answers(tracetest.Wanting([3]string{"u", "go", "{}"}))
			require.Equal(t, c.want, s.Result("tool-use/tools-reach-model").Verdict)
		})
	}
}

package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/anthropic"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// A request without a tool result is refused with the API's error.
func Example() {
	r := &http.Request{Header: http.Header{"X-Api-Key": {"sk"}, "Anthropic-Version": {"2023-06-01"}}}
	req, _ := anthropic.Messages.Decode(r, []byte(`{"model":"claude-haiku-4-5","max_tokens":100,"messages":[
		{"role":"user","content":"How is the weather?"},
		{"role":"assistant","content":[{"type":"tool_use","id":"u1","name":"get_weather","input":{"city":"Paris"}}]},
		{"role":"user","content":"Well?"}]}`))
	fmt.Println(dialect.Blocks(req.Messages, dialect.ToolUse)[0].Name)
	if err := anthropic.Messages.Check(req); err != nil {
		text, _, _ := strings.Cut(err.Message, ". ")
		fmt.Println(anthropic.Messages.EncodeError(err).Status, text)
	}
	// Output:
	// get_weather
	// 400 messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: u1
}

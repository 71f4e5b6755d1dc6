package cohere_test

import (
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/cohere"
)

// A tool message must answer a call before it, in the words of Cohere's list of errors.
func Example() {
	r := &http.Request{Header: http.Header{"Authorization": {"Bearer co"}}}
	req, _ := cohere.Chat.Decode(r, []byte(`{"model":"command-a-03-2025","messages":[
		{"role":"user","content":"How is the weather?"},
		{"role":"tool","tool_call_id":"get_weather_1","content":"18°C"}]}`))
	err := cohere.Chat.Check(req)
	fmt.Println(cohere.Chat.EncodeError(err).Status, err.Message)
	// Output:
	// 400 tool call id not found in previous tool calls
}

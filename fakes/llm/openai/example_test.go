package openai_test

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/openai"
)

// A tool call without a result is refused, and a compatible server differs in its streams.
func Example() {
	req, refused := openai.Chat.Decode(&http.Request{}, []byte(`{"model":"gpt-4o","stream":true,"messages":[
		{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"now","arguments":"{}"}}]}]}`))
	if refused != nil {
		panic(refused)
	}
	fmt.Println(openai.Chat.Check(req).Param, openai.Chat.Check(req).Message[:67])
	reply := &dialect.Reply{Content: []dialect.Block{{Type: dialect.ToolUse, Name: "now", Input: []byte("{}")}}}
	for _, codec := range []dialect.Codec{openai.Chat, openai.IndexFromOne} {
		stream := bytes.Join(codec.Encode(req, reply).Chunks, nil)
		fmt.Println(codec.Name(), bytes.Contains(stream, []byte(`"tool_calls":[{"index":1,`)))
	}
	// Output:
	// messages.[1].role An assistant message with 'tool_calls' must be followed by tool mes
	// openai-chat false
	// index-from-one true
}

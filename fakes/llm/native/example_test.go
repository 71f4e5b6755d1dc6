package native_test

import (
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
)

// The request is a CreateMessageRequestParams, the answer a CreateMessageResult.
func Example() {
	req, refused := native.Codec.Decode(&http.Request{}, []byte(`{"modelPreferences":{"hints":[{"name":"small"}]},
		"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`))
	if refused != nil {
		panic(refused)
	}
	hello := dialect.Block{Type: dialect.Text, Text: "hello"}
	fmt.Printf("%s\n", native.Codec.Encode(req, &dialect.Reply{Content: []dialect.Block{hello}}).Chunks[0])
	// Output:
	// {"role":"assistant","content":{"type":"text","text":"hello"},"model":"small","stopReason":"endTurn"}
}

package gemini_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/gemini"
)

// The path selects the model. Its generation decides whether a call has an id.
func Example() {
	for _, model := range []string{"gemini-2.0-flash", "gemini-3-pro-preview"} {
		r := &http.Request{URL: &url.URL{Path: "/v1beta/models/" + model + ":generateContent"}}
		req, refused := gemini.GenerateContent.Decode(r, []byte(`{"contents":[{"parts":[{"text":"hi"}]}]}`))
		if refused != nil {
			panic(refused)
		}
		call := dialect.Block{Type: dialect.ToolUse, Name: "now"}
		answer := gemini.GenerateContent.Encode(req, &dialect.Reply{Content: []dialect.Block{call}})
		fmt.Println(req.Model, strings.Contains(string(answer.Chunks[0]), `"id":`))
	}
	// Output:
	// gemini-2.0-flash false
	// gemini-3-pro-preview true
}

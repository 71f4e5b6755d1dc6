package codectest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/ollama"
)

// A codec's test checks the cases in its own folder.
func ExampleCheck() {
	test := func(t *testing.T) {
		codectest.Check(t, ollama.Chat, "testdata/check.txtar", "/api/chat", http.Header{})
	}
	fmt.Printf("%T", test)
	// Output: func(*testing.T)
}

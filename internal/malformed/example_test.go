package malformed_test

import (
	"bytes"
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// A client that crashes on a null is broken by one member of a long request.
func Example() {
	crashes := func(params []byte) bool { return bytes.Contains(params, []byte("null")) }
	params := []byte(`{"messages":[{"role":"user","content":{"type":"text","text":null}}],"maxTokens":100}`)
	fmt.Printf("%s\n", malformed.Shrink(params, 500, crashes))
	// Output: {"messages":null}
}

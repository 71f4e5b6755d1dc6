package dialect_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// A codec reads members by their exact names, and writes them in the provider's order.
func Example() {
	m, err := jsonvalue.ReadMembers([]byte(`{"toolUseID":"a","name":"add"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Has("toolUseId"), m.Text("name"))
	fmt.Println(string(jsonvalue.Ordered("type", "tool_use", "id", dialect.GenerateID("call_", 8, 1, 0), "input", nil)))
	// Output:
	// false add
	// {"type":"tool_use","id":"call_dpPUrU7E","input":null}
}

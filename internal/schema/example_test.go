package schema_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// A tool use whose input is a string of JSON, as some providers send it, where the protocol wants an object.
func ExampleValidate() {
	result := `{"role":"assistant","model":"m","content":[
		{"type":"text","text":"let me see"},
		{"type":"tool_use","id":"call_1","name":"get_weather","input":"{\"city\":\"Paris\"}"}]}`
	fmt.Println(schema.Validate("2025-11-25", schema.CreateMessageResult, []byte(result)))
	fmt.Println(schema.Validate("2025-06-18", schema.CreateMessageResult, []byte(result)))
	// Output:
	// content[1].input: want object, got string
	// content: want object, got array
}

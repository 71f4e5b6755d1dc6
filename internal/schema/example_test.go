package schema_test

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Some providers send the input of a tool use as a string of JSON. The protocol requires an object.
func ExampleValidate() {
	result := `{"role":"assistant","model":"m","content":[
		{"type":"text","text":"let me see"},
		{"type":"tool_use","id":"call_1","name":"get_weather","input":"{\"city\":\"Paris\"}"}]}`
	fmt.Println(schema.Validate("2025-11-25", schema.CreateMessageResult, []byte(result)))
	fmt.Println(schema.Validate("2025-06-18", schema.CreateMessageResult, []byte(result)))
	// Output:
	// content[1].input: expected object, found string
	// content: expected object, found array
}

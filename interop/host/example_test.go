package host_test

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/interop/host"
)

func ExampleForbidden() {
	const result = `{"type":"tool_result","toolUseId":"a","content":[]}`
	params := json.RawMessage(`{"messages":[{"role":"user","content":` + result + `}]}`)
	fmt.Println(host.Forbidden(params, json.RawMessage(`{"sampling":{"tools":{}}}`)))
	// Output: a tool_result has no tool_use
}

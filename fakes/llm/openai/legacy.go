package openai

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// functionCall returns the choice of a function, like toolChoice.
func functionCall(q jsonvalue.Members) string {
	if mode := q.Text("function_call"); mode != "" {
		return mode
	}
	return "tool:" + q.Object("function_call").Text("name")
}

func isLegacy(req *dialect.Request) bool {
	q, refused := dialect.Parsed(req, parse)
	return refused == nil && q.Has("functions")
}

func checkFunctionCall(q *request) *dialect.Error {
	raw := q.Raw("function_call")
	if !jsonvalue.IsGiven(raw) {
		return nil
	}
	if !q.Has("functions") {
		return onlyWith("function_call", "functions")
	}
	mode, isText := jsonvalue.TextOf(raw)
	var choice jsonvalue.Members
	switch {
	case isText && (mode == dialect.ChoiceAuto || mode == dialect.ChoiceNone):
		return nil
	case isText || q.Read("function_call", &choice) != nil:
		return ours("function_call", "invalid_value",
			"function_call is %s: expected auto, none, or an object with a name", raw)
	case !slices.ContainsFunc(q.tools, func(t tool) bool { return t.legacy && t.name == choice.Text("name") }):
		return ours("function_call", "invalid_value", "function_call is the function %q: no such function is among the "+
			"functions", choice.Text("name"))
	}
	return nil
}

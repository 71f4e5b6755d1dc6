package reference

import (
	"fmt"
	"slices"
)

// allowance is what a request allows the model to do with tools.
type allowance struct {
	tools  bool // there are any
	choice string
}

func allowedBy(params map[string]any) allowance {
	tools, _ := params["tools"].([]any)
	return allowance{len(tools) > 0, choiceOf(params)}
}

// settle holds the model's answer against the request: what the model does that it was not to do does not reach the server. A text
// where a tool use is required does, and so does a tool use of a tool that nobody offered, which is for the server to answer.
func (m *model) settle(allowed allowance, result map[string]any) error {
	broken := &m.config.broken
	uses := ofType(result["content"], "tool_use")
	if broken.inventsUses && len(uses) == 0 && allowed.choice == "required" {
		invented := map[string]any{"type": "tool_use", "id": "call_0", "name": "book_flight", "input": map[string]any{}}
		result["content"], result["stopReason"] = []any{invented}, "toolUse"
	}
	if len(uses) == 0 {
		return nil
	}
	if text(result, "stopReason") == "endTurn" { // some providers call every end so
		if broken.believesStop {
			keep(result, "tool_use", 0)
			return nil
		}
		result["stopReason"] = "toolUse"
	}
	for _, use := range uses {
		if _, isObject := use["input"].(map[string]any); isObject {
			continue
		}
		if !broken.emptiesBadArguments {
			return errBadArguments
		}
		use["input"] = map[string]any{}
	}
	if allowed.tools && allowed.choice != "none" || broken.trustsModel {
		return nil
	}
	keep(result, "tool_use", 0)
	delete(result, "stopReason") // none of the standard ones would be true
	if blocks, _ := blocksOf(result["content"]); !slices.ContainsFunc(blocks, func(b map[string]any) bool { return text(b, "text") != "" }) {
		return &rpcError{codeInternal, fmt.Sprintf("the model used the tool %v, which it was not to do", uses[0]["name"])}
	}
	return nil
}

// inputOf reads arguments as an object. What is none stays a text, of which settle says that it is no input.
func inputOf(arguments []byte) any {
	input, err := object(arguments)
	if err != nil {
		return string(arguments)
	}
	return input
}

var errBadArguments = &rpcError{codeInternal, "the model gave arguments that are no JSON object"}

// choiceOf is the mode of the request's tool choice; auto where it says nothing.
func choiceOf(params map[string]any) string {
	choice, _ := params["toolChoice"].(map[string]any)
	return mode(choice)
}

package reference

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/toolschema"
)

// Mistake is what the model of a [Host] does wrong with a tool, or what becomes of the call.
type Mistake string

// The mistakes of a model, and the two failures of a call.
const (
	UnknownTool      Mistake = "unknown tool"
	InvalidJSON      Mistake = "the arguments are invalid JSON"
	InvalidArguments Mistake = "invalid arguments"
	FailedTool       Mistake = "the tool failed"       // its result has isError
	RefusedCall      Mistake = "the server refused it" // with an error response
)

// ErrEndsTask ends the task of a [Host] with success.
var ErrEndsTask = errors.New("the host ends its task")

// Mistakes say how a [Host] handles its own model.
type Mistakes struct {
	// Told edits the tool result with which the model learns what became of its use. A result without content is left out.
	// Without any result, the model is asked again. An error ends the host.
	Told func(m Mistake, use, result map[string]any) error
	// Trusting leaves it to the server to refuse unknown tools and invalid arguments.
	Trusting bool
	// MostRepeats is at which call in a row that is the same the host ends with an error; 0 for never.
	MostRepeats int
	// AskAgain decides whether the model is asked again after its nth empty answer. Else the host ends.
	AskAgain func(n int) bool
}

func mistakes() Mistakes {
	return Mistakes{Told: func(Mistake, map[string]any, map[string]any) error { return nil }, MostRepeats: 10,
		AskAgain: func(int) bool { return false }}
}

// results calls the tools that the model uses, and returns their results for it. Arguments that it cannot receive back
// become {}.
func (h *host) results(ctx context.Context, uses []map[string]any) ([]any, error) {
	var results []any
	for _, use := range uses {
		result, err := h.call(ctx, use)
		if err != nil {
			return nil, err
		}
		if _, ok := use["input"].(map[string]any); !ok {
			use["input"] = map[string]any{}
		}
		if result["content"] != nil {
			results = append(results, result)
		}
	}
	return results, nil
}

// call calls a tool, and returns the result for the model.
func (h *host) call(ctx context.Context, use map[string]any) (map[string]any, error) {
	tool, mistake, why := h.find(use)
	if mistake != "" {
		return h.told(use, mistake, why)
	}
	input, _ := use["input"].(map[string]any)
	called, err := h.client.CallTool(ctx, tool, input)
	if fatal := report(h.env, tool, err); fatal != nil {
		return nil, fatal
	}
	switch {
	case err != nil:
		return h.told(use, RefusedCall, err.Error())
	case called.IsError():
		return h.told(use, FailedTool, called.Text())
	}
	return resultFor(use, called.Text()), nil
}

func (h *host) told(use map[string]any, m Mistake, why string) (map[string]any, error) {
	result := resultFor(use, why)
	result["isError"] = true
	return result, h.mistakes.Told(m, use, result)
}

func resultFor(use map[string]any, said string) map[string]any {
	return map[string]any{"type": "tool_result", "toolUseId": use["id"], "content": []any{text(said)}}
}

// find returns the name of the tool on the server, or what is wrong with the use.
func (h *host) find(use map[string]any) (tool string, m Mistake, why string) {
	name := jsonvalue.TextIn(use, "name")
	listed := h.listed[name]
	input, isObject := use["input"].(map[string]any)
	switch {
	case !isObject:
		return "", InvalidJSON, fmt.Sprintf("the arguments are not a JSON object: %v", use["input"])
	case listed == nil && h.mistakes.Trusting:
		return name, "", ""
	case listed == nil:
		return "", UnknownTool, fmt.Sprintf("there is no tool %q", name)
	case h.mistakes.Trusting:
		return listed.Name, "", ""
	}
	schema, err := toolschema.Compile(listed.InputSchema)
	if err != nil {
		return listed.Name, "", "" // the server checks the arguments
	}
	if why := schema.Check(name, jsonvalue.Marshal(input)); why != "" {
		return "", InvalidArguments, why
	}
	return listed.Name, "", ""
}

// repetition counts how many times in a row the model makes the same calls.
type repetition struct {
	calls []byte
	times int
}

func (r *repetition) count(uses []map[string]any) int {
	var calls []byte
	for _, use := range uses {
		calls = append(calls, jsonvalue.Marshal([]any{use["name"], use["input"]})...)
	}
	if !bytes.Equal(calls, r.calls) {
		r.calls, r.times = calls, 0
	}
	r.times++
	return r.times
}

func saysNothing(answer map[string]any) bool {
	for _, b := range jsonvalue.OfType(answer["content"], "text") {
		if jsonvalue.TextIn(b, "text") != "" {
			return false
		}
	}
	return true
}

package conformance_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// eachPart edits each part of the contents that has the field: with the part, the field, and its place among those of
// its content.
func eachPart(field string, edit func(part, inner map[string]any, n int)) func(map[string]any) {
	return func(body map[string]any) {
		for _, c := range objects(body["contents"]) {
			n := 0
			for _, p := range objects(c["parts"]) {
				if inner, ok := p[field].(map[string]any); ok {
					edit(p, inner, n)
					n++
				}
			}
		}
	}
}

// eachResponse edits what each function returned.
func eachResponse(edit func(response map[string]any)) func(map[string]any) {
	return eachPart("functionResponse", func(_, inner map[string]any, _ int) { edit(inner["response"].(map[string]any)) })
}

// snake writes the names of a request's members in snake_case, but for what is the user's.
func snake(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = snake(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			delete(v, name)
			var out strings.Builder
			for _, c := range name {
				if c >= 'A' && c <= 'Z' {
					out.WriteByte('_')
				}
				out.WriteString(strings.ToLower(string(c)))
			}
			if name != "args" && name != "response" && name != "parametersJsonSchema" {
				inner = snake(inner)
			}
			v[out.String()] = inner
		}
	}
	return v
}

// Clients of Gemini that do otherwise than the reference, and nothing wrong.
func TestClientsOfGeminiThatAreRightButDifferAreNotAccused(t *testing.T) {
	second := reference.Config{Dialect: dialect.Gemini, Plain: true}
	third := reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini3}
	for name, c := range map[string]struct {
		habit
		config reference.Config
	}{
		"gives the model ids of its own": {config: second, habit: habit{request: func(body map[string]any) {
			for _, field := range []string{"functionCall", "functionResponse"} {
				eachPart(field, func(_, inner map[string]any, n int) { inner["id"] = fmt.Sprint(n + 1) })(body)
			}
		}}},
		"gives the third generation no ids": {config: third, habit: habit{request: func(body map[string]any) {
			for _, field := range []string{"functionCall", "functionResponse"} {
				eachPart(field, func(_, inner map[string]any, _ int) { delete(inner, "id") })(body)
			}
		}}},
		"gives ids with the results alone": {config: second, habit: habit{request: eachPart("functionResponse", func(_, inner map[string]any, n int) {
			inner["id"] = fmt.Sprint(n + 1)
		})}},
		"sends results in another order, with their ids": {config: third, habit: habit{request: func(body map[string]any) {
			for _, c := range objects(body["contents"]) {
				parts := c["parts"].([]any)
				if len(parts) == 2 && objects(parts)[0]["functionResponse"] != nil {
					parts[0], parts[1] = parts[1], parts[0]
				}
			}
		}}},
		"calls what a tool returned its result": {config: second, habit: habit{request: eachResponse(func(response map[string]any) {
			if output, ok := response["output"]; ok {
				delete(response, "output")
				response["result"] = output
			}
		})}},
		"hands on the blocks of MCP": {config: second, habit: habit{request: eachResponse(func(response map[string]any) {
			output, ok := response["output"]
			if !ok {
				output = response["error"]
			}
			delete(response, "output")
			delete(response, "error")
			response["content"], response["isError"] = []any{map[string]any{"type": "text", "text": output}}, !ok
		})}},
		"says in words that a tool failed": {config: second, habit: habit{request: eachResponse(func(response map[string]any) {
			if problem, ok := response["error"]; ok {
				delete(response, "error")
				response["output"] = fmt.Sprintf("Error: %v", problem)
			}
		})}},
		"has the role of the first days for results": {config: second, habit: habit{request: func(body map[string]any) {
			for _, c := range objects(body["contents"]) {
				only := true
				for _, p := range objects(c["parts"]) {
					only = only && p["functionResponse"] != nil
				}
				if only {
					c["role"] = "function"
				}
			}
		}}},
		"leaves out what is empty": {config: second, habit: habit{request: func(body map[string]any) {
			eachPart("functionCall", func(_, inner map[string]any, _ int) {
				if args, ok := inner["args"].(map[string]any); ok && len(args) == 0 {
					delete(inner, "args")
				}
			})(body)
			for _, tool := range objects(body["tools"]) {
				for _, d := range objects(tool["functionDeclarations"]) {
					if schema := d["parametersJsonSchema"].(map[string]any); len(schema["properties"].(map[string]any)) == 0 {
						delete(d, "parametersJsonSchema")
					}
				}
			}
		}}},
		"writes names in snake_case": {config: third, habit: habit{request: func(body map[string]any) { snake(body) }}},
		"has each tool to itself": {config: second, habit: habit{request: func(body map[string]any) {
			var tools []any
			for _, tool := range objects(body["tools"]) {
				for _, d := range objects(tool["functionDeclarations"]) {
					tools = append(tools, map[string]any{"functionDeclarations": []any{d}})
				}
			}
			if tools != nil {
				body["tools"] = tools
			}
		}}},
		"writes schemas in the API's own form": {config: second, habit: habit{request: func(body map[string]any) {
			for _, tool := range objects(body["tools"]) {
				for _, d := range objects(tool["functionDeclarations"]) {
					schema := d["parametersJsonSchema"].(map[string]any)
					definitions, _ := schema["$defs"].(map[string]any)
					d["parameters"] = ownForm(schema, definitions)
					delete(d, "parametersJsonSchema")
				}
			}
		}}},
		"says what it means by auto": {config: second, habit: habit{request: func(body map[string]any) {
			if body["tools"] != nil && body["toolConfig"] == nil {
				body["toolConfig"] = map[string]any{"functionCallingConfig": map[string]any{"mode": "VALIDATED"}}
			}
		}}},
		"sets what the server leaves open": {config: third, habit: habit{request: func(body map[string]any) {
			config := body["generationConfig"].(map[string]any)
			config["thinkingConfig"], config["topK"] = map[string]any{"thinkingLevel": "low"}, 40
			body["safetySettings"] = []any{map[string]any{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Bool
			require.Equal(t, looked{}, lookAtTheModel(t, c.client(c.config, &shown)))
			require.True(t, shown.Load(), "the habit never showed")
		})
	}
}

// ownForm is a JSON Schema as Gemini's own form has it: types in capitals, lengths as text, what it refers to in
// place, and nothing of what that form has no word for.
func ownForm(v any, definitions map[string]any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = ownForm(v[i], definitions)
		}
	case map[string]any:
		if to, ok := v["$ref"].(string); ok {
			return ownForm(definitions[strings.TrimPrefix(to, "#/$defs/")], nil)
		}
		delete(v, "$defs")
		delete(v, "additionalProperties")
		for name, inner := range v {
			kind, isText := inner.(string)
			switch {
			case name == "type" && isText:
				v[name] = strings.ToUpper(kind)
			case strings.HasSuffix(name, "Length") || strings.HasSuffix(name, "Items"):
				v[name] = fmt.Sprint(inner)
			default:
				v[name] = ownForm(inner, definitions)
			}
		}
	}
	return v
}

package variations

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// gemini3 is the generation whose function calls have ids.
var gemini3 = with(reference.Config{Dialect: dialect.Gemini, Model: reference.Gemini3})

// eachPart edits the member of each part that has it: with its index among those of its content.
func eachPart(member string, edit func(inner object, n int)) func(object) {
	return each("contents", func(c object) {
		n := 0
		for _, p := range objects(c["parts"]) {
			if inner, ok := p[member].(object); ok {
				edit(inner, n)
				n++
			}
		}
	})
}

func eachFunctionPart(edit func(inner object, n int)) func(object) {
	return func(body object) {
		eachPart("functionCall", edit)(body)
		eachPart("functionResponse", edit)(body)
	}
}

func eachResponse(edit func(response object)) func(object) {
	return eachPart("functionResponse", func(inner object, _ int) { edit(inner["response"].(object)) })
}

func eachDeclaration(edit func(d object)) func(object) {
	return each("tools", each("functionDeclarations", edit))
}

func numbered(inner object, n int) { inner["id"] = fmt.Sprint(n + 1) }

var geminiVariations = of(reference.Config{Dialect: dialect.Gemini, Plain: true}, "gemini-",
	v("own-ids", "gives calls and results its own ids", "no-ids", results, eachFunctionPart(numbered)),
	v("no-ids", "gives back none of the ids of the third generation", "no-ids", results,
		eachFunctionPart(func(inner object, _ int) { delete(inner, "id") }), gemini3),
	v("ids-on-results", "gives ids with the results alone", "no-ids", results, func(body object) {
		eachPart("functionCall", func(inner object, _ int) { delete(inner, "id") })(body)
		eachPart("functionResponse", numbered)(body)
	}),
	v("results-reordered", "sends two results in reverse order, with their ids", "result-order", results,
		each("contents", func(c object) {
			parts := array(c["parts"])
			first, _ := objects(parts)[0]["functionResponse"].(object)
			if len(parts) == 2 && first["id"] != nil {
				parts[0], parts[1] = parts[1], parts[0]
			}
		}), gemini3),
	v("result-member", "names the output of a tool \"result\"", "results-in-json", results, eachResponse(func(r object) {
		if output, ok := r["output"]; ok {
			delete(r, "output")
			r["result"] = output
		}
	})),
	v("mcp-blocks", "passes the content of tool results on in MCP's form", "results-in-json", results,
		eachResponse(func(r object) {
			output, ok := r["output"]
			if !ok {
				output = r["error"]
			}
			delete(r, "output")
			delete(r, "error")
			r["content"], r["isError"] = []any{object{"type": "text", "text": output}}, !ok
		})),
	v("error-in-words", "says in the output that a tool failed", "error-in-words", results,
		eachResponse(func(r object) {
			if problem, ok := r["error"]; ok {
				delete(r, "error")
				r["output"] = fmt.Sprintf("Error: %v", problem)
			}
		})),
	v("function-role", "sends results with the role function", "provider-forms", results,
		each("contents", func(c object) {
			for _, p := range objects(c["parts"]) {
				if p["functionResponse"] == nil {
					return
				}
			}
			c["role"] = "function"
		})),
	v("omits-empty", "omits empty arguments and schemas without properties", "provider-forms", minted,
		func(body object) {
			eachPart("functionCall", func(inner object, _ int) {
				if args, ok := inner["args"].(object); ok && len(args) == 0 {
					delete(inner, "args")
				}
			})(body)
			eachDeclaration(func(d object) {
				if schema := d["parametersJsonSchema"].(object); len(schema["properties"].(object)) == 0 {
					delete(d, "parametersJsonSchema")
				}
			})(body)
		}),
	v("snake-case", "writes member names in snake_case", "provider-forms",
		"basic tool-use/one-tool parallel", func(body object) { snake(body) }, gemini3),
	v("one-tool-each", "sends each function as a tool", "provider-forms", tools, func(body object) {
		var tools []any
		eachDeclaration(func(d object) {
			tools = append(tools, object{"functionDeclarations": []any{d}})
		})(body)
		if tools != nil {
			body["tools"] = tools
		}
	}),
	v("own-schema-form", "writes schemas in the form of the API", "provider-keywords", tools,
		eachDeclaration(func(d object) {
			d["parameters"] = ownForm(inlined(d["parametersJsonSchema"].(object)))
			delete(d, "parametersJsonSchema")
		})),
	v("says-validated", "sends the mode VALIDATED if the request has no mode", "own-settings", tools, func(body object) {
		if body["tools"] != nil && body["toolConfig"] == nil {
			body["toolConfig"] = object{"functionCallingConfig": object{"mode": "VALIDATED"}}
		}
	}),
	v("own-settings", "sets thinking, topK and safety settings", "own-settings", "basic tool-use/one-tool",
		func(body object) {
			config := body["generationConfig"].(object)
			config["thinkingConfig"], config["topK"] = object{"thinkingLevel": "low"}, 40
			body["safetySettings"] = []any{object{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}}
		}, gemini3),
)

// snake writes the member names of a request in snake_case, except those of the user.
func snake(v any) {
	for _, item := range array(v) {
		snake(item)
	}
	o, _ := v.(object)
	for name, inner := range o {
		delete(o, name)
		var out strings.Builder
		for _, c := range name {
			if c >= 'A' && c <= 'Z' {
				out.WriteByte('_')
			}
			out.WriteString(strings.ToLower(string(c)))
		}
		if name != "args" && name != "response" && name != "parametersJsonSchema" {
			snake(inner)
		}
		o[out.String()] = inner
	}
}

// ownForm writes a JSON Schema without references in the form of Gemini: types in capitals, lengths as strings, and
// none of the keywords that this form does not have.
func ownForm(v any) any {
	for i, item := range array(v) {
		v.([]any)[i] = ownForm(item)
	}
	o, _ := v.(object)
	for _, unknown := range []string{"additionalProperties", "const", "examples"} {
		delete(o, unknown)
	}
	if types := array(o["type"]); len(types) > 1 && types[1] == "null" {
		o["type"], o["nullable"] = types[0], true
	}
	for name, inner := range o {
		kind, isText := inner.(string)
		switch {
		case name == "type" && isText:
			o[name] = strings.ToUpper(kind)
		case strings.HasSuffix(name, "Length") || strings.HasSuffix(name, "Items"):
			o[name] = fmt.Sprint(inner)
		default:
			o[name] = ownForm(inner)
		}
	}
	return v
}

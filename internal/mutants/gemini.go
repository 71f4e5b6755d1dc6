package mutants

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// geminiMutants are wrong in the translation to and from Gemini, whose API has no ids in older models.
var geminiMutants = []Mutant{
	{Name: "gemini-no-ids", Doc: "returns calls without an id, as Gemini 2 sends them",
		Kills: []string{"tool-use/tool-use-block", "tool-use/id-minted"},
		Also: []string{"parallel/unique-ids", "tool-use/stop-reason-tooluse",
			"tool-use/thought-signature"}, // which the client keeps by its id
		Dialects: geminiOnly, Model: reference.Gemini2,
		edit: result(eachUse(func(_ int, use map[string]any) { use["id"] = "" }))},
	{Name: "gemini-names-as-ids", Doc: "uses the tool's name as the id that Gemini does not send",
		Kills: []string{"parallel/unique-ids"}, Also: []string{"tool-use/id-minted", "tool-use/fresh-ids"},
		Dialects: geminiOnly, edit: just(Edit{ModelReply: namesAsIDs, ModelRequest: withoutIDs})},
	{Name: "gemini-results-by-name", Doc: "keeps one tool result for each tool", Kills: []string{"parallel/results-reach-model"},
		Dialects: geminiOnly, edit: request(func(body map[string]any) {
			eachItem(body["contents"], func(content map[string]any) {
				names := map[any]bool{}
				parts, _ := content["parts"].([]any)
				content["parts"] = slices.DeleteFunc(parts, func(item any) bool {
					part, _ := item.(map[string]any)
					response := member(part, "functionResponse")
					again := part["functionResponse"] != nil && names[response["name"]]
					names[response["name"]] = true
					return again
				})
			})
		})},
	{Name: "gemini-result-order", Doc: "sends tool results without ids, in the server's order",
		Kills: []string{"parallel/results-order"}, Dialects: geminiOnly,
		edit: just(Edit{Params: byNameAndPlace, ModelRequest: withoutIDs})},
	{Name: "gemini-stops-early", Doc: "stops reading a stream after the chunk with the finish reason",
		Kills: []string{"parallel/late-delta"}, Dialects: geminiOnly, Streamed: true,
		edit: just(Edit{ModelReply: func(chunks []map[string]any) []map[string]any {
			for i, c := range chunks {
				candidates, _ := c["candidates"].([]any)
				if first(candidates)["finishReason"] != nil {
					return chunks[:i+1]
				}
			}
			return chunks
		}})},
	{Name: "gemini-forgets-seals", Doc: "repeats Gemini 3's calls without their thoughtSignatures, and is refused",
		Kills: []string{"parallel/results-reach-model", "tool-use/thought-signature"}, Also: []string{"loop/three-rounds"},
		Dialects: geminiOnly, Model: reference.Gemini3,
		edit: request(eachPart(func(part map[string]any) { delete(part, "thoughtSignature") }))},
	{Name: "gemini-own-schemas", Doc: "writes input schemas in Gemini's own form and loses what that does not have",
		Kills: []string{"tool-use/tools-reach-model"}, Dialects: geminiOnly, edit: request(func(body map[string]any) {
			eachItem(body["tools"], func(tool map[string]any) {
				eachItem(tool["functionDeclarations"], func(function map[string]any) {
					function["parameters"] = ownSchema(function["parametersJsonSchema"])
					delete(function, "parametersJsonSchema")
				})
			})
		})},
	{Name: "gemini-text-arguments", Doc: "repeats a call's arguments to the model as JSON text, as for OpenAI",
		Kills: []string{"parallel/uses-restated"},
		Also: []string{"parallel/results-reach-model", "parallel/results-order", "parallel/error-result",
			"parallel/result-content", "loop/three-rounds"},
		Dialects: geminiOnly, edit: request(eachPart(func(part map[string]any) {
			if call := member(part, "functionCall"); call["args"] != nil {
				call["args"] = string(marshal(call["args"]))
			}
		}))},
}

// eachPart edits each part of a request to Gemini.
func eachPart(f func(part map[string]any)) func(map[string]any) {
	return func(body map[string]any) {
		eachItem(body["contents"], func(content map[string]any) { eachItem(content["parts"], f) })
	}
}

// namesAsIDs gives the calls of a reply their function's name as the id.
func namesAsIDs(chunks []map[string]any) []map[string]any {
	for _, c := range chunks {
		eachItem(c["candidates"], func(candidate map[string]any) {
			eachItem(member(candidate, "content")["parts"], func(part map[string]any) {
				if call := member(part, "functionCall"); call["name"] != nil {
					call["id"] = call["name"]
				}
			})
		})
	}
	return chunks
}

// withoutIDs removes the ids of calls and their responses.
func withoutIDs(body map[string]any) {
	eachPart(func(part map[string]any) {
		delete(member(part, "functionCall"), "id")
		delete(member(part, "functionResponse"), "id")
	})(body)
}

// ownSchema writes a schema as a type with few fields would.
func ownSchema(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	own := map[string]any{"type": strings.ToUpper(text(s, "type"))}
	if properties, ok := s["properties"].(map[string]any); ok {
		inner := map[string]any{}
		for name, property := range properties {
			inner[name] = ownSchema(property)
		}
		own["properties"] = inner
	}
	if items, ok := s["items"]; ok {
		own["items"] = ownSchema(items)
	}
	for _, name := range []string{"description", "required"} {
		if v, ok := s[name]; ok {
			own[name] = v
		}
	}
	return own
}

package mutants

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// geminiMutants are wrong in the translation to and from Gemini, whose API has no ids in older models.
var geminiMutants = chapter("parallel",
	m("gemini-no-ids", "returns calls without an id, as Gemini 2 sends them",
		"tool-use/tool-use-block tool-use/id-minted | unique-ids tool-use/stop-reason-tooluse"+
			" tool-use/thought-signature", result(eachUse(func(_ int, use object) { use["id"] = "" })),
		only(dialect.Gemini), onModel(reference.Gemini2)),
	m("gemini-names-as-ids", "uses the tool's name as the id that Gemini does not send",
		"unique-ids | tool-use/id-minted tool-use/fresh-ids",
		just(Edit{ModelReply: namesAsIDs, ModelRequest: withoutIDs}), only(dialect.Gemini)),
	m("gemini-results-by-name", "keeps one tool result for each tool", "results-reach-model",
		request(func(body object) {
			eachItem(body["contents"], func(content object) {
				names := map[any]bool{}
				parts, _ := content["parts"].([]any)
				content["parts"] = slices.DeleteFunc(parts, func(item any) bool {
					part, _ := item.(object)
					response := member(part, "functionResponse")
					again := part["functionResponse"] != nil && names[response["name"]]
					names[response["name"]] = true
					return again
				})
			})
		}), only(dialect.Gemini)),
	m("gemini-result-order", "sends tool results without ids, in the server's order", "results-order",
		just(Edit{Params: byNameAndPlace, ModelRequest: withoutIDs}), only(dialect.Gemini)),
	m("gemini-stops-early", "stops reading a stream after the chunk with the finish reason", "late-delta",
		reply(func(chunks []object) []object {
			for i, c := range chunks {
				candidates, _ := c["candidates"].([]any)
				if first(candidates)["finishReason"] != nil {
					return chunks[:i+1]
				}
			}
			return chunks
		}), only(dialect.Gemini), streamed),
	m("gemini-forgets-seals", "repeats Gemini 3's calls without their thoughtSignatures, and is refused",
		"results-reach-model tool-use/thought-signature | loop/three-rounds",
		request(eachPart(unset("thoughtSignature"))), only(dialect.Gemini),
		onModel(reference.Gemini3)),
	m("gemini-own-schemas", "writes input schemas in Gemini's own form and loses what that does not have",
		"tool-use/tools-reach-model", request(func(body object) {
			eachItem(body["tools"], func(tool object) {
				eachItem(tool["functionDeclarations"], func(function object) {
					function["parameters"] = ownSchema(function["parametersJsonSchema"])
					delete(function, "parametersJsonSchema")
				})
			})
		}), only(dialect.Gemini)),
	m("gemini-text-arguments", "repeats a call's arguments to the model as JSON text, as for OpenAI",
		"uses-restated | results-reach-model results-order error-result result-content loop/three-rounds",
		request(eachPart(func(part object) {
			if call := member(part, "functionCall"); call["args"] != nil {
				call["args"] = string(marshal(call["args"]))
			}
		})), only(dialect.Gemini)),
)

// eachPart edits each part of a request to Gemini.
func eachPart(f func(part object)) func(object) {
	return func(body object) {
		eachItem(body["contents"], func(content object) { eachItem(content["parts"], f) })
	}
}

// namesAsIDs gives the calls of a reply their function's name as the id.
func namesAsIDs(chunks []object) []object {
	for _, c := range chunks {
		eachItem(c["candidates"], func(candidate object) {
			eachItem(member(candidate, "content")["parts"], func(part object) {
				if call := member(part, "functionCall"); call["name"] != nil {
					call["id"] = call["name"]
				}
			})
		})
	}
	return chunks
}

// withoutIDs removes the ids of calls and their responses.
func withoutIDs(body object) {
	eachPart(func(part object) {
		delete(member(part, "functionCall"), "id")
		delete(member(part, "functionResponse"), "id")
	})(body)
}

// ownSchema writes a schema as a type with few fields would.
func ownSchema(schema any) any {
	s, ok := schema.(object)
	if !ok {
		return schema
	}
	own := object{"type": strings.ToUpper(text(s, "type"))}
	if properties, ok := s["properties"].(object); ok {
		inner := object{}
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

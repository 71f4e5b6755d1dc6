package mutants

import (
	"slices"
	"strings"
)

// geminiMutants are wrong in the translation to and from Gemini, whose API has no ids in older models.
var geminiEdits = edits{
	"gemini-no-ids":       result(eachUse(func(_ int, use object) { use["id"] = "" })),
	"gemini-names-as-ids": just(Edit{ModelReply: namesAsIDs, ModelRequest: withoutIDs}),
	"gemini-results-by-name": request(func(body object) {
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
	}),
	"gemini-result-order": just(Edit{Params: byNameAndPlace, ModelRequest: withoutIDs}),
	"gemini-stops-early": reply(func(chunks []object) []object {
		for i, c := range chunks {
			candidates, _ := c["candidates"].([]any)
			if first(candidates)["finishReason"] != nil {
				return chunks[:i+1]
			}
		}
		return chunks
	}),
	"gemini-forgets-seals": request(eachPart(unset("thoughtSignature"))),
	"gemini-seals-by-name": request(func(body object) {
		seals := map[string]any{}
		name := func(part object) string { return text(member(part, "functionCall"), "name") }
		eachPart(func(part object) {
			if seal := part["thoughtSignature"]; seal != nil && name(part) != "" {
				seals[name(part)] = seal
			}
		})(body)
		eachPart(func(part object) {
			if seal := seals[name(part)]; seal != nil && part["thoughtSignature"] != nil {
				part["thoughtSignature"] = seal
			}
		})(body)
	}),
	"gemini-own-schemas": request(func(body object) {
		eachItem(body["tools"], func(tool object) {
			eachItem(tool["functionDeclarations"], func(function object) {
				function["parameters"] = ownSchema(function["parametersJsonSchema"])
				delete(function, "parametersJsonSchema")
			})
		})
	}),
	"gemini-text-arguments": request(eachPart(func(part object) {
		if call := member(part, "functionCall"); call["args"] != nil {
			call["args"] = string(marshal(call["args"]))
		}
	})),
}

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

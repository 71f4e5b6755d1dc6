package tooluse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// sameSchema reports whether the model was offered a tool with the input schema that the server sent, as far as its provider takes it.
func sameSchema(x *evidence.Exchange, got, sent *dialect.Tool) bool {
	raw := evidence.Decoded(sent.InputSchema)
	if x.Request.Dialect == dialect.Ollama { // which reads no references but within definitions
		raw = readByOllama(raw)
	}
	budget := mostInlined
	wanted := inlined(raw, nil, &budget)
	have := inlined(evidence.Decoded(got.InputSchema), nil, &budget)
	if limitsSchemas(x, got) {
		wanted = limited(wanted)
	}
	return covers(have, wanted)
}

// mostInlined is how many parts of schemas are looked at; a client may send one that refers to itself without end.
const mostInlined = 10000

// inlined is a schema with what it refers to within itself in place of the reference, which some clients do for providers that know no
// references. Definitions are those of the whole schema.
func inlined(schema any, definitions map[string]any, budget *int) any {
	if *budget--; *budget < 0 {
		return schema
	}
	switch v := schema.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = inlined(item, definitions, budget)
		}
		return list
	case map[string]any:
		if definitions == nil {
			definitions = map[string]any{}
			for _, under := range []string{"$defs", "definitions"} {
				named, _ := v[under].(map[string]any)
				for name, definition := range named {
					definitions["#/"+under+"/"+name] = definition
				}
			}
		}
		if to, ok := v["$ref"].(string); ok && definitions[to] != nil {
			return inlined(definitions[to], definitions, budget)
		}
		copied := make(map[string]any, len(v))
		for name, value := range v {
			if name != "$defs" && name != "definitions" {
				copied[name] = inlined(value, definitions, budget)
			}
		}
		return copied
	}
	return schema
}

// limitsSchemas reports whether a tool was offered in a form in which the provider takes a few keywords only: Gemini in parameters, and OpenAI
// with strict schemas.
func limitsSchemas(x *evidence.Exchange, tool *dialect.Tool) bool {
	var declared, function dialect.Object
	if start, end, ok := evidence.Locate(x.Request.Body, tool.Path); ok {
		_ = json.Unmarshal(x.Request.Body[start:end], &declared) // what cannot be read says nothing
		_ = declared.Read("function", &function)
	}
	if x.Request.Dialect == dialect.Gemini {
		return !declared.Has("parametersJsonSchema")
	}
	return string(declared["strict"]) == "true" || string(function["strict"]) == "true"
}

// keywords are those that every provider takes in any form.
var keywords = []string{"type", "description", "enum", "items", "properties", "required", "anyOf"}

// limited is a schema with these keywords only.
func limited(schema any) any {
	o, isObject := schema.(map[string]any)
	if !isObject {
		return schema
	}
	kept := map[string]any{}
	for name, value := range o {
		properties, isObject := value.(map[string]any)
		several, isArray := value.([]any)
		switch {
		case !slices.Contains(keywords, name):
		case name == "properties" && isObject:
			limits := map[string]any{}
			for property, inner := range properties {
				limits[property] = limited(inner)
			}
			kept[name] = limits
		case name == "anyOf" && isArray:
			list := make([]any, len(several))
			for i, inner := range several {
				list[i] = limited(inner)
			}
			kept[name] = list
		default:
			kept[name] = limited(value)
		}
	}
	return kept
}

// covers reports whether got has all that wanted has. A client may add to a schema what its provider asks for, such as
// additionalProperties, null as one more type beside a property's own, or more words in a description; it may leave out what is empty, write
// types in capitals as Gemini does, and say what is a set in another order. It may not lose anything.
func covers(got, wanted any) bool {
	switch want := wanted.(type) {
	case map[string]any:
		have, isObject := got.(map[string]any)
		if variants, ok := have["anyOf"].([]any); ok && want["anyOf"] == nil {
			return slices.ContainsFunc(variants, func(v any) bool { return covers(v, wanted) })
		}
		for name, value := range want {
			inner, ok := have[name]
			if !ok && empty(value) {
				continue
			}
			if !ok || !covers(inner, value) && !moreWords(name, inner, value) {
				return false
			}
		}
		return isObject
	case []any:
		have, isArray := got.([]any)
		return isArray && !slices.ContainsFunc(want, func(item any) bool {
			return !slices.ContainsFunc(have, func(other any) bool { return covers(other, item) })
		})
	case string:
		several, isArray := got.([]any)
		return got == want || isArray && slices.Contains(several, any(want))
	}
	return cmp.Equal(got, wanted, cmp.Comparer(evidence.SameNumber))
}

// moreWords reports whether a description was added to, or a type written in capitals.
func moreWords(name string, got, wanted any) bool {
	have, isText := got.(string)
	want, wasText := wanted.(string)
	switch {
	case !isText || !wasText:
		return false
	case name == "description":
		return strings.Contains(have, want)
	}
	return name == "type" && strings.EqualFold(have, want)
}

// empty reports whether a part of a schema says nothing.
func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

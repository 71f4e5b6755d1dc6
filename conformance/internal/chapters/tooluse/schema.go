package tooluse

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// sameSchema reports whether the model was offered a tool with the input schema that the server sent, as far as its
// provider reads it.
func sameSchema(x *evidence.Exchange, got, sent *dialect.Tool) bool {
	want, have := evidence.DecodeJSON(sent.InputSchema), evidence.DecodeJSON(got.InputSchema)
	if x.Request.Dialect == dialect.Ollama { // before inlining: Ollama reads references only within definitions
		want = ollama.in(want)
	}
	budget := mostInlined
	want, have = inlined(want, nil, &budget), inlined(have, nil, &budget)
	if limitsSchemas(x, got) {
		want = everyProvider.in(want)
	}
	return covers(have, want)
}

// mostInlined limits the parts of schemas that are read: a schema may refer to itself without end.
const mostInlined = 10000

// inlined replaces the references of a schema by what they refer to, as some clients do for providers without
// references. A nil definitions is for the whole schema, which has the definitions.
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
			definitions = definitionsOf(v)
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

// definitionsOf returns the definitions of a schema by their references.
func definitionsOf(schema map[string]any) map[string]any {
	definitions := map[string]any{}
	for _, under := range []string{"$defs", "definitions"} {
		named, _ := schema[under].(map[string]any)
		for name, definition := range named {
			definitions["#/"+under+"/"+name] = definition
		}
	}
	return definitions
}

// limitsSchemas reports whether a tool was offered in a form in which the provider accepts only a few keywords:
// Gemini in parameters, and OpenAI with strict schemas.
func limitsSchemas(x *evidence.Exchange, tool *dialect.Tool) bool {
	var declared, function dialect.Object
	if start, end, ok := evidence.Locate(x.Request.Body, tool.Path); ok {
		_ = json.Unmarshal(x.Request.Body[start:end], &declared) // an invalid declaration limits nothing
		_ = declared.Read("function", &function)
	}
	if x.Request.Dialect == dialect.Gemini {
		return !declared.Has("parametersJsonSchema")
	}
	return string(declared["strict"]) == "true" || string(function["strict"]) == "true"
}

// keywords are those of a schema, and of the schemas in it, that a provider reads.
type keywords struct {
	outer, inner []string
	// deep limits schemas under every keyword, such as items, and not only under properties and anyOf.
	deep bool
}

// everyProvider reads these keywords in any form.
var everyProvider = keywords{outer: commonWords, inner: commonWords, deep: true}

var commonWords = []string{"type", "description", "enum", "items", "properties", "required", "anyOf"}

// ollama is what Ollama reads of a tool's schema and of the schema of a property (Tool and ToolProperty of its
// package api, 0.17). It drops the rest, and so do clients that are built on its types.
var ollama = keywords{
	outer: []string{"type", "$defs", "items", "required", "properties"},
	inner: []string{"anyOf", "type", "items", "description", "enum", "properties"},
}

// in returns the schema with the keywords only.
func (k keywords) in(schema any) any { return k.keep(schema, k.outer) }

func (k keywords) keep(schema any, words []string) any {
	o, isObject := schema.(map[string]any)
	if !isObject {
		return schema
	}
	kept := map[string]any{}
	for word, value := range o {
		properties, isObject := value.(map[string]any)
		variants, isArray := value.([]any)
		switch {
		case !slices.Contains(words, word):
		case word == "properties" && isObject:
			limited := map[string]any{}
			for name, property := range properties {
				limited[name] = k.keep(property, k.inner)
			}
			kept[word] = limited
		case word == "anyOf" && isArray:
			limited := make([]any, len(variants))
			for i, variant := range variants {
				limited[i] = k.keep(variant, k.inner)
			}
			kept[word] = limited
		case k.deep:
			kept[word] = k.keep(value, k.inner)
		default:
			kept[word] = value
		}
	}
	return kept
}

// covers reports whether got has all that want has. A client may add what its provider requires, such as
// additionalProperties, null as another type of a property, or words in a description. It may omit empty values,
// reorder sets, and write types in capitals, as Gemini does.
func covers(got, want any) bool {
	switch wanted := want.(type) {
	case map[string]any:
		return coversObject(got, wanted)
	case []any:
		have, isArray := got.([]any)
		return isArray && !slices.ContainsFunc(wanted, func(item any) bool {
			return !slices.ContainsFunc(have, func(other any) bool { return covers(other, item) })
		})
	case string:
		several, isArray := got.([]any)
		return got == want || isArray && slices.Contains(several, want)
	}
	return cmp.Equal(got, want, cmp.Comparer(evidence.SameNumber))
}

func coversObject(got any, want map[string]any) bool {
	have, isObject := got.(map[string]any)
	if variants, ok := have["anyOf"].([]any); ok && want["anyOf"] == nil {
		return slices.ContainsFunc(variants, func(v any) bool { return covers(v, want) })
	}
	for name, value := range want {
		inner, ok := have[name]
		if !ok && empty(value) {
			continue
		}
		if !ok || !covers(inner, value) && !sameWords(name, inner, value) {
			return false
		}
	}
	return isObject
}

// sameWords reports whether a description contains the wanted one, or a type differs only in capitals.
func sameWords(name string, got, want any) bool {
	have, isText := got.(string)
	wanted, wasText := want.(string)
	switch {
	case !isText || !wasText:
		return false
	case name == "description":
		return strings.Contains(have, wanted)
	}
	return name == "type" && strings.EqualFold(have, wanted)
}

// empty reports whether a value is an empty object or array.
func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

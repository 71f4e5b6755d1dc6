package always

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// mostInlined limits the parts of schemas that are read: a schema may refer to itself without end.
const mostInlined = 10000

// inlined returns a whole schema with definitions in place of the references to them, as some clients send it to
// providers without references.
func inlined(schema any) any {
	definitions, budget := definitionsOf(schema), mostInlined
	var inline func(any) any
	inline = func(schema any) any {
		if budget--; budget < 0 {
			return schema
		}
		switch v := schema.(type) {
		case []any:
			list := make([]any, len(v))
			for i, item := range v {
				list[i] = inline(item)
			}
			return list
		case map[string]any:
			if to, ok := v["$ref"].(string); ok && definitions[to] != nil {
				return inline(definitions[to])
			}
			copied := make(map[string]any, len(v))
			for name, value := range v {
				if name != "$defs" && name != "definitions" {
					copied[name] = inline(value)
				}
			}
			return copied
		}
		return schema
	}
	return inline(schema)
}

// definitionsOf returns the definitions of a schema by their references.
func definitionsOf(schema any) map[string]any {
	o, _ := schema.(map[string]any)
	definitions := map[string]any{}
	for _, under := range []string{"$defs", "definitions"} {
		named, _ := o[under].(map[string]any)
		for name, definition := range named {
			definitions["#/"+under+"/"+name] = definition
		}
	}
	return definitions
}

// schemaDifference shows the first difference between two schemas. Sets have no order.
func schemaDifference(want, got []byte) (wanted, found string) {
	wanted, found = evidence.JSONDifference(want, got)
	if strings.HasPrefix(wanted, "{") && strings.HasPrefix(found, "{") {
		return wanted, found // both whole
	}
	return evidence.JSONDifference(jsonvalue.Marshal(withSets(jsonvalue.Decode(want))),
		jsonvalue.Marshal(withSets(jsonvalue.Decode(got))))
}

// withSets returns a schema with one sorted text for each list of names, types or values.
func withSets(schema any) any {
	switch v := schema.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withSets(item)
		}
		return list
	case map[string]any:
		o := make(map[string]any, len(v))
		for word, value := range v {
			o[word] = withSets(value)
			if list, isList := value.([]any); isList && (word == "required" || word == "enum" || word == "type") {
				var texts []string
				for _, item := range list {
					texts = append(texts, strings.Trim(string(jsonvalue.Marshal(item)), `"`))
				}
				slices.Sort(texts)
				o[word] = strings.Join(texts, ", ")
			}
		}
		return o
	}
	return schema
}

// keywords are those of a schema, and of the schemas in it, that a provider reads.
type keywords struct {
	outer, inner []string
	// deep limits schemas under every keyword, such as items, and not only under properties and anyOf.
	deep bool
}

// everyProvider reads these keywords in any form.
var everyProvider = keywords{outer: commonWords, inner: commonWords, deep: true}

var commonWords = []string{"type", "description", "enum", "items", "properties", "required", "anyOf", "nullable"}

// in returns the schema with the keywords only.
func (k keywords) in(schema any) any {
	o, isObject := schema.(map[string]any)
	if !isObject {
		return schema
	}
	inner := keywords{k.inner, k.inner, k.deep}
	kept := map[string]any{}
	for word, value := range o {
		properties, _ := value.(map[string]any)
		variants, _ := value.([]any)
		switch {
		case !slices.Contains(k.outer, word):
			continue
		case word == "properties" && properties != nil:
			limited := map[string]any{}
			for name, property := range properties {
				limited[name] = inner.in(property)
			}
			value = limited
		case word == "anyOf" && variants != nil:
			limited := make([]any, len(variants))
			for i, variant := range variants {
				limited[i] = inner.in(variant)
			}
			value = limited
		case k.deep:
			value = inner.in(value)
		}
		kept[word] = value
	}
	return kept
}

// splitsTypes reports whether a schema has variants and the other one a list of types.
func splitsTypes(schema, other map[string]any) bool {
	_, several := other["type"].([]any)
	return several && schema["anyOf"] != nil
}

// byType returns a schema as one for each of its types, whether it lists them or has a variant for each: both accept
// the same values.
func byType(schema map[string]any) any {
	variants, _ := schema["anyOf"].([]any)
	around := maps.Clone(schema)
	if types, several := schema["type"].([]any); several {
		variants = nil
		for _, name := range types {
			variants = append(variants, map[string]any{"type": name})
		}
	} else {
		delete(around, "anyOf")
	}
	var all []any
	for _, v := range variants {
		variant, _ := v.(map[string]any)
		all = append(all, ofOneType(around, variant))
	}
	return all
}

// typeWords are the keywords that assert something of one type only.
var typeWords = map[string]map[string]bool{
	"string": jsonvalue.Set("minLength maxLength pattern format"),
	"number": jsonvalue.Set("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
	"array":  jsonvalue.Set("items prefixItems minItems maxItems uniqueItems contains"),
	"object": jsonvalue.Set("properties required additionalProperties patternProperties minProperties maxProperties"),
}

// ofOneType returns a schema with the keywords of a variant, without those that say nothing of the variant's type.
func ofOneType(schema, variant map[string]any) map[string]any {
	o := maps.Clone(schema)
	maps.Copy(o, variant)
	name, _ := o["type"].(string)
	if name == "null" {
		return map[string]any{"type": name}
	}
	for of, words := range typeWords {
		if of != name && !(of == "number" && name == "integer") {
			maps.DeleteFunc(o, func(word string, _ any) bool { return words[word] })
		}
	}
	if values, ok := o["enum"].([]any); ok {
		o["enum"] = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	}
	return o
}

package always

import (
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// splitsTypes reports whether a schema has variants and the other one a list of types.
func splitsTypes(schema, other map[string]any) bool {
	_, several := other["type"].([]any)
	return several && schema["anyOf"] != nil
}

// byType returns a schema as one for each of its types, whether it lists them or has a variant for each: both accept
// the same values.
func byType(schema map[string]any) any {
	var all []any
	if types, several := schema["type"].([]any); several {
		for _, name := range types {
			all = append(all, ofOneType(schema, map[string]any{"type": name}))
		}
		return all
	}
	around := maps.Clone(schema)
	delete(around, "anyOf")
	variants, _ := schema["anyOf"].([]any)
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

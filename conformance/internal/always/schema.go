package always

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// SameSchema reports whether a model request offers a tool with the input schema that the server sent, as far as its
// provider reads it. Both are brought into one form (schema_form.go) and then compared.
func SameSchema(given *dialect.Request, got, sent *dialect.Tool) bool {
	want, have := jsonvalue.Decode(sent.InputSchema), jsonvalue.Decode(got.InputSchema)
	if want != nil && reflect.DeepEqual(want, have) {
		return true
	}
	form := dialects.FactsOf(given.Dialect).Form
	if form.SchemaWords != nil {
		provider := keywords{outer: form.SchemaWords, inner: form.PropertyWords}
		if !sameDefinitions(have, want) {
			return false
		}
		if (&schemas{false, mostInlined}).same(provider.in(inlined(have)), provider.in(inlined(want))) {
			return true
		}
		want, have = provider.in(want), provider.in(have) // references are read only within definitions
	}
	want, have = inlined(want), inlined(have)
	limited, strict := limitsSchemas(given, got, form.FullSchemas)
	if limited {
		want, have = everyProvider.in(want), everyProvider.in(have)
	}
	return acceptsAll(want) && have == nil || (&schemas{strict, mostInlined}).same(have, want)
}

// acceptsAll reports whether a schema is that of any object: some providers want none then.
func acceptsAll(schema any) bool {
	o, isObject := schema.(map[string]any)
	for name, value := range o {
		isObject = isObject && (name == "type" || empty(value) || !asserts[name])
	}
	return isObject
}

// sameDefinitions reports whether a schema has the wanted definition for each of its references. A client may drop the
// references, or put what they refer to in their place.
func sameDefinitions(got, want any) bool {
	given, body := definitionsOf(got), jsonvalue.Marshal(got)
	for ref, definition := range definitionsOf(want) {
		other, ok := given[ref]
		reference := jsonvalue.Marshal(map[string]string{"$ref": ref})
		refers := bytes.Contains(body, reference[1:len(reference)-1])
		if ok && !(&schemas{false, mostInlined}).same(other, definition) || !ok && refers {
			return false
		}
	}
	return true
}

// limitsSchemas reports whether a tool was offered in a form in which the provider accepts only a few keywords: with a
// strict schema, or with one that is not in a member for full schemas.
func limitsSchemas(given *dialect.Request, tool *dialect.Tool, full []string) (limited, strict bool) {
	declared := at(given.Body, tool.Path)
	var o jsonvalue.Object
	_ = json.Unmarshal(declared, &o) // an invalid declaration limits nothing
	strict = string(o["strict"]) == "true" || string(at(declared, "function.strict")) == "true"
	return strict || full != nil && !slices.ContainsFunc(full, o.Has), strict
}

// schemas compares schemas. Strict ones require all properties. What exceeds the budget is not compared: a schema may
// refer to itself without end.
type schemas struct {
	strict bool
	budget int
}

// asserts are the keywords that make a schema accept less. A client must not add them.
var asserts = jsonvalue.Set("type enum const items prefixItems properties patternProperties required anyOf oneOf " +
	"allOf not if then else pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum " +
	"multipleOf minItems maxItems uniqueItems contains minProperties maxProperties dependentRequired " +
	"dependentSchemas propertyNames")

// annotations are the keywords that neither make a schema accept less nor say what a value means.
var annotations = jsonvalue.Set("examples deprecated readOnly writeOnly $comment $schema $id")

// same reports whether a schema is the wanted one. A client may close it, let an optional property be null, add words
// to a description, omit empty values, reorder sets, and write types in capitals, as Gemini does.
func (s *schemas) same(got, want any) bool {
	wanted, isObject := want.(map[string]any)
	if !isObject {
		return jsonvalue.Equal(got, want) || got == nil && want == true
	}
	if s.budget--; s.budget < 0 {
		return true
	}
	have, isObject := got.(map[string]any)
	if splitsTypes(have, wanted) || splitsTypes(wanted, have) {
		return s.sameSet(byType(have), byType(wanted), isNull)
	}
	if variants, ok := have["anyOf"].([]any); ok && wanted["anyOf"] == nil {
		return s.sameSet(variants, []any{want}, isNull)
	}
	return isObject && s.asksAll(have, wanted) && !s.asksMore(have, wanted) &&
		(!s.strict || areIn(have["required"], have["properties"]))
}

// asksAll reports whether a schema has every keyword of the wanted one.
func (s *schemas) asksAll(have, wanted map[string]any) bool {
	for word, value := range wanted {
		inner, ok := have[word]
		if word == "required" {
			inner = s.withoutAdded(have, value)
		}
		if word == "type" && have["nullable"] == true { // OpenAPI's word, which Gemini takes
			inner = []any{inner, "null"}
		}
		if !s.sameWord(word, inner, value) && (ok || !empty(value) && !annotations[word]) {
			return false
		}
	}
	return true
}

// asksMore reports whether a schema has an assertion that the wanted one does not have.
func (s *schemas) asksMore(have, wanted map[string]any) bool {
	for word, value := range have {
		if word == "required" {
			value = s.withoutAdded(have, nil)
		}
		if _, ok := wanted[word]; !ok && asserts[word] && !empty(value) {
			return true
		}
	}
	return false
}

// withoutAdded returns the required properties of a schema without those that a client may add: any if the schema is
// strict, and those that may be null.
func (s *schemas) withoutAdded(have map[string]any, want any) []any {
	required, _ := have["required"].([]any)
	properties, _ := have["properties"].(map[string]any)
	wanted, _ := want.([]any)
	return slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		text, isText := name.(string)
		return isText && !slices.Contains(wanted, any(text)) && (s.strict || mayBeNull(properties[text]))
	})
}

func mayBeNull(schema any) bool {
	o, _ := schema.(map[string]any)
	types, _ := o["type"].([]any)
	variants, _ := o["anyOf"].([]any)
	return isNull(schema) || slices.Contains(types, any("null")) || slices.ContainsFunc(variants, mayBeNull)
}

func isNull(schema any) bool {
	o, _ := schema.(map[string]any)
	return o["type"] == "null"
}

// areIn reports whether all names of a list are members of an object.
func areIn(list, object any) bool {
	names, _ := list.([]any)
	members, _ := object.(map[string]any)
	return !slices.ContainsFunc(names, func(name any) bool {
		text, _ := name.(string)
		_, ok := members[text]
		return !ok
	})
}

// sameWord compares the value of a keyword.
func (s *schemas) sameWord(word string, got, want any) bool {
	switch word {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return s.sameMembers(got, want)
	case "type":
		return sameType(got, want)
	case "description", "title":
		have, _ := got.(string)
		wanted, _ := want.(string)
		return strings.Contains(have, wanted)
	case "additionalProperties":
		return got == false && want == true || s.same(got, want)
	case "required":
		return s.sameNames(got, want, func(any) bool { return false })
	case "enum":
		return s.sameNames(got, want, func(v any) bool { return v == nil || isNull(v) })
	case "anyOf", "oneOf", "allOf":
		return s.sameSet(got, want, isNull)
	case "prefixItems":
		have, _ := got.([]any)
		wanted, _ := want.([]any)
		return slices.EqualFunc(have, wanted, s.same)
	case "default", "const", "examples":
		return jsonvalue.Equal(got, want)
	}
	return s.same(got, want)
}

// sameNames compares sets that may not repeat a value if the wanted one does not.
func (s *schemas) sameNames(got, want any, mayAdd func(any) bool) bool {
	return (hasTwice(want) || !hasTwice(got)) && s.sameSet(got, want, mayAdd)
}

func (s *schemas) sameMembers(got, want any) bool {
	have, _ := got.(map[string]any)
	wanted, isObject := want.(map[string]any)
	return isObject && maps.EqualFunc(have, wanted, s.same)
}

// sameType compares types. Null may be added, and Gemini's are in capitals.
func sameType(got, want any) bool {
	list := func(v any) []string {
		several, isArray := v.([]any)
		if !isArray {
			several = []any{v}
		}
		var names []string
		for _, item := range several {
			name, _ := item.(string)
			if name == strings.ToUpper(name) {
				name = strings.ToLower(name)
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	have, wanted := list(got), list(want)
	if !slices.Contains(wanted, "null") {
		have = slices.DeleteFunc(have, func(name string) bool { return name == "null" })
	}
	return slices.Equal(have, wanted)
}

// hasTwice reports whether a list has a string twice: the list of required properties is then invalid, and that of an
// enum should not have it (JSON Schema, validation, 6.1.2).
func hasTwice(list any) bool {
	names, _ := list.([]any)
	seen := map[any]bool{}
	return slices.ContainsFunc(names, func(name any) bool {
		text, isText := name.(string)
		again := isText && seen[text]
		seen[text] = true
		return again
	})
}

// sameSet compares arrays in any order, apart from what may be added.
func (s *schemas) sameSet(got, want any, mayAdd func(any) bool) bool {
	have, isArray := got.([]any)
	wanted, wasArray := want.([]any)
	in := slices.ContainsFunc[[]any]
	return isArray && wasArray &&
		!in(wanted, func(w any) bool { return !in(have, func(h any) bool { return s.same(h, w) }) }) &&
		!in(have, func(h any) bool { return !mayAdd(h) && !in(wanted, func(w any) bool { return s.same(h, w) }) })
}

// empty reports whether a value is an empty object or array, or a schema that accepts everything.
func empty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return value == true
}

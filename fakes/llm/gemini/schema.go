package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// noParameters is the schema of a function without parameters.
const noParameters = `{"type":"object"}`

// inputSchema returns the parameters of a declaration as JSON Schema, from either form.
func inputSchema(declaration *node) json.RawMessage {
	if schema := declaration.at("parametersJsonSchema"); schema != nil {
		return schema.raw
	}
	if schema := declaration.at("parameters"); schema != nil {
		return jsonvalue.Marshal(jsonSchema(schema))
	}
	return json.RawMessage(noParameters)
}

// types maps the API's schema types, accepted in either case, to JSON Schema.
var types = map[string]string{
	"OBJECT": "object", "ARRAY": "array", "STRING": "string", "NUMBER": "number", "INTEGER": "integer",
	"BOOLEAN": "boolean", "NULL": "null",
}

// jsonSchema converts a schema of the API's own form to JSON Schema. They differ in type names, nullable, and integers
// as strings.
func jsonSchema(s *node) map[string]any {
	out := map[string]any{}
	for name, field := range s.fields {
		switch kind := documented["schema"][name]; {
		case name == "type":
			out[name] = typeName(field)
		case name == "nullable":
		case name == "ref" || name == "defs":
			out["$"+name] = field.raw
		case kind == "schema":
			out[name] = jsonSchema(field)
		case kind == "[]schema":
			list := make([]any, len(field.items))
			for i, item := range field.items {
				list[i] = jsonSchema(item)
			}
			out[name] = list
		case kind == "map:schema":
			inner := map[string]any{}
			for property, schema := range field.fields {
				inner[property] = jsonSchema(schema)
			}
			out[name] = inner
		case kind == "integer":
			out[name] = json.RawMessage(strings.Trim(string(field.raw), `"`))
		default:
			out[name] = field.raw
		}
	}
	if kind, ok := out["type"].(string); ok && s.bool("nullable") {
		out["type"] = []string{kind, "null"}
	}
	return out
}

func typeName(field *node) string {
	word := field.string()
	if name := types[strings.ToUpper(word)]; name != "" {
		return name
	}
	return word
}

// checkSchema enforces the API's rules for a schema of its own form.
func checkSchema(s *node) *dialect.Error {
	kind := ""
	if t := s.at("type"); t != nil {
		word := t.string()
		if kind = types[strings.ToUpper(word)]; kind == "" && jsonvalue.IsKind(t.raw, '"') && word != "TYPE_UNSPECIFIED" {
			return notInEnum(t, "Type")
		}
	}
	if kind == "array" && s.at("items") == nil {
		return violation(s.below("items"), "missing field")
	}
	properties := s.at("properties")
	for i, name := range s.strings("required") {
		if properties != nil && properties.fields[name] == nil {
			return violation(s.below(jsonvalue.At("required", i)), "property is not defined")
		}
	}
	inner := append(slices.Clone(s.list("anyOf")), s.list("prefixItems")...)
	if items := s.at("items"); items != nil {
		inner = append(inner, items)
	}
	if properties != nil {
		for _, name := range slices.Sorted(maps.Keys(properties.fields)) {
			inner = append(inner, properties.fields[name])
		}
	}
	return each(inner, checkSchema)
}

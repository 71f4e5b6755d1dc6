package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// checkSchema refuses a type of structured output that is unknown, and one whose name or schema is invalid. The schema
// is a member beside the type in Responses, and one level deeper in Chat Completions.
func checkSchema(q *request, format jsonvalue.Members, path string) *dialect.Error {
	kind := format.Text("type")
	switch {
	case !q.style.isOpenAI || format == nil:
		return nil
	case kind == "":
		return missing(path, "type")
	case kind != "json_schema" && kind != "json_object" && kind != "text":
		return unsupported(path+".type", kind, "json_object", "json_schema", "text")
	case kind != "json_schema":
		return nil
	}
	param, schemaCode := path+".schema", "invalid_json_schema"
	if path == "response_format" {
		if !format.Has("json_schema") {
			return missing(path, "json_schema")
		}
		format, param, schemaCode, path = format.Object("json_schema"), path, "", path+".json_schema"
	}
	return checkNamed(format, path, param, schemaCode)
}

// checkNamed refuses an invalid name and schema. Param and schemaCode belong to the error of the schema.
func checkNamed(format jsonvalue.Members, path, param, schemaCode string) *dialect.Error {
	name, schema := format.Text("name"), format.Raw("schema")
	switch {
	case !format.Has("name"):
		return missing(path, "name")
	case checkName(path+".name", name) != nil:
		return checkName(path+".name", name)
	case !format.Has("schema") && param != "response_format":
		return missing(path, "schema")
	case format.Has("schema") && !jsonvalue.IsKind(schema, '{'):
		return wrongType(path+".schema", "an object", schema)
	case string(format.Raw("strict")) != "true":
		return nil
	}
	if why := schemaMistake(format.Object("schema"), true); why != "" {
		return invalid(param, schemaCode, "Invalid schema for response_format '%s': %s", name, why)
	}
	return nil
}

// topLevelForbidden are forbidden at the top level of a function's schema.
var topLevelForbidden = []string{"oneOf", "anyOf", "allOf", "enum", "not"}

// checkParameters refuses the schema of a function. JSON Schema does not require properties or items: MCP tools often
// fail here.
func (t *tool) checkParameters(member string, strict bool) *dialect.Error {
	path := t.path + "." + member
	var top jsonvalue.Members
	if jsonvalue.ReadPart(t.parameters, &top) != nil {
		return wrongType(path, "an object", t.parameters)
	}
	if why := schemaMistake(top, strict); why != "" {
		return invalid(path, "invalid_function_parameters", "Invalid schema for function '%s': %s", t.name, why)
	}
	return nil
}

// schemaMistake describes the first mistake in a schema of parameters or of structured output; "" for none.
func schemaMistake(top jsonvalue.Members, strict bool) string {
	switch kind := top.Text("type"); {
	case kind == "object" && slices.ContainsFunc(topLevelForbidden, top.Has):
		return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
	case !top.Has("type"):
		return `schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`
	case kind != "object":
		return fmt.Sprintf(`schema must be a JSON Schema of 'type: "object"', got 'type: %s'.`, top.Raw("type"))
	case !top.Has("properties"):
		return "In context=(), object schema missing properties."
	}
	return violation(top, nil, strict)
}

// strictForbids are JSON Schema words that a strict tool must not use; strictFormats are the formats that it may use.
var (
	strictForbids = []string{"allOf", "oneOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else"}
	strictFormats = jsonvalue.Set("date-time time date duration email hostname ipv4 ipv6 uuid")
)

func schemaViolation(raw json.RawMessage, at []string, strict bool) string {
	if text, isText := jsonvalue.TextOf(raw); isText {
		return fmt.Sprintf("'%s' is not of type 'object', 'boolean'", text)
	}
	var s jsonvalue.Members
	if jsonvalue.ReadPart(raw, &s) != nil {
		return ""
	}
	return violation(s, at, strict)
}

// violation describes that of a schema that is an object. Every array has items. In a strict tool each object also
// requires all its properties and allows no others.
func violation(s jsonvalue.Members, at []string, strict bool) string {
	why := ""
	if s.Text("type") == "array" && !s.Has("items") {
		why = "array schema missing items."
	} else if strict {
		why = strictViolation(s)
	}
	if why != "" {
		return "In context=" + context(at) + ", " + why
	}
	return innerViolation(s, at, strict)
}

// context writes a place as the API does, as a tuple of Python.
func context(at []string) string {
	if len(at) == 0 {
		return "()"
	}
	return "('" + strings.Join(at, "', '") + "')"
}

// strictViolation describes the first violation of strictness by the schema itself.
func strictViolation(s jsonvalue.Members) string {
	for _, word := range strictForbids {
		if s.Has(word) {
			return fmt.Sprintf("'%s' is not permitted.", word)
		}
	}
	if format := s.Text("format"); format != "" && !strictFormats[format] {
		return fmt.Sprintf("'%s' is not a valid format.", format)
	}
	if s.Text("type") != "object" && !s.Has("properties") {
		return ""
	}
	if string(s.Raw("additionalProperties")) != "false" {
		return "'additionalProperties' is required to be supplied and to be false."
	}
	var properties jsonvalue.Members
	var required []string
	_, _ = s.Read("properties", &properties), s.Read("required", &required) // a wrong type counts as empty
	names := properties.Names()
	const every = "'required' is required to be supplied and to be an array including every key in properties. "
	for _, name := range names {
		if !slices.Contains(required, name) {
			return fmt.Sprintf(every+"Missing '%s'.", name)
		}
	}
	for _, name := range required {
		if !slices.Contains(names, name) {
			return fmt.Sprintf(every+"Extra required key '%s' supplied.", name)
		}
	}
	return ""
}

// innerViolation describes the first violation in the schemas of properties, definitions, alternatives and items.
func innerViolation(s jsonvalue.Members, at []string, strict bool) string {
	for _, holder := range []string{"properties", "$defs", "definitions"} {
		inner := s.Object(holder)
		for _, name := range inner.Names() {
			if why := schemaViolation(inner.Raw(name), append(at, holder, name), strict); why != "" {
				return why
			}
		}
	}
	for _, holder := range []string{"anyOf", "oneOf", "allOf"} {
		var alternatives []json.RawMessage
		_ = s.Read(holder, &alternatives) // a wrong type counts as empty
		for i, raw := range alternatives {
			if why := schemaViolation(raw, append(at, holder, fmt.Sprint(i)), strict); why != "" {
				return why
			}
		}
	}
	if !s.Has("items") {
		return ""
	}
	return schemaViolation(s.Raw("items"), append(at, "items"), strict)
}

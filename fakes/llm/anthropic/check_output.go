package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// checkOutput refuses a schema of structured output that the API cannot enforce, also in the beta's member. The words
// are in reports of users, at output_config.format.schema.
func checkOutput(q *request) *dialect.Error {
	for _, path := range []string{"output_config.format", "output_format"} {
		format := q.Object(path)
		if path == "output_config.format" {
			format = q.Object("output_config").Object("format")
		}
		switch kind := format.Text("type"); {
		case format == nil:
			continue
		case kind == "":
			return missing(path, "type")
		case kind != "json_schema":
			return unexpectedTag(path, kind, "json_schema")
		case !format.Has("schema"):
			return missing(path, "schema")
		case !jsonvalue.IsKind(format.Raw("schema"), '{'):
			return invalid("%s.schema: Input should be a valid dictionary", path)
		}
		if why := unenforceable(format.Raw("schema")); why != "" {
			return invalid("%s.schema: %s", path, why)
		}
	}
	return nil
}

// valueLimits are the words of JSON Schema that a type must not have in structured output, in the API's order.
var valueLimits = map[string][]string{
	"integer": {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"},
	"number":  {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"},
	"string":  {"maxLength", "minLength"},
	"array":   {"maxItems", "uniqueItems"},
}

// unenforceable describes the first mistake in a schema and those inside it; "" for none.
func unenforceable(raw json.RawMessage) string {
	var s jsonvalue.Members
	if jsonvalue.ReadPart(raw, &s) != nil {
		return "" // true or false
	}
	kind := s.Text("type")
	if kind == "object" && string(s.Raw("additionalProperties")) != "false" {
		return "For 'object' type, 'additionalProperties' must be explicitly set to false"
	}
	found := slices.DeleteFunc(slices.Clone(valueLimits[kind]), func(word string) bool { return !s.Has(word) })
	switch len(found) {
	case 0:
	case 1:
		return "For '" + kind + "' type, property '" + found[0] + "' is not supported"
	default:
		return "For '" + kind + "' type, properties " + strings.Join(found, ", ") + " are not supported"
	}
	var inner []json.RawMessage
	for _, holder := range []string{"properties", "$defs", "definitions"} {
		all := s.Object(holder)
		for _, name := range all.Names() {
			inner = append(inner, all.Raw(name))
		}
	}
	for _, holder := range []string{"anyOf", "allOf"} {
		var all []json.RawMessage
		_ = s.Read(holder, &all) // a wrong type counts as empty
		inner = append(inner, all...)
	}
	for _, schema := range append(inner, s.Raw("items")) {
		if why := unenforceable(schema); why != "" {
			return why
		}
	}
	return ""
}

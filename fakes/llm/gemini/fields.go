package gemini

import (
	_ "embed"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

//go:embed fields.txt
var fieldsText string

// documented lists the messages of a request and the kinds of their fields, from the API reference of 2026: a message,
// a scalar, "any" for uninspected values, "[]" before a repeated kind, "map:" before the kind of a map's values. In
// fields.txt a line with a message's name precedes lines of NAME:KIND. The API accepts camelCase and snake_case names.
var documented = func() map[string]map[string]string {
	messages := map[string]map[string]string{}
	var fields map[string]string
	for word := range strings.FieldsSeq(fieldsText) {
		if name, kind, isField := strings.Cut(word, ":"); isField {
			fields[name] = kind
			continue
		}
		fields = map[string]string{}
		messages[word] = fields
	}
	return messages
}()

// vertexOnly are fields that Vertex AI has and the Gemini API has not.
var vertexOnly = jsonvalue.Set(`
	request.labels request.modelArmorConfig request.outputConfig
	schema.additionalProperties schema.ref schema.defs schema.prefixItems
`)

// fieldName returns the camelCase name of a message's field, or "" if unknown.
func fieldName(message, written string) string {
	fields := documented[message]
	if fields[written] != "" {
		return written
	}
	if words := strings.Split(written, "_"); len(words) > 1 && written == strings.ToLower(written) {
		for i, w := range words[1:] {
			if w != "" {
				words[i+1] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		if name := strings.Join(words, ""); fields[name] != "" {
			return name
		}
	}
	return ""
}

package tooluse

import (
	"slices"
)

// What Ollama reads of a tool's schema, and of the schema of a parameter (Tool and ToolProperty of its package api, 0.17). It drops the
// rest, whoever sends it, and so do clients that are built on its types: nothing of that could reach a model.
var (
	ollamaReads           = []string{"type", "$defs", "items", "required", "properties"}
	ollamaReadsOfProperty = []string{"anyOf", "type", "items", "description", "enum", "properties"}
)

// readByOllama returns what is left of a tool's schema at Ollama.
func readByOllama(schema any) any { return keepWords(schema, ollamaReads) }

// keepWords keeps the words of a schema that are read, and of its properties theirs.
func keepWords(schema any, words []string) any {
	o, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	kept := map[string]any{}
	for word, value := range o {
		if slices.Contains(words, word) {
			kept[word] = value
		}
	}
	if properties, ok := kept["properties"].(map[string]any); ok {
		read := map[string]any{}
		for name, property := range properties {
			read[name] = keepWords(property, ollamaReadsOfProperty)
		}
		kept["properties"] = read
	}
	if choices, ok := kept["anyOf"].([]any); ok {
		read := make([]any, len(choices))
		for i, choice := range choices {
			read[i] = keepWords(choice, ollamaReadsOfProperty)
		}
		kept["anyOf"] = read
	}
	return kept
}

package reference

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

var geminiOnly = []string{dialect.Gemini}

// geminiMutants are wrong in the translation to and from Gemini, whose wire has no ids, or names only.
var geminiMutants = []Mutant{
	{Name: "gemini-no-ids", Doc: "passes calls on without an id, as Gemini 2 gives them", Kills: []string{"tool-use/tool-use-block", "tool-use/id-minted"},
		Also:     []string{"parallel/unique-ids", "tool-use/stop-reason-tooluse"},
		Dialects: geminiOnly, Model: Gemini2, broken: faults{mintsNoIDs: true}},
	{Name: "gemini-names-as-ids", Doc: "takes the tool's name for the id that Gemini does not give", Kills: []string{"parallel/unique-ids"}, Also: []string{"tool-use/id-minted", "tool-use/fresh-ids"},
		Dialects: geminiOnly, broken: faults{idsFromNames: true}},
	{Name: "gemini-results-by-name", Doc: "keeps tool results by the name of their tool, and so one of each", Kills: []string{"parallel/results-reach-model"},
		Dialects: geminiOnly, broken: faults{resultsByName: true}},
	{Name: "gemini-result-order", Doc: "sends tool results without ids, and in the order of the server's message", Kills: []string{"parallel/results-order"},
		Dialects: geminiOnly, broken: faults{resultsAsTheyCame: true}},
	{Name: "gemini-stops-early", Doc: "stops reading a stream after the chunk with the finish reason", Kills: []string{"parallel/late-delta"},
		Dialects: geminiOnly, Streamed: true, broken: faults{stopsAfterFinish: true}},
	{Name: "gemini-forgets-seals", Doc: "restates Gemini 3's calls without their thoughtSignatures, and is refused", Kills: []string{"parallel/results-reach-model", "tool-use/thought-signature"}, Also: []string{"loop/three-rounds"},
		Dialects: geminiOnly, Model: Gemini3, broken: faults{forgetsSignatures: true}},
	{Name: "gemini-own-schemas", Doc: "writes input schemas in Gemini's own form, and loses what its type for them does not have",
		Kills: []string{"tool-use/tools-reach-model"}, Dialects: geminiOnly, broken: faults{ownSchemas: true}},
	{Name: "gemini-text-arguments", Doc: "restates a call's arguments as JSON text, as OpenAI has them", Kills: []string{"parallel/uses-restated"},
		Also:     []string{"parallel/results-reach-model", "parallel/results-order", "parallel/error-result", "parallel/result-content", "loop/three-rounds"},
		Dialects: geminiOnly, broken: faults{argsAsText: true}},
}

// ownSchema writes a schema as a type with few fields would.
func ownSchema(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	kind, _ := s["type"].(string)
	own := map[string]any{"type": strings.ToUpper(kind)}
	if properties, ok := s["properties"].(map[string]any); ok {
		inner := map[string]any{}
		for name, property := range properties {
			inner[name] = ownSchema(property)
		}
		own["properties"] = inner
	}
	if items, ok := s["items"]; ok {
		own["items"] = ownSchema(items)
	}
	for _, name := range []string{"description", "required"} {
		if v, ok := s[name]; ok {
			own[name] = v
		}
	}
	return own
}

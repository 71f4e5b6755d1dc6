package ollama

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// Facts implements [dialect.Codec].
func (chat) Facts() dialect.Facts {
	return dialect.Facts{
		Provider: "ollama", Address: "http://127.0.0.1:11434", Path: "/api/chat", Apart: "/ollama",
		BaseVariables: []string{"OLLAMA_HOST"}, KeyVariables: []string{"OLLAMA_API_KEY"},
		Volatile: []string{"keep_alive"}, LastEvent: `"done": ?true`,
		IDs:        []string{"messages.tool_calls.id", "messages.tool_call_id"},
		Arguments:  []string{"messages.tool_calls.function.arguments"},
		End:        reasons[dialect.EndTurn],
		SmallModel: "llama3.2:1b", SmallPart: "3.2:1b", LargeModel: "llama3.3",
		Form: dialect.Form{NoToolChoice: true, NoAudio: true, BareImages: true, Unordered: true, LateUses: true,
			ParsedInputs: true, ParsedStreams: true,
			// Tool and ToolProperty of Ollama's package api, 0.17. Clients that are built on its types drop the rest.
			SchemaWords:   []string{"type", "$defs", "items", "required", "properties"},
			PropertyWords: []string{"anyOf", "type", "items", "description", "enum", "properties"}},
	}
}

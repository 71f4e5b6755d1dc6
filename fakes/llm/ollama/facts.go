package ollama

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// Facts implements [dialect.Codec].
func (chat) Facts() dialect.Facts {
	return dialect.Facts{
		Provider: "ollama", Address: "http://127.0.0.1:11434", Path: "/api/chat",
		BaseVariables: []string{"OLLAMA_HOST"}, KeyVariables: []string{"OLLAMA_API_KEY"},
		Volatile: []string{"keep_alive"}, LastEvent: `"done": ?true`,
		IDs:       []string{"messages.tool_calls.id", "messages.tool_call_id"},
		Arguments: []string{"messages.tool_calls.function.arguments"},
	}
}

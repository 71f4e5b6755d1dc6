package openai

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

// Facts implements [dialect.Codec].
func (c chat) Facts() dialect.Facts {
	if !c.isOpenAI {
		return dialect.Facts{Base: c.base, Compatible: dialect.OpenAIChat}
	}
	f := facts
	f.Path, f.LastEvent = "/chat/completions", `^data: ?\[DONE\]`
	f.IDs = []string{"messages.tool_calls.id", "messages.tool_call_id"}
	f.Arguments = []string{"messages.tool_calls.function.arguments"}
	f.End = reasons[dialect.EndTurn]
	f.Form = dialect.Form{Unordered: true, LateUses: true}
	return f
}

// Facts implements [dialect.Codec]. An item's own id may be left out, but not be another item's.
func (o responses) Facts() dialect.Facts {
	if !o.isOpenAI {
		return dialect.Facts{Base: o.base, Compatible: dialect.OpenAIResponses, Form: dialect.Form{NoStopSequences: true}}
	}
	f := facts
	f.Path, f.Conversation, f.End = "/responses", "input", "completed"
	f.LastEvent = `^event: ?response\.(?:completed|incomplete|failed)\b|` +
		`"type": ?"response\.(?:completed|incomplete|failed)"`
	f.IDs, f.Arguments = []string{"input.call_id", "input.id"}, []string{"input.arguments"}
	f.Form.NoStopSequences = true
	return f
}

// facts are those of both APIs.
var facts = dialect.Facts{
	SmallModel: "gpt-4o-mini", SmallPart: "4o-mini", LargeModel: "gpt-4.1",
	ToolNames: `^[a-zA-Z0-9_-]{1,64}$`,
	Base:      "/v1", Provider: "openai", Address: "https://api.openai.com",
	BaseVariables: []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"}, KeyVariables: []string{"OPENAI_API_KEY"},
	KeyHeader: "Api-Key", // of Azure; others have a bearer token
	Volatile:  []string{"user", "safety_identifier", "prompt_cache_key", "metadata"},
}

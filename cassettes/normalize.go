package cassettes

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// knownDialect describes a dialect whose requests are compared by meaning.
type knownDialect struct {
	name string
	// path is the end of the address, because gateways add a prefix. For Gemini it precedes the model.
	path string
	// volatile are the members of the body that are ignored.
	volatile []string
	// normalize renames the ids of the body and writes equal values in one way.
	normalize func(params map[string]any, ids *renamer)
}

var dialects = []knownDialect{
	{dialect.OpenAIChat, "/chat/completions", openAIVolatile, normalizeChat},
	{dialect.OpenAIResponses, "/responses", openAIVolatile, normalizeResponses},
	{dialect.Anthropic, "/messages", []string{"metadata"}, normalizeBlocks("tool_use_id")},
	{dialect.Gemini, "/models/", []string{"labels"}, normalizeGemini},
	{dialect.Ollama, "/api/chat", []string{"keep_alive"}, normalizeChat},
	{dialect.Native, "/native", []string{"_meta", "metadata"}, normalizeBlocks("toolUseId")},
}

var openAIVolatile = []string{"user", "safety_identifier", "prompt_cache_key", "metadata"}

// dialectOf returns the dialect of a kind of request, or nil.
func dialectOf(kind string) *knownDialect {
	name, _, _ := strings.Cut(kind, " ")
	for i := range dialects {
		if dialects[i].name == name {
			return &dialects[i]
		}
	}
	return nil
}

// serves reports whether a POST to the address uses the dialect. It returns what else the address says.
func (d *knownDialect) serves(u *url.URL) (rest string, ok bool) {
	if d.name != dialect.Gemini {
		return "", strings.HasSuffix(u.Path, d.path)
	}
	at := strings.LastIndex(u.Path, d.path)
	if at < 0 {
		return "", false
	}
	model, method, ok := strings.Cut(u.Path[at+len(d.path):], ":")
	if !ok || method != "generateContent" && method != "streamGenerateContent" {
		return "", false
	}
	rest = model + ":" + method
	if alt := u.Query().Get("alt"); alt != "" {
		rest += "?alt=" + alt
	}
	return rest, true
}

// renamer gives each id a new name in order of appearance. Clients may generate their own ids, but each result must
// stay with its call. Only the id members of a dialect are renamed: an "id" in a tool's input belongs to the user.
type renamer struct{ names map[string]string }

func (r *renamer) rename(o map[string]any, member string) {
	id, ok := o[member].(string)
	if !ok {
		return
	}
	if r.names == nil {
		r.names = map[string]string{}
	}
	if r.names[id] == "" {
		r.names[id] = fmt.Sprintf("id %d", len(r.names)+1)
	}
	o[member] = r.names[id]
}

// normalizeChat serves openai-chat and Ollama, which have ids in the same places.
func normalizeChat(params map[string]any, ids *renamer) {
	for _, m := range objects(params["messages"]) {
		for _, call := range objects(m["tool_calls"]) {
			ids.rename(call, "id")
			if function, ok := call["function"].(map[string]any); ok {
				normalizeArguments(function)
			}
		}
		ids.rename(m, "tool_call_id")
	}
}

func normalizeResponses(params map[string]any, ids *renamer) {
	for _, item := range objects(params["input"]) {
		switch item["type"] {
		case "function_call":
			normalizeArguments(item)
			ids.rename(item, "call_id")
		case "function_call_output":
			ids.rename(item, "call_id")
		}
		ids.rename(item, "id") // the item's own: a client may omit it, but not give it to another item
	}
}

// normalizeBlocks serves dialects with tool uses and results as blocks of messages. A result has its use's id in
// resultID.
func normalizeBlocks(resultID string) func(params map[string]any, ids *renamer) {
	return func(params map[string]any, ids *renamer) {
		for _, m := range objects(params["messages"]) {
			for _, block := range objects(m["content"]) {
				switch block["type"] {
				case "tool_use":
					ids.rename(block, "id")
				case "tool_result":
					ids.rename(block, resultID)
				}
			}
		}
	}
}

func normalizeGemini(params map[string]any, ids *renamer) {
	for _, content := range objects(params["contents"]) {
		for _, part := range objects(content["parts"]) {
			for _, member := range []string{"functionCall", "functionResponse"} {
				if called, ok := part[member].(map[string]any); ok {
					ids.rename(called, "id")
				}
			}
		}
	}
}

// normalizeArguments rewrites arguments that are JSON text. A client that parses and restates a call changes spaces and
// member order.
func normalizeArguments(function map[string]any) {
	if text, ok := function["arguments"].(string); ok {
		if tree, isJSON := readJSON([]byte(text)); isJSON {
			function["arguments"] = canonical(tree)
		}
	}
}

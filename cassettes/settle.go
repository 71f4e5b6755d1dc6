package cassettes

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// understood is a dialect whose requests are understood.
type understood struct {
	name string
	// path is the end of the address, since gateways put a beginning of their own before it. For Gemini it is what stands before the model.
	path string
	// volatile are members of the body that do not count.
	volatile []string
	// settle gives the ids in the body new names, and writes in one way what may be written in several.
	settle func(params map[string]any, ids *renamer)
}

var dialects = []understood{
	{dialect.OpenAIChat, "/chat/completions", []string{"user", "safety_identifier", "prompt_cache_key", "metadata"}, settleChat},
	{dialect.OpenAIResponses, "/responses", []string{"user", "safety_identifier", "prompt_cache_key", "metadata"}, settleResponses},
	{dialect.Anthropic, "/messages", []string{"metadata"}, settleBlocks("tool_use_id")},
	{dialect.Gemini, "/models/", []string{"labels"}, settleGemini},
	{dialect.Ollama, "/api/chat", []string{"keep_alive"}, settleChat},
	{dialect.Native, "/native", []string{"_meta", "metadata"}, settleBlocks("toolUseId")},
}

// serves reports whether a POST to the address is of the dialect, and returns what the address says beside that.
func (d *understood) serves(u *url.URL) (rest string, ok bool) {
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

// renamer gives ids new names, by the order in which they come up, and the same name to the same id: clients may mint ids of their own, but
// which result belongs to which call has to come out the same. Only where a dialect has ids is looked for them: what a tool's
// input calls an id is the user's.
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

// settleChat settles openai-chat, and Ollama's chat, which has the same places for ids.
func settleChat(params map[string]any, ids *renamer) {
	for _, m := range objects(params["messages"]) {
		for _, call := range objects(m["tool_calls"]) {
			ids.rename(call, "id")
			if function, ok := call["function"].(map[string]any); ok {
				settleArguments(function)
			}
		}
		ids.rename(m, "tool_call_id")
	}
}

func settleResponses(params map[string]any, ids *renamer) {
	for _, item := range objects(params["input"]) {
		switch item["type"] {
		case "function_call":
			settleArguments(item)
			ids.rename(item, "call_id")
		case "function_call_output":
			ids.rename(item, "call_id")
		}
		ids.rename(item, "id") // the item's own, which a client may leave out but not give to another
	}
}

// settleBlocks settles dialects whose tool uses and results are blocks of messages: a result has the id of its use in the member of that name.
func settleBlocks(resultID string) func(params map[string]any, ids *renamer) {
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

func settleGemini(params map[string]any, ids *renamer) {
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

// settleArguments writes arguments that are text in one way: who reads the calls of a model and restates them has other spaces, or another
// order.
func settleArguments(function map[string]any) {
	if text, ok := function["arguments"].(string); ok {
		if tree, isJSON := readJSON([]byte(text)); isJSON {
			function["arguments"] = canonical(tree)
		}
	}
}

package variations

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Where the habits of hosts matter, and how they ask OpenAI.
const hostCases = "tool-use parallel"

var plainChat = with(reference.Config{Dialect: "openai-chat", Plain: true})

// hostVariations differ as hosts do that have tools, prompts and limits of their own.
var hostVariations = of(reference.Config{}, "host-",
	v("exchange-first", "puts an exchange of its own before the conversation",
		"own-messages", hostCases, func(body object) {
			own := []any{user("I am the host."), object{"role": "assistant", "content": "Good."}}
			messages := array(body["messages"])
			body["messages"] = slices.Insert(messages, systemMessages(messages), own...)
		}),
	v("prompt-as-exchange", "gives the system prompt as an exchange of user and assistant", "system-prompt", hostCases,
		func(body object) {
			messages := array(body["messages"])
			if systemMessages(messages) == 1 {
				messages[0].(object)["role"] = "user"
				body["messages"] = slices.Insert(messages, 1, any(object{"role": "assistant", "content": "Understood."}))
			}
		}),
	edited("prefixed-names", "puts the server before the names of tools for the model, and takes it away again",
		"tool-names", hostCases,
		replyAndRequest(chatNames(func(name string) string { return strings.TrimPrefix(name, "srv__") }),
			chatNames(func(name string) string {
				const most = 64 // OpenAI takes no longer names
				if prefixed := "srv__" + name; len(prefixed) <= most {
					return prefixed
				}
				return name
			})), plainChat),
	edited("own-links", "writes a link with its title, or without a name", "resources-as-text", "parallel",
		mutants.Edit{Params: eachToolResult(func(b object) {
			for _, link := range ofType(b["content"], "resource_link") {
				link["type"] = "link"
				if delete(link, "name"); text(link, "title") != "" {
					link["name"] = link["title"]
				}
			}
		})}),
	edited("own-native-form", "writes all content as arrays, structured content as text, and no empty texts",
		"structured-as-json", hostCases,
		mutants.Edit{Params: func(p object) {
			for _, m := range objects(p["messages"]) {
				if block, ok := m["content"].(object); ok {
					m["content"] = []any{block}
				}
			}
			eachToolResult(func(b object) {
				for _, inner := range ofType(b["content"], "text") {
					if inner["text"] == "" {
						delete(inner, "text")
					}
				}
				if b["structuredContent"] != nil {
					b["content"] = append(slices.Clip(array(b["content"])),
						textBlock(string(jsonvalue.Marshal(b["structuredContent"]))))
					delete(b, "structuredContent")
				}
			})(p)
		}}, with(reference.Config{Dialect: "native", Plain: true})),
	edited("no-tools-and-no-filter", "offers no tools if the choice is none, and returns what the model uses anyway",
		"unasked-uses", "tool-use", mutants.Edit{
			Params: func(p object) {
				if choice, _ := p["toolChoice"].(object); choice["mode"] == "none" {
					choice["mode"] = "auto" // the client then returns every tool use
					p["tools"] = append(slices.Clip(array(p["tools"])), object{"name": "forbidden",
						"inputSchema": object{"type": "object"}})
				}
			},
			ModelRequest: func(body object) {
				for _, tool := range objects(body["tools"]) {
					if text(tool["function"].(object), "name") == "forbidden" {
						delete(body, "tools")
						delete(body, "tool_choice")
					}
				}
			}}, plainChat),
	edited("at-most-32-uses", "returns an error for more than 32 tool uses", "refusal",
		"parallel", mutants.Edit{Answered: func(s *mutants.Sample) {
			if len(ofType(s.Result["content"], "tool_use")) > 32 {
				s.Refuse(-32603, "too many tool uses")
			}
		}}),
	edited("believes-end-turn", "ignores tool uses beside Anthropic's stop reason end_turn",
		"unasked-uses", "tool-use",
		mutants.Edit{ModelReply: func(whole []object) []object {
			for _, body := range whole {
				if body["stop_reason"] == "end_turn" {
					body["content"] = slices.DeleteFunc(array(body["content"]), func(b any) bool {
						return b.(object)["type"] == "tool_use"
					})
				}
			}
			return whole
		}}, with(reference.Config{Dialect: "anthropic", Plain: true})),
	edited("doubles", "has numbers that are doubles, as in JavaScript", "rounded-numbers",
		"tool-use/one-tool tool-use/big-integer", result(func(r object) {
			for _, use := range ofType(r["content"], "tool_use") {
				var input any
				if raw, err := json.Marshal(use["input"]); err == nil && json.Unmarshal(raw, &input) == nil {
					use["input"] = input
				}
			}
		}), warns("always/server-was-given")),
	edited("without-a-model", "answers by itself and asks no model", "own-answers",
		hostCases, mutants.Edit{Asked: func(s *mutants.Sample) {
			s.Answer(object{"role": "assistant", "model": "nobody", "content": textBlock("I am out."), "stopReason": "endTurn"})
		}}, func(v *Variation) { v.AnyOrder, v.OnlyCases = true, true }, warns("client/sampled")),
)

// chatNames changes the names of tools in a chat completion and in the requests for one.
func chatNames(change func(string) string) func(object) {
	function := func(o object) {
		if f, ok := o["function"].(object); ok {
			rename(f, "name", change)
		}
	}
	message := each("tool_calls", function)
	return func(body object) {
		each("tools", function)(body)
		each("messages", message)(body)
		each("choices", func(choice object) {
			if m, ok := choice["message"].(object); ok {
				message(m)
			}
		})(body)
		if choice, ok := body["tool_choice"].(object); ok {
			function(choice)
		}
	}
}

func eachToolResult(edit func(result object)) func(params object) {
	return each("messages", func(m object) {
		for _, b := range ofType(m["content"], "tool_result") {
			edit(b)
		}
	})
}

// systemMessages returns how many messages at the beginning are of the system.
func systemMessages(messages []any) int {
	n := 0
	for _, m := range objects(messages) {
		if m["role"] != "system" {
			break
		}
		n++
	}
	return n
}

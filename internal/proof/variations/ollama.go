package variations

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// withoutIDs is a model whose tool calls have no ids.
var withoutIDs = with(reference.Config{Dialect: dialect.Ollama, Model: "llama3.2:no-ids"})

var noChatIDs = each("messages", func(m object) {
	delete(m, "tool_call_id")
	each("tool_calls", func(call object) { delete(call, "id") })(m)
})

var ollamaVariations = of(reference.Config{Dialect: dialect.Ollama}, "ollama-",
	v("own-ids", "gives the model its own ids", "own-ids", results, chatIDs(own)),
	v("no-ids", "gives the model no ids", "no-ids", results, noChatIDs),
	v("no-ids-for-none", "gives no ids to a model that gives none", "no-ids", results, noChatIDs, withoutIDs),
	v("no-tool-name", "does not name the tool of a result", "no-ids", results,
		eachRole("tool", func(m object) { delete(m, "tool_name") })),
	v("results-by-position", "gives results neither tool name nor id", "no-ids", results,
		eachRole("tool", func(m object) {
			delete(m, "tool_name")
			delete(m, "tool_call_id")
		}), withoutIDs),
	v("results-reordered", "sends results in reverse order, with their ids", "result-order", results, func(body object) {
		messages := array(body["messages"])
		for i := 0; i < len(messages); i++ {
			end := i // of the results in a row
			for end < len(messages) && messages[end].(object)["role"] == "tool" {
				end++
			}
			slices.Reverse(messages[i:end])
			i = max(i, end)
		}
	}),
	v("simpler-schemas", "removes from schemas what Ollama's own types do not have",
		"provider-keywords", tools,
		eachFunction(func(function object) {
			_, properties := parameters(function)
			for _, property := range properties {
				delete(property.(object), "minLength")
			}
		})),
	v("images-after-results", "sends images of tool results in a message of the user", "media-after-results", results,
		func(body object) {
			body["messages"] = afterResults(array(body["messages"]), func(m object) (images []any, isResult bool) {
				if isResult = m["role"] == "tool"; isResult {
					images = array(m["images"])
					delete(m, "images")
				}
				return images, isResult
			}, func(images []any) object {
				shown := user("This is what it showed.")
				shown["images"] = images
				return shown
			})
		}),
	v("own-settings", "repeats thinking and sets think and keep_alive", "own-settings",
		"basic tool-use parallel/two-cities",
		func(body object) {
			body["think"], body["keep_alive"] = false, "5m"
			eachRole("assistant", func(m object) { m["thinking"] = "hm" })(body)
		}),
)

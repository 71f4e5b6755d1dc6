package parallel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestTheModelCanTellThatAToolFailed(t *testing.T) {
	const unseen = "expected a sign of the failed tool"
	uses := tracetest.Wanting(paris, [3]string{"call_b", "get_weather", tracetest.London},
		[3]string{"call_c", "get_weather", `{"city":"Atlantis"}`})
	continues := func(edit edit) steps { return tracetest.GoesOn(uses, story.OneFails, edit) }
	// saying puts words before or after each result in place of its flag.
	saying := func(words func(b block, failed bool) (before, after string)) edit {
		return eachResult(func(b block) {
			before, after := words(b, b["isError"] == true)
			delete(b, "isError")
			if before != "" {
				b["content"] = append([]any{server.Text(before)}, b["content"].([]any)...)
			}
			if after != "" {
				b["content"] = append(b["content"].([]any), server.Text(after))
			}
		})
	}
	silent := saying(func(block, bool) (string, string) { return "", "" })
	besides := func(text string) edit {
		return func(messages []tracetest.Turn) []tracetest.Turn {
			return append(silent(messages), tracetest.Turn{Role: "user", Content: server.Text(text)})
		}
	}
	numbering := func(word string) edit {
		n := 0
		return saying(func(_ block, failed bool) (string, string) {
			n++
			if failed {
				return fmt.Sprintf("Result %c%s:", 'A'+n%3, word), ""
			}
			return fmt.Sprintf("Result %c:", 'A'+n%3), ""
		})
	}
	judges(t, "error-result", "failing-tool",
		passes("by the flag, or a word before the text", continues(tracetest.AsItIs)),
		passes("by a word after a long text", continues(saying(func(_ block, failed bool) (string, string) {
			end := map[bool]string{true: "Outcome: failure", false: "Outcome: success"}[failed]
			return "", strings.Repeat("a long story, ", 60) + end
		}))),
		passes("under ids of the client", continues(renamed)),
		passes("inside JSON", continues(eachResult(func(b block) {
			asText(b, string(dialect.Marshal(story.Object{"ok": b["isError"] != true, "result": b["content"]})))
			delete(b, "isError")
		}))),
		passes("by a word, in results with numbers", continues(numbering(" failed"))),
		fails("no word, in results with numbers", continues(numbering("")), unseen),
		fails("no word, in results that name what was asked for", continues(saying(func(b block, _ bool) (string, string) {
			city := map[any]string{"call_a": "Paris", "call_b": "London", "call_c": "Atlantis"}[b["toolUseId"]]
			return "get_weather(" + city + "):", ""
		})), unseen),
		passes("by a text beside the results",
			continues(besides("Note: the second tool FAILED.")), "a text beside the results"),
		fails("nothing", continues(silent), unseen),
		fails("a text beside the results about something else", continues(besides("Go on.")), unseen),
		fails("a flag on all results", continues(eachResult(func(b block) { b["isError"] = true })), unseen),
		unobserved("one result", continues(onlyFirst), "see parallel/results-reach-model"))
}

// Old versions of Ollama do not read ids, so an id cannot show the model which tool failed.
func TestAnIDDoesNotShowThatAToolFailed(t *testing.T) {
	shapes := func(failed string) (first, second string) {
		req, err := llm.Decode(dialect.Ollama, "/api/chat", []byte(`{"model":"llama3.2:no-ids","messages":[
			{"role":"assistant","tool_calls":[
			{"id":"a","function":{"name":"w","arguments":{}}},{"id":"b","function":{"name":"w","arguments":{}}}]},
			{"role":"tool","content":"one","tool_name":"w","tool_call_id":"a"},
			{"role":"tool","content":"`+failed+`two","tool_name":"w","tool_call_id":"b"}]}`))
		require.NoError(t, err)
		received := evidence.BlocksOf(req.Messages, dialect.ToolResult)
		of := func(i int, text string) string {
			sent := &dialect.Block{Content: []dialect.Block{{Type: dialect.Text, Text: text}}}
			return shape(&received[i], sent, &dialect.Block{Input: []byte(`{}`)})
		}
		return of(0, "one"), of(1, "two")
	}
	first, second := shapes("")
	require.Equal(t, first, second)
	first, second = shapes("Error: ")
	require.NotEqual(t, first, second)
}

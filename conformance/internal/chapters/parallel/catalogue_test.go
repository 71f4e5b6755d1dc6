package parallel

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The forms of a test: see package tracetest.
var (
	judges       = tracetest.Judging(Scenario)
	passes       = tracetest.Passes
	fails        = tracetest.Fails
	unobserved   = tracetest.Unobserved
	inapplicable = tracetest.Inapplicable
	legacy       = tracetest.Legacy
	modern       = tracetest.Modern
	openAI       = tracetest.InOpenAI
)

type (
	session = tracetest.Story
	test    = tracetest.Test
	steps   = func(*session)
	block   = map[string]any
	// edit changes the history on its way to the model.
	edit = func([]tracetest.Turn) []tracetest.Turn
)

var (
	asked = tracetest.AskingForWeather()
	two   = tracetest.TwoUses()
	paris = [3]string{"call_a", "get_weather", tracetest.Paris}
)

// many is a result with n tool uses.
func many(n int) string {
	var list [][3]string
	for i, city := range numbered(n) {
		list = append(list, [3]string{fmt.Sprintf("call_%d", i), "get_weather", fmt.Sprintf(`{"city":%q}`, city)})
	}
	return tracetest.Wanting(list...)
}

// streams is the first round of a client that asks for a stream; "" is for no result.
func streams(result string, end trace.ModelEnd) steps {
	return func(s *session) {
		body := string(dialect.Marshal(tracetest.AsChat(asked)))
		s.Asks(asked).Prompt(tracetest.With(body, "stream", "true"), end)
		if result != "" {
			s.Answers(result)
		}
	}
}

func streaming(result string) steps {
	return streams(result, trace.ModelEnd{Status: 200, Stream: true})
}

// second is the first round, and the second sampling request.
func second(s *session, results story.Results) *session {
	tracetest.Wants(two)(s)
	return s.Asks(asked.After(json.RawMessage(two), results))
}

// continues is both rounds of a client that edits the history.
func continues(edit edit) steps { return tracetest.GoesOn(two, tracetest.WeatherResults, edit) }

// each edits every block of a type.
func each(kind string, edit func(block)) edit {
	return func(messages []tracetest.Turn) []tracetest.Turn {
		for _, m := range messages {
			blocks, _ := m.Content.([]block)
			for _, b := range blocks {
				if b["type"] == kind {
					edit(b)
				}
			}
		}
		return messages
	}
}

// eachResult edits every tool result, or the one for a tool use.
func eachResult(edit func(block)) edit { return each("tool_result", edit) }

func resultFor(id string, edit func(block)) edit {
	return eachResult(func(b block) {
		if b["toolUseId"] == id {
			edit(b)
		}
	})
}

func emptied(b block) { b["content"] = []any{} }

// lastTurn edits the blocks of the last message.
func lastTurn(edit func([]block) []block) edit {
	return func(messages []tracetest.Turn) []tracetest.Turn {
		last := &messages[len(messages)-1]
		last.Content = edit(last.Content.([]block))
		return messages
	}
}

var onlyFirst = lastTurn(func(blocks []block) []block { return blocks[:1] })

// renamed gives every use an id of the client, and each result with it.
func renamed(messages []tracetest.Turn) []tracetest.Turn {
	ids := map[any]string{}
	each("tool_use", func(b block) {
		ids[b["id"]] = fmt.Sprintf("own-%d", len(ids)+1)
		b["id"] = ids[b["id"]]
	})(messages)
	return eachResult(func(b block) { b["toolUseId"] = ids[b["toolUseId"]] })(messages)
}

func usesReversed(messages []tracetest.Turn) []tracetest.Turn {
	slices.Reverse(messages[1].Content.([]block))
	return messages
}

var withoutArguments = each("tool_use", func(b block) { b["input"] = story.Object{} })

// then is one edit after another.
func then(first, second edit) edit {
	return func(messages []tracetest.Turn) []tracetest.Turn { return second(first(messages)) }
}

// asText puts a text in place of what a result holds.
func asText(b block, text string) { b["content"] = []any{server.Text(text)} }

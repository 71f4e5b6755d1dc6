package balance

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server sends histories that it must not send, one in each case, and a client that validates them refuses. A model behind a provider's
// own wire refuses some of them by itself; in the native dialect it takes them all, so that the client is the one to say no.
var Scenario = check.Scenario{
	ID:        "balance",
	Purpose:   "histories in which tool uses and results do not balance",
	Revisions: check.WithTools,
	Cases:     unbalanced(),
	Checks: []check.Check{
		missingResult, noResult, lateResult, trailingUse, mixedContent, orphanResult, duplicateUseID, duplicateResult, useInUser, resultInAssistant,
		notDropped, balanceNoModelCall, balanceAlive,
	},
}

// history is one that a server must not send.
type history struct {
	// name is that of its case, check the ID of the check that it shows.
	name, check string
	// wrong is what is wrong with it, as in "a history in which …", and at where, in the params.
	wrong, at string
	// messages are those behind the user's question.
	messages []server.SamplingMessage
	// marker is a word that stands in what a careless converter drops; "" where nothing is likely to be dropped.
	marker string
}

func fromUser(blocks ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: "user", Content: blocks}
}
func fromAssistant(blocks ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: "assistant", Content: blocks}
}

// weatherUse is a tool use, and weatherResult a result for the tool use with the id.
func weatherUse(id, city string) server.ToolUseContent {
	return server.ToolUseContent{Type: "tool_use", ID: id, Name: story.GetWeather.Name, Input: story.JSON(story.Object{"city": city})}
}
func weatherResult(id, weather string) server.ToolResultContent {
	return server.ToolUseContent{ID: id}.Result(server.Text(weather))
}

var (
	inParis   = weatherUse("call_paris", "Paris")
	inLondon  = weatherUse("call_london", "London")
	parisMild = weatherResult("call_paris", "eighteen degrees")
)

// histories are all of them. Each breaks one rule, and would be right but for that, as far as the rules allow it.
var histories = []history{
	{name: "one-result-of-two", check: "missing-result", wrong: "one of two tool uses has no result", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis, inLondon), fromUser(parisMild)}},
	{name: "text-for-result", check: "no-result", wrong: "a tool use is followed by plain text", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(server.Text("Never mind Paris. How are you?"))}},
	{name: "text-before-result", check: "late-result", wrong: "another message stands between a tool use and its result", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(server.Text("One moment, please.")), fromUser(parisMild)}},
	{name: "use-at-the-end", check: "trailing-use", wrong: "the last message is a tool use that has no result", at: "messages[1].content",
		messages: []server.SamplingMessage{fromAssistant(inParis)}},
	{name: "text-beside-result", check: "mixed-content", wrong: "a text stands beside a tool result", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(server.Text("Here is the result:"), parisMild)}},
	{name: "image-beside-result", check: "mixed-content", wrong: "an image stands beside a tool result", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(parisMild, server.Image("image/png", story.WeatherMap))}},
	{name: "audio-beside-result", check: "mixed-content", wrong: "audio stands beside a tool result", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(parisMild, server.Audio("audio/wav", story.Thunder))}},
	{name: "result-for-nothing", check: "orphan-result", wrong: "a tool result has no tool use", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(server.Text("Let me see.")), fromUser(parisMild)}},
	{name: "one-id-for-two", check: "duplicate-use-id", wrong: "two tool uses of a message have one id", at: "messages[1].content",
		messages: []server.SamplingMessage{fromAssistant(inParis, weatherUse("call_paris", "London")), fromUser(parisMild)}},
	{name: "two-results-for-one", check: "duplicate-result", wrong: "a tool use has two results", at: "messages[2].content",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromUser(parisMild, weatherResult("call_paris", "twenty degrees"))}},
	{name: "user-calls", check: "use-in-user", wrong: "a tool use stands under the role user", at: "messages[1].content", marker: "Reykjavik",
		messages: []server.SamplingMessage{fromUser(weatherUse("call_user", "Reykjavik")), fromUser(weatherResult("call_user", "sleet"))}},
	{name: "assistant-answers", check: "result-in-assistant", wrong: "a tool result stands under the role assistant", at: "messages[2].content", marker: "twelve degrees",
		messages: []server.SamplingMessage{fromAssistant(inParis), fromAssistant(weatherResult("call_paris", "twelve degrees")), fromUser(server.Text("So?"))}},
}

// historyOf is the history of a case.
func historyOf(caseID string) *history {
	_, name, _ := strings.Cut(caseID, "/")
	i := slices.IndexFunc(histories, func(h history) bool { return h.name == name })
	return &histories[i]
}

// unbalanced are the cases, one forbidden request each.
func unbalanced() []harness.Case {
	var cases []harness.Case
	for _, h := range histories {
		cases = append(cases, harness.Case{ID: "balance/" + h.name, Script: story.Says("It is mild there."), Barrier: true, Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("What is the weather like?", story.GetWeather)
			if !s.Declares("sampling", "tools") {
				return s.Sample(ask) // withheld, which is noted
			}
			ask.Messages = append(ask.Messages, h.messages...)
			return s.Sample(server.Hostile(ask))
		}})
	}
	return cases
}

// casesOf are the names of the cases whose history is of a kind.
func casesOf(kind func(*history) bool) []string {
	var cases []string
	for i := range histories {
		if kind(&histories[i]) {
			cases = append(cases, histories[i].name)
		}
	}
	return cases
}

// part returns what stands at a path of the params; all of them where nothing does.
func part(r *evidence.Round, path string) string {
	var params bytes.Buffer
	if json.Compact(&params, r.Raw) != nil {
		return evidence.Compact(r.Raw)
	}
	if start, end, there := evidence.Locate(params.Bytes(), path); there {
		return evidence.Clip(params.String()[start:end])
	}
	return evidence.Clip(params.String())
}

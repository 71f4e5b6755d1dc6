package balance

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

type messages = []server.SamplingMessage

func user(blocks ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: "user", Content: blocks}
}
func assistant(blocks ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: "assistant", Content: blocks}
}

// useFor is a tool use.
func useFor(id, city string) server.ToolUseContent {
	input := story.JSON(story.Object{"city": city})
	return server.ToolUseContent{Type: "tool_use", ID: id, Name: story.GetWeather.Name, Input: input}
}

// resultFor is a result for the tool use with the id.
func resultFor(id, weather string) server.ToolResultContent {
	return server.ToolUseContent{ID: id}.Result(server.Text(weather))
}

var (
	inParis   = useFor("call_paris", "Paris")
	inLondon  = useFor("call_london", "London")
	parisMild = resultFor("call_paris", "eighteen degrees")
)

const passedOn = "the handler passes every history on to the model, without validation"

// later returns the history again, in the second request of the call. Tool uses and results before it balance, and one
// of them failed.
func (h History) later() History {
	earlier := slices.Concat(story.Failed()[1:], messages{user(server.Text("And elsewhere?"))})
	h.Name, h.at, h.Messages = h.Name+"-after-failure", h.at+len(earlier), slices.Concat(earlier, h.Messages)
	h.Later = true
	return h
}

// Forbidden are the histories that a server must not send, by the check that judges them, in the order of reports. The
// first one of each check is played again later in a conversation.
var Forbidden = func() []Kind {
	all := slices.Clone(forbidden)
	for i, k := range all {
		all[i].Histories = append(slices.Clip(k.Histories), k.Histories[0].later())
	}
	return all
}()

var forbidden = []Kind{
	{ID: "missing-result", level: report.Should,
		refuses: "a history in which one of several tool uses has no result",
		cause:   "results are counted by message and not by tool use, or the client invents the missing one",
		fix:     "Look for a result under the id of each tool use in the very next message. Return -32602 if one is missing.",
		Histories: []History{
			{Name: "one-result-of-two", Wrong: "one of two tool uses has no result", at: 2,
				Messages: messages{assistant(inParis, inLondon), user(parisMild)}},
		}},
	{ID: "no-result", level: report.Should,
		refuses: "a history in which plain text follows a tool use",
		cause:   passedOn,
		fix:     "Return -32602 if the message after a tool use has no results.",
		Histories: []History{
			{Name: "text-for-result", Wrong: "a tool use is followed by plain text", at: 2,
				Messages: messages{assistant(inParis), user(server.Text("Never mind Paris. How are you?"))}},
		}},
	{ID: "late-result", level: report.Should,
		refuses: "a history in which another message is between a tool use and its result",
		cause:   "results are searched anywhere after their tool use",
		fix:     "Look for results in the very next message. Return -32602 if they are not there.",
		Histories: []History{
			{Name: "text-before-result", Wrong: "another message is between a tool use and its result", at: 2,
				Messages: messages{assistant(inParis), user(server.Text("One moment, please.")), user(parisMild)}},
		}},
	{ID: "trailing-use", level: report.Should,
		refuses: "a history that ends with a tool use without a result",
		cause:   "tool uses are validated only when another message follows",
		fix:     "Return -32602 if the last message of the history has a tool use.",
		Histories: []History{
			{Name: "use-at-the-end", Wrong: "the last message is a tool use without a result", at: 1,
				Messages: messages{assistant(inParis)}},
		}},
	{ID: "mixed-content", level: report.Should,
		refuses: "a message with other content beside tool results",
		cause:   "the message is split into results and the rest, because the provider's wire has a place for both",
		fix:     "Return -32602 if a message with tool results has any other content.",
		Histories: []History{
			{Name: "text-beside-result", Wrong: "a text is beside a tool result", at: 2,
				Messages: messages{assistant(inParis), user(server.Text("Here is the result:"), parisMild)}},
			{Name: "image-beside-result", Wrong: "an image is beside a tool result", at: 2,
				Messages: messages{assistant(inParis), user(parisMild, server.Image("image/png", story.WeatherMap))}},
			{Name: "audio-beside-result", Wrong: "audio is beside a tool result", at: 2,
				Messages: messages{assistant(inParis), user(parisMild, server.Audio("audio/wav", story.Thunder))}},
		}},
	{ID: "orphan-result", level: report.Should,
		refuses: "a tool result without a tool use",
		cause:   "the result is dropped, or passed on for the provider or the model to notice",
		fix:     "Return -32602 if the message before a tool result has no tool use with its id.",
		Histories: []History{
			{Name: "result-for-nothing", Wrong: "a tool result has no tool use", at: 2,
				Messages: messages{assistant(server.Text("Let me see.")), user(parisMild)}},
			{Name: "result-for-another", Wrong: "a tool result has another id than the tool use before it", at: 2,
				Messages: messages{assistant(inParis), user(resultFor("call_rome", "nine degrees"))}},
		}},
	{ID: "duplicate-use-id", level: report.Should,
		refuses: "a message in which two tool uses have the same id",
		cause:   "tool uses are kept in a map, by their ids",
		fix:     "Return -32602 if an id occurs twice.",
		Histories: []History{
			{Name: "one-id-for-two", Wrong: "two tool uses of a message have the same id", at: 1,
				Messages: messages{assistant(inParis, useFor("call_paris", "London")), user(parisMild)}},
		}},
	{ID: "duplicate-result", level: report.Advice,
		refuses: "a tool use with two results",
		cause:   "results are kept in a map, by the ids of their tool uses, so that one of them is lost",
		fix:     "Return -32602 if a tool use has two results.",
		Histories: []History{
			{Name: "two-results-for-one", Wrong: "a tool use has two results", at: 2,
				Messages: messages{assistant(inParis), user(parisMild, resultFor("call_paris", "twenty degrees"))}},
		}},
	{ID: "use-in-user", level: report.Advice,
		refuses: "a tool use under the role user",
		cause:   passedOn,
		fix:     "Return -32602 if a message of the user has a tool use.",
		Histories: []History{
			{Name: "user-calls", Wrong: "a tool use has the role user", at: 1,
				Messages: messages{user(useFor("call_user", "Reykjavik")), user(resultFor("call_user", "sleet"))}},
		}},
	{ID: "result-in-assistant", level: report.Advice,
		refuses: "a tool result under the role assistant",
		cause:   passedOn,
		fix:     "Return -32602 if a message of the assistant has a tool result.",
		Histories: []History{
			{Name: "assistant-answers", Wrong: "a tool result has the role assistant", at: 2,
				Messages: messages{
					assistant(inParis), assistant(resultFor("call_paris", "twelve degrees")), user(server.Text("So?")),
				}},
		}},
}

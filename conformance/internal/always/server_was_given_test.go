package always_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const serverWasGiven = "server-was-given"

// gave is a client that asks the model for the params, and returns a result for what the model said.
func gave(params *server.CreateMessageParams, said, result string) steps {
	return func(s *session) { s.Asks(params).Prompts(params).Says(said).Answers(result) }
}

// content is a result with content and a stop reason, as the model says it in the native dialect.
func content(content, reason string) string {
	return fmt.Sprintf(`{"role":"assistant","model":"m","content":%s,"stopReason":%q}`, content, reason)
}

func text(s string) string { return `{"type":"text","text":` + string(story.JSON(s)) + `}` }

func use(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

func list(blocks ...string) string { return "[" + strings.Join(blocks, ",") + "]" }

// completion is a completion of OpenAI's chat.
func completion(message, finish string) string {
	return `{"model":"m","choices":[{"message":` + message + `,"finish_reason":"` + finish + `"}]}`
}

func called(calls ...string) string {
	return completion(`{"content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls")
}

func call(id, name, arguments string) string {
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
}

var (
	weather = tracetest.AskingForWeather()
	paris   = use("a", "get_weather", `{"city":"Paris","days":[1,{"n":9007199254740993}],"none":{}}`)
	london  = use("b", "get_weather", `{"city":"London"}`)
	both    = content(list(text("Let me see. "), paris, london), "toolUse")
)

func TestResultsSayWhatTheModelSaid(t *testing.T) {
	kinds := map[string]string{"a use lost": "lost-tool-use", "a use added": "extra-tool-use",
		"another name": "changed-name", "another value": "changed-input", "ids swapped": "changed-id",
		"the text lost": "lost-text", "a text added": "extra-text", "a trimmed text": "changed-text",
		"a character in two pieces": "broken-characters", "a cut character of the arguments": "broken-characters",
		"the text after the uses": "changed-order", "another image": "changed-media",
		"endTurn for toolUse":          "changed-stop-reason",
		"a word of nobody for toolUse": "changed-stop-reason", "a rounded number": "rounded-number"}
	reply := func(test func(string, steps, ...string) tracetest.Test, name, said, result string,
		message ...string) tracetest.Test {
		row := tracetest.InNative(test(name, gave(weather, said, result), message...))
		row.Fix = always.Kinds[1][kinds[name]]
		return row
	}
	changed := func(name, from, to string, message ...string) tracetest.Test {
		return reply(fails, name, both, strings.Replace(both, from, to, 1), message...)
	}
	whole := content(text("It is 18°C. \r\n"), "endTurn")
	picture := content(`{"type":"image","data":"AAAA","mimeType":"image/png"}`, "endTurn")
	judges(t, serverWasGiven, "basic/question",
		reply(passes, "the same", both, both, "in all 1 results"),
		reply(passes, "a text in two blocks", whole, content(list(text("It is"), text(" 18°C. \r\n")), "endTurn")),
		reply(passes, "another form of a number", both, strings.Replace(both, `[1,{"n"`, `[1.0,{"n"`, 1)),
		reply(passes, "several texts joined", content(list(text("One."), text("Two.")), "endTurn"),
			content(text("One.\n\nTwo."), "endTurn")),
		reply(passes, "own ids for all tool uses", both, content(list(text("Let me see. "),
			strings.Replace(paris, `"a"`, `"x-1"`, 1), strings.Replace(london, `"b"`, `"x-2"`, 1)), "toolUse")),
		reply(passes, "an own stop reason", whole, content(text("It is 18°C. \r\n"), "done")),
		reply(passes, "no stop reason", whole, tracetest.Without(whole, "stopReason")),
		reply(passes, "an empty answer", content(text(""), "endTurn"), content("[]", "endTurn")),
		reply(passes, "a withheld refusal", content(text("No."), "refusal"), content(text(""), "refusal")),
		reply(passes, "whole uses of a truncated reply", content(list(paris), "maxTokens"), content(list(paris), "toolUse")),

		changed("another value", `"Paris"`, `"paris"`, `content[1].input.city "Paris" as the model said, found "paris"`),
		changed("another big number", "740993", "740990", `content[1].input.days[1].n 9007199254740993`),
		reply(warns, "a rounded number", both, strings.Replace(both, "740993", "740992", 1), "n 9007199254740993"),
		changed("a lost member", `,"none":{}`, "", "content[1].input.none {} as the model said, found nothing"),
		changed("an added member", `"none":{}`, `"none":{"x":null}`, "input.none.x left out as the model said, found null"),
		changed("null for an object", `"none":{}`, `"none":null`, "input.none {} as the model said, found null"),
		changed("another name", `"get_weather"`, `"getWeather"`, `content[1].name "get_weather"`),
		changed("one of the ids", `"id":"b"`, `"id":"c"`, `content[2].id "b" as the model said, found "c"`),
		changed("an empty id", `"id":"b"`, `"id":""`, `content[2].id "b" as the model said, found none`),
		changed("one id for two", `"id":"b"`, `"id":"a"`, `content[2].id "b" as the model said, found "a"`),
		changed("a trimmed text", "see. ", "see.", `content[0].text "Let me see. " as the model said, found "Let me see."`),
		reply(fails, "a character in two pieces", whole, strings.Replace(whole, "°", "\ufffd\ufffd", 1), "18\ufffd\ufffdC"),
		changed("a cut character of the arguments", "London", "L\ufffdndon", "\"L\ufffdndon\""),
		changed("a word of nobody for toolUse", `"toolUse"`, `"done"`, `stopReason toolUse as the model said, found "done"`),
		reply(passes, "the provider's word for toolUse", both, strings.Replace(both, `"toolUse"`, `"tool_calls"`, 1)),
		changed("endTurn for toolUse", "toolUse", "endTurn", "stopReason toolUse as the model said, found endTurn"),
		reply(fails, "ids swapped", both, strings.NewReplacer(`"id":"a"`, `"id":"b"`, `"id":"b"`, `"id":"a"`).Replace(both),
			`content[1].id "a"`),
		reply(fails, "uses reversed", both, content(list(text("Let me see. "), london, paris), "toolUse"), `"London"`),
		reply(fails, "a use lost", both, content(list(text("Let me see. "), paris), "toolUse"), "2 tool uses"),
		reply(fails, "a use added", whole, content(list(text("It is 18°C. \r\n"), paris), "toolUse"), "0 tool uses"),
		reply(fails, "a use twice", both, content(list(text("Let me see. "), paris, london, london), "toolUse"), "found 3"),
		reply(fails, "the text lost", both, content(list(paris, london), "toolUse"),
			`content "Let me see. " as the model said, found no text`),
		reply(fails, "the text after the uses", both, content(list(paris, london, text("Let me see. ")), "toolUse"), "order"),
		reply(fails, "a text added", content(list(paris), "toolUse"), content(list(text("Hm."), paris), "toolUse"), `"Hm."`),
		reply(fails, "the end of a truncated text", content(text("On"), "maxTokens"), content(text("On"), "endTurn"),
			"maxTokens as the model said, found endTurn"),
		reply(fails, "a refusal as the end of the turn", content(text("No."), "refusal"), content(text("No."), "endTurn")),
		reply(fails, "another type of image", picture, strings.Replace(picture, "png", "gif", 1),
			"content.mimeType image/png as the model said, found image/gif"),
		reply(fails, "another image", picture, strings.Replace(picture, "AAAA", "BBBB", 1),
			"content.data with 3 bytes as the model said, found 3 other bytes"),
		reply(fails, "an image added", whole, content(list(text("It is 18°C. \r\n"),
			`{"type":"image","data":"AAAA","mimeType":"image/png"}`), "endTurn"), "0 images"),
	)
}

func TestResultsSayWhatOpenAISaid(t *testing.T) {
	reply := func(test func(string, steps, ...string) tracetest.Test, name string, params *server.CreateMessageParams,
		said, result string) tracetest.Test {
		return tracetest.InOpenAI(test(name, gave(params, said, result)))
	}
	sun := completion(`{"reasoning_content":"Hm, well.","content":"Sunny."}`, "stop")
	noMore := *weather
	noMore.ToolChoice = &server.ToolChoice{Mode: "none"}
	stops := *weather
	stops.StopSequences = []string{"END"}
	parisCall := call("a", "get_weather", `{"city":"Paris"}`)
	inParis := use("a", "get_weather", `{"city":"Paris"}`)
	beside := reply(fails, "the end of the turn, as the model said, beside tool uses", weather,
		completion(`{"tool_calls":[`+parisCall+`]}`, "stop"), content(list(inParis), "endTurn"))
	beside.Message = `stopReason toolUse beside tool uses, although the model said "stop", found endTurn`
	sequence := reply(fails, "a stop sequence", weather, sun, content(text("Sunny."), "stopSequence"))
	sequence.Message = `stopReason endTurn for the finish reason "stop" of the model, found stopSequence`
	judges(t, serverWasGiven, "basic/question",
		beside, sequence,
		reply(passes, "the text alone", weather, sun, content(text("Sunny."), "endTurn")),
		reply(fails, "the thinking in the text", weather, sun, content(text("Hm, well.Sunny."), "endTurn")),
		reply(fails, "a stop sequence that nobody gave", weather, sun, content(text("Sunny."), "stopSequence")),
		reply(passes, "a stop sequence, for which OpenAI has no word", &stops, sun, content(text("Sunny."), "stopSequence")),
		reply(passes, "a tool use", weather, called(parisCall), content(list(inParis), "toolUse")),
		reply(passes, "text before uses", weather, completion(`{"content":"Hm.","tool_calls":[`+parisCall+`]}`, "stop"),
			content(list(inParis, text("Hm.")), "toolUse")),
		reply(fails, "the end of the turn beside tool uses", weather, completion(`{"tool_calls":[`+parisCall+`]}`, "stop"),
			content(list(inParis), "endTurn")),
		reply(passes, "a generated id", weather, called(call("", "get_weather", "")),
			content(list(use("x", "get_weather", "{}")), "toolUse")),
		reply(passes, "a forbidden use left out", &noMore, completion(`{"content":"Hm.","tool_calls":[`+parisCall+`]}`,
			"tool_calls"), content(text("Hm."), "endTurn")),
		reply(passes, "an unknown tool left out", weather, called(call("c", "host_search", "{}"), parisCall),
			content(list(inParis), "toolUse")),
		reply(fails, "an allowed use left out", weather, called(call("c", "host_search", "{}"), parisCall),
			content(text(""), "endTurn")),
		reply(passes, "an own stop reason for filtered text", weather, completion(`{"content":"The"}`, "content_filter"),
			content(text(""), "content_filter")),
		reply(inapplicable, "invalid arguments, which other checks judge", weather,
			called(call("a", "get_weather", `{"city`)), content(list(use("a", "get_weather", "{}")), "toolUse")),
		reply(inapplicable, "a reply that cannot be read", weather, "<html>", content(text("Sunny."), "endTurn")),
	)
}

// A client may offer the model other names, and gives the server its own again.
func TestToolNamesOfTheModelAreMappedBack(t *testing.T) {
	prefixed := func(name string) steps {
		return func(s *session) {
			body := tracetest.AsChat(weather)
			function := body["tools"].([]any)[0].(story.Object)["function"].(story.Object)
			function["name"] = "srv__get_weather"
			s.Asks(weather).Prompt(string(story.JSON(body)), trace.ModelEnd{Status: 200})
			s.Says(called(call("a", "srv__get_weather", "{}"))).Answers(content(list(use("a", name, "{}")), "toolUse"))
		}
	}
	judges(t, serverWasGiven, "basic/question",
		tracetest.InOpenAI(passes("the server's name", prefixed("get_weather"))),
		tracetest.InOpenAI(fails("the model's name", prefixed("srv__get_weather"), "which the server does not have")),
		tracetest.InOpenAI(fails("another name", prefixed("weather"), `"srv__get_weather"`)),
	)
}

func TestOnlyResultsOfWholeRepliesAreCompared(t *testing.T) {
	said, other := content(text("Sunny."), "endTurn"), content(text("Rainy."), "endTurn")
	ends := func(end trace.ModelEnd) steps {
		return func(s *session) {
			s.Asks(weather).Prompt(string(story.JSON(weather)), end).Says(said).Answers(other)
		}
	}
	judges(t, serverWasGiven, "basic/question",
		tracetest.InNative(fails("a whole reply", ends(trace.ModelEnd{Status: 200}))),
		tracetest.InNative(fails("a reply in pieces", ends(trace.ModelEnd{Status: 200, Fault: "SplitEveryByte()"}))),
		tracetest.InNative(fails("a slow reply", ends(trace.ModelEnd{Status: 200, Fault: "Spread(10s)"}))),
		tracetest.InNative(inapplicable("a slow reply for which the client did not wait",
			ends(trace.ModelEnd{Status: 200, Fault: "Spread(10s)", HungUp: true}))),
		tracetest.InNative(inapplicable("a reply that the model cut", ends(trace.ModelEnd{Status: 200, Fault: "cut"}))),
		tracetest.InNative(inapplicable("an error of the model", ends(trace.ModelEnd{Status: 500}))),
		tracetest.InNative(tracetest.Legacy(inapplicable("an error in place of a result", func(s *session) {
			s.Asks(weather).Prompts(weather).Says(said).Refuses(-1, "no")
		}))),
		inapplicable("no request to the model", func(s *session) { s.Asks(weather).Answers(other) }),
		tracetest.InNative(passes("the texts of a host that runs the tools", func(s *session) {
			s.Asks(weather).Prompts(weather).Says(both).Prompts(weather).Says(said).
				Answers(content(list(text("Let me see. "), text("Sunny.")), "endTurn"))
		})),
		tracetest.InNative(fails("a later round", func(s *session) {
			gave(weather, said, said)(s)
			gave(weather, said, other)(s)
		}, `"Sunny." as the model said, found "Rainy."`)),
	)
}

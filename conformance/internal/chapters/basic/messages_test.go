package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// params is a sampling request with the messages.
func params(messages ...server.SamplingMessage) *server.CreateMessageParams {
	p := tracetest.Asking("")
	p.Messages = messages
	return p
}

// user is a message with the content blocks.
func user(blocks ...any) server.SamplingMessage {
	return server.SamplingMessage{Role: "user", Content: blocks}
}

func TestAHistoryReachesTheModel(t *testing.T) {
	one, two, three, four := text("user", "one"), text("assistant", "two"), text("user", "three"), text("user", "four")
	given := func(name string, verdict report.Verdict, message string, messages ...server.SamplingMessage) test {
		return row(name, func(s *session) {
			s.Asks(params(one, two, three, four)).Prompts(params(messages...)).Answers(whole)
		}, verdict, message)
	}
	judges(t, "multi-turn", "turns",
		given("unchanged", report.Pass, "", one, two, three, four),
		given("with adjacent messages merged", report.Pass, "", one, two, text("user", "three\n\nfour")),
		native(given("with adjacent messages as blocks",
			report.Pass, "", one, two, user(server.Text("three"), server.Text("four")))),
		given("after other messages", report.Pass, "",
			text("user", "Hello."), text("assistant", "Hello."), text("user", "Now:"), one, two, three, four),
		given("with the system prompt in the first", report.Pass, "",
			text("user", system+"\n\none"), two, three, text("user", "four (please)")),
		given("with a filler between adjacent messages", report.Pass, "", one, two, three, text("assistant", "Yes?"), four),
		given("as one text", report.Warn, "one text", text("user", "User: one\nAssistant: two\nUser: three\nUser: four")),
		given("only the last", report.Fail, "message 1", four),
		given("without the assistant's", report.Fail, "message 2", one, three, four),
		given("in another order", report.Fail, "message 2", three, four, two, one),
		given("under other roles", report.Fail, "message 1",
			text("assistant", "one"), text("user", "two"), text("assistant", "three"), four),
	)
}

func TestBlocksReachTheModel(t *testing.T) {
	array := func(texts ...string) *server.CreateMessageParams {
		var blocks []any
		for _, text := range texts {
			blocks = append(blocks, server.Text(text))
		}
		return params(user(blocks...))
	}
	single, ofOne, ofThree := tracetest.Asking(blockText), array(blockText), array("first", "second", "third")
	// given is a client that asks the model something else in the three rounds.
	given := func(name string, verdict report.Verdict, message string, received ...*server.CreateMessageParams) test {
		return row(name, func(s *session) {
			for i, sent := range []*server.CreateMessageParams{single, ofOne, ofThree} {
				s.Asks(sent).Prompts(received[i]).Answers(whole)
			}
		}, verdict, message)
	}
	judges(t, "single-and-array", "blocks",
		given("both get results", report.Pass, "", single, ofOne, ofThree),
		legacy(fails("the array gets an error", func(s *session) {
			tracetest.Asked(single, whole)(s)
			s.Asks(ofOne).Refuses(-32602, "content: want an object")
		}, `"content: want an object" (code -32602)`)),
		unobserved("the block gets no result", silent, "sampling request 2: no response to request 1"),
	)
	asJSON := tracetest.Asking(string(story.JSON(ofOne.Messages[0].Content)))
	what := tracetest.Asking("?")
	judges(t, "same-effect", "blocks",
		given("both", report.Pass, "", single, ofOne, ofThree),
		given("both, with more text", report.Pass, "",
			tracetest.Asking("At noon: "+blockText), tracetest.Asking("At one: "+blockText), ofThree),
		given("the array as JSON", report.Fail, "", single, asJSON, ofThree),
		given("the array without its text", report.Fail, "", single, tracetest.Asking("[object Object]"), ofThree),
		given("neither", report.NotObserved, "basic/prompt-reaches-model", what, what, ofThree),
	)
	judges(t, "content-array", "blocks",
		given("in order", report.Pass, "", single, ofOne, ofThree),
		given("as one text", report.Pass, "", single, ofOne, tracetest.Asking("first\nsecond\nthird")),
		given("as messages", report.Pass, "",
			single, ofOne, params(text("user", "first"), text("user", "second"), text("user", "third"))),
		given("only the first", report.Fail, "block 2", single, ofOne, tracetest.Asking("first")),
		given("in reverse", report.Fail, "block 2", single, ofOne, array("third", "second", "first")),
	)
}

func TestMediaAndTheTextBesideThemReachTheModel(t *testing.T) {
	beside := server.Text(besideText)
	for _, c := range []struct {
		kind         string
		medium, like any // like is another form of the medium
		data         []byte
	}{
		{"image", server.Image("image/png", story.WeatherMap), server.Image("image/jpeg", []byte("other")), story.WeatherMap},
		{"audio", server.Audio("audio/wav", silence), server.Audio("audio/wav", []byte("other")), silence},
	} {
		sent := params(user(c.medium, beside))
		given := func(name string, verdict report.Verdict, blocks ...any) test {
			received := params(user(blocks...))
			return row(name, func(s *session) { s.Asks(sent).Prompts(received).Answers(whole) }, verdict, c.kind)
		}
		refused := func(s *session) { s.Asks(sent).Refuses(-32602, "text only").PassesBarrier() }
		why := "the client refuses " + c.kind + `: "text only" (code -32602)`
		unknown := story.Object{"type": "file", "file": "data:x;base64," + story.Base64(c.data)}
		judges(t, "media", c.kind,
			given("unchanged", report.Pass, c.medium, beside),
			given("in another form", report.Pass, beside, c.like),
			native(given("in an unknown block", report.Pass, unknown, beside)),
			legacy(passes("refused", refused, why)),
			modern(passes("refused by silence", func(s *session) { s.Asks(sent).PassesBarrier() }, tracetest.NotFulfilled)),
			given("dropped", report.Fail, beside),
			given("replaced by a word", report.Fail, server.Text("["+c.kind+"]"), beside),
		)
		judges(t, "text-beside-media", c.kind,
			given("with the medium", report.Pass, beside, c.medium),
			given("without the medium", report.Pass, server.Text("Said: "+besideText)),
			given("dropped", report.Fail, c.medium),
			legacy(inapplicable("refused", refused, why)),
		)
	}
}

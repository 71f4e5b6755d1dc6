package basic

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// says is a client whose result has a text.
func says(text string) steps { return tracetest.AnswersWith(tracetest.Saying(text)) }

// inBlocks is an array of text blocks.
func inBlocks(texts ...string) string {
	blocks := []any{}
	for _, text := range texts {
		blocks = append(blocks, server.Text(text))
	}
	return string(story.JSON(blocks))
}

const system = "You are a helpful assistant."

func TestTheModelsTextReachesTheServer(t *testing.T) {
	half := len("Paris – ")
	changed := func(name, text string) test { return fails(name, says(text)) }
	judges(t, "text-intact", "question",
		passes("unchanged", tracetest.Right),
		passes("in an array", answers("content", inBlocks(story.Answer))),
		passes("in two blocks", answers("content", inBlocks(story.Answer[:half], story.Answer[half:]))),
		changed("trimmed", strings.ReplaceAll(story.Answer, "\n\n", "\n")),
		changed("escaped as HTML", strings.ReplaceAll(story.Answer, "<", "&lt;")),
		changed("after the system prompt", system+story.Answer),
		changed("cut", story.Answer[:len(story.Answer)-1]),
		unobserved("unreadable", answers("content", "null"), tracetest.NoContent),
	)
	judges(t, "text-intact", "long",
		passes("a megabyte", says(longText)),
		changed("a megabyte, cut", strings.ToValidUTF8(longText[:1<<16], "")),
	)
}

func TestTheUsersTextReachesTheModel(t *testing.T) {
	messages := func(messages ...server.SamplingMessage) steps {
		return prompts(func(p *server.CreateMessageParams) { p.Messages = messages })
	}
	pieces := user(server.Text(story.Question[:20]), server.Text(story.Question[20:]))
	judges(t, "prompt-reaches-model", "question",
		passes("unchanged", tracetest.Right),
		passes("with text around it", messages(text("user", "The server asks: "+story.Question+" Be brief."))),
		passes("after the system prompt", prompts(func(p *server.CreateMessageParams) {
			p.Messages, p.SystemPrompt = []server.SamplingMessage{text("user", p.SystemPrompt+"\n\n"+story.Question)}, ""
		})),
		passes("after other messages",
			messages(text("user", "Hello."), text("assistant", "Hello."), text("user", story.Question))),
		native(passes("in pieces", messages(pieces))),
		fails("with white space folded", messages(text("user", strings.Join(strings.Fields(story.Question), " ")))),
		fails("under another role", messages(text("assistant", story.Question), text("user", "go on"))),
		fails("not at all", messages(text("user", "Hello?"))),
		unobserved("to no model", noModel, neverAsked),
		fails("in an unreadable request",
			calls(`{"messages":5}`, trace.ModelEnd{Status: 400, Refused: "messages is a number"}), "messages is a number"),
		passes("after a call that failed", func(s *session) {
			s.Asks(asked).Prompt(`{}`, trace.ModelEnd{Status: 529}).Prompts(asked).Answers(whole)
		}),
		passes("before a call that was refused", func(s *session) {
			s.Asks(asked).Prompts(asked).Prompt(`{}`, trace.ModelEnd{Status: 400}).Answers(whole)
		}),
	)
	long := func(next steps) steps { return func(s *session) { says("Long.")(s); next(s) } }
	sent := tracetest.Asking(longPrompt)
	received := func(text string) steps {
		return long(func(s *session) { s.Asks(sent).Prompts(tracetest.Asking(text)).Answers(whole) })
	}
	judges(t, "prompt-reaches-model", "long",
		passes("a hundred kilobytes", received(longPrompt)),
		fails("a hundred kilobytes, cut", received(strings.ToValidUTF8(longPrompt[:1<<16], ""))),
		legacy(passes("refused", long(func(s *session) { s.Asks(sent).Refuses(-32602, "too long") }), `"too long"`)),
		unobserved("never sent", says("Long."), "sampling request 2"),
	)
}

func TestTheSystemPromptIsReported(t *testing.T) {
	becomes := func(prompt string) steps {
		return prompts(func(p *server.CreateMessageParams) { p.SystemPrompt = prompt })
	}
	judges(t, "system-prompt", "question",
		informs("the same", tracetest.Right, "passed on unchanged"),
		informs("more", becomes("You speak for a host. "+system), "with more text"),
		informs("another", becomes("You speak for a host."), "changed or replaced"),
		informs("none", becomes(""), "omitted"),
		informs("a message", prompts(func(p *server.CreateMessageParams) {
			p.Messages = append([]server.SamplingMessage{text("user", p.SystemPrompt)}, p.Messages...)
			p.SystemPrompt = ""
		}), "as a message"),
	)
	judges(t, "system-prompt-not-echoed", "question",
		passes("the answer alone", tracetest.Right),
		fails("the prompt before the answer", says(system+"\n"+story.Answer)),
		unobserved("unreadable content", answers("content", "null"), tracetest.NoContent),
	)
}

func TestADifferenceNamesTheFirstByte(t *testing.T) {
	x := strings.Repeat("x", 100)
	for _, c := range []struct{ want, got, says string }{
		{"abc", "abd", `from byte 2: expected "abc", found "abd"`},
		{"Paris – Köln", "Paris – Koln", `from byte 11: expected "Paris – Köln", found "Paris – Koln"`},
		{"abc", "", `from byte 0: expected "abc", found ""`},
		{x + "äb", x + "öb", `from byte 101: expected "` + x[:19] + `äb", found "` + x[:19] + `öb"`},
	} {
		require.Equal(t, c.says, difference(c.want, c.got))
	}
}

package basic

import (
	"bytes"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The server sends a history. It ends with two messages of the user. The texts begin and end with blanks. They have
// CRLF, decomposed letters, joined emoji, control characters, and characters that some libraries take for the end of a
// line.
var turns = harness.Case{
	ID: "basic/turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("\n\tI have lost my keys.")
		ask.Messages = append(ask.Messages,
			Text("assistant", "Where did you see them last?\r\n\r\n"),
			Text("user", "In the cafe\u0301.\u2028On the \x01\x1b[1mcounter\x7f.\u0085 "),
			Text("assistant", "Have you looked under the newspaper?\t"),
			Text("user", "There is no newspaper.\r\n"), Text("user", "There is no newspaper.\r\n"),
			Text("user", "What now? 👩‍🚀 "))
		return s.Sample(ask)
	},
	Script: story.Says("\n Ask the cat: she was in the cafe\u0301, too.\r\n\r\n" +
		"👩‍🚀\u2028\x01\x7f\u0085 Good luck! \n"),
}

// The server sends a history that begins with the assistant, and one that ends with it, as a beginning of the answer.
// Some models take neither: a client may refuse, or add a message of its own.
var (
	assistantFirst = story.Once("basic/assistant-first", func(s *server.Session) any {
		ask := s.Ask("I need a hat.")
		ask.Messages = append([]server.SamplingMessage{Text("assistant", "What can I do for you?")}, ask.Messages...)
		return ask
	}, llm.When().Reply(llm.Text("We have blue ones.")))

	assistantLast = story.Once("basic/assistant-last", func(s *server.Session) any {
		ask := s.Ask("Name a colour for my hat.")
		ask.Messages = append(ask.Messages, Text("assistant", "Its colour should be"))
		return ask
	}, llm.When().Reply(llm.Text(" blue.")))
)

// The server asks the same twice, with another system prompt: the model says something else then. A stream of that
// answer has comments, and begins with a chunk without choices.
var askedAgain = harness.Case{
	ID: "basic/asked-again",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("How do I greet a friend here?")
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		again := *ask
		again.SystemPrompt += " The user is in Norway."
		return s.Sample(&again)
	},
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{llm.When().Reply(llm.Text("Say hello.")).Times(1),
			llm.When().Reply(llm.Text("Say hei.")).Stream(llm.KeptAlive | llm.FilterFirst)}
	},
}

// Text returns a message with one text.
func Text(role, said string) server.SamplingMessage {
	return server.SamplingMessage{Role: role, Content: server.Text(said)}
}

// BlockText changes in JSON, so that a client that passes on the JSON of a block differs from one that reads the block.
const BlockText = "He said \"one block\",\nand meant it."

// The server sends content as a block, as an array of one, and as an array of three. The model answers the last in
// three texts, of which two are equal.
var blocks = harness.Case{
	ID: "basic/blocks", Revisions: check.WithTools,
	Handler: func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(BlockText)); err != nil {
			return nil, err
		}
		ask := s.Ask(BlockText)
		ask.Messages[0].Content = []any{ask.Messages[0].Content}
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		ask = s.Ask("And the third?")
		ask.Messages[0].Content = []any{
			server.Text("This is the first block. \r\n"), server.Text("\tThis is the second block."), ask.Messages[0].Content,
		}
		return s.Sample(ask)
	},
	Script: func(string) []*llm.Rule {
		return []*llm.Rule{
			llm.When(llm.LastUser("And the third?")).Reply(llm.Text("So it is. "), llm.Text("Always! "), llm.Text("Always! ")),
			llm.When().Reply(llm.Text("So it is.")),
		}
	},
}

// The server sends an image, then a sound, each beside a text.
var (
	image = showing("basic/image", server.Image("image/png", story.WeatherMap), dialect.Image)
	audio = showing("basic/audio", server.Audio("audio/mpeg", Silence), dialect.Audio)
)

// An image and a sound in a later turn. With sampling.tools they are in one message with the question,
// beside a tool that the model must not use; without, they are a message of their own.
var (
	imageLater = showingLater("basic/image-later", server.Image("image/png", story.WeatherMap), dialect.Image)
	audioLater = showingLater("basic/audio-later", server.Audio("audio/mpeg", Silence), dialect.Audio)
)

func showingLater(id string, block any, kind dialect.BlockType) harness.Case {
	c := showing(id, block, kind)
	c.Handler = func(s *server.Session) (any, error) {
		ask := s.Ask("What is this about?")
		said := ask.Messages[0]
		shown := server.SamplingMessage{Role: "user", Content: block}
		ask.Messages = []server.SamplingMessage{{Role: "user", Content: server.Text("Do you know this one?")},
			{Role: "assistant", Content: server.Text("Show it to me.")}, shown, said}
		if s.Revision().HasSamplingTools() && s.Declares("sampling", "tools") {
			ask.Messages = append(ask.Messages[:2:2],
				server.SamplingMessage{Role: "user", Content: []any{shown.Content, said.Content}})
			ask.Tools, ask.ToolChoice = []server.Tool{story.GetWeather}, &server.ToolChoice{Mode: "none"}
		}
		return s.Sample(ask)
	}
	return c
}

// showing returns a case with a block beside a text: in one message, or in two if the revision has no arrays of blocks.
func showing(id string, block any, kind dialect.BlockType) harness.Case {
	return harness.Case{
		ID: id, Expect: kind,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("What is this about?")
			said := ask.Messages[0]
			if s.Revision().HasSamplingTools() {
				ask.Messages[0].Content = []any{block, said.Content}
			} else {
				ask.Messages = []server.SamplingMessage{{Role: "user", Content: block}, said}
			}
			return s.Sample(ask)
		},
		Script:  story.Says("About nothing much."),
		Barrier: true, // its answer shows whether a client refuses this case or everything
	}
}

// Silence is an MP3 of four frames of 36 bytes: MPEG-2, mono, 16 kHz, 8 kbit/s.
var Silence = bytes.Repeat(append([]byte("\xff\xf3\x18\xc4"), make([]byte, 32)...), 4)

var media = check.Check{
	ID: "media", Cases: []string{"image", "audio", "image-later", "audio-later"},
	Rule:   "A request with an image or a sound gets a result, or an error that says why not",
	Levels: check.Robust, Requests: 1,
	Cause: "the converter stops at a block that it does not know, without a message",
	Fix:   "Map image and audio blocks to the provider's form, or return an error with a message.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, kind := e.Rounds[0], check.Expected[dialect.BlockType](e)
		if a := r.Result(); a != nil {
			return check.Pass("a request with %s got a result", kind).At(a.Place)
		}
		how := check.HowRefused(e, r)
		if how == "" {
			return noResult(e, r, string(kind))
		}
		if len(r.Answers) > 0 && strings.TrimSpace(r.Answers[0].Err.Message) == "" {
			return check.Fail("expected an error that says why the client refuses %s, found one without a message", kind).
				ShowJSON(r.Answers[0].Place, r.Answers[0].RawErr)
		}
		return check.Pass("the client refuses %s: %s", kind, how)
	},
}

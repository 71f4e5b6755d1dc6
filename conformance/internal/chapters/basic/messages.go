package basic

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server sends a history. It ends with two messages of the user.
var turns = harness.Case{
	ID: "basic/turns",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("I have lost my keys.")
		ask.Messages = append(ask.Messages,
			text("assistant", "Where did you see them last?"),
			text("user", "In the kitchen drawer."),
			text("assistant", "Have you looked under the newspaper?"),
			text("user", "There is no newspaper."),
			text("user", "What now?"))
		return s.Sample(ask)
	},
	Script: story.Says("Ask the cat."),
}

// text returns a message with one text.
func text(role, said string) server.SamplingMessage {
	return server.SamplingMessage{Role: role, Content: server.Text(said)}
}

var multiTurn = check.Check{
	ID: "multi-turn", Cases: []string{"turns"},
	Rule:   "All messages of a history reach the model, in order and under their roles",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "the model receives only the last message, or all of them as one text",
	Fix:   "Send every message to the model, in order and under its role. Adjacent messages of one role may be merged.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[0], e.Rounds[0].LastExchange()
		var at position
		var found bool
		for i, m := range r.Params.Messages {
			if at, found = at.after(x.Request.Messages, m.Role, dialect.PlainText(m.Content)); found {
				continue
			}
			v := check.Fail("expected all messages in order under their roles, found message %d missing or moved", i+1)
			if flattened(r.Params.Messages, x.Request.Messages) {
				v = check.Warn("expected all messages under their roles, found one text of the user with all of them")
			}
			return compare(v, r, "messages", x)
		}
		return compare(check.Pass("the history reached the model in order"), r, "messages", x)
	},
}

// position is how far a search in messages has come.
type position struct{ message, offset int }

// after returns the position behind a text under a role, at or after p, and whether it was found. Adjacent messages of
// one role may be merged into one.
func (p position) after(messages []dialect.Message, role dialect.Role, text string) (position, bool) {
	for ; p.message < len(messages); p = (position{p.message + 1, 0}) {
		m := &messages[p.message]
		if m.Role != role {
			continue
		}
		for _, said := range []string{dialect.PlainText(m.Content), evidence.Joined(m.Content)} {
			from := min(p.offset, len(said))
			if i := strings.Index(said[from:], text); i >= 0 {
				return position{p.message, from + i + len(text)}, true
			}
		}
	}
	return p, false
}

// flattened reports whether one message of the user contains everything that was said, in order.
func flattened(said, given []dialect.Message) bool {
	return slices.ContainsFunc(given, func(m dialect.Message) bool {
		at, found := position{}, m.Role == dialect.User
		for _, turn := range said {
			if found {
				at, found = at.after([]dialect.Message{m}, dialect.User, dialect.PlainText(turn.Content))
			}
		}
		return found
	})
}

// blockText changes in JSON, so that a client that passes on the JSON of a block differs from one that reads the block.
const blockText = "He said \"one block\",\nand meant it."

// The server sends content as a block, as an array of one, and as an array of three.
var blocks = harness.Case{
	ID: "basic/blocks", Revisions: check.WithTools,
	Handler: func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask(blockText)); err != nil {
			return nil, err
		}
		ask := s.Ask(blockText)
		ask.Messages[0].Content = []any{ask.Messages[0].Content}
		if _, err := s.Sample(ask); err != nil {
			return nil, err
		}
		ask = s.Ask("And the third?")
		ask.Messages[0].Content = []any{
			server.Text("This is the first block."), server.Text("This is the second block."), ask.Messages[0].Content,
		}
		return s.Sample(ask)
	},
	Script: story.Says("So it is."),
}

var singleAndArray = check.Check{
	ID: "single-and-array", Cases: []string{"blocks"},
	Rule:       "The client MUST accept content as a block and as an array of blocks",
	Levels:     check.SinceTools(report.Must),
	Statements: []string{"2025-11-25/schema/SamplingMessage", "2026-07-28/schema/SamplingMessage"},
	Requests:   1,
	Cause:      "the client's message type has only one of the two forms",
	Fix:        "Read content that is not an array as an array of one block.",
	Judge: func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) < 2 {
			return check.NotObserved("the server did not send sampling request 2%s", e.WhyNoResult(1))
		}
		r := e.Rounds[1]
		if r.Result() == nil {
			return check.Fail("expected a result for an array of one block, as for a block alone%s", e.WhyNoResult(2)).
				ShowJSON(r.Asked.At("messages[0].content"), r.Raw)
		}
		return check.Pass("both forms got a result").At(r.Result().Place)
	},
}

var sameEffect = check.Check{
	ID: "same-effect", Cases: []string{"blocks"},
	Rule:   "An array of one block reaches the model like the block alone",
	Levels: check.SinceTools(report.Robust), Requests: 2,
	Needs: []check.Need{check.ModelReadsRequest(1), check.ModelReadsRequest(2)},
	Cause: "content that is an array is passed on as JSON, or as an empty text",
	Fix:   "Read content that is not an array as an array of one block, before anything else.",
	Judge: func(e *evidence.Case) check.Verdict {
		var reached [2]bool
		for i, r := range e.Rounds[:2] {
			asked := dialect.PlainText(r.Params.LastUserTurn()[0].Content)
			_, reached[i] = position{}.after(r.LastExchange().Request.Messages, dialect.User, asked)
		}
		if !reached[0] {
			return check.NotObserved("the text of a block alone did not reach the model (see basic/prompt-reaches-model)")
		}
		v := check.Pass("both forms reached the model")
		if !reached[1] {
			v = check.Fail("expected the text of an array of one block in the model request, found only that of a block alone")
		}
		for _, r := range e.Rounds[:2] {
			content, x := r.Params.Messages[0].Content[0], r.LastExchange()
			v = both(v, r.Asked.At("messages[0].content"), evidence.Compact(content.Raw),
				x.At("messages"), evidence.DescribeMessages(x.Request.Messages))
		}
		return v
	},
}

var contentArray = check.Check{
	ID: "content-array", Cases: []string{"blocks"},
	Rule:   "All blocks of a message reach the model, in order",
	Levels: check.SinceTools(report.Robust), Requests: 3, Needs: []check.Need{check.ModelReadsRequest(3)},
	Cause: "the client reads only the first block of a message",
	Fix:   "Send every block to the model, in order.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[2], e.Rounds[2].LastExchange()
		v := check.Pass("the blocks reached the model in order")
		var at position
		var found bool
		for i, b := range r.Params.Messages[0].Content {
			if at, found = at.after(x.Request.Messages, dialect.User, b.Text); !found {
				v = check.Fail("expected all blocks in order, found block %d missing or moved", i+1)
				break
			}
		}
		return compare(v, r, "messages[0].content", x)
	},
}

// The server sends an image, then a sound, each beside a text.
var (
	image = showing("basic/image", server.Image("image/png", story.WeatherMap), medium{dialect.Image, story.WeatherMap})
	audio = showing("basic/audio", server.Audio("audio/wav", silence), medium{dialect.Audio, silence})
)

// medium is what must reach the model beside the text.
type medium struct {
	kind dialect.BlockType
	data []byte
}

// besideText is the text beside a medium.
const besideText = "What is this about?"

// showing returns a case with a block beside a text: in one message, or in two if the revision has no arrays of blocks.
func showing(id string, block any, expect medium) harness.Case {
	return harness.Case{
		ID: id, Expect: expect,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask(besideText)
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

// silence is a WAV file of an eighth of a second, at 8 kHz.
var silence = func() []byte {
	const rate, samples = 8000, 1000
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, 36+2*samples)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, field := range []uint16{1, 1} { // PCM, one channel
		b = binary.LittleEndian.AppendUint16(b, field)
	}
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, 2*rate)
	for _, field := range []uint16{2, 16} { // bytes of a frame, bits of a sample
		b = binary.LittleEndian.AppendUint16(b, field)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, 2*samples)
	return append(b, make([]byte, 2*samples)...)
}()

var media = check.Check{
	ID: "media", Cases: []string{"image", "audio"},
	Rule:   "An image or a sound reaches the model, or the client refuses the request",
	Levels: check.Robust, Requests: 1,
	Cause: "the converter supports only text: it drops other blocks, or replaces them by a word",
	Fix:   "Map image and audio blocks to the provider's own form. Return an error if the provider has none.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, want := e.Rounds[0], check.Expected[medium](e)
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses %s: %s", want.kind, how)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if x.Shows(want.kind) == 0 && !x.Says(story.Base64(want.data)) {
			v := check.Fail("expected the %s in the model request, or an error, found neither", want.kind)
			return both(v, r.Asked.At("messages[0]"), fmt.Sprintf("%s, %d bytes", want.kind, len(want.data)),
				x.At("messages"), contents(x.Request.Messages))
		}
		return check.Pass("the %s reached the model", want.kind).At(x.At("messages"))
	},
}

var textBesideMedia = check.Check{
	ID: "text-beside-media", Cases: []string{"image", "audio"},
	Rule:   "The text beside an image or a sound reaches the model",
	Levels: check.Robust, Requests: 1, Needs: []check.Need{acceptsMedium, check.ModelReadsRequest(1)},
	Cause: "the converter maps only one block of a message that has an image or a sound",
	Fix:   "Map every block of the message.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, x, kind := e.Rounds[0], e.Rounds[0].LastExchange(), check.Expected[medium](e).kind
		if _, found := (position{}).after(x.Request.Messages, dialect.User, besideText); !found {
			v := check.Fail("expected the text beside the %s in the model request, found none", kind)
			return both(v, r.Asked.At("messages"), evidence.Quote(besideText), x.At("messages"), contents(x.Request.Messages))
		}
		return check.Pass("the text beside the %s reached the model", kind).Show(x.At("messages"), "%q", besideText)
	},
}

// acceptsMedium needs a client that does not refuse the medium of the case.
func acceptsMedium(e *evidence.Case) *check.Verdict {
	how := check.Refusal(e, e.Rounds[0])
	if how == "" {
		return nil
	}
	return check.Instead(check.NotApplicable("the client refuses %s: %s", check.Expected[medium](e).kind, how))
}

// contents shows the types of the blocks of messages, and their texts.
func contents(messages []dialect.Message) string {
	var lines []string
	for _, m := range messages {
		for _, b := range m.Content {
			line := m.Path + "  " + string(m.Role) + ": " + string(b.Type)
			if b.Type == dialect.Text {
				line += " " + evidence.Quote(b.Text)
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

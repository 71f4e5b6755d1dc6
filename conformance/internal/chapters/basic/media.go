package basic

import (
	"encoding/binary"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// besideText is what is said in the message that a medium comes in.
const besideText = "What is this about?"

// mediaCases show the model an image, and play it a sound, each beside a text.
var mediaCases = []harness.Case{
	showing("basic/image", server.Image("image/png", story.WeatherMap)),
	showing("basic/audio", server.Audio("audio/wav", silence)),
}

// showing is a case with a medium beside a text: in one message where there are arrays, and in two where there are none.
func showing(id string, medium any) harness.Case {
	return harness.Case{
		ID: id,
		Handler: func(s *server.Session) (any, error) {
			ask := s.Ask(besideText)
			said := ask.Messages[0]
			if s.Revision().HasTools() {
				ask.Messages[0].Content = []any{medium, said.Content}
			} else {
				ask.Messages = []server.SamplingMessage{{Role: "user", Content: medium}, said}
			}
			return s.Sample(ask)
		},
		Script:  story.Says("About nothing much."),
		Barrier: true, // a client may refuse a medium: see flight
	}
}

// silence is a WAV file: an eighth of a second of it, at 8 kHz.
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

// medium is the type of the medium in a case, and its bytes.
func medium(caseID string) (dialect.BlockType, []byte) {
	if strings.HasSuffix(caseID, "/audio") {
		return dialect.Audio, silence
	}
	return dialect.Image, story.WeatherMap
}

var media = check.Check{
	ID: "media", Rule: "images and audio reach the model, or an error says why they cannot", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"image", "audio"},
	Cause: "the converter knows text only, and leaves out the rest, or puts a word in its place",
	Fix:   "give the model the medium in the provider's own form; where it has none, answer with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		kind, data := medium(e.Case.ID)
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client does not pass %s on, and says so: %s", kind, how)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if x.Shows(kind) == 0 && !x.Says(story.Base64Of(data)) {
			return check.Fail("the %s never reached the model, and no error says so", kind).
				ShowAs("server sent", r.Asked.At("messages[0]"), "%s, %d bytes", kind, len(data)).ShowAs("model was given", x.At("messages"), "%s", contents(x.Request.Messages))
		}
		return check.Pass("the %s reached the model", kind).Show(x.At("messages"), "")
	},
}

var textBesideMedia = check.Check{
	ID: "text-beside-media", Rule: "the text beside an image or a sound reaches the model", Levels: check.Everywhere(report.Robust), Requests: 1, Cases: []string{"image", "audio"},
	Cause: "a message that has a medium is taken for one that has nothing else",
	Fix:   "give the model every block of the message",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		kind, _ := medium(e.Case.ID)
		if how := check.Refusal(e, r); how != "" {
			return check.NotApplicable("the client does not pass %s on, and says so: %s", kind, how)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		if _, found := (place{}).after(x.Request.Messages, dialect.User, besideText); !found {
			return check.Fail("the text beside the %s never reached the model", kind).
				ShowAs("server sent", r.Asked.At("messages"), "%q", besideText).ShowAs("model was given", x.At("messages"), "%s", contents(x.Request.Messages))
		}
		return check.Pass("the text beside the %s reached the model", kind).Show(x.At("messages"), "%q", besideText)
	},
}

// contents shows messages by the types of their blocks, with their texts.
func contents(messages []dialect.Message) string {
	var lines []string
	for _, m := range messages {
		for _, b := range m.Content {
			line := m.Path + "  " + string(m.Role) + ": " + string(b.Type)
			if b.Type == dialect.Text {
				line += " " + evidence.Quoted(b.Text)
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

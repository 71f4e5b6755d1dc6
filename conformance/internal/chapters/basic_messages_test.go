package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
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

func TestContentIsABlockOrAnArray(t *testing.T) {
	single, ofOne := tracetest.Asking(basic.BlockText), params(user(server.Text(basic.BlockText)))
	rules(t, "answered", "basic/blocks",
		passes("both get results", func(s *session) { tracetest.Asked(single, whole)(s); tracetest.Asked(ofOne, whole)(s) }),
		legacy(fails("the array gets an error", func(s *session) {
			tracetest.Asked(single, whole)(s)
			s.Asks(ofOne).Refuses(-32602, "content: want an object")
		}, `"content: want an object" (code -32602)`)),
		inapplicable("the block gets no result", basicSilent, "no result"),
	)
}

func TestMediaAreAnsweredOrRefusedWithAReason(t *testing.T) {
	for kind, block := range map[string]any{
		"image": server.Image("image/png", story.WeatherMap), "audio": server.Audio("audio/mpeg", basic.Silence),
	} {
		sent := params(user(block))
		refused := func(message string) steps {
			return func(s *session) { s.Asks(sent).Refuses(-32602, message).PassesBarrier() }
		}
		basicJudges(t, "media", kind,
			passes("a result", tracetest.Asked(sent, whole), kind),
			legacy(passes("refused", refused("text only"), "the client refuses "+kind+`: "text only" (code -32602)`)),
			legacy(fails("refused without a reason", refused(" "), "without a message")),
			modern(passes("refused by silence", func(s *session) { s.Asks(sent).PassesBarrier() }, tracetest.NotFulfilled)),
			legacy(fails("no response", func(s *session) { s.Asks(sent).PassesBarrier() }, "no response to request 1")),
			legacy(unobserved("a client that returns only errors", func(s *session) { s.Asks(sent).Refuses(-1, "no") },
				"basic/answered")),
		)
	}
}

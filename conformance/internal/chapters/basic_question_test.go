package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// responds is a client that responds as it is written.
func responds(id, rest string) steps {
	return func(s *session) {
		s.Asks(basicAsked)
		if id == "" {
			id = s.ID()
		}
		s.Responds(id, rest)
	}
}

func TestASamplingRequestGetsAResult(t *testing.T) {
	basicJudges(t, "answered", "question",
		passes("the client returns a result", tracetest.Right),
		fails("the client is silent", basicSilent, "no response to request 1"),
		legacy(fails("the client returns an error", basicRefusing, `"no" (code -1)`)),
		legacy(fails("the error is a string", responds("", `"error":"no"`), `an error that is not well-formed: \"no\"`)),
		legacy(passes("the result is beside a null error", responds("", `"error":null,"result":`+whole))),
		legacy(fails("the member is spelled Result", responds("", `"Result":`+whole), "no response to request 1")),
		legacy(native(fails("the provider refused the model request", func(s *session) {
			s.Asks(basicAsked).Prompt(`{"maxTokens":1,"messages":[]}`, trace.ModelEnd{Status: 400, Refused: "messages is empty"})
			s.Refuses(-32603, "failed")
		}, "messages is empty"))),
	)
}

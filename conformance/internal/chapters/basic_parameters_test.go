package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// tunes is a client that changes the parameters of both requests on their way to the model.
func tunes(first, second func(*server.CreateMessageParams)) steps {
	params := func() (tuned, named *server.CreateMessageParams) {
		warmth := basic.Temperature
		tuned, named = tracetest.Asking("Count."), tracetest.Asking("Count.")
		tuned.Temperature, tuned.StopSequences = &warmth, []string{basic.StopSequence}
		named.Temperature, named.Metadata = new(float64), story.Object{"user_id": basic.MetadataWord}
		return tuned, named
	}
	return func(s *session) {
		tuned, named := params()
		changedTuned, changedNamed := params()
		first(changedTuned)
		second(changedNamed)
		s.Asks(tuned).Prompts(changedTuned).Answers(whole)
		s.Asks(named).Prompts(changedNamed).Answers(whole)
	}
}

func keeps(*server.CreateMessageParams) {}
func drops(p *server.CreateMessageParams) {
	p.Temperature, p.StopSequences, p.Metadata = nil, nil, nil
}

func TestParametersAreReported(t *testing.T) {
	cools := func(p *server.CreateMessageParams) { p.Temperature = nil }
	warms := func(p *server.CreateMessageParams) { *p.Temperature = 1 }
	const passed = "temperature is passed on, stop sequences are passed on, metadata are "
	basicJudges(t, "parameters", "tuned",
		native(informs("passed on", tunes(keeps, keeps), passed+"passed on")),
		openAI(informs("passed on, but for what the provider lacks", tunes(keeps, keeps), passed+"omitted")),
		informs("passed on unless it is falsy", tunes(keeps, cools), "temperature is passed on unless it is 0,"),
		informs("omitted", tunes(drops, drops),
			"temperature is omitted, stop sequences are omitted, metadata are omitted"),
		informs("changed", tunes(warms, drops), "temperature is changed to 1"),
		inapplicable("to no model", func(s *session) { noModel(s); noModel(s) }, "answers by itself"),
	)
}

func TestParametersDoNoHarm(t *testing.T) {
	refused := func(end trace.ModelEnd) steps {
		return func(s *session) {
			tracetest.Right(s)
			s.Asks(basicAsked).Prompt(`{}`, end).Refuses(-32603, "failed")
		}
	}
	basicJudges(t, "parameters-harmless", "tuned",
		passes("results", tunes(keeps, drops)),
		legacy(fails("an error", refused(trace.ModelEnd{Status: 500}), `metadata: error response to request 2: "failed"`)),
		legacy(passes("an error after the provider refused metadata",
			refused(trace.ModelEnd{Status: 400, Refused: "user_id is unknown"}), "user_id is unknown")),
		legacy(unobserved("a client that returns only errors", basicRefusing, "basic/answered")),
	)
}

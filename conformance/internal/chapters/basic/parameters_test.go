package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// tunes is a client that changes the parameters of both requests on their way to the model.
func tunes(first, second func(*server.CreateMessageParams)) steps {
	params := func() (tuned, named *server.CreateMessageParams) {
		warmth := temperature
		tuned, named = tracetest.Asking("Count."), tracetest.Asking("Count.")
		tuned.Temperature, tuned.StopSequences = &warmth, []string{stopSequence}
		named.Metadata = story.Object{"user_id": metadataWord}
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
	warms := func(p *server.CreateMessageParams) { *p.Temperature = 1 }
	const passed = "temperature is passed on, stop sequences are passed on, metadata are "
	judges(t, "parameters", "tuned",
		native(informs("passed on", tunes(keeps, keeps), passed+"passed on")),
		openAI(informs("passed on, but for what the provider lacks", tunes(keeps, keeps), passed+"omitted")),
		informs("omitted", tunes(drops, drops),
			"temperature is omitted, stop sequences are omitted, metadata are omitted"),
		informs("changed", tunes(warms, drops), "temperature is changed to 1"),
		unobserved("to no model", func(s *session) { noModel(s); noModel(s) }, neverAsked),
	)
}

func TestParametersDoNoHarm(t *testing.T) {
	refused := func(end trace.ModelEnd) steps {
		return func(s *session) {
			tracetest.Right(s)
			s.Asks(asked).Prompt(`{}`, end).Refuses(-32603, "failed")
		}
	}
	judges(t, "parameters-harmless", "tuned",
		passes("results", tunes(keeps, drops)),
		legacy(fails("an error", refused(trace.ModelEnd{Status: 500}), `metadata: error response to request 2: "failed"`)),
		legacy(passes("an error after the provider refused metadata",
			refused(trace.ModelEnd{Status: 400, Refused: "user_id is unknown"}), "user_id is unknown")),
		legacy(unobserved("a client that returns only errors", refusing, "basic/answered")),
	)
}

func TestTheModelRequestAllowsAtMostMaxTokens(t *testing.T) {
	tokens := func(n int) steps { return prompts(func(p *server.CreateMessageParams) { p.MaxTokens = n }) }
	unlimited := tracetest.Without(string(story.JSON(tracetest.AsChat(asked))), "max_tokens")
	ok := trace.ModelEnd{Status: 200}
	judges(t, "max-tokens", "question",
		passes("as many", tokens(1000), "1000"),
		passes("fewer", tokens(16), "16"),
		fails("more", tokens(4096), "expected at most 1000 tokens in the model request, found 4096"),
		openAI(passes("under the newer name", calls(tracetest.With(unlimited, "max_completion_tokens", "1000"), ok))),
		openAI(fails("no limit", calls(unlimited, ok), "expected at most 1000 tokens in the model request, found no limit")),
	)
}

package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
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
	return func(s *tracetest.Story) {
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
		native(row("passed on", tunes(keeps, keeps), report.Info, passed+"passed on")),
		openAI(row("passed on, but for what the provider lacks", tunes(keeps, keeps), report.Info, passed+"omitted")),
		row("omitted", tunes(drops, drops), report.Info,
			"temperature is omitted, stop sequences are omitted, metadata are omitted"),
		row("changed", tunes(warms, drops), report.Info, "temperature is changed to 1"),
		row("to no model", func(s *tracetest.Story) { noModel(s); noModel(s) }, report.NotObserved, neverAsked),
	)
}

func TestParametersDoNoHarm(t *testing.T) {
	refused := func(end trace.ModelEnd) steps {
		return func(s *tracetest.Story) {
			tracetest.Right(s)
			s.Asks(asked).Prompt(`{}`, end).Refuses(-32603, "failed")
		}
	}
	judges(t, "parameters-harmless", "tuned",
		row("results", tunes(keeps, drops), report.Pass, ""),
		legacy(row("an error", refused(trace.ModelEnd{Status: 500}),
			report.Fail, `metadata: error response to request 2: "failed"`)),
		legacy(row("an error after the provider refused metadata",
			refused(trace.ModelEnd{Status: 400, Refused: "user_id is unknown"}), report.Pass, "user_id is unknown")),
		legacy(row("a client that returns only errors", refusing, report.NotObserved, "basic/answered")),
	)
}

func TestTheModelRequestAllowsAtMostMaxTokens(t *testing.T) {
	tokens := func(n int) steps { return prompts(func(p *server.CreateMessageParams) { p.MaxTokens = n }) }
	unlimited := tracetest.Without(string(story.JSON(tracetest.AsChat(asked))), "max_tokens")
	ok := trace.ModelEnd{Status: 200}
	judges(t, "max-tokens", "question",
		row("as many", tokens(1000), report.Pass, "1000"),
		row("fewer", tokens(16), report.Pass, "16"),
		row("more", tokens(4096), report.Fail, "expected at most 1000 tokens in the model request, found 4096"),
		openAI(row("under the newer name", calls(tracetest.With(unlimited, "max_completion_tokens", "1000"), ok),
			report.Pass, "")),
		openAI(row("no limit", calls(unlimited, ok),
			report.Fail, "expected at most 1000 tokens in the model request, found no limit")),
	)
}

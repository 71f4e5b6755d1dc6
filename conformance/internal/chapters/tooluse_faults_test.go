package chapters_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var noResult = unobserved("no result", toolUseSilent, tracetest.NoAnswer)

func TestToolCallsBesideTheEndOfTheTurn(t *testing.T) {
	toolUseJudges(t, "stop-beside-calls", "says-stop", append(toolUseRefused(report.Fail, toolUseRefusing),
		passes("a tool use", booked),
		passes("no tool use, which another rule judges", toolUseSaying("")),
		legacy(unobserved("the client refuses everything",
			func(s *session) { toolUseSilent(s); s.Refuses(-32603, "no") }, `"no" (code -32603)`)),
		noResult)...)
	s := tracetest.Begin(t, toolUseCatalogue, "2025-11-25", dialect.Native, "tool-use/says-stop")
	booked(s)
	ev := evidence.Decode(s.Trace).Case("tool-use/says-stop")
	ev.Rounds[0].Model[0].Request.Dialect = dialect.Anthropic
	require.Equal(t, report.NotApplicable, tooluse.StopBesideCalls.Judge(ev).Kind)
}

func TestInvalidJSONArguments(t *testing.T) {
	asText := string(jsonvalue.Marshal(tooluse.CutOff.Input))
	input := func(input string) steps { return tracetest.Uses(tracetest.Booked(input)) }
	toolUseJudges(t, "bad-arguments", "torn-arguments", ofModel(tooluse.CutOff, append(toolUseRefused(report.Pass,
		toolUseRefusing),
		passes("as text", input(asText)),
		passes("under a member of the client", input(`{"_raw":`+asText+`,"_error":"unexpected end"}`)),
		passes("a text, after the model was asked again", toolUseSaying("Never mind."), `"Never mind."`),
		warns("completed", input(`{"from":"Zürich","to":"Tok"}`), "found them completed"),
		fails("an empty object", input(`{}`), "found the input {}"),
		fails("null", input(`null`), "found the input null"),
		fails("an empty text", toolUseSaying(" "), "found an empty result"),
		unsupported("no model request", unasked, "never asks the model"),
		noResult, unreadable)...)...)
	toolUseJudges(t, "bad-arguments", "torn-arguments",
		inapplicable("the model's arguments are valid", booked, "made no such call"))
}

func TestArgumentsThatAreObjectsAreAlwaysValid(t *testing.T) {
	for _, d := range []string{dialect.Gemini, dialect.Ollama, dialect.Anthropic} {
		s := tracetest.Begin(t, toolUseCatalogue, "2025-11-25", dialect.Native, "tool-use/torn-arguments")
		booked(s)
		ev := evidence.Decode(s.Trace).Case("tool-use/torn-arguments")
		ev.Rounds[0].Model[0].Request.Dialect = d
		require.Equal(t, report.NotApplicable, tooluse.BadArguments.Judge(ev).Kind)
	}
}

func TestAToolThatWasNotOffered(t *testing.T) {
	wanting := using([3]string{"call_1", tooluse.Cancelling.Name, tooluse.Cancelling.Input})
	later := func(do steps) steps { return func(s *session) { do(s); s.OtherwiseAnswers() } }
	runs := func(tool string) steps { return later(func(s *session) { wanting(s); toolUseCalling(s, tool) }) }
	unreadable := unreadable
	unreadable.Steps = later(unreadable.Steps)
	toolUseJudges(t, "unoffered-tool", "unknown-tool", ofModel(tooluse.Cancelling, append(toolUseRefused(report.Pass,
		toolUseRefusing),
		passes("passed on", later(wanting)),
		passes("passed on, and another tool called", runs("mine")),
		passes("a text, after the model was asked again", later(toolUseSaying("Never mind.")), `"Never mind."`),
		fails("called", runs(tooluse.Cancelling.Name), "expected no call of cancel_flight"),
		warns("another tool", later(booked), "cancel_flight, found one of book_flight"),
		fails("an empty text", later(toolUseSaying("")), "found an empty result"),
		unsupported("no later request", wanting, "no later sampling request"),
		legacy(unobserved("no result", later(toolUseSilent), tracetest.NoAnswer)),
		unreadable)...)...)
}

package tooluse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// choosing is the request for a flight with a tool choice: "" for none, "{}" for one without a mode.
func choosing(choice string) *server.CreateMessageParams {
	return edited(func(p *server.CreateMessageParams) {
		switch choice {
		case "":
		case "{}":
			p.ToolChoice = &server.ToolChoice{}
		default:
			p.ToolChoice = &server.ToolChoice{Mode: choice}
		}
	})
}

// prompts is a model request with a tool choice.
func prompts(s *session, choice string, end trace.ModelEnd) *session {
	p := choosing(choice)
	body := string(dialect.Marshal(p))
	if s.Dialect == dialect.OpenAIChat {
		body = string(dialect.Marshal(tracetest.AsChat(p)))
		if choice != "" {
			body = tracetest.With(body, "tool_choice", `"`+choice+`"`)
		}
	}
	return s.Prompt(body, end)
}

// chooses is a client that gives the model another tool choice than the server sent.
func chooses(sent, received string) steps {
	return func(s *session) {
		prompts(s.Asks(choosing(sent)), received, trace.ModelEnd{Status: 200}).Answers(tracetest.Booked())
	}
}

// refusesChoice is a client that refuses a tool choice without asking the model.
func refusesChoice(choice string) steps {
	return func(s *session) { s.Asks(choosing(choice)).Refuses(-32603, "refused").OtherwiseAnswers() }
}

func TestToolChoicesReachTheModel(t *testing.T) {
	noTools := func(sent string) steps {
		return func(s *session) {
			s.Asks(choosing(sent)).Prompts(tracetest.Asking("Book a flight.")).Answers(tracetest.Saying("I cannot."))
		}
	}
	refusedByModel := func(choice, why string) steps {
		return func(s *session) {
			prompts(s.Asks(choosing("required")), choice, trace.ModelEnd{Status: 400, Refused: why}).
				Refuses(-32603, "the model failed").OtherwiseAnswers()
		}
	}
	judges(t, "choice-auto", "auto",
		passes("auto", chooses("auto", "auto")),
		passes("omitted", chooses("auto", "")),
		fails("as required", chooses("auto", "required"), "auto in the model request, found required"),
		fails("as none", chooses("auto", "none"), "found none"),
		unobserved("no tools", noTools("auto"), "was offered no tools"))
	judges(t, "choice-required", "required", append(refused(report.Warn, refusesChoice("required")),
		passes("required", chooses("required", "required")),
		fails("omitted", chooses("required", ""), "required in the model request, found nothing"),
		fails("as auto", chooses("required", "auto"), "found auto"),
		openAI(fails("an invalid term", func(s *session) {
			refusedByModel("any", `tool_choice is "any"`)(s)
			s.Calls()
			booked(s)
		}, `tool_choice is "any"`)),
		openAI(unobserved("the model refuses all tools", refusedByModel("required", "no such tools"), "no such tools")),
		unobserved("the client refuses everything",
			func(s *session) { s.Asks(choosing("required")).Refuses(-32603, "no") }, noModelRequest))...)
	judges(t, "choice-none", "none",
		passes("none", chooses("none", "none")),
		passes("no tools", noTools("none")),
		fails("omitted", chooses("none", ""), "none in the model request, found nothing"),
		fails("as auto", chooses("none", "auto"), "found auto"),
		legacy(warns("the client returns an error", refusesChoice("none"), refusal)))
	judges(t, "choice-empty", "no-mode", append(refused(report.Fail, refusesChoice("{}")),
		passes("as auto", chooses("{}", "auto")),
		passes("omitted", chooses("{}", "")),
		native(passes("without a mode", chooses("{}", "{}"))),
		fails("as none", chooses("{}", "none"), "auto in the model request, found none"))...)
}

// Ollama has no field for a tool choice, so no client fails.
func TestAProviderWithoutToolChoicesIsReported(t *testing.T) {
	for mode, want := range map[string]report.Verdict{
		dialect.ChoiceAuto: report.Pass, dialect.ChoiceRequired: report.Info, dialect.ChoiceNone: report.Info,
	} {
		s := tracetest.Begin(t, catalogue, server.V20251125, dialect.Native, "tool-use/"+mode)
		chooses(mode, "")(s)
		ev := evidence.Decode(s.Trace).Case("tool-use/" + mode)
		ev.Expect = mode
		ev.Rounds[0].Model[0].Request.Dialect = dialect.Ollama
		require.Equal(t, want, judgeChoice(ev).Kind, mode)
	}
}

func TestUnwantedToolUsesDoNotReachTheServer(t *testing.T) {
	asks := choosing("none")
	answering := func(result string) steps {
		return func(s *session) { s.Asks(asks).Prompts(asks).Answers(result) }
	}
	const beside = `[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"book_flight","input":{}}]`
	judges(t, "choice-none-holds", "none",
		passes("a text", answering(tracetest.Saying("As you like."))),
		passes("an empty text", answering(tracetest.Saying(""))),
		passes("no blocks", answering(tracetest.With(tracetest.Saying(""), "content", "[]"))),
		passes("a text with the tool's name", answering(tracetest.Saying(`book_flight({"from":"Zürich"})`))),
		fails("a tool use", answering(tracetest.Booked("{}")), "expected no tool use in the result, found 1"),
		fails("a tool use beside a text", answering(tracetest.With(tracetest.Booked(), "content", beside)), "found 1"),
		unobserved("the result has no content",
			answering(tracetest.Without(tracetest.Saying(""), "content")), tracetest.NoContent),
		unobserved("no result", func(s *session) { s.Asks(asks).Prompts(asks) }, tracetest.NoAnswer),
		legacy(passes("the client returns an error", func(s *session) {
			s.Asks(asks).Prompts(asks).Refuses(-32603, "refused").OtherwiseAnswers()
		}, refusal)))
	for check, caseID := range map[string]string{"choice-none-filtered": "none-defied", "no-tools-no-use": "no-tools"} {
		judges(t, check, caseID,
			passes("a text", answering(tracetest.Saying("As you like."))),
			fails("a tool use", answering(tracetest.Booked("{}")), "found 1"))
	}
}

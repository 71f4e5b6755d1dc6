package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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

// toolUsePrompts is a model request with a tool choice.
func toolUsePrompts(s *session, choice string, end trace.ModelEnd) *session {
	p := choosing(choice)
	body := string(jsonvalue.Marshal(p))
	if s.Dialect == dialect.OpenAIChat {
		body = string(jsonvalue.Marshal(tracetest.AsChat(p)))
		if choice != "" {
			body = tracetest.With(body, "tool_choice", `"`+choice+`"`)
		}
	}
	return s.Prompt(body, end)
}

// chooses is a client that gives the model another tool choice than the server sent.
func chooses(sent, received string) steps {
	return func(s *session) {
		toolUsePrompts(s.Asks(choosing(sent)), received, trace.ModelEnd{Status: 200}).Answers(tracetest.Booked())
	}
}

// refusesChoice is a client that refuses a tool choice without asking the model.
func refusesChoice(choice string) steps {
	return func(s *session) { s.Asks(choosing(choice)).Refuses(-32603, "refused").OtherwiseAnswers() }
}

func TestToolChoicesAreAccepted(t *testing.T) {
	refusedByModel := func(why string) steps {
		return func(s *session) {
			toolUsePrompts(s.Asks(choosing("required")), "any", trace.ModelEnd{Status: 400, Refused: why}).
				Refuses(-32603, "the model failed").OtherwiseAnswers()
		}
	}
	toolUseJudges(t, "choice-accepted", "required", append(toolUseRefused(report.Warn, refusesChoice("required")),
		passes("required", chooses("required", "required")),
		passes("omitted, which another rule judges", chooses("required", "")),
		openAI(fails("an invalid term", func(s *session) {
			refusedByModel(`tool_choice is "any"`)(s)
			s.Calls()
			booked(s)
		}, `tool_choice is "any"`)),
		openAI(inapplicable("the model refuses all tools", refusedByModel("no such tools"), "no such tools")),
		unsupported("the client refuses everything",
			func(s *session) { s.Asks(choosing("required")).Refuses(-32603, "no") }, "never asks the model"))...)
	toolUseJudges(t, "choice-accepted", "none",
		legacy(warns("the client returns an error", refusesChoice("none"), refusal)))
	toolUseJudges(t, "choice-empty", "no-mode", append(toolUseRefused(report.Fail, refusesChoice("{}")),
		passes("as auto", chooses("{}", "auto")),
		passes("omitted", chooses("{}", "")),
		native(passes("without a mode", chooses("{}", "{}"))),
		inapplicable("no tools", func(s *session) {
			s.Asks(choosing("{}")).Prompts(tracetest.Asking("Book a flight.")).Answers(tracetest.Saying("I cannot."))
		}, "was offered no tools"),
		fails("as none", chooses("{}", "none"), "auto in the model request, found none"))...)
}

func TestUnwantedToolUsesDoNotReachTheServer(t *testing.T) {
	asks := choosing("none")
	answering := func(result string) steps {
		return func(s *session) { s.Asks(asks).Prompts(asks).Answers(result) }
	}
	const beside = `[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"book_flight","input":{}}]`
	toolUseJudges(t, "choice-none-holds", "none",
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
	toolUseJudges(t, "choice-none-filtered", "none-defied",
		passes("a text", answering(tracetest.Saying("As you like."))),
		fails("a tool use", answering(tracetest.Booked("{}")), "found 1"),
		inapplicable("a tool use of a model without tools", func(s *session) {
			s.Asks(asks).Prompts(tracetest.Asking("Book a flight.")).Answers(tracetest.Booked("{}"))
		}, "offers the model no tools"))
}

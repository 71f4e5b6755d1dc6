package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
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

func TestToolChoicesAreAccepted(t *testing.T) {
	refusedByModel := func(why string) steps {
		return func(s *session) {
			toolUsePrompts(s.Asks(choosing("required")), "any", trace.ModelEnd{Status: 400, Refused: why}).
				Refuses(-32603, "the model failed").OtherwiseAnswers()
		}
	}
	rules(t, "model-was-given", "tool-use/required",
		passes("required", chooses("required", "required")),
		openAI(fails("an invalid term", refusedByModel(`tool_choice is "any"`), "expected the tool choice required")))
	rules(t, "model-was-given", "tool-use/no-mode",
		passes("as auto", chooses("{}", "auto")),
		passes("omitted", chooses("{}", "")),
		native(passes("without a mode", chooses("{}", "{}"))),
		fails("as none", chooses("{}", "none"), "none"))
	for _, choice := range []string{"required", "none", "{}"} {
		rules(t, "answered", "tool-use/required", legacy(fails("refused: "+choice,
			func(s *session) { s.Asks(choosing(choice)).Refuses(-32603, "refused").PassesBarrier() }, "a refusal without")))
	}
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

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

// choosing is a request for a flight under a tool choice, as JSON; "" for none.
func choosing(choice string) func(*server.CreateMessageParams) *server.CreateMessageParams {
	return func(p *server.CreateMessageParams) *server.CreateMessageParams {
		p.ToolChoice = nil
		if choice != "" {
			p.ToolChoice = &server.ToolChoice{Mode: choice}
		}
		return p
	}
}

// chooses is the first round, in which the server makes one choice and the model is given another, "" for none, as OpenAI and as MCP have it.
func chooses(sent, given, answer string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		s.Asks(choosing(sent)(tracetest.AskingForFlight()))
		chat(s, choosing(given)(tracetest.AskingForFlight()), trace.ModelEnd{Status: 200})
		s.Answers(answer)
	}
}

// chat is a request of the model for what the params say, with their tool choice, and how it ended.
func chat(s *tracetest.Story, p *server.CreateMessageParams, end trace.ModelEnd) *tracetest.Story {
	body := string(dialect.Marshal(p))
	if s.Dialect == dialect.OpenAIChat {
		body = string(dialect.Marshal(tracetest.AsChat(p)))
		if p.ToolChoice != nil {
			body = tracetest.With(body, "tool_choice", `"`+p.ToolChoice.Mode+`"`)
		}
	}
	return s.Prompt(body, end)
}

func TestToolChoicesReachTheModel(t *testing.T) {
	const auto, required, none, empty = "tool-use/choice-auto", "tool-use/choice-required", "tool-use/choice-none", "tool-use/choice-empty"
	refuses := func(choice string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(choosing(choice)(tracetest.AskingForFlight())).Refuses(-32602, "no such thing").OtherwiseAnswers()
		}
	}
	emptyChoice := func(given string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			ask := tracetest.AskingForFlight()
			ask.ToolChoice = &server.ToolChoice{}
			s.Asks(ask)
			chat(s, choosing(given)(tracetest.AskingForFlight()), trace.ModelEnd{Status: 200})
			s.Answers(tracetest.Booked())
		}
	}
	noTools := func(sent string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(choosing(sent)(tracetest.AskingForFlight())).Prompts(tracetest.Asking("Book a flight.")).Answers(tracetest.Saying("I cannot."))
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "auto", Check: auto, CaseID: "auto", Steps: chooses("auto", "auto", tracetest.Booked()), Verdict: report.Pass, Message: "the tool choice auto reached the model"},
		{Name: "auto, left out", Check: auto, CaseID: "auto", Steps: chooses("auto", "", tracetest.Booked()), Verdict: report.Pass, Message: "the tool choice auto reached the model"},
		{Name: "auto as required", Check: auto, CaseID: "auto", Steps: chooses("auto", "required", tracetest.Booked()), Verdict: report.Fail,
			Message: `the server's tool choice is auto, and the model was given "required"`},
		{Name: "auto as none", Check: auto, CaseID: "auto", Steps: chooses("auto", "none", tracetest.Booked()), Verdict: report.Fail,
			Message: `the server's tool choice is auto, and the model was given "none"`},
		{Name: "auto without tools", Check: auto, CaseID: "auto", Steps: noTools("auto"), Verdict: report.NotObserved,
			Message: "the model was offered no tools to choose from (see tool-use/tools-reach-model)"},

		{Name: "required", Check: required, CaseID: "required", Steps: chooses("required", "required", tracetest.Booked()), Verdict: report.Pass, Message: "the tool choice required reached the model"},
		{Name: "required, and answered by text", Check: required, CaseID: "required", Steps: chooses("required", "required", tracetest.Saying("No.")), Verdict: report.Pass, Message: "the tool choice required reached the model"},
		{Name: "required, left out", Check: required, CaseID: "required", Steps: chooses("required", "", tracetest.Booked()), Verdict: report.Fail,
			Message: "the server's tool choice is required, and the model was given none at all, which means auto"},
		{Name: "required as auto", Check: required, CaseID: "required", Steps: chooses("required", "auto", tracetest.Booked()), Verdict: report.Fail,
			Message: `the server's tool choice is required, and the model was given "auto"`},
		{Name: "required, in a word that the provider does not have", Check: required, CaseID: "required", Verdict: report.Fail, Dialects: tracetest.OpenAI,
			Message: "the model refused what the client made of the tool choice required: tool_choice is \"any\"",
			Steps: func(s *tracetest.Story) {
				s.Asks(choosing("required")(tracetest.AskingForFlight()))
				chat(s, choosing("any")(tracetest.AskingForFlight()), trace.ModelEnd{Status: 400, Refused: `tool_choice is "any"`})
				s.Refuses(-32603, "the model failed").OtherwiseAnswers()
				s.Calls().Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Answers(tracetest.Booked())
			}},
		{Name: "required, of a client whose tools the model never takes", Check: required, CaseID: "required", Verdict: report.NotObserved, Dialects: tracetest.OpenAI,
			Message: "the model takes no request with tools of this client's (see tool-use/tools-reach-model): no such tools",
			Steps: func(s *tracetest.Story) {
				s.Asks(choosing("required")(tracetest.AskingForFlight()))
				chat(s, choosing("required")(tracetest.AskingForFlight()), trace.ModelEnd{Status: 400, Refused: "no such tools"})
				s.Refuses(-32603, "the model failed").OtherwiseAnswers()
			}},
		{Name: "required, refused", Check: required, CaseID: "required", In: tracetest.InA, Steps: refuses("required"), Verdict: report.Warn,
			Message: `the client declares sampling.tools, and does not serve the tool choice required: "no such thing" (code -32602)`},
		{Name: "required, not answered", Check: required, CaseID: "required", In: tracetest.InB, Steps: refuses("required"), Verdict: report.Warn,
			Message: "the client declares sampling.tools, and does not serve the tool choice required: it did not fulfil the input request"},
		{Name: "required, refused as everything is", Check: required, CaseID: "required", Verdict: report.NotObserved,
			Steps: func(s *tracetest.Story) {
				s.Asks(choosing("required")(tracetest.AskingForFlight())).Refuses(-32603, "no")
			},
			Message: "the model received no request for sampling request 1: none had the mark of the case"},

		{Name: "none", Check: none, CaseID: "none", Steps: chooses("none", "none", tracetest.Saying("Fine.")), Verdict: report.Pass, Message: "the model was told to use no tool"},
		{Name: "none, by giving no tools", Check: none, CaseID: "none", Steps: noTools("none"), Verdict: report.Pass, Message: "the model was told to use no tool"},
		{Name: "none, left out", Check: none, CaseID: "none", Steps: chooses("none", "", tracetest.Saying("Fine.")), Verdict: report.Fail,
			Message: "the server's tool choice is none, and the model was given none at all, which means auto"},
		{Name: "none as auto", Check: none, CaseID: "none", Steps: chooses("none", "auto", tracetest.Saying("Fine.")), Verdict: report.Fail,
			Message: `the server's tool choice is none, and the model was given "auto"`},
		{Name: "none, refused", Check: none, CaseID: "none", In: tracetest.InA, Steps: refuses("none"), Verdict: report.Warn,
			Message: `the client declares sampling.tools, and does not serve the tool choice none: "no such thing" (code -32602)`},

		{Name: "no mode as auto", Check: empty, CaseID: "no-mode", Steps: emptyChoice("auto"), Verdict: report.Pass, Message: "the tool choice auto reached the model"},
		{Name: "no mode as no choice", Check: empty, CaseID: "no-mode", Steps: emptyChoice(""), Verdict: report.Pass, Message: "the tool choice auto reached the model"},
		{Name: "no mode as it is", Check: empty, CaseID: "no-mode", Dialects: []string{dialect.Native}, Verdict: report.Pass, Message: "the tool choice auto reached the model",
			Steps: func(s *tracetest.Story) {
				ask := tracetest.AskingForFlight()
				ask.ToolChoice = &server.ToolChoice{}
				s.Asks(ask).Prompts(ask).Answers(tracetest.Booked())
			}},
		{Name: "no mode as none", Check: empty, CaseID: "no-mode", Steps: emptyChoice("none"), Verdict: report.Fail,
			Message: `the server's tool choice is auto, and the model was given "none"`},
		{Name: "no mode, refused", Check: empty, CaseID: "no-mode", In: tracetest.InA, Verdict: report.Fail,
			Steps: func(s *tracetest.Story) {
				s.Asks(withEmptyChoice()).Refuses(-32602, "mode is missing").OtherwiseAnswers()
			},
			Message: `the client does not serve a toolChoice without a mode, which is a valid one: "mode is missing" (code -32602)`},
		{Name: "no mode, not answered", Check: empty, CaseID: "no-mode", In: tracetest.InB, Verdict: report.Fail,
			Steps:   func(s *tracetest.Story) { s.Asks(withEmptyChoice()).OtherwiseAnswers() },
			Message: "the client does not serve a toolChoice without a mode, which is a valid one: it did not fulfil the input request"},
	})
}

func withEmptyChoice() *server.CreateMessageParams {
	ask := tracetest.AskingForFlight()
	ask.ToolChoice = &server.ToolChoice{}
	return ask
}

// Ollama has no field for a tool choice, so that there is nothing to hold against a client.
func TestAProviderWithoutToolChoicesIsReported(t *testing.T) {
	for mode, want := range map[string]report.Verdict{dialect.ChoiceAuto: report.Pass, dialect.ChoiceRequired: report.Info, dialect.ChoiceNone: report.Info} {
		s := tracetest.Begin(t, catalogue, "2025-11-25", dialect.Native, "tool-use/"+mode)
		s.Asks(choosing(mode)(tracetest.AskingForFlight())).Prompts(choosing("")(tracetest.AskingForFlight())).Answers(tracetest.Booked())
		ev := evidence.Decode(s.Trace).Case("tool-use/" + mode)
		ev.Rounds[0].Model[0].Request.Dialect = dialect.Ollama
		require.Equal(t, want, judgeChoice(ev, mode).Kind, mode)
	}
}

func TestNoToolUseComesBackWhereNoneMay(t *testing.T) {
	chosen := choosing("none")
	told := func(answer string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(chosen(tracetest.AskingForFlight())).Prompts(chosen(tracetest.AskingForFlight())).Answers(answer)
		}
	}
	bare := func(answer string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("Book it.")).Prompts(tracetest.Asking("Book it.")).Answers(answer)
		}
	}
	var tellings []tracetest.Test
	for _, c := range []struct {
		check, caseID, when string
		tell                func(string) func(*tracetest.Story)
	}{
		{"tool-use/choice-none-holds", "none", "under the tool choice none", told},
		{"tool-use/choice-none-filtered", "none-defied", "under the tool choice none", told},
		{"tool-use/no-tools-no-use", "no-tools", "without a tool in the request", bare},
	} {
		none := "no tool use came back " + c.when
		add := func(name string, tell func(*tracetest.Story), verdict report.Verdict, message string) {
			tellings = append(tellings, tracetest.Test{Name: name, Check: c.check, CaseID: c.caseID, Steps: tell, Verdict: verdict, Message: message})
		}
		add("a text", c.tell(tracetest.Saying("As you like.")), report.Pass, none)
		add("an empty text", c.tell(tracetest.Saying("")), report.Pass, none)
		add("nothing at all", c.tell(tracetest.With(tracetest.Saying(""), "content", "[]")), report.Pass, none)
		add("a text that names the tool", c.tell(tracetest.Saying(`book_flight({"from":"Zürich"})`)), report.Pass, none)
		add("a tool use", c.tell(tracetest.Booked(short)), report.Fail, c.when+" a tool use came back")
		add("a tool use beside a text", c.tell(tracetest.With(tracetest.Booked(), "content", `[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"book_flight","input":{}}]`)), report.Fail, c.when+" a tool use came back")
		add("what cannot be read", c.tell(tracetest.Without(tracetest.Saying(""), "content")), report.NotObserved, "the content of the result cannot be decoded (see basic/has-content)")
		add("no answer", func(s *tracetest.Story) {
			s.Asks(chosen(tracetest.AskingForFlight())).Prompts(chosen(tracetest.AskingForFlight()))
		}, report.NotObserved, "no result for sampling request 1: no response to request 1")
		tellings = append(tellings, tracetest.Test{Name: "an error", Check: c.check, CaseID: c.caseID, In: tracetest.InA, Verdict: report.Pass, Message: none + `, but an error: "the model used a tool" (code -32603)`,
			Steps: func(s *tracetest.Story) {
				s.Asks(chosen(tracetest.AskingForFlight())).Prompts(chosen(tracetest.AskingForFlight())).Refuses(-32603, "the model used a tool").OtherwiseAnswers()
			}})
	}
	tracetest.Run(t, catalogue, tellings)
}

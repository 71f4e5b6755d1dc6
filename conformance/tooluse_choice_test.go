package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

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
func chooses(sent, given, answer string) func(*story) {
	return func(s *story) {
		s.asks(choosing(sent)(askingForFlight()))
		s.chat(choosing(given)(askingForFlight()), trace.ModelEnd{Status: 200})
		s.answers(answer)
	}
}

// chat is a request of the model for what the params say, with their tool choice, and how it ended.
func (s *story) chat(p *server.CreateMessageParams, end trace.ModelEnd) *story {
	body := string(dialect.Marshal(p))
	if s.dialect == dialect.OpenAIChat {
		body = string(dialect.Marshal(asChat(p)))
		if p.ToolChoice != nil {
			body = with(body, "tool_choice", `"`+p.ToolChoice.Mode+`"`)
		}
	}
	return s.prompt(body, end)
}

// otherwiseAnswers is a later call of the client's, which it answers.
func (s *story) otherwiseAnswers() *story {
	return s.calls().asks(askingForFlight()).answers(booked())
}

func TestToolChoicesReachTheModel(t *testing.T) {
	const auto, required, none, empty = "tool-use/choice-auto", "tool-use/choice-required", "tool-use/choice-none", "tool-use/choice-empty"
	refuses := func(choice string) func(*story) {
		return func(s *story) {
			s.asks(choosing(choice)(askingForFlight())).refuses(-32602, "no such thing").otherwiseAnswers()
		}
	}
	emptyChoice := func(given string) func(*story) {
		return func(s *story) {
			ask := askingForFlight()
			ask.ToolChoice = &server.ToolChoice{}
			s.asks(ask)
			s.chat(choosing(given)(askingForFlight()), trace.ModelEnd{Status: 200})
			s.answers(booked())
		}
	}
	noTools := func(sent string) func(*story) {
		return func(s *story) {
			s.asks(choosing(sent)(askingForFlight())).prompts(asking("Book a flight.")).answers(saying("I cannot."))
		}
	}
	hold(t, catalogue, []telling{
		{name: "auto", check: auto, caseID: "auto", tell: chooses("auto", "auto", booked()), verdict: report.Pass, message: "the tool choice auto reached the model"},
		{name: "auto, left out", check: auto, caseID: "auto", tell: chooses("auto", "", booked()), verdict: report.Pass, message: "the tool choice auto reached the model"},
		{name: "auto as required", check: auto, caseID: "auto", tell: chooses("auto", "required", booked()), verdict: report.Fail,
			message: `the server's tool choice is auto, and the model was given "required"`},
		{name: "auto as none", check: auto, caseID: "auto", tell: chooses("auto", "none", booked()), verdict: report.Fail,
			message: `the server's tool choice is auto, and the model was given "none"`},
		{name: "auto without tools", check: auto, caseID: "auto", tell: noTools("auto"), verdict: report.NotObserved,
			message: "the model was offered no tools to choose from (see tool-use/tools-reach-model)"},

		{name: "required", check: required, caseID: "required", tell: chooses("required", "required", booked()), verdict: report.Pass, message: "the tool choice required reached the model"},
		{name: "required, and answered by text", check: required, caseID: "required", tell: chooses("required", "required", saying("No.")), verdict: report.Pass, message: "the tool choice required reached the model"},
		{name: "required, left out", check: required, caseID: "required", tell: chooses("required", "", booked()), verdict: report.Fail,
			message: "the server's tool choice is required, and the model was given none at all, which means auto"},
		{name: "required as auto", check: required, caseID: "required", tell: chooses("required", "auto", booked()), verdict: report.Fail,
			message: `the server's tool choice is required, and the model was given "auto"`},
		{name: "required, in a word that the provider does not have", check: required, caseID: "required", verdict: report.Fail, dialects: openAI,
			message: "the model refused what the client made of the tool choice required: tool_choice is \"any\"",
			tell: func(s *story) {
				s.asks(choosing("required")(askingForFlight()))
				s.chat(choosing("any")(askingForFlight()), trace.ModelEnd{Status: 400, Refused: `tool_choice is "any"`})
				s.refuses(-32603, "the model failed").otherwiseAnswers()
				s.calls().asks(askingForFlight()).prompts(askingForFlight()).answers(booked())
			}},
		{name: "required, of a client whose tools the model never takes", check: required, caseID: "required", verdict: report.NotObserved, dialects: openAI,
			message: "the model takes no request with tools of this client's (see tool-use/tools-reach-model): no such tools",
			tell: func(s *story) {
				s.asks(choosing("required")(askingForFlight()))
				s.chat(choosing("required")(askingForFlight()), trace.ModelEnd{Status: 400, Refused: "no such tools"})
				s.refuses(-32603, "the model failed").otherwiseAnswers()
			}},
		{name: "required, refused", check: required, caseID: "required", in: inA, tell: refuses("required"), verdict: report.Warn,
			message: `the client declares sampling.tools, and does not serve the tool choice required: "no such thing" (code -32602)`},
		{name: "required, not answered", check: required, caseID: "required", in: inB, tell: refuses("required"), verdict: report.Warn,
			message: "the client declares sampling.tools, and does not serve the tool choice required: it did not fulfil the input request"},
		{name: "required, refused as everything is", check: required, caseID: "required", verdict: report.NotObserved,
			tell:    func(s *story) { s.asks(choosing("required")(askingForFlight())).refuses(-32603, "no") },
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},

		{name: "none", check: none, caseID: "none", tell: chooses("none", "none", saying("Fine.")), verdict: report.Pass, message: "the model was told to use no tool"},
		{name: "none, by giving no tools", check: none, caseID: "none", tell: noTools("none"), verdict: report.Pass, message: "the model was told to use no tool"},
		{name: "none, left out", check: none, caseID: "none", tell: chooses("none", "", saying("Fine.")), verdict: report.Fail,
			message: "the server's tool choice is none, and the model was given none at all, which means auto"},
		{name: "none as auto", check: none, caseID: "none", tell: chooses("none", "auto", saying("Fine.")), verdict: report.Fail,
			message: `the server's tool choice is none, and the model was given "auto"`},
		{name: "none, refused", check: none, caseID: "none", in: inA, tell: refuses("none"), verdict: report.Warn,
			message: `the client declares sampling.tools, and does not serve the tool choice none: "no such thing" (code -32602)`},

		{name: "no mode as auto", check: empty, caseID: "no-mode", tell: emptyChoice("auto"), verdict: report.Pass, message: "the tool choice auto reached the model"},
		{name: "no mode as no choice", check: empty, caseID: "no-mode", tell: emptyChoice(""), verdict: report.Pass, message: "the tool choice auto reached the model"},
		{name: "no mode as it is", check: empty, caseID: "no-mode", dialects: []string{dialect.Native}, verdict: report.Pass, message: "the tool choice auto reached the model",
			tell: func(s *story) {
				ask := askingForFlight()
				ask.ToolChoice = &server.ToolChoice{}
				s.asks(ask).prompts(ask).answers(booked())
			}},
		{name: "no mode as none", check: empty, caseID: "no-mode", tell: emptyChoice("none"), verdict: report.Fail,
			message: `the server's tool choice is auto, and the model was given "none"`},
		{name: "no mode, refused", check: empty, caseID: "no-mode", in: inA, verdict: report.Fail,
			tell:    func(s *story) { s.asks(withEmptyChoice()).refuses(-32602, "mode is missing").otherwiseAnswers() },
			message: `the client does not serve a toolChoice without a mode, which is a valid one: "mode is missing" (code -32602)`},
		{name: "no mode, not answered", check: empty, caseID: "no-mode", in: inB, verdict: report.Fail,
			tell:    func(s *story) { s.asks(withEmptyChoice()).otherwiseAnswers() },
			message: "the client does not serve a toolChoice without a mode, which is a valid one: it did not fulfil the input request"},
	})
}

func withEmptyChoice() *server.CreateMessageParams {
	ask := askingForFlight()
	ask.ToolChoice = &server.ToolChoice{}
	return ask
}

// Ollama has no field for a tool choice, so that there is nothing to hold against a client.
func TestAProviderWithoutToolChoicesIsReported(t *testing.T) {
	for mode, want := range map[string]report.Verdict{dialect.ChoiceAuto: report.Pass, dialect.ChoiceRequired: report.Info, dialect.ChoiceNone: report.Info} {
		s := begin(t, catalogue, "2025-11-25", dialect.Native, "tool-use/"+mode)
		s.asks(choosing(mode)(askingForFlight())).prompts(choosing("")(askingForFlight())).answers(booked())
		ev := Decode(s.trace).Case("tool-use/" + mode)
		ev.Rounds[0].Model[0].Request.Dialect = dialect.Ollama
		require.Equal(t, want, judgeChoice(ev, mode).kind, mode)
	}
}

func TestNoToolUseComesBackWhereNoneMay(t *testing.T) {
	chosen := choosing("none")
	told := func(answer string) func(*story) {
		return func(s *story) { s.asks(chosen(askingForFlight())).prompts(chosen(askingForFlight())).answers(answer) }
	}
	bare := func(answer string) func(*story) {
		return func(s *story) { s.asks(asking("Book it.")).prompts(asking("Book it.")).answers(answer) }
	}
	var tellings []telling
	for _, c := range []struct {
		check, caseID, when string
		tell                func(string) func(*story)
	}{
		{"tool-use/choice-none-holds", "none", "under the tool choice none", told},
		{"tool-use/choice-none-filtered", "none-defied", "under the tool choice none", told},
		{"tool-use/no-tools-no-use", "no-tools", "without a tool in the request", bare},
	} {
		none := "no tool use came back " + c.when
		add := func(name string, tell func(*story), verdict report.Verdict, message string) {
			tellings = append(tellings, telling{name: name, check: c.check, caseID: c.caseID, tell: tell, verdict: verdict, message: message})
		}
		add("a text", c.tell(saying("As you like.")), report.Pass, none)
		add("an empty text", c.tell(saying("")), report.Pass, none)
		add("nothing at all", c.tell(with(saying(""), "content", "[]")), report.Pass, none)
		add("a text that names the tool", c.tell(saying(`book_flight({"from":"Zürich"})`)), report.Pass, none)
		add("a tool use", c.tell(booked(short)), report.Fail, c.when+" a tool use came back")
		add("a tool use beside a text", c.tell(with(booked(), "content", `[{"type":"text","text":"Yes."},{"type":"tool_use","id":"a","name":"book_flight","input":{}}]`)), report.Fail, c.when+" a tool use came back")
		add("what cannot be read", c.tell(without(saying(""), "content")), report.NotObserved, "the answer's content cannot be read (see basic/has-content)")
		add("no answer", func(s *story) { s.asks(chosen(askingForFlight())).prompts(chosen(askingForFlight())) }, report.NotObserved, "sampling request 1 was not answered: no answer came for request 1")
		tellings = append(tellings, telling{name: "an error", check: c.check, caseID: c.caseID, in: inA, verdict: report.Pass, message: none + `, but an error: "the model used a tool" (code -32603)`,
			tell: func(s *story) {
				s.asks(chosen(askingForFlight())).prompts(chosen(askingForFlight())).refuses(-32603, "the model used a tool").otherwiseAnswers()
			}})
	}
	hold(t, catalogue, tellings)
}

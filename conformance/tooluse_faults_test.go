package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusing is the first round, in which the model is asked, and the client then answers with an error; later it answers.
func refusing(s *story) {
	s.asks(askingForFlight()).prompts(askingForFlight()).refuses(-32603, "the model is not well").otherwiseAnswers()
}

// silent is the first round of a client that asks the model and then says nothing at all.
func silent(s *story) { s.asks(askingForFlight()).prompts(askingForFlight()) }

const (
	notWell   = `"the model is not well" (code -32603)`
	unsilent  = "it did not fulfil the input request"
	noAnswer  = "sampling request 1 was not answered: no answer came for request 1"
	noContent = "the answer's content cannot be read (see basic/has-content)"
)

func TestATextInPlaceOfARequiredToolUse(t *testing.T) {
	const check, passedOn = "tool-use/required-unmet", "what the model said was passed on"
	hold(t, catalogue, []telling{
		{name: "is passed on", check: check, caseID: "required-defied", tell: uses(saying(unwilling)), verdict: report.Pass, message: passedOn},
		{name: "is passed on in two blocks", check: check, caseID: "required-defied", verdict: report.Pass, message: passedOn,
			tell: uses(with(saying(""), "content", `[{"type":"text","text":"I would rather "},{"type":"text","text":"not book anything."}]`))},
		{name: "is passed on with a note", check: check, caseID: "required-defied", tell: uses(saying("(no tool was used) " + unwilling)), verdict: report.Pass, message: passedOn},
		{name: "is an error", check: check, caseID: "required-defied", in: inA, tell: refusing, verdict: report.Pass,
			message: "the client does not take a text in place of a tool use, and says so: " + notWell},
		{name: "is not answered, by a client that answers", check: check, caseID: "required-defied", in: inB, tell: refusing, verdict: report.Pass,
			message: "the client does not take a text in place of a tool use, and says so: " + unsilent},
		{name: "becomes a tool use", check: check, caseID: "required-defied", tell: uses(booked("{}")), verdict: report.Fail,
			message: "the model used no tool, and the answer has a tool use"},
		{name: "is lost", check: check, caseID: "required-defied", tell: uses(saying("")), verdict: report.Fail, message: "the model used no tool, and what it said instead is lost"},
		{name: "ends all", check: check, caseID: "required-defied", tell: silent, verdict: report.NotObserved, message: noAnswer},
		{name: "cannot be read", check: check, caseID: "required-defied", tell: uses(without(booked(), "content")), verdict: report.NotObserved, message: noContent},
	})
}

func TestToolCallsBesideAnEndAreKept(t *testing.T) {
	const check, kept = "tool-use/stop-beside-calls", "the tool call was kept"
	hold(t, catalogue, []telling{
		{name: "they are", check: check, caseID: "says-stop", tell: uses(booked(short)), verdict: report.Pass, message: kept},
		{name: "with the provider's reason", check: check, caseID: "says-stop", tell: uses(with(booked(short), "stopReason", `"endTurn"`)), verdict: report.Pass, message: kept},
		{name: "beside a text", check: check, caseID: "says-stop", verdict: report.Pass, message: kept,
			tell: uses(with(booked(), "content", `[{"type":"text","text":""},{"type":"tool_use","id":"a","name":"book_flight","input":`+short+`}]`))},
		{name: "they are lost", check: check, caseID: "says-stop", tell: uses(saying("")), verdict: report.Fail, message: "the provider called a tool call the end of the turn, and the tool call is lost"},
		{name: "they are an error", check: check, caseID: "says-stop", in: inA, tell: refusing, verdict: report.Fail,
			message: "the provider calls a tool call the end of the turn, and the client makes no answer of it: " + notWell},
		{name: "they are not answered, by a client that answers", check: check, caseID: "says-stop", in: inB, tell: refusing, verdict: report.Fail,
			message: "the provider calls a tool call the end of the turn, and the client makes no answer of it: " + unsilent},
		{name: "they are an error, as all is", check: check, caseID: "says-stop", in: inA, verdict: report.NotObserved,
			tell:    func(s *story) { s.asks(askingForFlight()).prompts(askingForFlight()).refuses(-32603, "no") },
			message: `sampling request 1 was not answered: request 1 was answered by the error "no" (code -32603)`},
		{name: "they end all", check: check, caseID: "says-stop", tell: silent, verdict: report.NotObserved, message: noAnswer},
		{name: "they cannot be read", check: check, caseID: "says-stop", tell: uses(without(booked(), "content")), verdict: report.NotObserved, message: noContent},
	})
}

func TestArgumentsThatAreNotJSON(t *testing.T) {
	const check, shown = "tool-use/bad-arguments", "the arguments are shown as they are"
	asText := string(dialect.Marshal(torn))
	hold(t, catalogue, []telling{
		{name: "are an error", check: check, caseID: "torn-arguments", in: inA, tell: refusing, verdict: report.Pass, message: "the client refuses arguments that are not JSON: " + notWell},
		{name: "are not answered, by a client that answers", check: check, caseID: "torn-arguments", in: inB, tell: refusing, verdict: report.Pass,
			message: "the client refuses arguments that are not JSON: " + unsilent},
		{name: "are shown as text", check: check, caseID: "torn-arguments", tell: uses(booked(asText)), verdict: report.Pass, message: shown},
		{name: "are shown under a name of the client's", check: check, caseID: "torn-arguments", tell: uses(booked(`{"_raw":` + asText + `,"_error":"unexpected end"}`)), verdict: report.Pass, message: shown},
		{name: "are told to the model, which gives up", check: check, caseID: "torn-arguments", tell: uses(saying("Never mind.")), verdict: report.Pass,
			message: `the tool use is not passed on, and the answer is the text "Never mind."`},
		{name: "are mended", check: check, caseID: "torn-arguments", tell: uses(booked(`{"from":"Zürich","to":"Tok"}`)), verdict: report.Warn,
			message: "arguments that end too soon were made whole by the client"},
		{name: "are emptied", check: check, caseID: "torn-arguments", tell: uses(booked(`{}`)), verdict: report.Fail, message: "arguments that are not JSON were passed off as {}"},
		{name: "are null", check: check, caseID: "torn-arguments", tell: uses(booked(`null`)), verdict: report.Fail, message: "arguments that are not JSON were passed off as null"},
		{name: "are lost with the tool use", check: check, caseID: "torn-arguments", tell: uses(saying(" ")), verdict: report.Fail, message: "the model's tool use is lost, and no error says so"},
		{name: "end all", check: check, caseID: "torn-arguments", tell: silent, verdict: report.NotObserved, message: noAnswer},
		{name: "cannot be read", check: check, caseID: "torn-arguments", tell: uses(without(booked(), "content")), verdict: report.NotObserved, message: noContent},
		{name: "were never asked for", check: check, caseID: "torn-arguments", tell: func(s *story) { s.asks(askingForFlight()).answers(booked()) }, verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

// Where arguments are objects there is nothing that could be torn.
func TestArgumentsThatAreObjectsCannotBeTorn(t *testing.T) {
	for _, d := range []string{dialect.Gemini, dialect.Ollama, dialect.Anthropic} {
		s := begin(t, catalogue, "2025-11-25", dialect.Native, "tool-use/torn-arguments")
		uses(booked("{}"))(s)
		ev := Decode(s.trace).Case("tool-use/torn-arguments")
		ev.Rounds[0].Model[0].Request.Dialect = d
		require.Equal(t, report.NotApplicable, badArguments.Judge(ev).kind)
	}
}

func TestAToolThatNobodyOffered(t *testing.T) {
	const check = "tool-use/unoffered-tool"
	wantsIt := wanting([3]string{"call_1", unoffered, short})
	later := func(tell func(*story)) func(*story) {
		return func(s *story) {
			tell(s)
			s.otherwiseAnswers()
		}
	}
	calls := func(tool string) func(*story) {
		return later(func(s *story) {
			uses(wantsIt)(s)
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
		})
	}
	hold(t, catalogue, []telling{
		{name: "is passed on", check: check, caseID: "unknown-tool", tell: later(uses(wantsIt)), verdict: report.Pass, message: "the tool use was passed on, and not run"},
		{name: "is an error", check: check, caseID: "unknown-tool", in: inA, tell: refusing, verdict: report.Pass, message: "the client refuses a tool that nobody offered: " + notWell},
		{name: "is not answered, by a client that answers", check: check, caseID: "unknown-tool", in: inB, tell: refusing, verdict: report.Pass,
			message: "the client refuses a tool that nobody offered: " + unsilent},
		{name: "is told to the model, which gives up", check: check, caseID: "unknown-tool", tell: later(uses(saying("Never mind."))), verdict: report.Pass,
			message: `the tool use is not passed on, and the answer is the text "Never mind."`},
		{name: "is passed on, and another tool called", check: check, caseID: "unknown-tool", tell: calls("mine"), verdict: report.Pass, message: "the tool use was passed on, and not run"},
		{name: "is called", check: check, caseID: "unknown-tool", tell: calls(unoffered), verdict: report.Fail, message: "the client called cancel_flight, a tool that nobody offered"},
		{name: "becomes another tool", check: check, caseID: "unknown-tool", tell: later(uses(booked(short))), verdict: report.Warn,
			message: "the model asked for cancel_flight, and the answer asks for book_flight"},
		{name: "is lost", check: check, caseID: "unknown-tool", tell: later(uses(saying(""))), verdict: report.Fail, message: "the model's tool use is lost, and no error says so"},
		{name: "is passed on by a client that is not seen again", check: check, caseID: "unknown-tool", tell: uses(wantsIt), verdict: report.Unsupported,
			message: "that the client does not run the tool cannot be said: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet"},
		{name: "ends all", check: check, caseID: "unknown-tool", tell: later(silent), in: inA, verdict: report.NotObserved, message: noAnswer},
		{name: "cannot be read", check: check, caseID: "unknown-tool", tell: later(uses(without(booked(), "content"))), verdict: report.NotObserved, message: noContent},
	})
}

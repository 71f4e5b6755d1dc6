package tooluse

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// refusing is the first round, in which the model is asked, and the client then answers with an error; later it answers.
func refusing(s *tracetest.Story) {
	s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Refuses(-32603, "the model is not well").OtherwiseAnswers()
}

// silent is the first round of a client that asks the model and then says nothing at all.
func silent(s *tracetest.Story) {
	s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight())
}

const (
	notWell = `"the model is not well" (code -32603)`
)

func TestATextInPlaceOfARequiredToolUse(t *testing.T) {
	const check, passedOn = "tool-use/required-unmet", "what the model said was passed on"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is passed on", Check: check, CaseID: "required-defied", Steps: tracetest.Uses(tracetest.Saying(unwilling)), Verdict: report.Pass, Message: passedOn},
		{Name: "is passed on in two blocks", Check: check, CaseID: "required-defied", Verdict: report.Pass, Message: passedOn,
			Steps: tracetest.Uses(tracetest.With(tracetest.Saying(""), "content", `[{"type":"text","text":"I would rather "},{"type":"text","text":"not book anything."}]`))},
		{Name: "is passed on with a note", Check: check, CaseID: "required-defied", Steps: tracetest.Uses(tracetest.Saying("(no tool was used) " + unwilling)), Verdict: report.Pass, Message: passedOn},
		{Name: "is an error", Check: check, CaseID: "required-defied", In: tracetest.InA, Steps: refusing, Verdict: report.Pass,
			Message: "the client does not take a text in place of a tool use, and says so: " + notWell},
		{Name: "is not answered, by a client that answers", Check: check, CaseID: "required-defied", In: tracetest.InB, Steps: refusing, Verdict: report.Pass,
			Message: "the client does not take a text in place of a tool use, and says so: " + tracetest.NotFulfilled},
		{Name: "becomes a tool use", Check: check, CaseID: "required-defied", Steps: tracetest.Uses(tracetest.Booked("{}")), Verdict: report.Fail,
			Message: "the model used no tool, and the answer has a tool use"},
		{Name: "is lost", Check: check, CaseID: "required-defied", Steps: tracetest.Uses(tracetest.Saying("")), Verdict: report.Fail, Message: "the model used no tool, and what it said instead is lost"},
		{Name: "ends all", Check: check, CaseID: "required-defied", Steps: silent, Verdict: report.NotObserved, Message: tracetest.NoAnswer},
		{Name: "cannot be read", Check: check, CaseID: "required-defied", Steps: tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), Verdict: report.NotObserved, Message: tracetest.NoContent},
	})
}

func TestToolCallsBesideAnEndAreKept(t *testing.T) {
	const check, kept = "tool-use/stop-beside-calls", "the tool call was kept"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they are", Check: check, CaseID: "says-stop", Steps: tracetest.Uses(tracetest.Booked(short)), Verdict: report.Pass, Message: kept},
		{Name: "with the provider's reason", Check: check, CaseID: "says-stop", Steps: tracetest.Uses(tracetest.With(tracetest.Booked(short), "stopReason", `"endTurn"`)), Verdict: report.Pass, Message: kept},
		{Name: "beside a text", Check: check, CaseID: "says-stop", Verdict: report.Pass, Message: kept,
			Steps: tracetest.Uses(tracetest.With(tracetest.Booked(), "content", `[{"type":"text","text":""},{"type":"tool_use","id":"a","name":"book_flight","input":`+short+`}]`))},
		{Name: "they are lost", Check: check, CaseID: "says-stop", Steps: tracetest.Uses(tracetest.Saying("")), Verdict: report.Fail, Message: "the provider called a tool call the end of the turn, and the tool call is lost"},
		{Name: "they are an error", Check: check, CaseID: "says-stop", In: tracetest.InA, Steps: refusing, Verdict: report.Fail,
			Message: "the provider calls a tool call the end of the turn, and the client makes no answer of it: " + notWell},
		{Name: "they are not answered, by a client that answers", Check: check, CaseID: "says-stop", In: tracetest.InB, Steps: refusing, Verdict: report.Fail,
			Message: "the provider calls a tool call the end of the turn, and the client makes no answer of it: " + tracetest.NotFulfilled},
		{Name: "they are an error, as all is", Check: check, CaseID: "says-stop", In: tracetest.InA, Verdict: report.NotObserved,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Refuses(-32603, "no")
			},
			Message: `no result for sampling request 1: error response to request 1: "no" (code -32603)`},
		{Name: "they end all", Check: check, CaseID: "says-stop", Steps: silent, Verdict: report.NotObserved, Message: tracetest.NoAnswer},
		{Name: "they cannot be read", Check: check, CaseID: "says-stop", Steps: tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), Verdict: report.NotObserved, Message: tracetest.NoContent},
	})
}

func TestArgumentsThatAreNotJSON(t *testing.T) {
	const check, shown = "tool-use/bad-arguments", "the arguments are shown as they are"
	asText := string(dialect.Marshal(torn))
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "are an error", Check: check, CaseID: "torn-arguments", In: tracetest.InA, Steps: refusing, Verdict: report.Pass, Message: "the client refuses arguments that are not JSON: " + notWell},
		{Name: "are not answered, by a client that answers", Check: check, CaseID: "torn-arguments", In: tracetest.InB, Steps: refusing, Verdict: report.Pass,
			Message: "the client refuses arguments that are not JSON: " + tracetest.NotFulfilled},
		{Name: "are shown as text", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Booked(asText)), Verdict: report.Pass, Message: shown},
		{Name: "are shown under a name of the client's", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Booked(`{"_raw":` + asText + `,"_error":"unexpected end"}`)), Verdict: report.Pass, Message: shown},
		{Name: "are told to the model, which gives up", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Saying("Never mind.")), Verdict: report.Pass,
			Message: `the tool use is not passed on, and the answer is the text "Never mind."`},
		{Name: "are mended", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Booked(`{"from":"Zürich","to":"Tok"}`)), Verdict: report.Warn,
			Message: "arguments that end too soon were made whole by the client"},
		{Name: "are emptied", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Booked(`{}`)), Verdict: report.Fail, Message: "arguments that are not JSON were passed off as {}"},
		{Name: "are null", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Booked(`null`)), Verdict: report.Fail, Message: "arguments that are not JSON were passed off as null"},
		{Name: "are lost with the tool use", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Saying(" ")), Verdict: report.Fail, Message: "the model's tool use is lost, and no error says so"},
		{Name: "end all", Check: check, CaseID: "torn-arguments", Steps: silent, Verdict: report.NotObserved, Message: tracetest.NoAnswer},
		{Name: "cannot be read", Check: check, CaseID: "torn-arguments", Steps: tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), Verdict: report.NotObserved, Message: tracetest.NoContent},
		{Name: "were never asked for", Check: check, CaseID: "torn-arguments", Steps: func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Answers(tracetest.Booked()) }, Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 1: none had the mark of the case"},
	})
}

// Where arguments are objects there is nothing that could be torn.
func TestArgumentsThatAreObjectsCannotBeTorn(t *testing.T) {
	for _, d := range []string{dialect.Gemini, dialect.Ollama, dialect.Anthropic} {
		s := tracetest.Begin(t, catalogue, "2025-11-25", dialect.Native, "tool-use/torn-arguments")
		tracetest.Uses(tracetest.Booked("{}"))(s)
		ev := evidence.Decode(s.Trace).Case("tool-use/torn-arguments")
		ev.Rounds[0].Model[0].Request.Dialect = d
		require.Equal(t, report.NotApplicable, badArguments.Judge(ev).Kind)
	}
}

func TestAToolThatNobodyOffered(t *testing.T) {
	const check = "tool-use/unoffered-tool"
	wantsIt := tracetest.Wanting([3]string{"call_1", unoffered, short})
	later := func(tell func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			tell(s)
			s.OtherwiseAnswers()
		}
	}
	calls := func(tool string) func(*tracetest.Story) {
		return later(func(s *tracetest.Story) {
			tracetest.Uses(wantsIt)(s)
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
		})
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "is passed on", Check: check, CaseID: "unknown-tool", Steps: later(tracetest.Uses(wantsIt)), Verdict: report.Pass, Message: "the tool use was passed on, and not run"},
		{Name: "is an error", Check: check, CaseID: "unknown-tool", In: tracetest.InA, Steps: refusing, Verdict: report.Pass, Message: "the client refuses a tool that nobody offered: " + notWell},
		{Name: "is not answered, by a client that answers", Check: check, CaseID: "unknown-tool", In: tracetest.InB, Steps: refusing, Verdict: report.Pass,
			Message: "the client refuses a tool that nobody offered: " + tracetest.NotFulfilled},
		{Name: "is told to the model, which gives up", Check: check, CaseID: "unknown-tool", Steps: later(tracetest.Uses(tracetest.Saying("Never mind."))), Verdict: report.Pass,
			Message: `the tool use is not passed on, and the answer is the text "Never mind."`},
		{Name: "is passed on, and another tool called", Check: check, CaseID: "unknown-tool", Steps: calls("mine"), Verdict: report.Pass, Message: "the tool use was passed on, and not run"},
		{Name: "is called", Check: check, CaseID: "unknown-tool", Steps: calls(unoffered), Verdict: report.Fail, Message: "the client called cancel_flight, a tool that nobody offered"},
		{Name: "becomes another tool", Check: check, CaseID: "unknown-tool", Steps: later(tracetest.Uses(tracetest.Booked(short))), Verdict: report.Warn,
			Message: "the model asked for cancel_flight, and the answer asks for book_flight"},
		{Name: "is lost", Check: check, CaseID: "unknown-tool", Steps: later(tracetest.Uses(tracetest.Saying(""))), Verdict: report.Fail, Message: "the model's tool use is lost, and no error says so"},
		{Name: "is passed on by a client that is not seen again", Check: check, CaseID: "unknown-tool", Steps: tracetest.Uses(wantsIt), Verdict: report.Unsupported,
			Message: "that the client does not run the tool cannot be said: the client must call the tools in the order of tools/list and answer the last sampling request: no later sampling request was answered, so it could still come"},
		{Name: "ends all", Check: check, CaseID: "unknown-tool", Steps: later(silent), In: tracetest.InA, Verdict: report.NotObserved, Message: tracetest.NoAnswer},
		{Name: "cannot be read", Check: check, CaseID: "unknown-tool", Steps: later(tracetest.Uses(tracetest.Without(tracetest.Booked(), "content"))), Verdict: report.NotObserved, Message: tracetest.NoContent},
	})
}

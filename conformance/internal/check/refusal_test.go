package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// refusals is a scenario with a case for each form of a refusal, and a check for each judge.
var refusals = check.Scenario{ID: "story", Revisions: server.AllRevisions(),
	Cases: []harness.Case{
		expecting("plain", check.Refusal{}),
		expecting("reserved", check.Refusal{Reserved: true}),
		expecting("declined", check.Refusal{RefusesAll: true, Private: true, MayBeEmpty: true}),
		expecting("elsewhere", check.Refusal{Unanswered: "story/answered"}),
		expecting("second", check.Refusal{Index: 1}),
	},
	Checks: []check.Check{
		judging("refused", check.Refused), judging("with-code", check.RefusedWithCode), judging("code", check.HasCode),
		judging("no-model-call", check.CostsNoModelCall), judging("alive", check.Alive),
	},
}

const odd = "a request in which a role is odd"

func expecting(name string, f check.Refusal) harness.Case {
	f.What, f.Path, f.Codes = odd, "messages[0].role", []int{-32602, -32600}
	return harness.Case{ID: "story/" + name, Barrier: true, Expect: f,
		Handler: func(*server.Session) (any, error) { return nil, nil }}
}

func judging(id string, judge func(*evidence.Case) check.Verdict) check.Check {
	return check.Check{ID: id, Rule: "The client refuses it", Levels: check.Robust, Requests: 1, Cause: "c", Fix: "f",
		Judge: judge}
}

var (
	asked     = tracetest.Asking("Which colour?")
	passes    = tracetest.Passes
	fails     = tracetest.Fails
	warns     = tracetest.Warns
	legacy    = tracetest.Legacy
	modern    = tracetest.Modern
	byBarrier = func(s *tracetest.Story) { s.Asks(asked).OnPurpose().PassesBarrier() }
)

// with returns steps between the request and the barrier.
func with(then func(*tracetest.Story)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		then(s.Asks(asked).OnPurpose())
		s.PassesBarrier()
	}
}

func refusing(code int) func(*tracetest.Story) {
	return with(func(s *tracetest.Story) { s.Refuses(code, "no") })
}

func returning(result string) func(*tracetest.Story) {
	return with(func(s *tracetest.Story) { s.Answers(result) })
}

// prompting is a request to the model that ends so, and an error response.
func prompting(end trace.ModelEnd) func(*tracetest.Story) {
	return with(func(s *tracetest.Story) { s.Prompt(string(jsonvalue.Marshal(asked)), end).Refuses(-32603, "no") })
}

var (
	blue      = returning(tracetest.Saying("Blue."))
	noContent = returning(`{"code":-1}`)
	refusedBy = trace.ModelEnd{Status: 400, Refused: "odd"}
	unasked   = trace.ModelEnd{Status: 404, Unmatched: "no rule"}
	silent    = func(s *tracetest.Story) { s.Asks(asked).OnPurpose() }
	dies      = func(s *tracetest.Story) { s.Asks(asked).OnPurpose().Ends(trace.Process{Panic: "nil map"}) }
	refusesIt = func(s *tracetest.Story) { s.Asks(asked).OnPurpose().Refuses(-32602, "no") }
)

func TestTheResponseToAForbiddenRequest(t *testing.T) {
	judges := tracetest.Judging(refusals)
	native, unobserved, unsupported := tracetest.InNative, tracetest.Unobserved, tracetest.Unsupported
	for _, id := range []string{"refused", "with-code"} {
		judges(t, id, "plain",
			legacy(passes("an error", refusing(-32602), "the client refused "+odd+": error code -32602")),
			legacy(passes("the other right code", refusing(-32600), "-32600")),
			modern(passes("no retry", byBarrier, "the client refused "+odd+": it did not retry the call")),
			modern(native(passes("no retry after the model refused it", prompting(refusedBy)))),
			fails("a result", blue, "expected a refusal of "+odd+", found a result"),
			fails("a result without content", noContent, "found a result without content"),
			legacy(fails("no response", byBarrier, "expected an error for "+odd+", found no response")),
			legacy(fails("it dies", dies, "found no response; it panicked: nil map")),
			modern(unobserved("it dies after the request", dies, "it panicked: nil map")),
			modern(unobserved("it answers nothing", silent, "the client returns no result for any sampling request")),
			legacy(unobserved("it refuses everything", refusesIt, `request 1: "no" (code -32602)`)),
			legacy(native(unobserved("the model has no answer", prompting(unasked), "the model had no answer"))),
		)
		judges(t, id, "declined",
			legacy(passes("it refuses everything", refusesIt, "-32602")),
			legacy(fails("an error as a result", noContent, "found a result without content")),
			modern(passes("an error as input", noContent, "refused "+odd+" with an input response without content")),
			modern(unsupported("a retry may still come", silent, "one could still have come")),
		)
		judges(t, id, "elsewhere",
			legacy(unobserved("no response", byBarrier, "the request got no response (see story/answered)")),
			modern(passes("no retry", byBarrier)),
		)
		judges(t, id, "second", legacy(passes("the second request", func(s *tracetest.Story) {
			s.Asks(asked).Answers(tracetest.Saying("Blue."))
			refusing(-32602)(s)
		}, "-32602")))
	}
}

func TestTheCodeOfARefusal(t *testing.T) {
	judges := tracetest.Judging(refusals)
	inapplicable := tracetest.Inapplicable
	const wrong = "expected the error code -32602 or -32600 for " + odd + ", found "
	judges(t, "refused", "plain", legacy(passes("any code", refusing(7), "error code 7")))
	judges(t, "with-code", "plain",
		legacy(warns("another code", refusing(-32603), wrong+"-32603")),
		legacy(tracetest.InNative(warns("that of the model's refusal", prompting(refusedBy),
			wrong+"-32603, after the model refused it"))),
	)
	judges(t, "with-code", "reserved",
		legacy(passes("a code of JSON-RPC", refusing(-32603), "-32603")),
		legacy(passes("the user's refusal", refusing(-1), "-1")),
		legacy(warns("a code without a meaning", refusing(-31001), wrong+"-31001")),
		legacy(warns("a code below them", refusing(-32769), wrong+"-32769")),
	)
	judges(t, "code", "plain",
		legacy(passes("the right code", refusing(-32600), "-32600")),
		legacy(fails("another code", refusing(0), wrong+"0")),
		legacy(fails("a code of another type", with(func(s *tracetest.Story) {
			s.Responds(s.ID(), `"error":{"code":"-32602","message":"no"}`)
		}), wrong+`"-32602"`)),
		inapplicable("a result", blue, "did not refuse the request with an error"),
		inapplicable("no response", byBarrier, "did not refuse the request with an error"),
	)
}

func TestAForbiddenRequestAndTheModel(t *testing.T) {
	judges := tracetest.Judging(refusals)
	native, unobserved, unsupported := tracetest.InNative, tracetest.Unobserved, tracetest.Unsupported
	unmarked := trace.Event{Request: &trace.ModelRequest{Exchange: 9, Dialect: dialect.Native, Method: "POST",
		Path: "/native", Body: trace.Bytes(`{}`)}}
	judges(t, "no-model-call", "plain",
		passes("none", byBarrier, "no call of the model was completed"),
		fails("a model call", with(func(s *tracetest.Story) { s.Prompts(asked).Refuses(-32602, "no") }),
			"expected no model call for "+odd+", found one"),
		native(passes("the model refuses it", prompting(refusedBy), "the model refused the client's request")),
		unobserved("one without a mark", with(func(s *tracetest.Story) {
			s.Add("", unmarked)
			s.Refuses(-32602, "no")
		}), "unmarked request"),
		unsupported("one may still come", refusesIt, "a model call could still have come"),
	)
	judges(t, "no-model-call", "declined",
		passes("none", byBarrier),
		native(fails("the model refuses it", prompting(refusedBy), "expected no request to the model for "+odd)),
	)
}

func TestTheSessionAfterAForbiddenRequest(t *testing.T) {
	judges := tracetest.Judging(refusals)
	judges(t, "alive", "plain",
		passes("it continues", byBarrier, "went on"),
		tracetest.Unsupported("nothing follows", refusesIt, "the client may not have gone on"),
		fails("it dies", dies, "expected the client to continue after "+odd+": it panicked: nil map"),
	)
}

func TestAReportShowsWhatIsForbidden(t *testing.T) {
	s := tracetest.Begin(t, check.Catalogue{refusals}, server.V20251125, dialect.Native, "story/plain")
	with(func(s *tracetest.Story) { s.Prompts(asked).Answers(tracetest.Saying("Blue.")) })(s)
	shown := s.Result("story/refused").Evidence
	require.Equal(t, "server sent", shown[0].Label)
	require.Equal(t, "params.messages[0].role", shown[0].Path)
	require.Equal(t, `"user"`, shown[0].Text)
	require.Equal(t, "model received", shown[1].Label)
	require.Equal(t, "messages[0].content  text", shown[1].Text)
}

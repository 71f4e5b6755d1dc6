package chapters_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/mrtr"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAClientRetriesWithInput(t *testing.T) {
	two := asks(7, inputs("a", "b")+state("s"))
	modelFails := func(s *session) {
		s.Asks(tracetest.Asking("Which?")).
			Prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 500, Unmatched: "no rule"})
	}
	callsAnew := func(s *session) { s.Calls() }
	onlyState := asks(7, state("s"))
	mrtrRun(t, []mrtrTest{
		{"retried", "several", "a retry", report.Pass, "", []step{two, calls(8, withState("s")+gives("b", "a"))}},
		{"retried", "several", "no retry", report.Fail, "found none", []step{two}},
		{"retried", "several", "a new call", report.Fail, "found a new call", []step{two, callsAnew}},
		{"retried", "mixed", "nothing to ask beside the sample", report.NotApplicable, "neither roots nor elicitation",
			[]step{handlerEnds}},
		{"retried", "several", "the model has no answer", report.NotObserved, "no rule", []step{modelFails}},

		{"state-only", "only-state", "a retry", report.Info, "the client retries",
			[]step{onlyState, calls(8, withState("s"))}},
		{"state-only", "only-state", "no retry", report.Info, "does not retry", []step{onlyState, mrtrPassesBarrier}},
		{"state-only", "only-state", "no retry yet", report.Unsupported, "no later sampling request", []step{onlyState}},
		{"state-only", "state-after-input", "no retry with input", report.NotObserved, "did not come to a result",
			[]step{two}},
		{"state-only", "state-after-input", "a retry", report.Info, "the client retries",
			[]step{two, calls(8, withState("s")+gives("b", "a")), asks(8, state("t")), calls(9, withState("t"))}},
	})
}

// completes is a number of rounds.
func completes(rounds int) step {
	var steps []step
	for i := range rounds {
		key := fmt.Sprint("k", i)
		steps = append(steps, asks(7+i, inputs(key)+state("s")), calls(8+i, withState("s")+gives(key)))
	}
	return inOrder(steps...)
}

func TestAClientContinuesUpToALimitOfRounds(t *testing.T) {
	stops := func(rounds int) step {
		return inOrder(completes(rounds), asks(7+rounds, inputs("last")+state("s")))
	}
	mrtrRun(t, []mrtrTest{
		{"rounds", "five-rounds", "five", report.Pass, "5 rounds", []step{completes(5)}},
		{"rounds", "five-rounds", "three", report.Fail, "expected 5 rounds, found 3", []step{stops(3)}},
		{"rounds", "five-rounds", "none", report.NotObserved, "mrtr/retried", []step{stops(0)}},

		{"endless", "for-ever", "a limit", report.Pass, "after 9 rounds", []step{stops(9), mrtrPassesBarrier}},
		{"endless", "for-ever", "a limit that the client reports", report.Pass, "after 9 rounds and reports: gave-up",
			[]step{stops(9), reports("gave-up")}},
		{"endless", "for-ever", "a retry could still come", report.NotObserved, "no later sampling request",
			[]step{stops(9)}},
		{"endless", "for-ever", "no limit", report.Fail, "found 100 rounds", []step{completes(mrtr.TooManyRounds)}},
		{"endless", "for-ever", "no retry", report.NotObserved, "mrtr/retried", []step{stops(0)}},
	})
}

func TestAClientRetriesPromptsWithInput(t *testing.T) {
	gets := func(id int, members string) step {
		return func(s *session) {
			s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(
				`{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{%s"name":"mrtr-prompt"%s}}`, id, s.Meta(), members))
		}
	}
	asked := inOrder(gets(7, ""), asks(7, inputs("a")+state("s")))
	for name, c := range map[string]struct {
		verdict report.Verdict
		message string
		steps   []step
	}{
		"a retry":   {report.Pass, "prompts/get", []step{asked, gets(8, withState("s")+gives("a"))}},
		"no prompt": {report.Unsupported, "prompts/get", nil},
		"no retry":  {report.Fail, "retry of prompts/get", []step{asked}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracetest.Unconnected(t, check.Catalogue{mrtr.Scenario}, tracetest.InB[0], tracetest.Native[0], "mrtr/prompt")
			s.Trace.Header.Cases[0].Carrier = "prompts/get"
			s.Connects()
			inOrder(c.steps...)(s)
			got := s.Result("mrtr/prompts-and-resources")
			require.Equal(t, c.verdict, got.Verdict, got.Message)
			require.Contains(t, got.Message, c.message)
		})
	}
}

func TestTheTypeOfAResultDecides(t *testing.T) {
	untyped := mrtrResult(7, `"content":[],"requestState":"s",`+inputs("a")[:len(inputs("a"))-1])
	unknown := mrtrResult(7, `"content":[],`+inputs("a")+state("s")+`"resultType":"unheard-of"`)
	retry := calls(8, withState("s")+gives("a"))
	mrtrRun(t, []mrtrTest{
		{"missing-result-type", "untyped", "complete", report.Pass, "", []step{untyped, reports("completed"),
			mrtrPassesBarrier}},
		{"missing-result-type", "untyped", "refused", report.Info, "(failed)",
			[]step{untyped, reports("failed"), mrtrPassesBarrier}},
		{"missing-result-type", "untyped", "not reported", report.Unsupported, "docs/adapters.md",
			[]step{untyped, mrtrPassesBarrier}},
		{"missing-result-type", "untyped", "a retry could still come", report.Unsupported, "no later sampling request",
			[]step{untyped}},
		{"missing-result-type", "untyped", "a retry", report.Fail, "without resultType, found a retry",
			[]step{untyped, retry, reports("completed"), mrtrPassesBarrier}},
		{"missing-result-type", "untyped", "a request to the model", report.Fail, "found a request to the model",
			[]step{untyped, mrtrPrompts, reports("completed"), mrtrPassesBarrier}},
		{"missing-result-type", "untyped", "no such result", report.NotObserved, "", nil},

		{"unknown-result-type", "unknown-type", "refused", report.Pass, "",
			[]step{unknown, reports("failed"), mrtrPassesBarrier}},
		{"unknown-result-type", "unknown-type", "complete", report.Fail, "unheard-of, found the outcome completed",
			[]step{unknown, reports("completed"), mrtrPassesBarrier}},
		{"unknown-result-type", "unknown-type", "asks for input", report.Warn, "found the outcome input_required",
			[]step{unknown, reports("input_required"), mrtrPassesBarrier}},
		{"unknown-result-type", "unknown-type", "a retry", report.Fail, "type unheard-of, found a retry",
			[]step{unknown, retry, reports("failed"), mrtrPassesBarrier}},
		{"unknown-result-type", "unknown-type", "not reported", report.Unsupported, "docs/adapters.md",
			[]step{unknown, mrtrPassesBarrier}},
	})
}

func TestRequestsOfTheServerGetNoResponse(t *testing.T) {
	request := func(id, method string) step {
		return inOrder(func(s *session) {
			s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":"`+id+`","method":"`+method+`","params":{}}`)
		}, mrtrResult(7, `"content":[],"resultType":"complete"`))
	}
	response := func(id, rest string) step {
		return func(s *session) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
		}
	}
	sample, pinged := request(mrtr.DirectSample, "sampling/createMessage"), request(mrtr.DirectPing, "ping")
	mrtrRun(t, []mrtrTest{
		{"direct-request-unanswered", "direct", "none", report.Pass, "", []step{sample, mrtrPassesBarrier}},
		{"direct-request-unanswered", "direct", "a result", report.Fail, "found 1",
			[]step{sample, response(`"direct-sample"`, `"result":{}`), mrtrPassesBarrier}},
		{"direct-request-unanswered", "direct", "an error", report.Fail, "found 1",
			[]step{sample, response(`"direct-sample"`, `"error":{"code":-32601,"message":"no"}`), mrtrPassesBarrier}},
		{"direct-request-unanswered", "direct", "a response to something else", report.Pass, "",
			[]step{sample, response(`5`, `"result":{}`), mrtrPassesBarrier}},
		{"direct-request-unanswered", "direct", "one could still come", report.Unsupported, "no later sampling request",
			[]step{sample}},
		{"direct-request-unanswered", "direct", "no request", report.NotObserved, "", nil},

		{"no-responses", "ping", "none", report.Pass, "", []step{pinged, mrtrPassesBarrier}},
		{"no-responses", "ping", "a pong", report.Fail, "found 1",
			[]step{pinged, response(`"direct-ping"`, `"result":{}`), mrtrPassesBarrier}},
	})
}

func TestAClientSurvivesInputRequestsThatItCannotFulfil(t *testing.T) {
	undeclared := asks(7, `"inputRequests":{"undeclared":{"method":"roots/list"}},"requestState":"s",`)
	retries := func(responses string) []step {
		return []step{undeclared, calls(8, withState("s")+givesRaw(responses))}
	}
	invalid := asks(7, `"inputRequests":{"bad":null},`)
	panics := func(s *session) { s.Ends(trace.Process{Panic: "nil"}) }
	mrtrRun(t, []mrtrTest{
		{"undeclared-input", "undeclared", "no retry", report.Pass, "roots/list", []step{undeclared, mrtrPassesBarrier}},
		{"undeclared-input", "undeclared", "no retry yet", report.Unsupported, "no later sampling request",
			[]step{undeclared}},
		{"undeclared-input", "undeclared", "no response", report.Pass, "retried without", retries(`{}`)},
		{"undeclared-input", "undeclared", "an error", report.Warn, "refuses",
			retries(`{"undeclared":{"error":{"code":-32601}}}`)},
		{"undeclared-input", "undeclared", "a response", report.Fail, "roots/list", retries(`{"undeclared":{"roots":[]}}`)},
		{"undeclared-input", "undeclared", "everything is declared", report.NotApplicable, "roots and elicitation",
			[]step{handlerEnds}},

		{"bad-input", "null-input", "the client goes on", report.Pass, "", []step{invalid, mrtrPassesBarrier}},
		{"bad-input", "null-input", "the client panics", report.Fail, "it panicked: nil", []step{invalid, panics}},
		{"bad-input", "null-input", "no later call", report.Unsupported, "no later sampling request", []step{invalid}},
	})
}

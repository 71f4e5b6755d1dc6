package consent

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type session = tracetest.Story

var river = tracetest.Asking("Which river?")

// announces is a client whose user decides as the run asks, and the server's request.
func announces(s *session) *session {
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Decisions}})
	return s.Asks(river)
}

// passesBarrier is the call of the barrier if the user declines: the server requests nothing in it.
func passesBarrier(s *session) {
	before, call := s.CaseID, s.Call
	s.CaseID, s.Call = harness.BarrierID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.Calls().Marks(trace.MarkHandlerEnded, "")
	s.CaseID, s.Call = before, call
}

// after returns steps that follow announces and precede the barrier. afterModel has a request to the model first.
func after(then func(*session) *session) func(*session) {
	return func(s *session) { passesBarrier(then(announces(s))) }
}

func afterModel(then func(*session) *session) func(*session) {
	return after(func(s *session) *session { return then(s.Prompts(river)) })
}

func refuses(code int, message string) func(*session) *session {
	return func(s *session) *session { return s.Refuses(code, message) }
}

func returns(result string) func(*session) *session {
	return func(s *session) *session { return s.Answers(result) }
}

func says(text string) func(*session) *session { return returns(tracetest.Saying(text)) }

func silent(s *session) *session { return s }

// unannounced is a client that does not say that its user decides as the run asks.
func unannounced(then func(*session) *session) func(*session) {
	return func(s *session) { passesBarrier(then(s.Asks(river))) }
}

const (
	unknown   = "unknown whether the client asked a user"
	unsettled = "no response came, but one could still have come"
	noRetry   = "the client refused: it did not retry the call"
	asError   = `{"error":{"code":-1,"message":"declined"}}`
	noContent = "without content"
)

func TestDeclinedRequestsAreNotAnswered(t *testing.T) {
	tracetest.RunCheck(t, catalogue, "consent/declined", "request", []tracetest.Test{
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass,
			Message: "the error code -1", Steps: after(refuses(-1, "no"))},
		{Name: "another error passes", In: tracetest.InA, Verdict: report.Pass, Message: "the error code -32603",
			Steps: after(refuses(-32603, "no"))},
		{Name: "no retry passes", In: tracetest.InB, Verdict: report.Pass, Message: noRetry, Steps: after(silent)},
		{Name: "no response warns", In: tracetest.InA, Verdict: report.Warn,
			Message: "found no response", Steps: after(silent)},
		{Name: "an answer warns", Verdict: report.Warn, Message: "found an answer", Steps: afterModel(says("The Danube."))},
		{Name: "an error as a result warns", In: tracetest.InA, Verdict: report.Warn,
			Message: noContent, Steps: after(returns(asError))},
		{Name: "an error as an input response passes", In: tracetest.InB, Verdict: report.Pass, Message: noContent,
			Steps: after(returns(asError))},
		{Name: "another method's result as an input response passes", In: tracetest.InB, Verdict: report.Pass,
			Message: noContent, Steps: after(returns(`{"action":"decline"}`))},
		{Name: "an answer without a known user is not judged", Verdict: report.Unsupported, Message: unknown,
			Steps: unannounced(says("The Danube."))},
		{Name: "an error without a known user is not judged", In: tracetest.InA, Verdict: report.Unsupported,
			Message: unknown, Steps: unannounced(refuses(-32603, "no"))},
		{Name: "the code -1 tells of a user", In: tracetest.InA, Verdict: report.Pass, Message: "the error code -1",
			Steps: unannounced(refuses(-1, "no"))},
		{Name: "no retry without a barrier is not judged", In: tracetest.InB, Verdict: report.Unsupported, Message: unsettled,
			Steps: func(s *session) { announces(s) }},
	})
	tracetest.RunCheck(t, catalogue, "consent/declined-code", "request", []tracetest.Test{
		{Name: "-1 passes", In: tracetest.InA, Verdict: report.Pass, Message: "-1", Steps: after(refuses(-1, "no"))},
		{Name: "-32603 warns", In: tracetest.InA, Verdict: report.Warn, Message: "expected the error code -1, found -32603",
			Steps: after(refuses(-32603, "no"))},
		{Name: "-1 as a string warns", In: tracetest.InA, Verdict: report.Warn, Message: `found "-1"`,
			Steps: after(func(s *session) *session { return s.Responds(s.ID(), `"error":{"code":"-1","message":"no"}`) })},
		{Name: "no error is not judged", In: tracetest.InA, Verdict: report.NotApplicable, Message: "no error",
			Steps: after(says("The Danube."))},
	})
}

func TestDeclinedRequestsDoNotReachTheModel(t *testing.T) {
	unmarked := trace.Event{Request: &trace.ModelRequest{Exchange: 99, Dialect: dialect.OpenAIChat, Method: "POST",
		Path: "/v1/chat/completions", Body: trace.Bytes(`{}`)}}
	tracetest.RunCheck(t, catalogue, "consent/no-model-call", "request", []tracetest.Test{
		{Name: "no request passes", Verdict: report.Pass, Message: "no call of the model", Steps: after(refuses(-1, "no"))},
		{Name: "a request fails", Verdict: report.Fail, Message: "expected no request", Steps: afterModel(refuses(-1, "no"))},
		{Name: "a request that the model refuses fails", Verdict: report.Fail, Message: "expected no request",
			Dialects: tracetest.Native, Steps: after(func(s *session) *session {
				return s.Prompt(string(dialect.Marshal(river)), trace.ModelEnd{Status: 500}).Refuses(-1, "no")
			})},
		{Name: "a request without a mark is not judged", Verdict: report.NotObserved, Message: "without the mark of any case",
			Dialects: tracetest.OpenAI,
			Steps:    after(func(s *session) *session { s.Add("", unmarked); return s.Refuses(-1, "no") })},
		{Name: "a request without a known user is not judged", Verdict: report.Unsupported, Message: unknown,
			Steps: unannounced(func(s *session) *session { return s.Prompts(river) })},
	})
	tracetest.RunCheck(t, catalogue, "consent/no-made-up-answer", "request", []tracetest.Test{
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass, Message: "-1", Steps: after(refuses(-1, "no"))},
		{Name: "no retry passes", In: tracetest.InB, Verdict: report.Pass, Message: noRetry, Steps: after(silent)},
		{Name: "no response is not judged", In: tracetest.InA, Verdict: report.NotApplicable, Message: "no response",
			Steps: after(silent)},
		{Name: "the model's answer passes", Verdict: report.Pass,
			Message: "the model", Steps: afterModel(says("The Danube."))},
		{Name: "another answer fails", Verdict: report.Fail, Message: "without a request to the model",
			Steps: after(says("The user declined."))},
		{Name: "an answer beside a request without a mark is not judged", Verdict: report.NotObserved,
			Message: "without the mark of any case", Dialects: tracetest.OpenAI,
			Steps: after(func(s *session) *session { s.Add("", unmarked); return says("The Danube.")(s) })},
		{Name: "an error as a result warns", Verdict: report.Warn, Message: noContent, Steps: after(returns(asError))},
		{Name: "another method's result warns", In: tracetest.InB, Verdict: report.Warn, Message: noContent,
			Steps: after(returns(`{"action":"decline"}`))},
		{Name: "null warns", In: tracetest.InB, Verdict: report.Warn, Message: noContent, Steps: after(returns("null"))},
	})
}

func TestRetriesNeedAllInput(t *testing.T) {
	const missing = "expected a response to each input request, found one missing"
	const complete = "a response to each"
	retries := func(responses string) func(*session) *session {
		return func(s *session) *session { return s.Retries(responses) }
	}
	tests := []tracetest.Test{
		{Name: "no retry passes", Verdict: report.Pass, Message: noRetry, Steps: after(silent)},
		{Name: "a retry with an answer passes", Verdict: report.Pass, Message: complete, Steps: after(says("The Danube."))},
		{Name: "a retry with null fails", Verdict: report.Fail, Message: missing, Steps: after(returns("null"))},
		{Name: "a retry without responses fails", Verdict: report.Fail,
			Message: missing, Steps: after(retries(`,"inputResponses":{}`))},
		{Name: "a retry with the state alone fails", Verdict: report.Fail, Message: missing, Steps: unannounced(retries(""))},
		{Name: "a retry with another key fails", Verdict: report.Fail, Message: missing,
			Steps: after(retries(`,"inputResponses":{"y":{}}`))},
		{Name: "two calls with an answer each pass", Verdict: report.Pass, Message: complete, Steps: func(s *session) {
			afterModel(says("The Danube."))(s)
			s.Calls().Asks(river).Prompts(river).Answers(tracetest.Saying("The Danube."))
		}},
		{Name: "a new call is no retry", Verdict: report.Pass, Message: noRetry,
			Steps: func(s *session) { announces(s).Calls(); s.Call = 1; passesBarrier(s) }},
		{Name: "some answers of many requests fail", CaseID: "fifty", Verdict: report.Fail,
			Message: missing, Steps: func(s *session) {
				s.Asks(river)
				s.Samples = 0
				s.Asks(river).Answers(tracetest.Saying(fruit)).Retries(`,"inputResponses":{}`)
			}},
		{Name: "all answers of many requests pass", CaseID: "fifty", Verdict: report.Pass, Message: complete,
			Steps: func(s *session) { s.Asks(river).Answers(tracetest.Saying(fruit)) }},
		{Name: "no retry after many requests is not judged", CaseID: "fifty", Verdict: report.NotApplicable,
			Message: "did not retry", Steps: func(s *session) { s.Asks(river) }},
	}
	for i := range tests {
		tests[i].In = tracetest.InB
	}
	tracetest.RunCheck(t, catalogue, "consent/declined-mrtr", "request", tests)
}

func TestClientsStayAliveAfterARefusal(t *testing.T) {
	ends := func(p trace.Process) func(*session) {
		return func(s *session) { announces(s).Ends(p) }
	}
	tracetest.RunCheck(t, catalogue, "consent/alive", "request", []tracetest.Test{
		{Name: "a later response passes", Verdict: report.Pass, Message: "went on", Steps: after(refuses(-1, "no"))},
		{Name: "a crash fails", Verdict: report.Fail,
			Message: "it exited with status 1", Steps: ends(trace.Process{ExitCode: 1})},
		{Name: "a crash without a known user is not judged", Verdict: report.Unsupported, Message: unknown,
			Steps: func(s *session) { s.Asks(river).Ends(trace.Process{ExitCode: 1}) }},
		{Name: "no response is not judged", In: tracetest.InA, Verdict: report.NotApplicable, Message: "no response",
			Steps: ends(trace.Process{Deadline: true})},
		{Name: "no later request is not judged", Verdict: report.Unsupported, Message: unsettled,
			Steps: func(s *session) { announces(s).Refuses(-1, "no") }},
	})
}

func TestDeclinedAnswersDoNotReachTheServer(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(`{"text":"` + declinedAnswer + `"}`))
	notifies := func(s *session) *session {
		s.Frame("", trace.FromClient, 0,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":%q}}`, declinedAnswer))
		return s.Refuses(-1, "no")
	}
	tracetest.RunCheck(t, catalogue, "consent/declined-after", "answer", []tracetest.Test{
		{Name: "an error passes", In: tracetest.InA, Verdict: report.Pass, Message: "the error code -1",
			Steps: afterModel(refuses(-1, "the user declined"))},
		{Name: "no retry passes", In: tracetest.InB, Verdict: report.Pass, Message: noRetry, Steps: afterModel(silent)},
		{Name: "no response warns", In: tracetest.InA, Verdict: report.Warn,
			Message: "found no response", Steps: afterModel(silent)},
		{Name: "the answer warns", Verdict: report.Warn, Message: "found all of it", Steps: afterModel(says(declinedAnswer))},
		{Name: "the answer in an error warns", In: tracetest.InA, Verdict: report.Warn, Message: "found all of it",
			Steps: afterModel(refuses(-1, "refused: "+declinedAnswer))},
		{Name: "the answer in base64 warns", In: tracetest.InA, Verdict: report.Warn, Message: "found all of it, in base64",
			Steps: afterModel(refuses(-1, encoded))},
		{Name: "the beginning of the answer warns", In: tracetest.InA, Verdict: report.Warn, Message: "found its beginning",
			Steps: afterModel(refuses(-1, "refused: "+declinedAnswer[:16]+"…"))},
		{Name: "the end of the answer warns", In: tracetest.InA, Verdict: report.Warn, Message: "found its end",
			Steps: afterModel(refuses(-1, "refused: …"+declinedAnswer[16:]))},
		{Name: "the answer in a notification warns", Verdict: report.Warn,
			Message: "found all of it", Steps: afterModel(notifies)},
		{Name: "a result without content warns", In: tracetest.InA, Verdict: report.Warn, Message: noContent,
			Steps: afterModel(returns(`{}`))},
		{Name: "another answer warns", Verdict: report.Warn,
			Message: "found an answer", Steps: afterModel(says("Nothing to say."))},
		{Name: "a refusal before the model answers is not judged", In: tracetest.InA, Verdict: report.Unsupported,
			Message: "no answer to decline", Steps: after(refuses(-1, "no"))},
		{Name: "an answer without a known user is not judged", Verdict: report.Unsupported, Message: unknown,
			Steps: unannounced(func(s *session) *session { return says(declinedAnswer)(s.Prompts(river)) })},
	})
}

func TestBurstsAreCounted(t *testing.T) {
	each := func(respond func(s *session, i int)) func(*session) {
		return func(s *session) {
			for i := range burstSize {
				s.Asks(river)
				respond(s, i)
			}
		}
	}
	upToTen := func(beyond func(*session) *session) func(*session) {
		return each(func(s *session, i int) {
			if i < 10 {
				s.Prompts(river).Answers(tracetest.Saying(fruit))
			} else {
				beyond(s)
			}
		})
	}
	tracetest.RunCheck(t, catalogue, "consent/burst", "fifty", []tracetest.Test{
		{Name: "all are answered", Verdict: report.Info, Message: "all 50",
			Steps: each(func(s *session, _ int) { s.Answers(tracetest.Saying(fruit)) })},
		{Name: "some are refused", In: tracetest.InA, Verdict: report.Info,
			Message: "answered 10 and refused 40, with the codes [-32603 -32000]",
			Steps:   upToTen(func(s *session) *session { return s.Refuses([]int{-32000, -32603}[s.Samples%2], "too many") })},
		{Name: "some have no response", In: tracetest.InA, Verdict: report.Warn,
			Message: "each of 50 concurrent requests, found 10 answers", Steps: upToTen(silent)},
		{Name: "some have an answer without the model", Verdict: report.Warn, Message: "found 40 answers without the model",
			Steps: upToTen(says("Too many requests."))},
		{Name: "all are refused", Verdict: report.NotApplicable,
			Message: "none of 50", Steps: each(func(s *session, _ int) { s.Refuses(-1, "no") })},
	})
}

package chapters_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/consent"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var river = tracetest.Asking("Which river?")

// announces is a client whose user decides as the run asks, and the server's request.
func announces(s *session) *session {
	s.Add("", trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: harness.Decisions}})
	return s.Asks(river)
}

// consentPassesBarrier is the call of the barrier if the user declines: the server requests nothing in it.
func consentPassesBarrier(s *session) {
	before, call := s.CaseID, s.Call
	s.CaseID, s.Call = harness.BarrierID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.Calls().Marks(trace.MarkHandlerEnded, "")
	s.CaseID, s.Call = before, call
}

// consentAfter returns steps that follow announces and precede the barrier. afterModel has a request to the model
// first.
func consentAfter(then func(*session) *session) func(*session) {
	return func(s *session) { consentPassesBarrier(then(announces(s))) }
}

func afterModel(then func(*session) *session) func(*session) {
	return consentAfter(func(s *session) *session { return then(s.Prompts(river)) })
}

func consentRefuses(code int, message string) func(*session) *session {
	return func(s *session) *session { return s.Refuses(code, message) }
}

func consentReturns(result string) func(*session) *session {
	return func(s *session) *session { return s.Answers(result) }
}

func says(text string) func(*session) *session { return consentReturns(tracetest.Saying(text)) }

func consentSilent(s *session) *session { return s }

// unannounced is a client that does not say that its user decides as the run asks.
func unannounced(then func(*session) *session) func(*session) {
	return func(s *session) { consentPassesBarrier(then(s.Asks(river))) }
}

const (
	unknown   = "unknown whether the client asked a user"
	unsettled = "no response came, but one could still have come"
	noRetry   = "the client refused a request that the user declined: it did not retry the call"
	asError   = `{"error":{"code":-1,"message":"declined"}}`
	noContent = "without content"
)

func TestDeclinedRequestsAreNotAnswered(t *testing.T) {
	consentJudges(t, "declined", "request",
		legacy(passes("an error passes", consentAfter(consentRefuses(-1, "no")), ": error code -1")),
		legacy(passes("another error passes", consentAfter(consentRefuses(-32603, "no")), ": error code -32603")),
		modern(passes("no retry passes", consentAfter(consentSilent), noRetry)),
		legacy(warns("no response warns", consentAfter(consentSilent), "found no response")),
		warns("an answer warns", afterModel(says("The Danube.")), "found a result"),
		legacy(warns("an error as a result warns", consentAfter(consentReturns(asError)), noContent)),
		modern(passes("an error as an input response passes", consentAfter(consentReturns(asError)), noContent)),
		modern(passes("another method's result as an input response passes",
			consentAfter(consentReturns(`{"action":"decline"}`)), noContent)),
		unsupported("an answer without a known user is not judged", unannounced(says("The Danube.")), unknown),
		legacy(unsupported("an error without a known user is not judged",
			unannounced(consentRefuses(-32603, "no")), unknown)),
		legacy(passes("the code -1 tells of a user", unannounced(consentRefuses(-1, "no")), ": error code -1")),
		modern(unsupported("no retry without a barrier is not judged",
			func(s *session) { announces(s) }, unsettled)),
	)
	consentJudges(t, "declined-code", "request",
		legacy(passes("-1 passes", consentAfter(consentRefuses(-1, "no")), "-1")),
		legacy(warns("-32603 warns", consentAfter(consentRefuses(-32603, "no")),
			"expected the error code -1 for a request that the user declined, found -32603")),
		legacy(warns("-1 as a string warns",
			consentAfter(func(s *session) *session { return s.Responds(s.ID(), `"error":{"code":"-1","message":"no"}`) }),
			`found "-1"`)),
		legacy(inapplicable("no error is not judged", consentAfter(says("The Danube.")), "with an error")),
	)
}

func TestDeclinedRequestsDoNotReachTheModel(t *testing.T) {
	unmarked := trace.Event{Request: &trace.ModelRequest{Exchange: 99, Dialect: dialect.OpenAIChat, Method: "POST",
		Path: "/v1/chat/completions", Body: trace.Bytes(`{}`)}}
	consentJudges(t, "no-model-call", "request",
		passes("no request passes", consentAfter(consentRefuses(-1, "no")), "no call of the model"),
		fails("a request fails", afterModel(consentRefuses(-1, "no")), "expected no request"),
		native(fails("a request that the model refuses fails", consentAfter(func(s *session) *session {
			return s.Prompt(string(jsonvalue.Marshal(river)), trace.ModelEnd{Status: 500}).Refuses(-1, "no")
		}), "expected no request")),
		openAI(unobserved("a request without a mark is not judged",
			consentAfter(func(s *session) *session { s.Add("", unmarked); return s.Refuses(-1, "no") }),
			"unmarked request")),
		unsupported("a request without a known user is not judged",
			unannounced(func(s *session) *session { return s.Prompts(river) }), unknown),
	)
	consentJudges(t, "no-made-up-answer", "request",
		legacy(passes("an error passes", consentAfter(consentRefuses(-1, "no")), "-1")),
		modern(passes("no retry passes", consentAfter(consentSilent), noRetry)),
		legacy(inapplicable("no response is not judged", consentAfter(consentSilent), "no response")),
		passes("the model's answer passes", afterModel(says("The Danube.")), "the model"),
		fails("another answer fails", consentAfter(says("The user declined.")), "without a request to the model"),
		openAI(unobserved("an answer beside a request without a mark is not judged",
			consentAfter(func(s *session) *session { s.Add("", unmarked); return says("The Danube.")(s) }),
			"unmarked request")),
		warns("an error as a result warns", consentAfter(consentReturns(asError)), noContent),
		modern(warns("another method's result warns", consentAfter(consentReturns(`{"action":"decline"}`)), noContent)),
		modern(warns("null warns", consentAfter(consentReturns("null")), noContent)),
	)
}

func TestClientsStayAliveAfterARefusal(t *testing.T) {
	ends := func(p trace.Process) func(*session) {
		return func(s *session) { announces(s).Ends(p) }
	}
	consentJudges(t, "alive", "request",
		passes("a later response passes", consentAfter(consentRefuses(-1, "no")), "went on"),
		fails("a crash fails", ends(trace.Process{ExitCode: 1}), "it exited with status 1"),
		unsupported("a crash without a known user is not judged",
			func(s *session) { s.Asks(river).Ends(trace.Process{ExitCode: 1}) }, unknown),
		legacy(inapplicable("no response is not judged", ends(trace.Process{Deadline: true}), "no response")),
		unsupported("no later request is not judged",
			func(s *session) { announces(s).Refuses(-1, "no") }, "the client may not have gone on"),
	)
}

func TestDeclinedAnswersDoNotReachTheServer(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(`{"text":"` + consent.DeclinedAnswer + `"}`))
	notifies := func(s *session) *session {
		s.Frame("", trace.FromClient, 0,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":%q}}`, consent.DeclinedAnswer))
		return s.Refuses(-1, "no")
	}
	consentJudges(t, "declined-after", "answer",
		legacy(passes("an error passes", afterModel(consentRefuses(-1, "the user declined")), ": error code -1")),
		modern(passes("no retry passes", afterModel(consentSilent), "it did not retry the call")),
		legacy(warns("no response warns", afterModel(consentSilent), "found no response")),
		warns("the answer warns", afterModel(says(consent.DeclinedAnswer)), "found all of it"),
		legacy(warns("the answer in an error warns", afterModel(consentRefuses(-1, "refused: "+consent.DeclinedAnswer)),
			"found all of it")),
		legacy(warns("the answer in base64 warns", afterModel(consentRefuses(-1, encoded)), "found all of it, in base64")),
		legacy(warns("the beginning of the answer warns",
			afterModel(consentRefuses(-1, "refused: "+consent.DeclinedAnswer[:16]+"…")), "found its beginning")),
		legacy(warns("the end of the answer warns",
			afterModel(consentRefuses(-1, "refused: …"+consent.DeclinedAnswer[16:])), "found its end")),
		warns("the answer in a notification warns", afterModel(notifies), "found all of it"),
		legacy(warns("a result without content warns", afterModel(consentReturns(`{}`)), noContent)),
		warns("another answer warns", afterModel(says("Nothing to say.")), "found a result"),
		legacy(unsupported("a refusal before the model answers is not judged",
			consentAfter(consentRefuses(-1, "no")), "no answer to decline")),
		unsupported("an answer without a known user is not judged",
			unannounced(func(s *session) *session { return says(consent.DeclinedAnswer)(s.Prompts(river)) }), unknown),
	)
}

func TestBurstsAreCounted(t *testing.T) {
	each := func(respond func(s *session, i int)) func(*session) {
		return func(s *session) {
			for i := range consent.BurstSize {
				s.Asks(river)
				respond(s, i)
			}
		}
	}
	upToTen := func(beyond func(*session) *session) func(*session) {
		return each(func(s *session, i int) {
			if i < 10 {
				s.Prompts(river).Answers(tracetest.Saying(consent.Fruit))
			} else {
				beyond(s)
			}
		})
	}
	writes := func(line string) func(*session) {
		return func(s *session) {
			s.AsksAll(slices.Repeat([]any{river}, consent.BurstSize)...)
			s.Ends(trace.Process{Stderr: line + "\n"})
		}
	}
	const limit = "per-session limit of 25 reached"
	consentJudges(t, "burst", "fifty",
		modern(unsupported("the client wrote that it limits them", writes("No: "+limit), "a session: \"No: "+limit)),
		modern(inapplicable("the client wrote nothing", writes(""), "none of 50")),
		informs("all are answered", each(func(s *session, _ int) { s.Answers(tracetest.Saying(consent.Fruit)) }), "all 50"),
		legacy(informs("some are refused",
			upToTen(func(s *session) *session { return s.Refuses([]int{-32000, -32603}[s.Samples%2], "too many") }),
			"answered 10 and refused 40, with the codes [-32603 -32000]")),
		legacy(warns("some have no response", upToTen(consentSilent), "each of 50 concurrent requests, found 10 answers")),
		warns("some have an answer without the model",
			upToTen(says("Too many requests.")), "found 40 answers without the model"),
		inapplicable("all are refused", each(func(s *session, _ int) { s.Refuses(-1, "no") }), "none of 50"),
	)
}

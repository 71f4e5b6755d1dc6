package cancel

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// thought is the end of the n-th request of the model.
func thought(s *tracetest.Story, n int64, end trace.ModelEnd) *tracetest.Story {
	end.Exchange = n
	s.Add(s.CaseID, trace.Event{End: &end})
	return s
}

// whole is the end of a request of the model that was answered.
var whole = trace.ModelEnd{Status: 200}

// cancels is the server's cancel of a request, as its id is written; hostile for what names nothing that is running.
func cancels(s *tracetest.Story, id string) *tracetest.Story {
	s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

// asksTools is the client's request for the tools, with an id.
func asksTools(s *tracetest.Story, id int) *tracetest.Story {
	s.Frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s"cursor":"x"}}`, id, s.Meta()))
	return s
}

// overAPipe has the story be one of stdio.
func overAPipe(s *tracetest.Story) *tracetest.Story {
	s.Trace.Header.Transport = trace.Stdio
	return s
}

var ()

// ofItsOwn is what a client may have hung up for that did it late.
const ofItsOwn = " that a limit of its own may have ended that: let it wait longer for the model, 10 seconds or more"

// itsOwnLimit is what is said of a client that has hung up when its own limit had passed.
const itsOwnLimit = "the client hung up on the model when the 1s had passed that it waits, so that nothing else need have ended that: " +
	"declare a longer limit (--client-timeout, conformance.ClientTimeout), of 10 seconds or more"

func TestCancelsOfTheServer(t *testing.T) {
	const inFlight, stops, silent = "in-flight", "cancel/stops-work", "cancel/no-answer"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it hangs up", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client hung up on the model",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001"), 1, tracetest.HungUp).Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it hangs up at its own limit", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: itsOwnLimit,
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.WaitsFor(time.Second, true, 0).Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Later(time.Second), 1, tracetest.HungUp).Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it hangs up before its own limit", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client hung up on the model",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.WaitsFor(time.Second, true, 0).Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Later(time.Second/2), 1, tracetest.HungUp).Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it hangs up long after it went on", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported,
			Message: "the client hung up on the model so long after the cancel" + ofItsOwn,
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).Later(5*time.Second/4), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "it hangs up long after it went on, as slowly as it does everything", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client hung up on the model",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Asks(tracetest.Fish).Later(time.Second/2).Answers(tracetest.Saying("A herring.")).Later(time.Second), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "it hangs up long after, and did nothing before", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported,
			Message: "the client hung up on the model so long after the cancel" + ofItsOwn,
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Asks(tracetest.Fish).Later(time.Second), 1, tracetest.HungUp).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it waits for the model", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the request was cancelled while the model thought about it, and the model's answer was waited for all the same",
			Steps: func(s *tracetest.Story) {
				thought(thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Asks(tracetest.Fish).Thinks(tracetest.Fish), 1, whole), 2, whole).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it has not read so far", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "the client did nothing that shows it to have seen the cancel by the time the model answered",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001").Asks(tracetest.Fish), 1, whole).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "it asks the model after all", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the model was asked after the request had been cancelled",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering), "1001").Thinks(tracetest.Pondering), 1, whole).PassesBarrier()
			}},
		{Name: "it dies, which hangs up, too", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "no answer came, and it is not settled that none would have: the session did not end in order: it exited with status 1",
			Steps: func(s *tracetest.Story) {
				thought(cancels(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), "1001"), 1, tracetest.HungUp).Ends(tracetest.Died)
			}},
		{Name: "it answers before that", Check: stops, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: `the request was over before it could be cancelled: request 1 was answered by the error "no" (code -1)`,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Pondering).Refuses(-1, "no").PassesBarrier() }},
		{Name: "the cancel crosses the answer", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "the request was answered before it was cancelled",
			Steps: func(s *tracetest.Story) {
				cancels(s.Asks(tracetest.Pondering).Answers(tracetest.Saying("So.")), "1001").PassesBarrier()
			}},
		{Name: "nothing comes", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "no response came",
			Steps: func(s *tracetest.Story) { cancels(s.Asks(tracetest.Pondering), "1001").PassesBarrier() }},
		{Name: "an error comes", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the request was cancelled while the model thought about it, and an error came for it",
			Steps: func(s *tracetest.Story) {
				cancels(s.Asks(tracetest.Pondering), "1001").Refuses(0, "cancelled").PassesBarrier()
			}},
		{Name: "a result comes", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the request was cancelled while the model thought about it, and a result came for it",
			Steps: func(s *tracetest.Story) {
				cancels(s.Asks(tracetest.Pondering), "1001").Answers(tracetest.Saying("So.")).PassesBarrier()
			}},
		{Name: "a result comes behind the end of the call", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the request was cancelled while the model thought about it, and a response came for it when the call was over",
			Steps: func(s *tracetest.Story) {
				cancels(s.Asks(tracetest.Pondering), "1001").PassesBarrier()
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1001,"result":`+tracetest.Saying("So.")+`}`)
			}},
		{Name: "nobody was left to see it", Check: silent, CaseID: inFlight, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported,
			Message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, " +
				"and answers the last one's sample: no later sample was answered, so that it may only not have come yet",
			Steps: func(s *tracetest.Story) { cancels(s.Asks(tracetest.Pondering), "1001") }},
	})
}

func TestCancelsThatNameNothingThatIsRunning(t *testing.T) {
	const unknown, silent = "cancel/unknown-id", "cancel/cancel-not-answered"
	control := func(s *tracetest.Story) *tracetest.Story {
		return cancels(s.Asks(tracetest.Asking("Name a bird.")).Answers(tracetest.Saying("A robin.")).Asks(tracetest.Pondering), `"nobody"`).OnPurpose().Asks(tracetest.Fish)
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it is ignored", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the cancel was ignored, and the client went on",
			Steps: func(s *tracetest.Story) {
				control(s).Answers(tracetest.Saying("A herring.")).Responds("1002", `"result":`+tracetest.Saying("So.")).PassesBarrier()
			}},
		{Name: "what was running ends with an error", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: `a cancel of something else ended a request that was running: request 2 was answered by the error "cancelled" (code 0)`,
			Steps: func(s *tracetest.Story) {
				control(s).Answers(tracetest.Saying("A herring.")).Responds("1002", `"error":{"code":0,"message":"cancelled"}`).PassesBarrier()
			}},
		{Name: "what was running ends with an error at the client's own limit", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: itsOwnLimit,
			Steps: func(s *tracetest.Story) {
				cancels(s.WaitsFor(time.Second, true, 0).Asks(tracetest.Asking("Name a bird.")).Answers(tracetest.Saying("A robin.")).Asks(tracetest.Pondering).Thinks(tracetest.Pondering), `"nobody"`).OnPurpose().Asks(tracetest.Fish)
				thought(s.Answers(tracetest.Saying("A herring.")).Later(time.Second), 1, tracetest.HungUp).Responds("1002", `"error":{"code":-32603,"message":"too slow"}`).PassesBarrier()
			}},
		{Name: "what was running ends at the second cancel", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: `a cancel of something else ended a request that was running: request 4 was answered by the error "cancelled" (code 0)`,
			Steps: func(s *tracetest.Story) {
				control(s).Answers(tracetest.Saying("A herring.")).Responds("1002", `"result":`+tracetest.Saying("So."))
				cancels(s.Asks(tracetest.Pondering), "4711").OnPurpose().Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).Responds("1004", `"error":{"code":0,"message":"cancelled"}`).PassesBarrier()
			}},
		{Name: "what was running is not answered", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "a cancel of something else ended a request that was running: no answer came for request 2",
			Steps:   func(s *tracetest.Story) { control(s).Answers(tracetest.Saying("A herring.")).PassesBarrier() }},
		{Name: "what comes next is refused", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: `a request that came after a cancel of something else was not answered: request 3 was answered by the error "cancelled" (code 0)`,
			Steps:   func(s *tracetest.Story) { control(s).Refuses(0, "cancelled").PassesBarrier() }},
		{Name: "it dies", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "a request that came after a cancel of something else was not answered: no answer came for request 3; it exited with status 1",
			Steps:   func(s *tracetest.Story) { control(s).Ends(tracetest.Died) }},
		{Name: "it dies a little later", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the client did not go on after a cancel that names nothing that is running: it exited with status 1",
			Steps: func(s *tracetest.Story) {
				control(s).Answers(tracetest.Saying("A herring.")).Responds("1002", `"result":`+tracetest.Saying("So.")).Ends(tracetest.Died)
			}},
		{Name: "the client refuses everything", Check: unknown, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: `sampling request 1 was not answered with a result: request 1 was answered by the error "no" (code -1)`,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking("Name a bird.")).Refuses(-1, "no").PassesBarrier() }},
		{Name: "nobody answers it", Check: silent, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "no response came",
			Steps: func(s *tracetest.Story) { control(s).Answers(tracetest.Saying("A herring.")).PassesBarrier() }},
		{Name: "an error answers it", Check: silent, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "a notification is not answered, and a response came for a cancel",
			Steps: func(s *tracetest.Story) {
				control(s)
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"nobody","error":{"code":-32602,"message":"unknown"}}`)
				s.PassesBarrier()
			}},
		{Name: "an error without an id answers it", Check: silent, CaseID: "unknown-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "a notification is not answered, and a response came for a cancel",
			Steps: func(s *tracetest.Story) {
				control(s)
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`)
				s.PassesBarrier()
			}},
		{Name: "what was answered is answered again", Check: silent, CaseID: "finished-request", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "a notification is not answered, and a response came for a cancel",
			Steps: func(s *tracetest.Story) {
				cancels(s.Asks(tracetest.Asking("Name a bird.")).Answers(tracetest.Saying("A robin.")).Asks(tracetest.Pondering), "1001").OnPurpose().Responds("1001", `"error":{"code":0,"message":"cancelled"}`).PassesBarrier()
			}},
	})
}

func TestCancelsThatCrossTheAnswer(t *testing.T) {
	const check = "cancel/race"
	first := func(s *tracetest.Story) *tracetest.Story {
		return cancels(s.Asks(tracetest.Asking("Are you still there?")).Answers(tracetest.Saying("I am.")).Asks(tracetest.Asking("Name a bird.")), "1002")
	}
	rest := func(s *tracetest.Story, bird string) *tracetest.Story {
		return cancels(s.Asks(tracetest.Fish).Answers(tracetest.Saying(bird)).Asks(tracetest.Pondering), "1004").Asks(tracetest.Asking("Name a tree.")).Answers(tracetest.Saying("An oak."))
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it does no harm", Check: check, CaseID: "crossing", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass,
			Message: "whatever became of the requests that were cancelled, those after them were answered",
			Steps:   func(s *tracetest.Story) { rest(first(s), "A herring. I like those.").PassesBarrier() }},
		{Name: "the answer had gone", Check: check, CaseID: "crossing", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass,
			Message: "whatever became of the requests that were cancelled, those after them were answered",
			Steps: func(s *tracetest.Story) {
				rest(first(s).Responds("1002", `"result":`+tracetest.Saying("A robin.")), "A herring.").PassesBarrier()
			}},
		{Name: "it is answered twice", Check: check, CaseID: "crossing", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail, Message: "a request that was cancelled was answered twice",
			Steps: func(s *tracetest.Story) {
				rest(first(s).Responds("1002", `"result":`+tracetest.Saying("A robin.")).Responds("1002", `"error":{"code":0,"message":"cancelled"}`), "A herring.").PassesBarrier()
			}},
		{Name: "the next gets its answer", Check: check, CaseID: "crossing", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: `the answer is that of another request, which was cancelled: it says "A robin."`,
			Steps:   func(s *tracetest.Story) { rest(first(s), "A robin.").PassesBarrier() }},
		{Name: "the next is refused", Check: check, CaseID: "crossing", In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: `a request that came after a cancel of another one was not answered: request 3 was answered by the error "cancelled" (code 0)`,
			Steps:   func(s *tracetest.Story) { first(s).Asks(tracetest.Fish).Refuses(0, "cancelled").PassesBarrier() }},
	})
}

func TestCallsThatTheClientGivesUp(t *testing.T) {
	const sampling, working = "call-while-sampling", "call-while-working"
	notHeeded := "the client did not give up its call: it takes a driver that heeds giveUp (MCP_CONFORMANCE_CONTEXT, Env.GiveUp), calls such a tool " +
		"with a progress token, and cancels the call as soon as a progress notification comes or the model begins to answer"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it says so", Check: "cancel/caller-cancels", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client cancelled its call",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering).GivesUp("7"), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "it hangs up, and says nothing", Check: "cancel/caller-cancels", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the client gave up its call, and no notifications/cancelled named it",
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Pondering).Closes().PassesBarrier() }},
		{Name: "it tells only us", Check: "cancel/caller-cancels", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the client gave up its call, and no notifications/cancelled named it",
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Pondering).CallEnds(harness.GaveUp).PassesBarrier() }},
		{Name: "its driver gives nothing up", Check: "cancel/caller-cancels", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: notHeeded,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).CallEnds(harness.Completed).PassesBarrier()
			}},
		{Name: "its driver gives nothing up", Check: "cancel/no-retry", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: notHeeded,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Fish).Answers(tracetest.Saying("A herring.")).PassesBarrier()
			}},
		{Name: "the model goes on", Check: "cancel/model-ends", CaseID: sampling, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the call was given up, and the model's answer to what was asked for it was waited for all the same",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering)
				if !s.Revision.Modern() {
					s.GivesUp("7")
				}
				thought(s, 1, whole).CallEnds(harness.GaveUp).PassesBarrier()
			}},
		{Name: "the model goes on, and nobody could say", Check: "cancel/model-ends", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the call was given up, and the model's answer to what was asked for it was waited for all the same",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering).GivesUp("7").Closes(), 1, whole).PassesBarrier()
			}},
		{Name: "the model was quicker", Check: "cancel/model-ends", CaseID: sampling, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "the model had answered before the call was given up",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), 1, whole).GivesUp("7").PassesBarrier()
			}},
		{Name: "the model ends long after", Check: "cancel/model-ends", CaseID: sampling, Dialects: tracetest.Native, Verdict: report.Unsupported,
			Message: "the client hung up on the model so long after it was to give up its call" + ofItsOwn,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering)
				if !s.Revision.Modern() {
					s.GivesUp("7")
				}
				thought(s.CallEnds(harness.GaveUp).Later(2*time.Second), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "the model ends long after, and so does the call", Check: "cancel/model-ends", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Unsupported,
			Message: "the client hung up on the model so long after it was to give up its call" + ofItsOwn,
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering).Later(2*time.Second), 1, tracetest.HungUp).CallEnds(harness.GaveUp).PassesBarrier()
			}},
		{Name: "the model ends at the client's own limit", Check: "cancel/model-ends", CaseID: sampling, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: itsOwnLimit,
			Steps: func(s *tracetest.Story) {
				s.WaitsFor(time.Second, true, 0).Asks(tracetest.Pondering).Thinks(tracetest.Pondering)
				if !s.Revision.Modern() {
					s.GivesUp("7")
				}
				thought(s.Later(time.Second), 1, tracetest.HungUp).CallEnds(harness.GaveUp).PassesBarrier()
			}},
		{Name: "its own limit is no giving up", Check: "cancel/no-retry", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Unsupported, Message: notHeeded,
			Steps: func(s *tracetest.Story) {
				thought(s.WaitsFor(time.Second, true, 0).Asks(tracetest.Pondering).Thinks(tracetest.Pondering).Later(time.Second), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "the model ends", Check: "cancel/model-ends", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Pass, Message: "nothing was left of the request of the model",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "what is over is cancelled", Check: "cancel/ended-call", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the call had come back for input, which is its end, and was cancelled",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering).GivesUp("7"), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "what is over is let be", Check: "cancel/ended-call", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Pass, Message: "nothing was cancelled",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "it calls again", Check: "cancel/no-retry", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Fail, Message: "the call was given up, and made again",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), 1, tracetest.HungUp).CallEnds(harness.GaveUp).Answers(tracetest.Saying("So.")).PassesBarrier()
			}},
		{Name: "it does not call again", Check: "cancel/no-retry", CaseID: sampling, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the call was not made again",
			Steps: func(s *tracetest.Story) {
				thought(s.Asks(tracetest.Pondering).Thinks(tracetest.Pondering), 1, tracetest.HungUp).PassesBarrier()
			}},
		{Name: "over HTTP it closes the stream", Check: "cancel/call-cancelled", CaseID: working, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client closed the stream of its call",
			Steps: func(s *tracetest.Story) { s.Closes().PassesBarrier() }},
		{Name: "over HTTP it leaves the stream open", Check: "cancel/call-cancelled", CaseID: working, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the client gave up its call and did not close the stream of it, so that the server goes on",
			Steps:   func(s *tracetest.Story) { s.CallEnds(harness.GaveUp).PassesBarrier() }},
		{Name: "over stdio it says so", Check: "cancel/call-cancelled", CaseID: working, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client cancelled its call",
			Steps: func(s *tracetest.Story) { overAPipe(s).GivesUp("7").PassesBarrier() }},
		{Name: "over stdio it says nothing", Check: "cancel/call-cancelled", CaseID: working, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the client gave up its call, and no notifications/cancelled named it",
			Steps:   func(s *tracetest.Story) { overAPipe(s).CallEnds(harness.GaveUp).PassesBarrier() }},
		{Name: "it names its own", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass,
			Message: "the client cancelled nothing but requests of its own", Steps: func(s *tracetest.Story) { s.GivesUp("7").PassesBarrier() }},
		{Name: "it names another", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the client cancelled what is no request of its own", Steps: func(s *tracetest.Story) { s.Closes().GivesUp(`"7"`).PassesBarrier() }},
		{Name: "it names its own, which comes later", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass,
			Message: "the client cancelled nothing but requests of its own", Steps: func(s *tracetest.Story) { asksTools(s.GivesUp("8").Closes(), 8).PassesBarrier() }},
		{Name: "it names its own, which comes later, over stdio", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the client cancelled what is no request of its own", Steps: func(s *tracetest.Story) { asksTools(overAPipe(s).GivesUp("7").GivesUp("8"), 8).PassesBarrier() }},
		{Name: "it names initialize", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the client cancelled initialize", Steps: func(s *tracetest.Story) {
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}`)
				s.Closes().GivesUp(`"init"`).PassesBarrier()
			}},
		{Name: "it asks to cancel", Check: "cancel/names-own", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Fail,
			Message: "the client cancelled with a message that has an id of its own, and is no notification", Steps: func(s *tracetest.Story) {
				s.Closes()
				s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"notifications/cancelled","params":{"requestId":7}}`)
				s.PassesBarrier()
			}},
		{Name: "it goes on", Check: "cancel/late-response", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Pass, Message: "the client went on",
			Steps: func(s *tracetest.Story) { s.GivesUp("7").PassesBarrier() }},
		{Name: "it takes the response for that of its next call", Check: "cancel/late-response", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the response to a call that was given up was taken for another's: the client had its next call complete before the server had answered it",
			Steps: func(s *tracetest.Story) {
				s.GivesUp("7")
				before := s.CaseID
				s.CaseID, s.Call = "cancel/next", 0
				s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: s.CaseID, Tool: "next"})
				s.Calls().CallEnds(harness.Completed)
				s.CaseID, s.Call = before, 1
				s.PassesBarrier()
			}},
		{Name: "it dies", Check: "cancel/late-response", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.Warn,
			Message: "the client gave up its call, was answered all the same, and did not go on: it exited with status 1",
			Steps:   func(s *tracetest.Story) { s.GivesUp("7").Ends(tracetest.Died) }},
		{Name: "it hangs over something else", Check: "cancel/late-response", CaseID: working, In: tracetest.InA, Dialects: tracetest.Native, Verdict: report.NotObserved,
			Message: "no answer came, and it is not settled that none would have: the session did not end in order: it was still running after 1m0s and was ended",
			Steps: func(s *tracetest.Story) {
				s.GivesUp("7")
				s.CaseID, s.Call = harness.BarrierID, 0
				s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				s.Calls().Ends(trace.Process{Deadline: true})
			}},
		{Name: "nothing can come", Check: "cancel/late-response", CaseID: working, In: tracetest.InB, Dialects: tracetest.Native, Verdict: report.NotApplicable,
			Message: "over HTTP the client closes the stream, and nothing can come after that", Steps: func(s *tracetest.Story) { s.Closes().PassesBarrier() }},
	})
}

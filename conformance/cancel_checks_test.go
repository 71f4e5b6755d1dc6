package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// thinks is the client's request of the model for what the params say, which the model does not answer yet.
func (s *story) thinks(p any) *story {
	s.models++
	s.add(s.caseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.models, Dialect: dialect.Native, Method: "POST", Path: "/native",
		Body: trace.Bytes(dialect.Marshal(p))}})
	return s
}

// thought is the end of the n-th request of the model.
func (s *story) thought(n int64, end trace.ModelEnd) *story {
	end.Exchange = n
	s.add(s.caseID, trace.Event{End: &end})
	return s
}

// whole is the end of a request of the model that was answered.
var whole = trace.ModelEnd{Status: 200}

// cancels is the server's cancel of a request, as its id is written; hostile for what names nothing that is running.
func (s *story) cancels(id string) *story {
	s.frame(s.caseID, trace.ToClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

// givesUp is the client's cancel of a request, as its id is written.
func (s *story) givesUp(id string) *story {
	s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

// closes is the end of the call's stream, which the client made.
func (s *story) closes() *story {
	f := &trace.Frame{Dir: trace.FromClient, Stream: "post-1", Closed: true}
	if !s.revision.Modern() {
		f.Session = sessionID
	}
	s.add(s.caseID, trace.Event{Call: s.call, Frame: f})
	return s
}

// asksTools is the client's request for the tools, with an id.
func (s *story) asksTools(id int) *story {
	s.frame("", trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{%s"cursor":"x"}}`, id, s.meta()))
	return s
}

// callEnds is what the client says of its call.
func (s *story) callEnds(outcome string) *story {
	s.add(s.caseID, trace.Event{Mark: &trace.Mark{Name: trace.MarkOutcome, Text: fmt.Sprintf(`{"mcp-conform":"outcome","tool":"x","outcome":%q}`, outcome)}})
	return s
}

// overAPipe has the story be one of stdio.
func (s *story) overAPipe() *story {
	s.trace.Header.Transport = trace.Stdio
	return s
}

var (
	pondering = asking("Take your time over this (ponder1well).")
	fish      = asking("Name a fish.")
	died      = trace.Process{ExitCode: 1}
)

// ofItsOwn is what a client may have hung up for that did it late.
const ofItsOwn = " that a limit of its own may have ended that: let it wait longer for the model, 10 seconds or more"

// itsOwnLimit is what is said of a client that has hung up when its own limit had passed.
const itsOwnLimit = "the client hung up on the model when the 1s had passed that it waits, so that nothing else need have ended that: " +
	"declare a longer limit (--client-timeout, conformance.ClientTimeout), of 10 seconds or more"

func TestCancelsOfTheServer(t *testing.T) {
	const inFlight, stops, silent = "in-flight", "cancel/stops-work", "cancel/no-answer"
	hold(t, catalogue, []telling{
		{name: "it hangs up", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Pass, message: "the client hung up on the model",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").thought(1, hungUp).asks(fish).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it hangs up at its own limit", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Unsupported, message: itsOwnLimit,
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(pondering).thinks(pondering).cancels("1001").later(time.Second).thought(1, hungUp).asks(fish).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it hangs up before its own limit", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Pass, message: "the client hung up on the model",
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(pondering).thinks(pondering).cancels("1001").later(time.Second/2).thought(1, hungUp).asks(fish).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it hangs up long after it went on", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Unsupported,
			message: "the client hung up on the model so long after the cancel" + ofItsOwn,
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").asks(fish).answers(saying("A herring.")).later(5*time.Second/4).thought(1, hungUp).passesBarrier()
			}},
		{name: "it hangs up long after it went on, as slowly as it does everything", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Pass, message: "the client hung up on the model",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").asks(fish).later(time.Second/2).answers(saying("A herring.")).later(time.Second).thought(1, hungUp).passesBarrier()
			}},
		{name: "it hangs up long after, and did nothing before", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Unsupported,
			message: "the client hung up on the model so long after the cancel" + ofItsOwn,
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").asks(fish).later(time.Second).thought(1, hungUp).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it waits for the model", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Warn,
			message: "the request was cancelled while the model thought about it, and the model's answer was waited for all the same",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").asks(fish).thinks(fish).thought(1, whole).thought(2, whole).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it has not read so far", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.NotObserved,
			message: "the client did nothing that shows it to have seen the cancel by the time the model answered",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).cancels("1001").asks(fish).thought(1, whole).answers(saying("A herring.")).passesBarrier()
			}},
		{name: "it asks the model after all", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.Warn,
			message: "the model was asked after the request had been cancelled",
			tell:    func(s *story) { s.asks(pondering).cancels("1001").thinks(pondering).thought(1, whole).passesBarrier() }},
		{name: "it dies, which hangs up, too", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.NotObserved,
			message: "no answer came, and it is not settled that none would have: the session did not end in order: it exited with status 1",
			tell:    func(s *story) { s.asks(pondering).thinks(pondering).cancels("1001").thought(1, hungUp).ends(died) }},
		{name: "it answers before that", check: stops, caseID: inFlight, in: inA, dialects: native, verdict: report.NotObserved,
			message: `the request was over before it could be cancelled: request 1 was answered by the error "no" (code -1)`,
			tell:    func(s *story) { s.asks(pondering).refuses(-1, "no").passesBarrier() }},
		{name: "the cancel crosses the answer", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.NotObserved,
			message: "the request was answered before it was cancelled",
			tell:    func(s *story) { s.asks(pondering).answers(saying("So.")).cancels("1001").passesBarrier() }},
		{name: "nothing comes", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.Pass, message: "no response came",
			tell: func(s *story) { s.asks(pondering).cancels("1001").passesBarrier() }},
		{name: "an error comes", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.Warn,
			message: "the request was cancelled while the model thought about it, and an error came for it",
			tell:    func(s *story) { s.asks(pondering).cancels("1001").refuses(0, "cancelled").passesBarrier() }},
		{name: "a result comes", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.Warn,
			message: "the request was cancelled while the model thought about it, and a result came for it",
			tell:    func(s *story) { s.asks(pondering).cancels("1001").answers(saying("So.")).passesBarrier() }},
		{name: "a result comes behind the end of the call", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.Warn,
			message: "the request was cancelled while the model thought about it, and a response came for it when the call was over",
			tell: func(s *story) {
				s.asks(pondering).cancels("1001").passesBarrier()
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1001,"result":`+saying("So.")+`}`)
			}},
		{name: "nobody was left to see it", check: silent, caseID: inFlight, in: inA, dialects: native, verdict: report.Unsupported,
			message: "no answer came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, " +
				"and answers the last one's sample: no later sample was answered, so that it may only not have come yet",
			tell: func(s *story) { s.asks(pondering).cancels("1001") }},
	})
}

func TestCancelsThatNameNothingThatIsRunning(t *testing.T) {
	const unknown, silent = "cancel/unknown-id", "cancel/cancel-not-answered"
	control := func(s *story) *story {
		return s.asks(asking("Name a bird.")).answers(saying("A robin.")).asks(pondering).cancels(`"nobody"`).onPurpose().asks(fish)
	}
	hold(t, catalogue, []telling{
		{name: "it is ignored", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Pass, message: "the cancel was ignored, and the client went on",
			tell: func(s *story) {
				control(s).answers(saying("A herring.")).responds("1002", `"result":`+saying("So.")).passesBarrier()
			}},
		{name: "what was running ends with an error", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: `a cancel of something else ended a request that was running: request 2 was answered by the error "cancelled" (code 0)`,
			tell: func(s *story) {
				control(s).answers(saying("A herring.")).responds("1002", `"error":{"code":0,"message":"cancelled"}`).passesBarrier()
			}},
		{name: "what was running ends with an error at the client's own limit", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Unsupported, message: itsOwnLimit,
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(asking("Name a bird.")).answers(saying("A robin.")).asks(pondering).thinks(pondering).cancels(`"nobody"`).onPurpose().asks(fish)
				s.answers(saying("A herring.")).later(time.Second).thought(1, hungUp).responds("1002", `"error":{"code":-32603,"message":"too slow"}`).passesBarrier()
			}},
		{name: "what was running ends at the second cancel", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: `a cancel of something else ended a request that was running: request 4 was answered by the error "cancelled" (code 0)`,
			tell: func(s *story) {
				control(s).answers(saying("A herring.")).responds("1002", `"result":`+saying("So."))
				s.asks(pondering).cancels("4711").onPurpose().asks(fish).answers(saying("A herring.")).responds("1004", `"error":{"code":0,"message":"cancelled"}`).passesBarrier()
			}},
		{name: "what was running is not answered", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: "a cancel of something else ended a request that was running: no answer came for request 2",
			tell:    func(s *story) { control(s).answers(saying("A herring.")).passesBarrier() }},
		{name: "what comes next is refused", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: `a request that came after a cancel of something else was not answered: request 3 was answered by the error "cancelled" (code 0)`,
			tell:    func(s *story) { control(s).refuses(0, "cancelled").passesBarrier() }},
		{name: "it dies", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: "a request that came after a cancel of something else was not answered: no answer came for request 3; it exited with status 1",
			tell:    func(s *story) { control(s).ends(died) }},
		{name: "it dies a little later", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Warn,
			message: "the client did not go on after a cancel that names nothing that is running: it exited with status 1",
			tell: func(s *story) {
				control(s).answers(saying("A herring.")).responds("1002", `"result":`+saying("So.")).ends(died)
			}},
		{name: "the client refuses everything", check: unknown, caseID: "unknown-request", in: inA, dialects: native, verdict: report.NotObserved,
			message: `sampling request 1 was not answered with a result: request 1 was answered by the error "no" (code -1)`,
			tell:    func(s *story) { s.asks(asking("Name a bird.")).refuses(-1, "no").passesBarrier() }},
		{name: "nobody answers it", check: silent, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Pass, message: "no response came",
			tell: func(s *story) { control(s).answers(saying("A herring.")).passesBarrier() }},
		{name: "an error answers it", check: silent, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Fail,
			message: "a notification is not answered, and a response came for a cancel",
			tell: func(s *story) {
				control(s)
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"nobody","error":{"code":-32602,"message":"unknown"}}`)
				s.passesBarrier()
			}},
		{name: "an error without an id answers it", check: silent, caseID: "unknown-request", in: inA, dialects: native, verdict: report.Fail,
			message: "a notification is not answered, and a response came for a cancel",
			tell: func(s *story) {
				control(s)
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`)
				s.passesBarrier()
			}},
		{name: "what was answered is answered again", check: silent, caseID: "finished-request", in: inA, dialects: native, verdict: report.Fail,
			message: "a notification is not answered, and a response came for a cancel",
			tell: func(s *story) {
				s.asks(asking("Name a bird.")).answers(saying("A robin.")).asks(pondering).cancels("1001").onPurpose().responds("1001", `"error":{"code":0,"message":"cancelled"}`).passesBarrier()
			}},
	})
}

func TestCancelsThatCrossTheAnswer(t *testing.T) {
	const check = "cancel/race"
	first := func(s *story) *story {
		return s.asks(asking("Are you still there?")).answers(saying("I am.")).asks(asking("Name a bird.")).cancels("1002")
	}
	rest := func(s *story, bird string) *story {
		return s.asks(fish).answers(saying(bird)).asks(pondering).cancels("1004").asks(asking("Name a tree.")).answers(saying("An oak."))
	}
	hold(t, catalogue, []telling{
		{name: "it does no harm", check: check, caseID: "crossing", in: inA, dialects: native, verdict: report.Pass,
			message: "whatever became of the requests that were cancelled, those after them were answered",
			tell:    func(s *story) { rest(first(s), "A herring. I like those.").passesBarrier() }},
		{name: "the answer had gone", check: check, caseID: "crossing", in: inA, dialects: native, verdict: report.Pass,
			message: "whatever became of the requests that were cancelled, those after them were answered",
			tell: func(s *story) {
				rest(first(s).responds("1002", `"result":`+saying("A robin.")), "A herring.").passesBarrier()
			}},
		{name: "it is answered twice", check: check, caseID: "crossing", in: inA, dialects: native, verdict: report.Fail, message: "a request that was cancelled was answered twice",
			tell: func(s *story) {
				rest(first(s).responds("1002", `"result":`+saying("A robin.")).responds("1002", `"error":{"code":0,"message":"cancelled"}`), "A herring.").passesBarrier()
			}},
		{name: "the next gets its answer", check: check, caseID: "crossing", in: inA, dialects: native, verdict: report.Fail,
			message: `the answer is that of another request, which was cancelled: it says "A robin."`,
			tell:    func(s *story) { rest(first(s), "A robin.").passesBarrier() }},
		{name: "the next is refused", check: check, caseID: "crossing", in: inA, dialects: native, verdict: report.Fail,
			message: `a request that came after a cancel of another one was not answered: request 3 was answered by the error "cancelled" (code 0)`,
			tell:    func(s *story) { first(s).asks(fish).refuses(0, "cancelled").passesBarrier() }},
	})
}

func TestCallsThatTheClientGivesUp(t *testing.T) {
	const sampling, working = "call-while-sampling", "call-while-working"
	notHeeded := "the client did not give up its call: it takes a driver that heeds giveUp (MCP_CONFORMANCE_CONTEXT, Env.GiveUp), calls such a tool " +
		"with a progress token, and cancels the call as soon as a progress notification comes or the model begins to answer"
	hold(t, catalogue, []telling{
		{name: "it says so", check: "cancel/caller-cancels", caseID: sampling, in: inA, dialects: native, verdict: report.Pass, message: "the client cancelled its call",
			tell: func(s *story) { s.asks(pondering).thinks(pondering).givesUp("7").thought(1, hungUp).passesBarrier() }},
		{name: "it hangs up, and says nothing", check: "cancel/caller-cancels", caseID: sampling, in: inA, dialects: native, verdict: report.Warn,
			message: "the client gave up its call, and no notifications/cancelled named it",
			tell:    func(s *story) { s.asks(pondering).closes().passesBarrier() }},
		{name: "it tells only us", check: "cancel/caller-cancels", caseID: sampling, in: inA, dialects: native, verdict: report.Warn,
			message: "the client gave up its call, and no notifications/cancelled named it",
			tell:    func(s *story) { s.asks(pondering).callEnds(harness.GaveUp).passesBarrier() }},
		{name: "its driver gives nothing up", check: "cancel/caller-cancels", caseID: sampling, in: inA, dialects: native, verdict: report.Unsupported, message: notHeeded,
			tell: func(s *story) { s.asks(fish).answers(saying("A herring.")).callEnds(harness.Completed).passesBarrier() }},
		{name: "its driver gives nothing up", check: "cancel/no-retry", caseID: sampling, in: inB, dialects: native, verdict: report.Unsupported, message: notHeeded,
			tell: func(s *story) { s.asks(fish).answers(saying("A herring.")).passesBarrier() }},
		{name: "the model goes on", check: "cancel/model-ends", caseID: sampling, dialects: native, verdict: report.Fail,
			message: "the call was given up, and the model's answer to what was asked for it was waited for all the same",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering)
				if !s.revision.Modern() {
					s.givesUp("7")
				}
				s.thought(1, whole).callEnds(harness.GaveUp).passesBarrier()
			}},
		{name: "the model goes on, and nobody could say", check: "cancel/model-ends", caseID: sampling, in: inA, dialects: native, verdict: report.Warn,
			message: "the call was given up, and the model's answer to what was asked for it was waited for all the same",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).givesUp("7").closes().thought(1, whole).passesBarrier()
			}},
		{name: "the model was quicker", check: "cancel/model-ends", caseID: sampling, in: inA, dialects: native, verdict: report.NotObserved,
			message: "the model had answered before the call was given up",
			tell:    func(s *story) { s.asks(pondering).thinks(pondering).thought(1, whole).givesUp("7").passesBarrier() }},
		{name: "the model ends long after", check: "cancel/model-ends", caseID: sampling, dialects: native, verdict: report.Unsupported,
			message: "the client hung up on the model so long after it was to give up its call" + ofItsOwn,
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering)
				if !s.revision.Modern() {
					s.givesUp("7")
				}
				s.callEnds(harness.GaveUp).later(2*time.Second).thought(1, hungUp).passesBarrier()
			}},
		{name: "the model ends long after, and so does the call", check: "cancel/model-ends", caseID: sampling, in: inB, dialects: native, verdict: report.Unsupported,
			message: "the client hung up on the model so long after it was to give up its call" + ofItsOwn,
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).later(2*time.Second).thought(1, hungUp).callEnds(harness.GaveUp).passesBarrier()
			}},
		{name: "the model ends at the client's own limit", check: "cancel/model-ends", caseID: sampling, dialects: native, verdict: report.Unsupported, message: itsOwnLimit,
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(pondering).thinks(pondering)
				if !s.revision.Modern() {
					s.givesUp("7")
				}
				s.later(time.Second).thought(1, hungUp).callEnds(harness.GaveUp).passesBarrier()
			}},
		{name: "its own limit is no giving up", check: "cancel/no-retry", caseID: sampling, in: inB, dialects: native, verdict: report.Unsupported, message: notHeeded,
			tell: func(s *story) {
				s.waitsFor(time.Second, true, 0).asks(pondering).thinks(pondering).later(time.Second).thought(1, hungUp).passesBarrier()
			}},
		{name: "the model ends", check: "cancel/model-ends", caseID: sampling, in: inB, dialects: native, verdict: report.Pass, message: "nothing was left of the request of the model",
			tell: func(s *story) { s.asks(pondering).thinks(pondering).thought(1, hungUp).passesBarrier() }},
		{name: "what is over is cancelled", check: "cancel/ended-call", caseID: sampling, in: inB, dialects: native, verdict: report.Fail,
			message: "the call had come back for input, which is its end, and was cancelled",
			tell:    func(s *story) { s.asks(pondering).thinks(pondering).givesUp("7").thought(1, hungUp).passesBarrier() }},
		{name: "what is over is let be", check: "cancel/ended-call", caseID: sampling, in: inB, dialects: native, verdict: report.Pass, message: "nothing was cancelled",
			tell: func(s *story) { s.asks(pondering).thinks(pondering).thought(1, hungUp).passesBarrier() }},
		{name: "it calls again", check: "cancel/no-retry", caseID: sampling, in: inB, dialects: native, verdict: report.Fail, message: "the call was given up, and made again",
			tell: func(s *story) {
				s.asks(pondering).thinks(pondering).thought(1, hungUp).callEnds(harness.GaveUp).answers(saying("So.")).passesBarrier()
			}},
		{name: "it does not call again", check: "cancel/no-retry", caseID: sampling, in: inB, dialects: native, verdict: report.Pass, message: "the call was not made again",
			tell: func(s *story) { s.asks(pondering).thinks(pondering).thought(1, hungUp).passesBarrier() }},
		{name: "over HTTP it closes the stream", check: "cancel/call-cancelled", caseID: working, in: inB, dialects: native, verdict: report.Pass, message: "the client closed the stream of its call",
			tell: func(s *story) { s.closes().passesBarrier() }},
		{name: "over HTTP it leaves the stream open", check: "cancel/call-cancelled", caseID: working, in: inB, dialects: native, verdict: report.Warn,
			message: "the client gave up its call and did not close the stream of it, so that the server goes on",
			tell:    func(s *story) { s.callEnds(harness.GaveUp).passesBarrier() }},
		{name: "over stdio it says so", check: "cancel/call-cancelled", caseID: working, in: inB, dialects: native, verdict: report.Pass, message: "the client cancelled its call",
			tell: func(s *story) { s.overAPipe().givesUp("7").passesBarrier() }},
		{name: "over stdio it says nothing", check: "cancel/call-cancelled", caseID: working, in: inB, dialects: native, verdict: report.Fail,
			message: "the client gave up its call, and no notifications/cancelled named it",
			tell:    func(s *story) { s.overAPipe().callEnds(harness.GaveUp).passesBarrier() }},
		{name: "it names its own", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Pass,
			message: "the client cancelled nothing but requests of its own", tell: func(s *story) { s.givesUp("7").passesBarrier() }},
		{name: "it names another", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Fail,
			message: "the client cancelled what is no request of its own", tell: func(s *story) { s.closes().givesUp(`"7"`).passesBarrier() }},
		{name: "it names its own, which comes later", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Pass,
			message: "the client cancelled nothing but requests of its own", tell: func(s *story) { s.givesUp("8").closes().asksTools(8).passesBarrier() }},
		{name: "it names its own, which comes later, over stdio", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Fail,
			message: "the client cancelled what is no request of its own", tell: func(s *story) { s.overAPipe().givesUp("7").givesUp("8").asksTools(8).passesBarrier() }},
		{name: "it names initialize", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Fail,
			message: "the client cancelled initialize", tell: func(s *story) {
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{}}`)
				s.closes().givesUp(`"init"`).passesBarrier()
			}},
		{name: "it asks to cancel", check: "cancel/names-own", caseID: working, in: inA, dialects: native, verdict: report.Fail,
			message: "the client cancelled with a message that has an id of its own, and is no notification", tell: func(s *story) {
				s.closes()
				s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"notifications/cancelled","params":{"requestId":7}}`)
				s.passesBarrier()
			}},
		{name: "it goes on", check: "cancel/late-response", caseID: working, in: inA, dialects: native, verdict: report.Pass, message: "the client went on",
			tell: func(s *story) { s.givesUp("7").passesBarrier() }},
		{name: "it takes the response for that of its next call", check: "cancel/late-response", caseID: working, in: inA, dialects: native, verdict: report.Warn,
			message: "the response to a call that was given up was taken for another's: the client had its next call complete before the server had answered it",
			tell: func(s *story) {
				s.givesUp("7")
				before := s.caseID
				s.caseID, s.call = "cancel/next", 0
				s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: s.caseID, Tool: "next"})
				s.calls().callEnds(harness.Completed)
				s.caseID, s.call = before, 1
				s.passesBarrier()
			}},
		{name: "it dies", check: "cancel/late-response", caseID: working, in: inA, dialects: native, verdict: report.Warn,
			message: "the client gave up its call, was answered all the same, and did not go on: it exited with status 1",
			tell:    func(s *story) { s.givesUp("7").ends(died) }},
		{name: "it hangs over something else", check: "cancel/late-response", caseID: working, in: inA, dialects: native, verdict: report.NotObserved,
			message: "no answer came, and it is not settled that none would have: the session did not end in order: it was still running after 1m0s and was ended",
			tell: func(s *story) {
				s.givesUp("7")
				s.caseID, s.call = harness.BarrierID, 0
				s.trace.Header.Cases = append(s.trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
				s.calls().ends(trace.Process{Deadline: true})
			}},
		{name: "nothing can come", check: "cancel/late-response", caseID: working, in: inB, dialects: native, verdict: report.NotApplicable,
			message: "over HTTP the client closes the stream, and nothing can come after that", tell: func(s *story) { s.closes().passesBarrier() }},
	})
}

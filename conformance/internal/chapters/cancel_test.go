package chapters_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/cancel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

var cancelCatalogue = check.Catalogue{cancel.Scenario, always.Scenario}

// cancelStory is a story about cancels. Its methods return it.
type cancelStory struct{ *tracetest.Story }

// asks is a sampling request: about a fish, a bird, a tree, or something that the model thinks about.
func (s cancelStory) asks(question string) cancelStory {
	ask := tracetest.Asking(question)
	if question == "think" {
		ask = tracetest.Pondering
	}
	s.Asks(ask)
	return s
}

// says is the result for the latest sampling request; responds is one for another.
func (s cancelStory) says(text string) cancelStory {
	s.Answers(tracetest.Saying(text))
	return s
}

func (s cancelStory) responds(id, text string) cancelStory {
	s.Responds(id, `"result":`+tracetest.Saying(text))
	return s
}

func (s cancelStory) fails(id string) cancelStory {
	s.Responds(id, `"error":{"code":0,"message":"cancelled"}`)
	return s
}

// thinks is a sampling request for which the client asks the model, which does not answer yet.
func (s cancelStory) thinks() cancelStory {
	s.asks("think").Thinks(tracetest.Pondering)
	return s
}

// ends is the end of the nth model request; hangsUp is that of the first, by the client.
func (s cancelStory) ends(n int64, end trace.ModelEnd) cancelStory {
	end.Exchange = n
	s.Add(s.CaseID, trace.Event{End: &end})
	return s
}

func (s cancelStory) hangsUp() cancelStory { return s.ends(1, tracetest.HungUp) }

// cancels is a cancel of the server; uselessly, of a request that does not run.
func (s cancelStory) cancels(id string) cancelStory {
	s.Frame(s.CaseID, trace.ToClient, 0,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	return s
}

func (s cancelStory) cancelsUselessly(id string) cancelStory {
	s.cancels(id).OnPurpose()
	return s
}

func (s cancelStory) later(d time.Duration) cancelStory {
	s.Later(d)
	return s
}

// limited declares that the client waits a second for the model.
func (s cancelStory) limited() cancelStory {
	s.WaitsFor(time.Second, true, 0)
	return s
}

// abandons is a client that cancels the call with the id.
func (s cancelStory) abandons(id string) cancelStory {
	s.GivesUp(id)
	return s
}

// reports is a client that reports how its call ended.
func (s cancelStory) reports(outcome string) cancelStory {
	s.CallEnds(outcome)
	return s
}

func (s cancelStory) stdio() cancelStory {
	s.Trace.Header.Transport = trace.Stdio
	return s
}

// frame is a message of the client.
func (s cancelStory) frame(caseID, raw string) cancelStory {
	s.Frame(caseID, trace.FromClient, 0, raw)
	return s
}

// cancelRow is a story, and the verdict of a check on it. Every story passes the barrier unless it ends itself.
type cancelRow struct {
	check, name string
	verdict     report.Verdict
	message     string
	steps       func(cancelStory)
}

// withoutToken is the name of a story whose call has no progress token.
const withoutToken = "the call has no progress token"

func cancelRun(t *testing.T, caseID string, in []server.Revision, rows []cancelRow) {
	tests := make([]tracetest.Test, len(rows))
	for i, r := range rows {
		id := r.check
		if !strings.Contains(id, "/") {
			id = "cancel/" + id
		}
		tests[i] = tracetest.Test{Check: id, Name: r.name, CaseID: "cancel/" + caseID, In: in,
			Dialects: tracetest.Native, Verdict: r.verdict, Message: r.message, Steps: func(s *tracetest.Story) {
				if caseID == "call-while-sampling" && r.name != withoutToken {
					s.WithToken()
				}
				r.steps(cancelStory{s})
				if !s.Ended {
					s.PassesBarrier()
				}
			}}
	}
	tracetest.Run(t, cancelCatalogue, tests)
}

// atItsLimit is in the verdict for a client that hung up on the model when its own limit of a second had expired.
const atItsLimit = "1s"

func TestTheServerCancelsWhileTheModelThinks(t *testing.T) {
	whole := trace.ModelEnd{Status: 200}
	cancelRun(t, "in-flight", tracetest.InA, []cancelRow{
		{"stops-work", "the client hangs up", report.Pass, "", func(s cancelStory) {
			s.thinks().cancels("1001").hangsUp().asks("fish").says("A herring.")
		}},
		{"stops-work", "the client hangs up at its own limit", report.Unsupported, atItsLimit, func(s cancelStory) {
			s.limited().thinks().cancels("1001").later(time.Second).hangsUp().asks("fish").says("A herring.")
		}},
		{"stops-work", "the client hangs up before its own limit", report.Pass, "", func(s cancelStory) {
			s.limited().thinks().cancels("1001").later(time.Second / 2).hangsUp().asks("fish").says("A herring.")
		}},
		{"stops-work", "the client continues and hangs up late", report.Unsupported, "the cancel", func(s cancelStory) {
			s.thinks().cancels("1001").asks("fish").says("A herring.").later(5 * time.Second / 4).hangsUp()
		}},
		{"stops-work", "the client does everything slowly", report.Pass, "", func(s cancelStory) {
			s.thinks().cancels("1001").asks("fish").later(time.Second / 2).says("A herring.").later(time.Second).hangsUp()
		}},
		{"stops-work", "it hangs up late, and continues", report.Unsupported, "the cancel", func(s cancelStory) {
			s.thinks().cancels("1001").asks("fish").later(time.Second).hangsUp().says("A herring.")
		}},
		{"stops-work", "the client waits for the model", report.Warn, "that it waited", func(s cancelStory) {
			s.thinks().cancels("1001").asks("fish").Thinks(tracetest.Fish)
			s.ends(1, whole).ends(2, whole).says("A herring.")
		}},
		{"stops-work", "the client has not read the cancel", report.NotObserved, "no sign", func(s cancelStory) {
			s.thinks().cancels("1001").asks("fish").ends(1, whole).says("A herring.")
		}},
		{"stops-work", "the client asks the model after the cancel", report.Warn, "found one", func(s cancelStory) {
			s.asks("think").cancels("1001").Thinks(tracetest.Pondering)
			s.ends(1, whole)
		}},
		{"stops-work", "the client dies, and so hangs up", report.NotObserved, "status 1", func(s cancelStory) {
			s.thinks().cancels("1001").hangsUp().Ends(tracetest.Died)
		}},
		{"stops-work", "the client responds before the cancel", report.NotObserved, `"no" (code -1)`, func(s cancelStory) {
			s.asks("think").Refuses(-1, "no")
		}},
		{"no-answer", "the cancel crosses the response", report.NotObserved, "before the cancel", func(s cancelStory) {
			s.asks("think").says("So.").cancels("1001")
		}},
		{"no-answer", "no response", report.Pass, "", func(s cancelStory) { s.asks("think").cancels("1001") }},
		{"no-answer", "an error", report.Warn, "the error 0", func(s cancelStory) {
			s.asks("think").cancels("1001").fails("1001")
		}},
		{"no-answer", "a result", report.Warn, "a result", func(s cancelStory) {
			s.asks("think").cancels("1001").says("So.")
		}},
		{"no-answer", "a result after the end of the call", report.Warn, "after the call", func(s cancelStory) {
			s.asks("think").cancels("1001").PassesBarrier()
			s.frame("", `{"jsonrpc":"2.0","id":1001,"result":`+tracetest.Saying("So.")+`}`).Ends(trace.Process{})
		}},
		{"no-answer", "a session without a barrier", report.Unsupported, "", func(s cancelStory) {
			s.asks("think").cancels("1001").Ends(trace.Process{})
		}},
	})
}

func TestTheServerCancelsWhatDoesNotRun(t *testing.T) {
	beside := func(s cancelStory) cancelStory {
		return s.asks("bird").says("A robin.").asks("think").cancelsUselessly(`"nobody"`).asks("fish")
	}
	// refuses is a client that refuses the request after the nth cancel.
	refuses := func(s cancelStory, n int) {
		s.asks("bird").says("A robin.")
		for i := 1; i < n; i++ {
			s.asks("think").cancelsUselessly(`"nobody"`).asks("fish").says("A herring.").
				responds(fmt.Sprint(1000+2*i), "So.")
		}
		s.asks("think").cancelsUselessly(`"nobody"`).asks("fish").Refuses(-32000, "declined")
		s.responds(fmt.Sprint(1000+2*n), "So.")
	}
	cancelRun(t, "unknown-request", tracetest.InA, []cancelRow{
		{"unknown-id", "the ninth request is refused", report.Warn, "request 9", func(s cancelStory) { refuses(s, 4) }},
		{"unknown-id", "the eleventh is refused", report.Unsupported, "the 11th", func(s cancelStory) { refuses(s, 5) }},
		{"unknown-id", "both requests have results", report.Pass, "", func(s cancelStory) {
			beside(s).says("A herring.").responds("1002", "So.")
		}},
		{"unknown-id", "the running request fails", report.Warn, `"cancelled" (code 0)`, func(s cancelStory) {
			beside(s).says("A herring.").fails("1002")
		}},
		{"unknown-id", "the running request fails at a limit", report.Unsupported, atItsLimit, func(s cancelStory) {
			s.limited().asks("bird").says("A robin.").thinks().cancelsUselessly(`"nobody"`).
				asks("fish").says("A herring.").later(time.Second).hangsUp().fails("1002")
		}},
		{"unknown-id", "the second cancel ends the running request", report.Warn, "request 4", func(s cancelStory) {
			beside(s).says("A herring.").responds("1002", "So.").
				asks("think").cancelsUselessly("4711").asks("fish").says("A herring.").fails("1004")
		}},
		{"unknown-id", "the running request gets no response", report.Warn, "request 2", func(s cancelStory) {
			beside(s).says("A herring.")
		}},
		{"unknown-id", "the next request fails", report.Warn, "request 3", func(s cancelStory) { beside(s).fails("1003") }},
		{"unknown-id", "the next request is too many", report.NotApplicable, "another one is open", func(s cancelStory) {
			beside(s).Responds("1003", `"error":{"code":-32000,"message":"another request is in progress"}`)
			s.responds("1002", "So.")
		}},
		{"unknown-id", "the client dies", report.Warn, "status 1", func(s cancelStory) { beside(s).Ends(tracetest.Died) }},
		{"unknown-id", "the client dies later", report.Warn, "did not continue", func(s cancelStory) {
			beside(s).says("A herring.").responds("1002", "So.").Ends(tracetest.Died)
		}},
		{"unknown-id", "the client refuses everything", report.NotObserved, `"no" (code -1)`, func(s cancelStory) {
			s.asks("bird").Refuses(-1, "no")
		}},
		{"cancel-not-answered", "no response to the cancel", report.Pass, "", func(s cancelStory) {
			beside(s).says("A herring.")
		}},
		{"cancel-not-answered", "an error under the cancelled id", report.Fail, "the error -32602", func(s cancelStory) {
			beside(s).frame("", `{"jsonrpc":"2.0","id":"nobody","error":{"code":-32602,"message":"unknown"}}`)
		}},
		{"cancel-not-answered", "an error without an id", report.Fail, "the error -32600", func(s cancelStory) {
			beside(s).frame("", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`)
		}},
	})
	cancelRun(t, "finished-request", tracetest.InA, []cancelRow{
		{"cancel-not-answered", "a second response to the finished request", report.Fail, "the error 0", func(s cancelStory) {
			s.asks("bird").says("A robin.").asks("think").cancelsUselessly("1001").fails("1001")
		}},
	})
}

func TestACancelCrossesTheResponse(t *testing.T) {
	first := func(s cancelStory) cancelStory {
		return s.asks("Are you still there?").says("I am.").asks("Name a bird.").cancels("1002")
	}
	rest := func(s cancelStory, fish string) {
		s.asks("Name a fish.").says(fish).asks("think").cancels("1004").asks("Name a tree.").says("An oak.")
	}
	cancelRun(t, "crossing", tracetest.InA, []cancelRow{
		{"always/one-response", "a response to the cancelled request", report.Pass, "", func(s cancelStory) {
			rest(first(s).responds("1002", "A robin."), "A herring.")
		}},
		{"always/one-response", "two responses to the cancelled request", report.Fail, "", func(s cancelStory) {
			rest(first(s).responds("1002", "A robin.").fails("1002"), "A herring.")
		}},
		{"always/answered", "no responses to cancelled requests", report.Pass, "", func(s cancelStory) {
			rest(first(s), "A herring. I like those.")
		}},
		{"always/answered", "an error for the next request", report.Fail, "a refusal", func(s cancelStory) {
			first(s).asks("Name a fish.").fails("1003")
		}},
	})
}

func TestTheClientAbandonsItsCallWhileItSamples(t *testing.T) {
	whole := trace.ModelEnd{Status: 200}
	// thinking is the story up to the point at which the client abandons the call; only in A does a cancel show it.
	thinking := func(s cancelStory) cancelStory {
		if s.thinks(); !s.Revision.Modern() {
			s.abandons("7")
		}
		return s
	}
	const noDriver = "giveUp"
	const sampling = "call-while-sampling"
	cancelRun(t, sampling, tracetest.InA, []cancelRow{
		{"caller-cancels", "the client cancels", report.Pass, "", func(s cancelStory) { s.thinks().abandons("7").hangsUp() }},
		{"caller-cancels", "the client closes the stream", report.Warn, "found none", func(s cancelStory) {
			s.asks("think").Closes()
		}},
		{"caller-cancels", "the client only reports it", report.Warn, "found none", func(s cancelStory) {
			s.asks("think").reports(harness.Abandoned)
		}},
		{"caller-cancels", "the driver abandons nothing", report.Unsupported, noDriver, func(s cancelStory) {
			s.asks("fish").says("A herring.").reports(harness.Completed)
		}},
		{"model-ends", "the server could not cancel the request", report.Warn, "that it waited", func(s cancelStory) {
			s.thinks().abandons("7").Closes()
			s.ends(1, whole)
		}},
		{"model-ends", "the model answers first", report.NotObserved, "had answered", func(s cancelStory) {
			s.thinks().ends(1, whole).abandons("7")
		}},
	})
	cancelRun(t, sampling, tracetest.BothEras, []cancelRow{
		{"model-ends", "the client waits for the model", report.Fail, "that it waited", func(s cancelStory) {
			thinking(s).ends(1, whole).reports(harness.Abandoned)
		}},
		{"model-ends", withoutToken, report.Unsupported, "no progress token", func(s cancelStory) {
			thinking(s).ends(1, whole).reports(harness.Abandoned)
		}},
		{"model-ends", "the client hangs up late", report.Unsupported, "abandons its call", func(s cancelStory) {
			thinking(s).reports(harness.Abandoned).later(2 * time.Second).hangsUp()
		}},
		{"model-ends", "the client hangs up at its own limit", report.Unsupported, atItsLimit, func(s cancelStory) {
			thinking(s.limited()).later(time.Second).hangsUp().reports(harness.Abandoned)
		}},
	})
	cancelRun(t, sampling, tracetest.InB, []cancelRow{
		{"model-ends", "the client reports a late end", report.Unsupported, "abandons its call", func(s cancelStory) {
			s.thinks().later(2 * time.Second).hangsUp().reports(harness.Abandoned)
		}},
		{"model-ends", "the client hangs up", report.Pass, "", func(s cancelStory) { s.thinks().hangsUp() }},
		{"ended-call", "the client cancels", report.Fail, "found one", func(s cancelStory) {
			s.thinks().abandons("7").hangsUp()
		}},
		{"ended-call", "the client cancels nothing", report.Pass, "", func(s cancelStory) { s.thinks().hangsUp() }},
		{"no-retry", withoutToken, report.Unsupported, "no progress token", func(s cancelStory) {
			s.thinks().ends(1, whole).reports(harness.Abandoned).says("So.")
		}},
		{"no-retry", "the client retries the call", report.Fail, "found one", func(s cancelStory) {
			s.thinks().hangsUp().reports(harness.Abandoned).says("So.")
		}},
		{"no-retry", "the client does not retry the call", report.Pass, "", func(s cancelStory) { s.thinks().hangsUp() }},
		{"no-retry", "the driver abandons nothing", report.Unsupported, noDriver, func(s cancelStory) {
			s.asks("fish").says("A herring.")
		}},
		{"no-retry", "the client only reaches its own limit", report.Unsupported, noDriver, func(s cancelStory) {
			s.limited().thinks().later(time.Second).hangsUp()
		}},
	})
}

func TestTheClientAbandonsItsCallWhileTheServerWorks(t *testing.T) {
	const working = "call-while-working"
	cancelRun(t, working, tracetest.InB, []cancelRow{
		{"call-cancelled", "HTTP, the client closes the stream", report.Pass, "", func(s cancelStory) { s.Closes() }},
		{"call-cancelled", "HTTP, the stream stays open", report.Warn, "found it open", func(s cancelStory) {
			s.reports(harness.Abandoned)
		}},
		{"call-cancelled", "stdio, the client cancels", report.Pass, "", func(s cancelStory) { s.stdio().abandons("7") }},
		{"call-cancelled", "stdio, no cancel", report.Fail, "found none", func(s cancelStory) {
			s.stdio().reports(harness.Abandoned)
		}},
		{"late-response", "HTTP, where no response can come", report.NotApplicable, "", func(s cancelStory) { s.Closes() }},
		{"late-response", "stdio, the client takes a result that requires input for the last", report.Pass, "",
			func(s cancelStory) {
				s.stdio().abandons("7")
				before := s.CaseID
				cancelBegins(s, "cancel/next").Frame(s.CaseID, trace.ToClient, 0,
					`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s"}}`)
				s.reports(harness.Completed)
				s.CaseID, s.Call = before, 1
			}},
		{"late-response", "stdio, the response ends the client's next call", report.Warn, "next call", func(s cancelStory) {
			s.stdio().abandons("7")
			before := s.CaseID
			cancelBegins(s, "cancel/next").reports(harness.Completed)
			s.CaseID, s.Call = before, 1
		}},
	})
	cancelRun(t, working, tracetest.InA, []cancelRow{
		{"late-response", "the client continues", report.Pass, "", func(s cancelStory) { s.abandons("7") }},
		{"late-response", "the response ends the client's next call", report.Warn, "next call", func(s cancelStory) {
			s.abandons("7")
			before := s.CaseID
			cancelBegins(s, "cancel/next").reports(harness.Completed)
			s.CaseID, s.Call = before, 1
		}},
		{"late-response", "the client dies", report.Warn, "status 1", func(s cancelStory) {
			s.abandons("7").Ends(tracetest.Died)
		}},
		{"late-response", "the client hangs over something else", report.NotObserved, "still running", func(s cancelStory) {
			cancelBegins(s.abandons("7"), harness.BarrierID).Ends(trace.Process{Deadline: true})
		}},
	})
}

// cancelBegins calls the tool of another case.
func cancelBegins(s cancelStory, caseID string) cancelStory {
	s.CaseID, s.Call = caseID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: caseID, Tool: caseID})
	s.Calls()
	return s
}

package loop

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// continuing is a loop of n answered rounds. A non-nil function is what the client does about the next request.
func continuing(n int, then func(*tracetest.Story)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		ask := tracetest.Asking("How is the weather everywhere?", story.GetWeather)
		for range n {
			ask = lap(s, ask, useOf("Anywhere"), nil)
		}
		if then != nil {
			then(s.Asks(ask))
		}
	}
}

var (
	toTheEnd = continuing(mostRounds, nil)
	refusing = continuing(2, func(s *tracetest.Story) { s.Refuses(-32603, "too many rounds").PassesBarrier() })
	silent   = continuing(2, func(s *tracetest.Story) { s.PassesBarrier() })
	inText   = continuing(2, func(s *tracetest.Story) { s.Answers(tracetest.Saying("I give up.")) })
)

func TestTheLimitOfALoopIsReported(t *testing.T) {
	tracetest.RunCheck(t, catalogue, "loop/iteration-limit", "sixty-four-rounds", []tracetest.Test{
		{Name: "none", Dialects: tracetest.Native, Steps: toTheEnd, Verdict: report.Info, Message: "for all 64 rounds"},
		{Name: "an error", In: tracetest.InA, Steps: refusing, Verdict: report.Info,
			Message: `for 2 rounds: "too many rounds" (code -32603)`},
		{Name: "not fulfilled", In: tracetest.InB, Steps: silent, Verdict: report.Info,
			Message: "for 2 rounds: " + tracetest.NotFulfilled},
		{Name: "a text", Steps: inText, Verdict: report.Info,
			Message: `for 2 rounds: it answers with the text "I give up."`},
		{Name: "no response", In: tracetest.InA, Steps: silent, Verdict: report.NotObserved,
			Message: "no response to request 3"},
		{Name: "the server stops", Steps: continuing(2, nil), Verdict: report.NotObserved,
			Message: "did not send sampling request 3"},
	})
}

func TestAClientThatStopsALoopReturnsAnError(t *testing.T) {
	ends := func(p trace.Process) func(*tracetest.Story) {
		return continuing(2, func(s *tracetest.Story) { s.Ends(p) })
	}
	cancelling := func(id string, then func(*tracetest.Story)) func(*tracetest.Story) {
		return continuing(2, func(s *tracetest.Story) {
			then(s.GivesUp(id))
		})
	}
	hangs := func(s *tracetest.Story) { s.Ends(trace.Process{Deadline: true}) }
	const missing = "response to sampling request 3, found none: "
	tracetest.RunCheck(t, catalogue, "loop/stops-with-error", "sixty-four-rounds", []tracetest.Test{
		{Name: "it never stops", Dialects: tracetest.Native, Steps: toTheEnd, Verdict: report.Pass},
		{Name: "an error", In: tracetest.InA, Steps: refusing, Verdict: report.Pass},
		{Name: "not fulfilled", In: tracetest.InB, Steps: silent, Verdict: report.Pass},
		{Name: "a text", Steps: inText, Verdict: report.Pass},
		{Name: "it cancels its call", In: tracetest.InA, Verdict: report.Pass, Message: "for 2 rounds",
			Steps: cancelling("7", func(s *tracetest.Story) { s.PassesBarrier() })},
		{Name: "it cancels another call", In: tracetest.InA, Steps: cancelling("8", hangs), Verdict: report.Fail,
			Message: missing + "it was still running after 1m0s and was ended"},
		{Name: "no response", In: tracetest.InA, Steps: silent, Verdict: report.Fail,
			Message: missing + "it ended with success"},
		{Name: "it hangs", Steps: continuing(2, hangs), Verdict: report.Fail, Message: missing + "it was still running"},
		{Name: "it dies", In: tracetest.InB, Steps: ends(trace.Process{Panic: "stack overflow"}), Verdict: report.Fail,
			Message: missing + "it panicked: stack overflow"},
		{Name: "a response may still come", In: tracetest.InB, Steps: continuing(0, func(*tracetest.Story) {}),
			Verdict: report.Unsupported, Message: "no response came, but one could still have come"},
		{Name: "it refuses everything", In: tracetest.InA, Verdict: report.NotObserved,
			Message: `request 1: "no" (code -32603)`,
			Steps:   continuing(0, func(s *tracetest.Story) { s.Refuses(-32603, "no") })},
		{Name: "an unreadable result", Verdict: report.NotObserved, Message: tracetest.NoContent,
			Steps: continuing(2, func(s *tracetest.Story) { s.Answers(`{"role":"assistant","model":"m"}`) })},
		{Name: "the model has no answer", In: tracetest.InA, Verdict: report.NotObserved,
			Message: "had no answer for sampling request 1",
			Steps: continuing(0, func(s *tracetest.Story) {
				s.Prompt(`{}`, trace.ModelEnd{Status: 404, Miss: "no rule"}).Refuses(-32603, "no")
			})},
	})
}

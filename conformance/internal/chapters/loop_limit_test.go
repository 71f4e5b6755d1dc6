package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/loop"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// continuing is a loop of n answered rounds. A non-nil function is what the client does about the next request.
func continuing(n int, then func(*session)) func(*session) {
	return func(s *session) {
		ask := tracetest.Asking("How is the weather everywhere?", story.GetWeather)
		for range n {
			ask = lap(s, ask, useOf("Anywhere"))
		}
		if then != nil {
			then(s.Asks(ask))
		}
	}
}

var (
	toTheEnd     = continuing(loop.MostRounds, nil)
	loopRefusing = continuing(2, func(s *session) { s.Refuses(-32603, "too many rounds").PassesBarrier() })
	loopSilent   = continuing(2, func(s *session) { s.PassesBarrier() })
	inText       = continuing(2, func(s *session) { s.Answers(tracetest.Saying("I give up.")) })
)

func TestTheLimitOfALoopIsReported(t *testing.T) {
	loopJudges(t, "iteration-limit", "sixty-four-rounds",
		native(informs("none", toTheEnd, "for all 64 rounds")),
		legacy(informs("an error", loopRefusing, `for 2 rounds: "too many rounds" (code -32603)`)),
		modern(informs("not fulfilled", loopSilent, "for 2 rounds: "+tracetest.NotFulfilled)),
		informs("a text", inText, `for 2 rounds: it answers with the text "I give up."`),
		legacy(unobserved("no response", loopSilent, "no response to request 3")),
		unobserved("the server stops", continuing(2, nil), "did not send sampling request 3"),
	)
}

func TestAClientThatStopsALoopReturnsAnError(t *testing.T) {
	ends := func(p trace.Process) func(*session) {
		return continuing(2, func(s *session) { s.Ends(p) })
	}
	cancelling := func(id string, then func(*session)) func(*session) {
		return continuing(2, func(s *session) {
			then(s.GivesUp(id))
		})
	}
	hangs := func(s *session) { s.Ends(trace.Process{Deadline: true}) }
	const missing = "response to sampling request 3, found none: "
	loopJudges(t, "stops-with-error", "sixty-four-rounds",
		native(passes("it never stops", toTheEnd)),
		legacy(passes("an error", loopRefusing)),
		modern(passes("not fulfilled", loopSilent)),
		passes("a text", inText),
		legacy(passes("it cancels its call",
			cancelling("7", func(s *session) { s.PassesBarrier() }), "for 2 rounds")),
		legacy(fails("it cancels another call",
			cancelling("8", hangs), missing+"it was still running after 1m0s and was ended")),
		legacy(fails("no response", loopSilent, missing+"it ended with success")),
		fails("it hangs", continuing(2, hangs), missing+"it was still running"),
		modern(fails("it dies", ends(trace.Process{Panic: "stack overflow"}), missing+"it panicked: stack overflow")),
		modern(unsupported("a response may still come",
			continuing(0, func(*session) {}), "no response came, but one could still have come")),
		legacy(unobserved("it refuses everything",
			continuing(0, func(s *session) { s.Refuses(-32603, "no") }), `request 1: "no" (code -32603)`)),
		unobserved("an unreadable result",
			continuing(2, func(s *session) { s.Answers(`{"role":"assistant","model":"m"}`) }), tracetest.NoContent),
		legacy(unobserved("the model has no answer", continuing(0, func(s *session) {
			s.Prompt(`{}`, trace.ModelEnd{Status: 404, Unmatched: "no rule"}).Refuses(-32603, "no")
		}), "had no answer for sampling request 1")),
	)
}

package chapters_test

import (
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/timing"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var timingCatalogue = check.Catalogue{timing.Scenario, always.Scenario}

// stallStory is a story about a model that keeps the client waiting. Its methods return it.
type stallStory struct{ *session }

// waits is a client that waits a second for the model, which is slow for so long.
func waits(s *session, declared bool, patience time.Duration) stallStory {
	s.WaitsFor(time.Second, declared, patience).Asks(tracetest.Asking("How was Rome built?"))
	return stallStory{s}
}

// prompts is a model request, and its end; hangsUp is one that the client ends.
func (s stallStory) prompts(end trace.ModelEnd) stallStory {
	body := any(tracetest.Asking("How was Rome built?"))
	if s.Dialect != dialect.Native {
		body = tracetest.AsChat(tracetest.Asking("How was Rome built?"))
	}
	s.Prompt(string(jsonvalue.Marshal(body)), end)
	return s
}

func (s stallStory) hangsUp() stallStory { return s.prompts(tracetest.HungUp) }

// retries is a model request every second, each of which the client ends.
func (s stallStory) retries(times int) stallStory {
	for range times {
		s.Later(time.Second)
		s.hangsUp()
	}
	return s
}

// hangsUpAfter is a model request that the client ends after a piece of the answer.
func (s stallStory) hangsUpAfter(piece string) stallStory {
	s.Thinks(tracetest.Asking("How was Rome built?"))
	s.Add(s.CaseID, trace.Event{Chunk: &trace.ModelChunk{Exchange: s.Models, Data: trace.Bytes(piece)}})
	end := tracetest.HungUp
	end.Exchange = s.Models
	s.Add(s.CaseID, trace.Event{End: &end})
	return s
}

// hungUpIn adds a request to the model in another case, on which the client hung up after a time.
func hungUpIn(s *session, caseID string, after time.Duration) {
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: caseID, Tool: caseID})
	s.Models++
	s.Add(caseID, trace.Event{Request: &trace.ModelRequest{Exchange: s.Models, Dialect: dialect.Native, Method: "POST",
		Path: "/native", Body: jsonvalue.Marshal(tracetest.Asking("How was Rome built?"))}})
	s.Later(after)
	end := tracetest.HungUp
	end.Exchange = s.Models
	s.Add(caseID, trace.Event{End: &end})
}

func (s stallStory) refuses() stallStory {
	s.Refuses(-32603, "no answer")
	return s
}

func TestAStalledModelTimesOut(t *testing.T) {
	inTime, killed := trace.ModelEnd{Status: 200, Stream: true}, trace.Process{Signal: "killed"}
	const limit = 7 * time.Second
	whole, both := tracetest.Saying(timing.Answer), tracetest.BothEras
	cases := map[string]string{
		"model-stalls": "stall-headers", "stream-stalls": "stall-midstream", "total-limit": "drip", "model-slow": "slow",
	}
	var tests []tracetest.Test
	for _, test := range []struct {
		check, name string
		in          []server.Revision
		verdict     report.Verdict
		message     string
		steps       func(*session)
	}{
		{"model-stalls", "an error", tracetest.InA, report.Pass, "returned an error", func(s *session) {
			waits(s, true, limit).hangsUp().refuses().PassesBarrier()
		}},
		{"stream-stalls", "no retry of the call", tracetest.InB, report.Pass, "did not fulfil", func(s *session) {
			waits(s, true, limit).hangsUp().PassesBarrier()
		}},
		{"model-stalls", "the whole answer, too late", both, report.Fail, "after 1s, found it waiting after 7s",
			func(s *session) { waits(s, true, limit).prompts(inTime).Answers(whole).PassesBarrier() }},
		{"model-stalls", "the whole answer of a client without a declared limit", both, report.Unsupported, "after 5s",
			func(s *session) {
				waits(s, false, 5*time.Second).prompts(inTime).Answers(whole).PassesBarrier()
			}},
		{"model-stalls", "the whole answer of a client that keeps the limit with tools", both, report.Fail,
			"time out after 1s, as in time/stall-headers-with-tools, found it waiting after 5s", func(s *session) {
				waits(s, false, 5*time.Second).prompts(inTime).Answers(whole).PassesBarrier()
				hungUpIn(s, "time/stall-headers-with-tools", time.Second)
			}},
		{"model-stalls", "one that hung up with tools before the limit", both, report.NotObserved, "never called the tool",
			func(s *session) {
				waits(s, false, 5*time.Second).prompts(inTime).Answers(whole).PassesBarrier()
				hungUpIn(s, "time/stall-headers-with-tools", time.Second/4)
			}},
		{"model-stalls", "one that was killed with tools", both, report.NotObserved, "never called the tool",
			func(s *session) {
				waits(s, false, 5*time.Second).prompts(inTime).Answers(whole).PassesBarrier()
				hungUpIn(s, "time/stall-headers-with-tools", 5*time.Second)
			}},
		{"model-stalls", "one that keeps it in another story", both, report.Unsupported, "after 5s", func(s *session) {
			waits(s, false, 5*time.Second).prompts(inTime).Answers(whole).PassesBarrier()
			hungUpIn(s, "time/drip-with-tools", time.Second)
		}},
		{"model-stalls", "the whole answer after longer than anybody waits", both, report.Fail, "after 15m0s",
			func(s *session) {
				waits(s, false, 15*time.Minute).prompts(inTime).Answers(whole).PassesBarrier()
			}},
		{"model-stalls", "an error after the whole answer", tracetest.InA, report.Fail, "waiting after 7s",
			func(s *session) { waits(s, true, limit).prompts(inTime).refuses().PassesBarrier() }},
		{"model-stalls", "no response after the whole answer", tracetest.InB, report.Fail, "waiting after 7s",
			func(s *session) { waits(s, true, limit).prompts(inTime).PassesBarrier() }},
		{"total-limit", "a client that is killed while it waits", both, report.Fail, "waiting after 7s",
			func(s *session) {
				waits(s, true, limit).prompts(trace.ModelEnd{Closed: true}).Ends(trace.Process{Deadline: true})
			}},
		{"total-limit", "a client that times out and hangs", tracetest.InA, report.Fail, "no response",
			func(s *session) { waits(s, true, limit).hangsUp().Ends(trace.Process{Deadline: true}) }},
		{"stream-stalls", "a part of the answer", both, report.Fail, "as if it were the whole", func(s *session) {
			waits(s, true, limit).hangsUpAfter("Stone by").Answers(tracetest.Saying("Stone by")).PassesBarrier()
		}},
		{"stream-stalls", "a part with its own stop reason", both, report.Warn, `"timeout"`, func(s *session) {
			part := tracetest.With(tracetest.Saying("Stone by"), "stopReason", `"timeout"`)
			waits(s, true, limit).hangsUpAfter("Stone by").Answers(part).PassesBarrier()
		}},
		{"model-stalls", "an answer that the client made up", both, report.Fail, "made up", func(s *session) {
			waits(s, true, limit).hangsUp().Answers(tracetest.Saying("Well.")).PassesBarrier()
		}},
		{"model-stalls", "an error after two retries", tracetest.InA, report.Pass, "", func(s *session) {
			waits(s, true, limit).hangsUp().retries(2).refuses().PassesBarrier()
		}},
		{"model-stalls", "retries beyond the limit", both, report.Fail, "retries after 7s", func(s *session) {
			waits(s, true, limit).hangsUp().retries(7).refuses().PassesBarrier()
		}},
		{"model-stalls", "retries without an end", both, report.Fail, "without an end", func(s *session) {
			waits(s, false, limit).hangsUp().retries(9).Ends(trace.Process{Deadline: true})
		}},
		{"model-stalls", "a client that hangs over something later", both, report.NotObserved, "still running",
			func(s *session) {
				waits(s, true, limit).hangsUp().PassesBarrier().Ends(trace.Process{Deadline: true})
			}},
		{"model-stalls", "a client that dies", both, report.NotObserved, "killed", func(s *session) {
			waits(s, true, limit).hangsUp().Ends(killed)
		}},
		{"model-stalls", "no response", tracetest.InA, report.Fail, "no response", func(s *session) {
			waits(s, true, limit).hangsUp().PassesBarrier()
		}},
		{"model-stalls", "a client that cancels its call", tracetest.InA, report.Unsupported, "abandoned",
			func(s *session) { waits(s, true, limit).hangsUp().GivesUp("7").PassesBarrier() }},
		{"model-stalls", "a client that does not ask the model", both, report.NotObserved, "", func(s *session) {
			waits(s, true, limit).refuses().PassesBarrier()
		}},

		{"model-slow", "the whole answer", both, report.Pass, "", func(s *session) {
			waits(s, true, 0).prompts(inTime).Answers(whole).PassesBarrier()
		}},
		{"model-slow", "a part of the answer", both, report.Fail, "a part of it", func(s *session) {
			waits(s, true, 0).hangsUpAfter("Stone by").Answers(tracetest.Saying("Stone by")).PassesBarrier()
		}},
		{"model-slow", "an early timeout", both, report.Fail, "wait 1s", func(s *session) {
			waits(s, true, 0).hangsUp().refuses().PassesBarrier()
		}},
		{"model-slow", "a timeout at the limit, on a busy machine", both, report.Unsupported, "too busy",
			func(s *session) {
				story := waits(s, true, 0)
				s.Later(2 * time.Second)
				story.hangsUp().refuses().PassesBarrier()
			}},
		{"model-slow", "an early timeout without a declared limit", both, report.Unsupported, "below the 1s",
			func(s *session) { waits(s, false, 0).hangsUp().refuses().PassesBarrier() }},
		{"model-slow", "an error after the whole", tracetest.InA, report.Fail, "code -32603", func(s *session) {
			waits(s, true, 0).prompts(inTime).refuses().PassesBarrier()
		}},
		{"model-slow", "a client that dies", both, report.NotObserved, "killed", func(s *session) {
			waits(s, true, 0).hangsUp().Ends(killed)
		}},
	} {
		tests = append(tests, tracetest.Test{Check: "time/" + test.check, Name: test.name, CaseID: cases[test.check],
			In: test.in, Verdict: test.verdict, Message: test.message, Steps: test.steps})
	}
	tracetest.Run(t, timingCatalogue, tests)
}

package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/timing"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// progressStory is a story about progress. Its methods return it.
type progressStory struct{ *session }

// asks is a sampling request with a progress token, "" for none; answers is its result.
func (s progressStory) asks(token string) progressStory {
	ask := any(tracetest.Asking("How is it going?"))
	if token != "" {
		ask = timing.WithToken(ask, token)
	}
	s.Asks(ask)
	return s
}

func (s progressStory) answers() progressStory {
	s.Answers(tracetest.Saying("Well."))
	return s
}

// reports is a progress notification for each of the values; token "" is none.
func (s progressStory) reports(token string, values ...string) progressStory {
	if token != "" {
		token = `"progressToken":` + token + `,`
	}
	for _, value := range values {
		s.Frame("", trace.FromClient, 0,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{`+token+`"progress":`+value+`}}`)
	}
	return s
}

func TestProgressOfASamplingRequest(t *testing.T) {
	const token, ends = "always/progress-tokens", "time/progress-ends"
	// during returns steps that report progress of the first of three requests.
	during := func(values ...string) func(progressStory) {
		return func(s progressStory) {
			s.asks(`"t"`).reports(`"t"`, values...).answers().asks("").answers().asks("").answers().PassesBarrier()
		}
	}
	var tests []tracetest.Test
	add := func(check, name string, v report.Verdict, message string, steps func(progressStory)) {
		tests = append(tests, tracetest.Test{Check: check, Name: name, CaseID: "time/progress", In: tracetest.InA, Verdict: v,
			Message: message, Steps: func(s *session) { steps(progressStory{s}) }})
	}
	for _, check := range []string{token, ends} {
		add(check, "no notification", report.NotApplicable, "no progress", during())
		add(check, "rising progress", report.Pass, "", during("0.5", "1e0", "2"))
	}
	add(token, "the id of the request", report.Fail, "found 1001", func(s progressStory) {
		s.asks(`"t"`).reports("1001", "1").answers().PassesBarrier()
	})
	add(token, "no token", report.Fail, "", func(s progressStory) {
		s.reports("", "1").asks("").answers().PassesBarrier()
	})
	add(token, "a number as a string", report.Fail, `found "7"`, func(s progressStory) {
		s.asks("7").reports(`"7"`, "1").answers().PassesBarrier()
	})
	add(token, "a token before its request", report.Fail, "found 7", func(s progressStory) {
		s.reports("7", "1").asks("7").answers().PassesBarrier()
	})
	add(ends, "a notification that the response overtakes", report.Pass, "", func(s progressStory) {
		s.asks("7").answers().reports("7", "1").asks("").reports("7", "2").answers().PassesBarrier()
	})
	add(ends, "a notification long after the response", report.Fail, "after its response", func(s progressStory) {
		s.asks(`"t"`).answers().asks("").answers().asks("").reports(`"t"`, "3").answers().PassesBarrier()
	})
	add(ends, "a session without a barrier", report.Unsupported, "", func(s progressStory) {
		s.asks("7").reports("7", "1").answers()
	})
	tracetest.Run(t, timingCatalogue, tests)
}

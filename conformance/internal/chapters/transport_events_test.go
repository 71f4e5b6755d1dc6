package chapters_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/transport"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestEventsAreReadInEveryStyle(t *testing.T) {
	const question, garbled = "Is it whole: " + transport.Foreign + "?", "Is it whole: Gr??e?"
	asks := func(s *session) { s.Asks(tracetest.Asking(question)) }
	prompts := func(text string) step { return func(s *session) { s.Prompts(tracetest.Asking(text)) } }
	answers := func(s *session) { s.Answers(tracetest.Saying(story.Said)) }
	whole, unread := inOrder(asks, prompts(question), answers), asks
	changed := inOrder(asks, prompts(garbled), answers)
	const second = "stream with CRLF, comments, events without data"
	transportRun(t, "events", tracetest.InB, []transportTest{
		{"sse-details", "all of them", report.Pass, "single bytes", []step{whole, whole, whole, barrier}},
		{"sse-details", "one is not read", report.Fail, second, []step{whole, unread, whole, barrier}},
		{"sse-details", "one is changed", report.Fail, second, []step{whole, changed, whole, barrier}},
		{"sse-details", "the client changes every question", report.Pass, "single bytes",
			[]step{changed, changed, changed, barrier}},
		{"sse-details", "two rounds", report.NotObserved, "stream with a message on several data lines",
			[]step{whole, whole, barrier}},
		{"sse-details", "no response to anything", report.NotObserved, "basic/answered", []step{asks}},
	})
	// In the first era all styles are on one stream, so that an event can end another one late.
	first := func(s *session) { s.Responds("1002", `"result":`+tracetest.Saying(story.Said)) }
	six := inOrder(whole, whole, whole, whole, whole, whole)
	later := inOrder(whole, asks, asks, prompts(question), first, prompts(question), answers, whole, whole, whole, whole,
		whole)
	slow := inOrder(asks, asks, asks, asks, asks, asks, asks, asks)
	for i := range 8 {
		slow = inOrder(slow, prompts(question), transportResult(fmt.Sprint(1001+i)))
	}
	transportRun(t, "events", tracetest.InA, []transportTest{
		{"sse-details", "all of them in turn", report.Pass, "single bytes", []step{whole, whole, six, barrier}},
		{"sse-details", "CRLF is read with the next event", report.Fail, "CRLF, found it after the next event",
			[]step{later, barrier}},
		{"sse-details", "the client is slow in every style", report.Pass, "single bytes", []step{slow, barrier}},
	})
	transportRun(t, "rare-events", tracetest.InB, []transportTest{
		{"sse-rare", "a byte order mark", report.Warn, "a byte order mark", []step{whole, unread, barrier}},
	})
	transportRun(t, "rare-events", tracetest.InA, []transportTest{
		{"sse-rare", "CR alone", report.Warn, "CR alone", []step{whole, whole, unread, barrier}},
	})
}

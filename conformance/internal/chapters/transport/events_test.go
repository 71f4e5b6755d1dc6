package transport

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// styledQuestions tells of one sample for each style; answered says which of them the client answers, and what it then asks of the model.
func styledQuestions(s *tracetest.Story, styles int, answered func(i int) (prompt string, answers bool)) {
	for i := range styles {
		s.Asks(tracetest.Asking("Is it whole: " + foreign + "?"))
		prompt, answers := answered(i)
		if prompt != "" {
			s.Prompts(tracetest.Asking(prompt))
		}
		if answers {
			s.Answers(tracetest.Saying(story.Said))
		}
	}
	s.PassesBarrier()
}

func TestEventsAreReadInEveryStyle(t *testing.T) {
	const usual, rare = "transport/sse-details", "transport/sse-rare"
	whole := func(int) (string, bool) { return "Is it whole: " + foreign + "?", true }
	but := func(n int, prompt string, answers bool) func(int) (string, bool) {
		return func(i int) (string, bool) {
			if i == n {
				return prompt, answers
			}
			return whole(i)
		}
	}
	const inB3 = "CRLF, comments, events without data, and no space behind the colons"
	usualB := "read: " + plainStyle.name + "; " + inB3 + "; a message over several data lines, an event type, an unknown field, and bytes one by one"
	tell := func(check, name, caseID string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: check, CaseID: caseID, In: tracetest.InB, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	inTheFirst := tell(rare, "the first era's", "rare-events", report.Warn, "a sampling request was not read from a stream with lines that end in CR alone",
		func(s *tracetest.Story) { styledQuestions(s, 3, but(2, "", false)) })
	inTheFirst.In = tracetest.InA
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell(usual, "all of them", "events", report.Pass, usualB, func(s *tracetest.Story) { styledQuestions(s, 3, whole) }),
		tell(usual, "one is not read", "events", report.Fail, "a sampling request was not read from a stream with "+inB3, func(s *tracetest.Story) { styledQuestions(s, 3, but(1, "", false)) }),
		tell(usual, "one is garbled", "events", report.Fail, "the text of a sampling request was changed that came on a stream with "+inB3,
			func(s *tracetest.Story) { styledQuestions(s, 3, but(1, "Is it whole: Gr??e?", true)) }),
		tell(usual, "a client that changes all that it is asked", "events", report.Pass, usualB,
			func(s *tracetest.Story) {
				styledQuestions(s, 3, func(int) (string, bool) { return "Is it whole: Gr??e?", true })
			}),
		tell(usual, "no more than two rounds", "events", report.NotObserved,
			"the play did not get as far as a stream with a message over several data lines, an event type, an unknown field, and bytes one by one", func(s *tracetest.Story) { styledQuestions(s, 2, whole) }),
		tell(usual, "it answers nothing at all", "events", report.NotObserved, "the client answered no sampling request at all (see basic/answered)",
			func(s *tracetest.Story) { s.Asks(tracetest.Asking("Is it whole: " + foreign + "?")) }),
		tell(rare, "no mark", "rare-events", report.Warn, "a sampling request was not read from a stream with a byte order mark before the first event",
			func(s *tracetest.Story) { styledQuestions(s, 2, but(1, "", false)) }),
		inTheFirst,
	})
}

func TestNamesInHeaders(t *testing.T) {
	called := func(body, header string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Trace.Header.Cases[0].Tool, s.Trace.Header.Cases[0].Carrier = body, "prompts/get"
			s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"`+body+`"}}`)
			sends(s, "Mcp-Name", header)
			events := s.Trace.Events[:0]
			for _, e := range s.Trace.Events { // the call of a tool with which each story begins is none of this one's
				if e.Case == "" || e.Frame.HTTP.Header["Mcp-Name"] == header {
					events = append(events, e)
				}
			}
			s.Trace.Events = events
		}
	}
	tell := func(name string, v report.Verdict, message string, story func(*tracetest.Story)) tracetest.Test {
		return tracetest.Test{Name: name, Check: "transport/header-value", CaseID: "encoded-name", In: tracetest.InB, Dialects: tracetest.Native, Verdict: v, Message: message, Steps: story}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		tell("encoded", report.Pass, "the header holds the name, encoded", called("Größe", "=?base64?R3LDtsOfZQ==?=")),
		tell("as it is", report.Fail, "the header Mcp-Name of a prompts/get holds a character that is not ASCII: it has to be sent as =?base64?…?=", called("Größe", "Größe")),
		tell("markers in capitals", report.Fail, `the header Mcp-Name of a prompts/get says "=?BASE64?R3LDtsOfZQ==?=", and its body "Größe"`, called("Größe", "=?BASE64?R3LDtsOfZQ==?=")),
		tell("no Base64", report.Fail, "the header Mcp-Name of a prompts/get has the form =?base64?…?= and holds no base64", called("Größe", "=?base64?R3LD!?=")),
		tell("a look-alike as it is", report.Fail, `the header Mcp-Name of a prompts/get says "hi", and its body "=?base64?aGk=?="`, called("=?base64?aGk=?=", "=?base64?aGk=?=")),
		tell("a look-alike, encoded", report.Pass, "the header holds the name, encoded", called("=?base64?aGk=?=", "=?base64?PT9iYXNlNjQ/YUdrPT89?=")),
	})
}

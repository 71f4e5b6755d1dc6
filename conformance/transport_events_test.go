package conformance

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// styledQuestions tells of one sample for each style; answered says which of them the client answers, and what it then asks of the model.
func styledQuestions(s *story, styles int, answered func(i int) (prompt string, answers bool)) {
	for i := range styles {
		s.asks(asking("Is it whole: " + foreign + "?"))
		prompt, answers := answered(i)
		if prompt != "" {
			s.prompts(asking(prompt))
		}
		if answers {
			s.answers(saying(said))
		}
	}
	s.passesBarrier()
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
	tell := func(check, name, caseID string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: check, caseID: caseID, in: inB, dialects: native, verdict: v, message: message, tell: story}
	}
	inTheFirst := tell(rare, "the first era's", "rare-events", report.Warn, "a sampling request was not read from a stream with lines that end in CR alone",
		func(s *story) { styledQuestions(s, 3, but(2, "", false)) })
	inTheFirst.in = inA
	hold(t, catalogue, []telling{
		tell(usual, "all of them", "events", report.Pass, usualB, func(s *story) { styledQuestions(s, 3, whole) }),
		tell(usual, "one is not read", "events", report.Fail, "a sampling request was not read from a stream with "+inB3, func(s *story) { styledQuestions(s, 3, but(1, "", false)) }),
		tell(usual, "one is garbled", "events", report.Fail, "the text of a sampling request was changed that came on a stream with "+inB3,
			func(s *story) { styledQuestions(s, 3, but(1, "Is it whole: Gr??e?", true)) }),
		tell(usual, "a client that changes all that it is asked", "events", report.Pass, usualB,
			func(s *story) {
				styledQuestions(s, 3, func(int) (string, bool) { return "Is it whole: Gr??e?", true })
			}),
		tell(usual, "no more than two rounds", "events", report.NotObserved,
			"the play did not get as far as a stream with a message over several data lines, an event type, an unknown field, and bytes one by one", func(s *story) { styledQuestions(s, 2, whole) }),
		tell(usual, "it answers nothing at all", "events", report.NotObserved, "the client answered no sampling request at all (see basic/answered)",
			func(s *story) { s.asks(asking("Is it whole: " + foreign + "?")) }),
		tell(rare, "no mark", "rare-events", report.Warn, "a sampling request was not read from a stream with a byte order mark before the first event",
			func(s *story) { styledQuestions(s, 2, but(1, "", false)) }),
		inTheFirst,
	})
}

func TestNamesInHeaders(t *testing.T) {
	called := func(body, header string) func(*story) {
		return func(s *story) {
			s.trace.Header.Cases[0].Tool, s.trace.Header.Cases[0].Carrier = body, "prompts/get"
			s.frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"`+body+`"}}`)
			s.sends("Mcp-Name", header)
			events := s.trace.Events[:0]
			for _, e := range s.trace.Events { // the call of a tool with which each story begins is none of this one's
				if e.Case == "" || e.Frame.HTTP.Header["Mcp-Name"] == header {
					events = append(events, e)
				}
			}
			s.trace.Events = events
		}
	}
	tell := func(name string, v report.Verdict, message string, story func(*story)) telling {
		return telling{name: name, check: "transport/header-value", caseID: "encoded-name", in: inB, dialects: native, verdict: v, message: message, tell: story}
	}
	hold(t, catalogue, []telling{
		tell("encoded", report.Pass, "the header holds the name, encoded", called("Größe", "=?base64?R3LDtsOfZQ==?=")),
		tell("as it is", report.Fail, "the header Mcp-Name of a prompts/get holds a character that is not ASCII: it has to be sent as =?base64?…?=", called("Größe", "Größe")),
		tell("markers in capitals", report.Fail, `the header Mcp-Name of a prompts/get says "=?BASE64?R3LDtsOfZQ==?=", and its body "Größe"`, called("Größe", "=?BASE64?R3LDtsOfZQ==?=")),
		tell("no Base64", report.Fail, "the header Mcp-Name of a prompts/get has the form =?base64?…?= and holds no base64", called("Größe", "=?base64?R3LD!?=")),
		tell("a look-alike as it is", report.Fail, `the header Mcp-Name of a prompts/get says "hi", and its body "=?base64?aGk=?="`, called("=?base64?aGk=?=", "=?base64?aGk=?=")),
		tell("a look-alike, encoded", report.Pass, "the header holds the name, encoded", called("=?base64?aGk=?=", "=?base64?PT9iYXNlNjQ/YUdrPT89?=")),
	})
}

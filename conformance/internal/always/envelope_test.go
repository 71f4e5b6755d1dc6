package always_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// responds is a client that responds as it is written.
func responds(id, rest string) steps {
	return func(s *session) {
		s.Asks(asked)
		if id == "" {
			id = s.ID()
		}
		s.Responds(id, rest)
	}
}

// also is a client that then sends a message, of its case or of the session.
func also(do steps, caseID, message string) steps {
	return func(s *session) {
		do(s)
		s.Frame(caseID, trace.FromClient, 0, message)
	}
}

func silent(s *session)   { s.Asks(asked) }
func refusing(s *session) { s.Asks(asked).Refuses(-1, "no") }

func TestAResponseHasTheIDOfItsRequest(t *testing.T) {
	result, failed := `"result":`+answer, `"error":{"code":-1,"message":"no"}`
	stray := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + result + `}` }
	judges(t, "envelope", "basic/question",
		passes("the same id", tracetest.Right),
		legacy(fails("a string", responds(`"1001"`, result), `expected id 1001 in the response, found "1001"`)),
		legacy(fails("an error with a string", responds(`"1001"`, failed), `found "1001"`)),
		legacy(passes("another form of the number", responds(`1.001e3`, result))),
		legacy(fails("another number", also(silent, "", stray("1")), "found 1")),
		legacy(fails("null", also(silent, "", stray("null")), "found null")),
		legacy(fails("a second response with another id", also(tracetest.Right, "", stray("7777")), "found 7777")),
		legacy(passes("a second response with its id", also(tracetest.Right, "basic/question", stray("1001")))),
		legacy(passes("an error for an id that could not be read",
			also(tracetest.Right, "", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`))),
		legacy(passes("no response", silent)),
	)
}

func TestIDsOfAllKindsReturn(t *testing.T) {
	// returned is a client that responds to each request, and returns another id in place of one of them.
	returned := func(id, other string) steps {
		return func(s *session) {
			for _, sent := range []string{`1`, `"a-b"`, `9007199254740991`, `"1"`, `3000001`} {
				s.Frame(s.CaseID, trace.ToClient, 0,
					`{"jsonrpc":"2.0","id":`+sent+`,"method":"sampling/createMessage","params":`+string(story.JSON(asked))+`}`)
				if sent == id {
					sent = other
				}
				s.Responds(sent, `"result":`+answer)
			}
		}
	}
	judges(t, "envelope", "basic/ids",
		legacy(passes("the same ids", returned("", ""))),
		legacy(fails("a string becomes a number", returned(`"1"`, `1`), `expected id "1" in the response, found 1`)),
		legacy(fails("a number becomes a string", returned(`1`, `"1"`), `expected id 1 in the response, found "1"`)),
		legacy(passes("a number with a fraction of zero", returned(`9007199254740991`, `9007199254740991.0`))),
		legacy(passes("a number with an exponent", returned(`3000001`, `3.000001e+06`))),
		legacy(fails("a rounded number", returned(`9007199254740991`, `9007199254740992`), "found 9007199254740992")),
	)
	judges(t, "one-response", "basic/ids",
		legacy(passes("the same ids", returned("", ""))),
		legacy(passes("a string becomes a number", returned(`"1"`, `1`))),
	)
}

func TestAResponseIsAResultOrAnError(t *testing.T) {
	result := `"result":` + answer
	judges(t, "envelope", "basic/question",
		legacy(fails("null beside a result", responds("", `"error":null,`+result), "found both")),
		legacy(fails("both", responds("", `"error":{"code":1,"message":""},`+result), "found both")),
		legacy(fails("neither", responds("", `"Result":{}`), "found neither")),
		legacy(fails("a null error alone", responds("", `"error":null`), "found neither")),
		legacy(passes("a null result, which valid-result judges", responds("", `"result":null`))),
		legacy(passes("an error", refusing)),
	)
}

func TestEveryMessageHasTheVersionOfJSONRPC(t *testing.T) {
	ping := func(version string) steps {
		return also(tracetest.Right, "basic/question", `{`+version+`"id":8,"method":"ping"}`)
	}
	judges(t, "envelope", "basic/question",
		fails("one with 1.0", ping(`"jsonrpc":"1.0",`), "found 1 without it"),
		fails("one with a number", ping(`"jsonrpc":2.0,`), "found 1 without it"),
		fails("one without a version", ping(``), "found 1 without it"),
		passes("one with an escaped version", ping(`"jsonrpc":"\u0032.0",`)),
		passes("one that is not a message", also(tracetest.Right, "basic/question", `hello`)),
		passes("one that is cut", also(tracetest.Right, "basic/question", `{"jsonrpc":"2.0","id":"1`)),
	)
}

func TestARequestGetsOneResponse(t *testing.T) {
	again := func(s *session) { tracetest.Right(s); s.Responds(s.ID(), `"result":`+answer) }
	elsewhere := func(s *session) {
		tracetest.Right(s)
		s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":1001,"result":`+answer+`}`)
		s.Trace.Events[len(s.Trace.Events)-1].Frame.Resent = true
	}
	twiceAsked := func(s *session) {
		tracetest.Right(s)
		s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":1001,"method":"ping"}`)
		s.Responds(s.ID(), `"result":{}`)
	}
	const ghost = `{"jsonrpc":"2.0","id":"never","result":{}}`
	judges(t, "one-response", "basic/question",
		legacy(passes("one result", tracetest.Right)),
		legacy(fails("two results", again, "expected 1 response")),
		legacy(passes("one error", refusing)),
		legacy(fails("two errors", func(s *session) { refusing(s); s.Refuses(-1, "no") }, "another one")),
		legacy(inapplicable("no response", silent)),
		legacy(passes("two with an id that no request has", also(also(tracetest.Right, "", ghost), "", ghost))),
		legacy(passes("one sent again over a new connection", elsewhere)),
		legacy(passes("one for each of two requests with the same id", twiceAsked)),
	)
}

func TestErrorsHaveACodeAndAMessage(t *testing.T) {
	for _, c := range []struct {
		err     string
		verdict report.Verdict
		message string
	}{
		{`{"code":-32603,"message":"failed"}`, report.Pass, ""},
		{`{"code":0,"message":""}`, report.Warn, "empty"},
		{`{"code":-1.0,"message":"no","data":[1]}`, report.Pass, ""},
		{`{"message":"failed"}`, report.Fail, "expected an integer code, found nothing"},
		{`{"code":"E_FAIL","message":"failed"}`, report.Fail, `code, found "E_FAIL"`},
		{`{"code":1.5,"message":"failed"}`, report.Fail, "code, found 1.5"},
		{`{"code":1e999999999,"message":"failed"}`, report.Fail, "code, found 1e999999999"},
		{`{"code":null,"message":"failed"}`, report.Fail, "code, found null"},
		{`"failed"`, report.Fail, "code, found nothing"},
		{`{"code":-32603}`, report.Fail, "expected a string message, found nothing"},
		{`{"code":-32603,"message":{"text":"failed"}}`, report.Fail, `message, found {"text":"failed"}`},
	} {
		judges(t, "error-shape", "basic/question",
			legacy(tracetest.Row(c.err, responds("", `"error":`+c.err), c.verdict, c.message)))
	}
	judges(t, "error-shape", "basic/question",
		legacy(inapplicable("a result", tracetest.Right)), legacy(inapplicable("silence", silent)))
}

package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// responds is a client that responds as it is written.
func responds(id, rest string) steps {
	return func(s *tracetest.Story) {
		s.Asks(asked)
		if id == "" {
			id = s.ID()
		}
		s.Responds(id, rest)
	}
}

// also is a client that returns the right result, and then sends a message.
func also(do steps, caseID bool, message string) steps {
	return func(s *tracetest.Story) {
		do(s)
		id := ""
		if caseID {
			id = s.CaseID
		}
		s.Frame(id, trace.FromClient, 0, message)
	}
}

func TestASamplingRequestGetsAResult(t *testing.T) {
	judges(t, "answered", "question",
		row("the client returns a result", tracetest.Right, report.Pass, ""),
		row("the client is silent", silent, report.Fail, "no response to request 1"),
		legacy(row("the client returns an error", refusing, report.Fail, `"no" (code -1)`)),
		legacy(row("the error is a string", responds("", `"error":"no"`),
			report.Fail, `an error that is not well-formed: \"no\"`)),
		legacy(row("the result is beside a null error", responds("", `"error":null,"result":`+whole), report.Pass, "")),
		legacy(row("the member is spelled Result", responds("", `"Result":`+whole),
			report.Fail, "no response to request 1")),
		legacy(native(row("the provider refused the model request", func(s *tracetest.Story) {
			s.Asks(asked).Prompt(`{"maxTokens":1,"messages":[]}`, trace.ModelEnd{Status: 400, Refused: "messages is empty"})
			s.Refuses(-32603, "failed")
		}, report.Fail, "messages is empty"))),
	)
}

func TestARequestGetsOneResponse(t *testing.T) {
	again := func(s *tracetest.Story) { tracetest.Right(s); s.Responds(s.ID(), `"result":`+whole) }
	judges(t, "answers-once", "question",
		legacy(row("one result", tracetest.Right, report.Pass, "")),
		legacy(row("two results", again, report.Fail, "expected 1 response to sampling request 1, found 2")),
		legacy(row("one error", refusing, report.Pass, "")),
		legacy(row("two errors", func(s *tracetest.Story) { refusing(s); s.Refuses(-1, "no") }, report.Fail, "found 2")),
		legacy(row("no response", silent, report.NotObserved, "basic/answered")),
	)
}

func TestAResponseHasTheIDOfItsRequest(t *testing.T) {
	result, failed := `"result":`+whole, `"error":{"code":-1,"message":"no"}`
	stray := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + result + `}` }
	judges(t, "id-echoed", "question",
		legacy(row("the same id", tracetest.Right, report.Pass, "")),
		legacy(row("a string", responds(`"1001"`, result), report.Fail, `expected id 1001 in the response, found "1001"`)),
		legacy(row("an error with a string", responds(`"1001"`, failed), report.Fail, `found "1001"`)),
		legacy(row("another form of the number", responds(`1.001e3`, result), report.Fail, "found 1.001e3")),
		legacy(row("another number", also(silent, false, stray("1")),
			report.Fail, "expected id 1001 in the response, found 1,")),
		legacy(row("null", also(silent, false, stray("null")), report.Fail, "found null")),
		legacy(row("a second response with another id", also(tracetest.Right, false, stray("7777")), report.Fail, "id 7777")),
		legacy(row("an error for an id that could not be read",
			also(tracetest.Right, false, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`), report.Pass, "")),
		legacy(row("no response", silent, report.NotObserved, "basic/answered")),
	)
}

func TestIDsOfAllKindsReturn(t *testing.T) {
	// returned is a client that responds to each request, and returns another id in place of one of them.
	returned := func(id, other string) steps {
		return func(s *tracetest.Story) {
			for _, sent := range requestIDs {
				s.Frame(s.CaseID, trace.ToClient, 0,
					`{"jsonrpc":"2.0","id":`+sent+`,"method":"sampling/createMessage","params":`+string(story.JSON(asked))+`}`)
				if sent == id {
					sent = other
				}
				s.Responds(sent, `"result":`+whole)
			}
		}
	}
	judges(t, "id-echoed", "ids",
		legacy(row("the same ids", returned("", ""), report.Pass, "")),
		legacy(row("a string becomes a number", returned(`"1"`, `1`),
			report.Fail, `expected id "1" in the response, found 1`)),
		legacy(row("a number becomes a string", returned(`1`, `"1"`),
			report.Fail, `expected id 1 in the response, found "1"`)),
		legacy(row("a large number becomes a float", returned(`9007199254740991`, `9007199254740991.0`), report.Fail,
			"found 9007199254740991.0")),
	)
	judges(t, "answers-once", "ids",
		legacy(row("the same ids", returned("", ""), report.Pass, "")),
		legacy(row("a string becomes a number", returned(`"1"`, `1`), report.Pass, "")),
	)
}

func TestEveryMessageHasTheVersionOfJSONRPC(t *testing.T) {
	ping := func(version string) steps {
		return also(tracetest.Right, true, `{`+version+`"id":8,"method":"ping"}`)
	}
	judges(t, "json-rpc", "question",
		row("all messages", tracetest.Right, report.Pass, ""),
		row("one with 1.0", ping(`"jsonrpc":"1.0",`), report.Fail, "found 1 without it"),
		row("one with a number", ping(`"jsonrpc":2.0,`), report.Fail, "found 1 without it"),
		row("one without a version", ping(``), report.Fail, "found 1 without it"),
		row("one with an escaped version", ping(`"jsonrpc":"\u0032.0",`), report.Pass, ""),
		row("one that is not a message", also(tracetest.Right, true, `hello`), report.Pass, ""),
	)
}

package basic

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
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

// also is a client that returns the right result, and then sends a message.
func also(do steps, caseID bool, message string) steps {
	return func(s *session) {
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
		passes("the client returns a result", tracetest.Right),
		fails("the client is silent", silent, "no response to request 1"),
		legacy(fails("the client returns an error", refusing, `"no" (code -1)`)),
		legacy(fails("the error is a string", responds("", `"error":"no"`), `an error that is not well-formed: \"no\"`)),
		legacy(passes("the result is beside a null error", responds("", `"error":null,"result":`+whole))),
		legacy(fails("the member is spelled Result", responds("", `"Result":`+whole), "no response to request 1")),
		legacy(native(fails("the provider refused the model request", func(s *session) {
			s.Asks(asked).Prompt(`{"maxTokens":1,"messages":[]}`, trace.ModelEnd{Status: 400, Refused: "messages is empty"})
			s.Refuses(-32603, "failed")
		}, "messages is empty"))),
	)
}

func TestARequestGetsOneResponse(t *testing.T) {
	again := func(s *session) { tracetest.Right(s); s.Responds(s.ID(), `"result":`+whole) }
	judges(t, "answers-once", "question",
		legacy(passes("one result", tracetest.Right)),
		legacy(fails("two results", again, "expected 1 response to sampling request 1, found 2")),
		legacy(passes("one error", refusing)),
		legacy(fails("two errors", func(s *session) { refusing(s); s.Refuses(-1, "no") }, "found 2")),
		legacy(unobserved("no response", silent, "basic/answered")),
	)
}

func TestAResponseHasTheIDOfItsRequest(t *testing.T) {
	result, failed := `"result":`+whole, `"error":{"code":-1,"message":"no"}`
	stray := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + result + `}` }
	judges(t, "id-echoed", "question",
		legacy(passes("the same id", tracetest.Right)),
		legacy(fails("a string", responds(`"1001"`, result), `expected id 1001 in the response, found "1001"`)),
		legacy(fails("an error with a string", responds(`"1001"`, failed), `found "1001"`)),
		legacy(fails("another form of the number", responds(`1.001e3`, result), "found 1.001e3")),
		legacy(fails("another number", also(silent, false, stray("1")), "expected id 1001 in the response, found 1,")),
		legacy(fails("null", also(silent, false, stray("null")), "found null")),
		legacy(fails("a second response with another id", also(tracetest.Right, false, stray("7777")), "id 7777")),
		legacy(passes("an error for an id that could not be read",
			also(tracetest.Right, false, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`))),
		legacy(unobserved("no response", silent, "basic/answered")),
	)
}

func TestIDsOfAllKindsReturn(t *testing.T) {
	// returned is a client that responds to each request, and returns another id in place of one of them.
	returned := func(id, other string) steps {
		return func(s *session) {
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
		legacy(passes("the same ids", returned("", ""))),
		legacy(fails("a string becomes a number", returned(`"1"`, `1`), `expected id "1" in the response, found 1`)),
		legacy(fails("a number becomes a string", returned(`1`, `"1"`), `expected id 1 in the response, found "1"`)),
		legacy(fails("a large number becomes a float", returned(`9007199254740991`, `9007199254740991.0`),
			"found 9007199254740991.0")),
	)
	judges(t, "answers-once", "ids",
		legacy(passes("the same ids", returned("", ""))),
		legacy(passes("a string becomes a number", returned(`"1"`, `1`))),
	)
}

func TestEveryMessageHasTheVersionOfJSONRPC(t *testing.T) {
	ping := func(version string) steps {
		return also(tracetest.Right, true, `{`+version+`"id":8,"method":"ping"}`)
	}
	judges(t, "json-rpc", "question",
		passes("all messages", tracetest.Right),
		fails("one with 1.0", ping(`"jsonrpc":"1.0",`), "found 1 without it"),
		fails("one with a number", ping(`"jsonrpc":2.0,`), "found 1 without it"),
		fails("one without a version", ping(``), "found 1 without it"),
		passes("one with an escaped version", ping(`"jsonrpc":"\u0032.0",`)),
		passes("one that is not a message", also(tracetest.Right, true, `hello`)),
	)
}

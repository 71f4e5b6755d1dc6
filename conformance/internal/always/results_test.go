package always_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

const block = `{"type":"text","text":"hello"}`

// answers is a client that returns the right result, less its changes: name and JSON value, "" for no value.
func answers(name, value string) steps {
	return tracetest.AnswersWith(tracetest.With(answer, name, value))
}

// later is a client whose second result is changed.
func later(name, value string) steps {
	return func(s *session) {
		tracetest.Right(s)
		answers(name, value)(s)
	}
}

func TestResultsNameTheModel(t *testing.T) {
	judges(t, "has-model", "basic/question",
		passes("a name", tracetest.Right),
		fails("no name", answers("model", ""), "found nothing"),
		fails("null", answers("model", "null"), "found null"),
		fails("a number", answers("model", "4"), "found 4"),
		fails("no name in the second round", later("model", ""), "found nothing"),
	)
}

func TestResultsHaveTheRoleAssistant(t *testing.T) {
	judges(t, "role-assistant", "basic/question",
		passes("assistant", tracetest.Right),
		fails("user", answers("role", `"user"`), `expected the role "assistant" in the result, found "user"`),
		fails("no role", answers("role", ""), "found nothing"),
		fails("user in the second round", later("role", `"user"`), `found "user"`),
	)
}

func TestResultsAreValid(t *testing.T) {
	in := func(revision server.Revision, t test) test {
		t.In, t.Message = []server.Revision{revision}, "CreateMessageResult of "+string(revision)
		return t
	}
	failsWith := func(result string, calls ...trace.ModelEnd) steps {
		return func(s *session) {
			s.Asks(asked)
			for _, end := range calls {
				s.Prompt(string(jsonvalue.Marshal(asked)), end)
			}
			s.Answers(result)
		}
	}
	judges(t, "valid-result", "basic/question",
		passes("a valid result", tracetest.Right),
		passes("no stop reason", answers("stopReason", "")),
		passes("an unknown field", answers("usage", `{"tokens":3}`)),
		passes("an unknown stop reason", answers("stopReason", `"content_filter"`)),
		passes("an array of one block", answers("content", "["+block+"]")),
		in(server.V20250618, fails("an array before arrays", answers("content", "["+block+"]"))),
		in(server.V20260728, fails("a block without a type", answers("content", `{"text":"hello"}`))),
		in(server.V20251125, fails("a null stop reason", answers("stopReason", "null"))),
		passes("arguments that the model broke off", answers("content",
			`[{"type":"tool_use","id":"c","name":"n","input":"{\"to\":\"Tok"}]`)),
		fails("arguments as text", answers("content",
			`[{"type":"tool_use","id":"c","name":"n","input":"{}"}]`), "expected object"),
		fails("no content", answers("content", ""), "content"),
		fails("null content", answers("content", "null"), "invalid"),
		fails("null content in the second round", later("content", "null"), "invalid"),
		legacy(fails("an empty object", failsWith(`{}`), "invalid")),
		modern(inapplicable("an error without an answer of the model", failsWith(`{"error":{"code":-1}}`))),
		modern(inNative(fails("an error in place of the model's answer",
			failsWith(`{"error":{"code":-1}}`, trace.ModelEnd{Status: 200}), "invalid"))),
		modern(fails("a response in place of a result", failsWith(`{"result":`+answer+`}`), "invalid")),
		modern(inapplicable("null, which input-keys judges", failsWith(`null`))),
	)
}

func TestOtherInputIsValid(t *testing.T) {
	roots := func(response string) steps {
		return func(s *session) {
			s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required",`+
				`"requestState":"s","inputRequests":{"r":{"method":"roots/list"}}}}`)
			s.Retries(`,"inputResponses":{"r":` + response + `}`)
		}
	}
	judges(t, "valid-result", "mrtr/mixed",
		modern(fails("invalid roots", roots(`{"roots":{}}`), "expected a ListRootsResult of 2026-07-28")),
		modern(inapplicable("valid roots alone", roots(`{"roots":[]}`))),
	)
}

package always_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// reports is a sampling request with the token "a", and progress of the client: a token and a value in turn.
func reports(notes ...string) steps {
	const meta = `"_meta":{"progressToken":"a"},`
	return func(s *session) {
		s.Asks(json.RawMessage(`{` + meta + string(jsonvalue.Marshal(asked))[1:]))
		for i := 0; i < len(notes); i += 2 {
			s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/progress","params":`+
				`{"progressToken":`+notes[i]+`,"progress":`+notes[i+1]+`}}`)
		}
	}
}

func TestProgressHasTokensOfTheServer(t *testing.T) {
	judges(t, "progress-tokens", "basic/question",
		legacy(passes("the token", reports(`"a"`, "1"))),
		legacy(fails("another token", reports(`"b"`, "1"), "found \"b\"")),
		legacy(fails("a number", reports(`7`, "1"), "found 7")),
		legacy(inapplicable("no progress", silent, "reports no progress")),
	)
}

func TestProgressRises(t *testing.T) {
	overStdio := func(s *session) {
		s.Trace.Header.Transport = trace.Stdio
		reports(`"a"`, "2", `"a"`, "1")(s)
	}
	judges(
		t,
		"progress-rises",
		"basic/question",
		legacy(passes("rising progress", reports(`"a"`, "0.5", `"a"`, "1e0", `"a"`, "2"))),
		legacy(fails("the same twice", reports(`"a"`, "1", `"a"`, "1.0"), `above 1 under the token "a", found 1.0`)),
		legacy(fails("the token of another request", func(s *session) {
			s.Asks(json.RawMessage(`{"_meta":{"progressToken":"b"},` + string(jsonvalue.Marshal(asked))[1:]))
			reports(`"a"`, "1", `"a"`, "1")(s)
		}, `found 1; nothing came under the token "b" of another open request`)),
		legacy(
			warns(
				"lower progress over HTTP, where POSTs overtake",
				reports(`"a"`, "2", `"a"`, "1"),
				`above 2 under the token "a", found 1`,
			),
		),
		legacy(fails("lower progress over stdio", overStdio, "found 1")),
		legacy(fails("a string", reports(`"a"`, `"half"`), `found "half"`)),
		legacy(passes("progress of no request, which progress-tokens judges", reports(`"b"`, "1", `"b"`, "1"))),
		legacy(passes("a token of two requests", func(s *session) {
			reports(`"a"`, "1")(s)
			s.Answers(answer)
			reports(`"a"`, "1")(s)
		})),
		legacy(inapplicable("no progress", silent, "reports no progress")),
	)
}

package always_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// asksFor is a result of the call 7 with a state, JSON or "", that asks for a sample under a key.
func asksFor(id int, state, key string) steps {
	if state != "" {
		state = `"requestState":` + state + `,`
	}
	return func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":`+
			`"input_required",%s"inputRequests":{%q:{"method":"sampling/createMessage","params":{"messages":[],`+
			`"maxTokens":1}}}}}`, id, state, key))
	}
}

// gives is a retry with an answer under the key, and with other members.
func gives(id any, key, members string) steps {
	return func(s *session) {
		s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":`+
			`{%s"name":"x","inputResponses":{%q:%s}%s}}`, id, s.Meta(), key, answer, members))
	}
}

func withState(state string) string { return `,"requestState":` + state }

// startedAnew makes a number of calls of the tool. Each gets a result that has only a state.
func startedAnew(calls int) steps {
	return func(s *session) {
		for n := 1; n <= calls; n++ {
			id := 6 + n // the first call is there
			before := len(s.Trace.Events)
			if n > 1 {
				s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s`+
					`"name":"x"}}`, id, s.Meta()))
			}
			s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":`+
				`"input_required","requestState":"s"}}`, id))
			for i := range s.Trace.Events[before:] {
				s.Trace.Events[before+i].Call = n
			}
		}
	}
}

func TestARetryRepeatsItsRequest(t *testing.T) {
	asks := asksFor(7, `"s"`, "a")
	retry := func(id any, members string) steps { return inOrder(asks, gives(id, "a", withState(`"s"`)+members)) }
	otherMethod := func(s *session) {
		s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{`+
			`"name":"x","inputResponses":{"a":{}}}}`)
	}
	next := inOrder(retry(8, ""), asksFor(8, "", "b"))
	double := gives(10, "a", withState(`"s"`))
	closed := func(s *session) {
		s.Frame(s.CaseID, trace.ToClient, 0, "")
		s.Trace.Events[len(s.Trace.Events)-1].Frame.Closed = true
	}
	secondCall := func(s *session) { // of the same tool, which asks for the same input
		s.Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{`+s.Meta()+
			`"name":"x"}}`)
		asksFor(20, `"s"`, "a")(s)
		for i := range s.Trace.Events[len(s.Trace.Events)-2:] {
			s.Trace.Events[len(s.Trace.Events)-2+i].Call = 2
		}
	}
	judges(t, "same-params", "basic/question",
		modern(passes("the same", retry(8, ""))),
		modern(passes("null for empty arguments", retry(8, `,"arguments":null`))),
		modern(fails("other arguments", retry(8, `,"arguments":{"a":1}`), "arguments")),
		modern(fails("another method", inOrder(asks, otherMethod), "method")),
		modern(inapplicable("no retry", asks)),
	)
	judges(t, "new-id", "basic/question",
		modern(passes("the same digits in a string", retry(`"7"`, ""))),
		modern(fails("the same id", retry(7, ""), "the id 7")),
		modern(fails("the call's id in the second round", inOrder(next, gives(7, "b", "")), "the id 7")),
	)
	judges(t, "retries-once", "basic/question",
		modern(passes("one for each result", inOrder(next, gives(9, "b", "")))),
		modern(fails("two for one result, the second late", inOrder(next, double, gives(11, "b", "")), "found 2")),
		modern(passes("one for each of two calls with equal results", inOrder(asks, secondCall,
			gives(8, "a", withState(`"s"`)), double))),
		modern(passes("again after a lost stream", inOrder(retry(8, ""), closed, double))),
	)
}

func TestARetryHasTheStateOfItsResult(t *testing.T) {
	round := func(sent, back string) steps {
		if back != "" {
			back = withState(back)
		}
		return inOrder(asksFor(7, sent, "a"), gives(8, "a", back))
	}
	judges(t, "state-echoed", "basic/question",
		modern(passes("with other escapes", round(`"Zürich 🦆"`, `"Z\u00fcrich \ud83e\udd86"`))),
		modern(passes("empty", round(`""`, `""`))),
		modern(passes("none", round("", ""))),
		modern(fails("missing", round(`"s"`, ""), "found none")),
		modern(fails("an object", round(`"{}"`, `{}`), "another type")),
		modern(fails("changed", round(`"Zürich"`, `"Zurich"`), "(7 bytes), found another value (6 bytes)")),
		modern(fails("of an earlier round", inOrder(round(`"one"`, `"one"`), asksFor(8, `"two"`, "b"),
			gives(9, "b", withState(`"one"`))), "another round")),
		modern(fails("an empty one missing", round(`""`, ""), "found none")),
		modern(fails("null for an empty one", round(`""`, "null"), "another type")),
		modern(fails("null for none", round("", "null"), "found one")),
		modern(fails("of an earlier round for none", inOrder(round(`"one"`, `"one"`), asksFor(8, "", "b"),
			gives(9, "b", withState(`"one"`))), "found one")),
		modern(inapplicable("no retry", asksFor(7, `"s"`, "a"))),
		modern(inapplicable("three calls that end with a state alone", startedAnew(3))),
		modern(fails("four", startedAnew(4), "found 3 calls of the tool without it")),
	)
}

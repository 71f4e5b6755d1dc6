package always_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// inputRequired is a result that asks for samples under the keys.
func inputRequired(state string, keys ...string) steps {
	return func(s *session) {
		var requests []string
		for _, key := range keys {
			requests = append(requests,
				fmt.Sprintf(`%q:{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, key))
		}
		s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"resultType":`+
			`"input_required","requestState":%q,"inputRequests":{%s}}}`, state, strings.Join(requests, ",")))
	}
}

// retries is a retry with responses under the keys.
func retries(keys ...string) steps {
	var responses []string
	for _, key := range keys {
		responses = append(responses, fmt.Sprintf("%q:%s", key, answer))
	}
	return retriesWith(`{` + strings.Join(responses, ",") + `}`)
}

func retriesWith(responses string) steps {
	return func(s *session) { s.Retries(`,"inputResponses":` + responses) }
}

// inOrder does one after the other.
func inOrder(all ...steps) steps {
	return func(s *session) {
		for _, do := range all {
			do(s)
		}
	}
}

func TestARetryHasTheKeysThatWereAskedFor(t *testing.T) {
	two := inputRequired("s", "a", "b c/ä.\"1\"")
	hostile := func(s *session) { s.OnPurpose() }
	judges(t, "input-keys", "mrtr/several",
		modern(passes("both, in any order", inOrder(two, retries("b c/ä.\"1\"", "a")))),
		modern(fails("one of two", inOrder(two, retries("a")), `expected a response under the key`)),
		modern(fails("null for one", inOrder(inputRequired("s", "a"), retriesWith(`{"a":null}`)), `"a"`)),
		modern(fails("an array", inOrder(two, retriesWith(`[]`)), `"a" (sampling/createMessage)`)),
		modern(fails("no responses", inOrder(two, func(s *session) { s.Retries("") }), `"a"`)),
		modern(fails("one more", inOrder(inputRequired("s", "a"), retries("a", "more")), `the key "more", too`)),
		modern(fails("another spelling", inOrder(inputRequired("s", "aB"), retries("ab")), `under the key "aB"`)),
		modern(inapplicable("no retry", two)),
		modern(inapplicable("a request that breaks the protocol", inOrder(two, hostile, retries("a")))),
	)
}

func TestOtherRequestsHaveNoInputOfTheCall(t *testing.T) {
	lists := func(members string) steps {
		return func(s *session) {
			s.Frame("", trace.FromClient, 0,
				`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{`+s.Meta()+`"x":1`+members+`}}`)
		}
	}
	asks := inputRequired("the state", "a")
	anotherCase := func(members string) steps {
		return func(s *session) {
			s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: "basic/other", Tool: "basic-other"})
			s.Frame("basic/other", trace.FromClient, 0,
				`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{`+s.Meta()+`"name":"x"`+members+`}}`)
		}
	}
	const its = `,"requestState":"the state"`
	judges(t, "isolation", "mrtr/several",
		modern(passes("none", inOrder(asks, lists(""), retries("a")))),
		modern(passes("another state", inOrder(asks, lists(`,"requestState":"its own"`)))),
		modern(fails("its state", inOrder(asks, lists(its)), "in tools/list")),
		modern(fails("its input", inOrder(asks, lists(`,"inputResponses":{"a":{}}`)), "in tools/list")),
		modern(fails("its state in the first request of a call", inOrder(asks, retries("a"), anotherCase(its)),
			"in tools/call")),
		modern(inapplicable("nothing asked for", func(*session) {})),
	)
}

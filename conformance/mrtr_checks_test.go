package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sampleKey is an input request for a sample under a key.
func sampleKey(key string) string {
	return fmt.Sprintf(`%q:{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, key)
}

// wishes is a result of the type that asks for input, for the request with the id. The members each end in a comma.
func (s *story) wishes(id int, members string) *story {
	return s.results(id, members+`"resultType":"input_required"`)
}

// results is the result of the request with the id.
func (s *story) results(id int, members string) *story {
	s.frame(s.caseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{%s}}`, id, members))
	return s
}

// again is the client's request with the id, with members after the tool's name, each with a comma before it.
func (s *story) again(id any, members string) *story {
	if !strings.Contains(members, `"arguments"`) {
		members = `,"arguments":{}` + members
	}
	s.frame(s.caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{%s"name":"x"%s}}`, id, s.meta(), members))
	return s
}

// gives are inputResponses, each key with an answer, and the state that goes with them.
func gives(state string, keys ...string) string {
	var members []string
	for _, key := range keys {
		members = append(members, fmt.Sprintf("%q:%s", key, saying("Yes.")))
	}
	return `,"inputResponses":{` + strings.Join(members, ",") + `}` + state
}

// inputs are inputRequests for samples under the keys.
func inputs(keys ...string) string {
	var members []string
	for _, key := range keys {
		members = append(members, sampleKey(key))
	}
	return `"inputRequests":{` + strings.Join(members, ",") + `},`
}

// Members with states, of results and of retries.
func state(s string) string     { return fmt.Sprintf(`"requestState":%q,`, s) }
func withState(s string) string { return fmt.Sprintf(`,"requestState":%q`, s) }

// inRoundTrips tells stories of the second era.
func inRoundTrips(t *testing.T, tellings []telling) {
	for i := range tellings {
		tellings[i].in, tellings[i].dialects = inB, native
	}
	hold(t, catalogue, tellings)
}

func TestWhatARetryHasToBring(t *testing.T) {
	two := func(s *story) *story { return s.wishes(7, inputs("a", "b")+state("s")) }
	one := func(s *story) *story { return s.wishes(7, inputs("a")+state("s")) }
	inRoundTrips(t, []telling{
		{name: "made again", check: "mrtr/retried", caseID: "several", verdict: report.Pass, message: "the request was made again",
			tell: func(s *story) { two(s).again(8, gives(withState("s"), "b", "a")) }},
		{name: "never made again", check: "mrtr/retried", caseID: "several", verdict: report.Fail, message: "the client was asked for input, and did not make its request again",
			tell: func(s *story) { two(s) }},
		{name: "made from the beginning", check: "mrtr/retried", caseID: "several", verdict: report.Fail,
			message: "the client was asked for input, and called again as if for the first time, without inputResponses or requestState",
			tell:    func(s *story) { two(s).calls() }},
		{name: "nothing to ask beside", check: "mrtr/retried", caseID: "mixed", verdict: report.NotApplicable,
			message: "the client declares neither roots nor elicitation, so that nothing can be asked for beside a sample",
			tell:    func(s *story) { s.marks(trace.MarkHandlerEnded, "") }},
		{name: "the model had no answer", check: "mrtr/retried", caseID: "several", verdict: report.NotObserved,
			message: "the model had no answer for the client: no rule",
			tell: func(s *story) {
				s.asks(asking("Which?")).prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 500, Miss: "no rule"})
			}},

		{name: "in any order, and more", check: "mrtr/every-key", caseID: "several", verdict: report.Pass, message: "every key that was asked for has its answer",
			tell: func(s *story) { two(s).again(8, gives(withState("s"), "more", "b", "a")) }},
		{name: "one of two", check: "mrtr/every-key", caseID: "several", verdict: report.Fail,
			message: `the retry has nothing under the key "b", which was asked for (sampling/createMessage)`,
			tell:    func(s *story) { two(s).again(8, gives(withState("s"), "a")) }},
		{name: "null for one", check: "mrtr/every-key", caseID: "several", verdict: report.Fail,
			message: `the retry has nothing under the key "a", which was asked for (sampling/createMessage)`,
			tell: func(s *story) {
				two(s).again(8, `,"requestState":"s","inputResponses":{"a":null,"b":`+saying("Yes.")+`}`)
			}},
		{name: "in an array", check: "mrtr/every-key", caseID: "several", verdict: report.Fail,
			message: `the retry has nothing under the key "a", which was asked for (sampling/createMessage)`,
			tell:    func(s *story) { two(s).again(8, `,"requestState":"s","inputResponses":[`+saying("Yes.")+`]`) }},
		{name: "a client that refuses", check: "mrtr/every-key", caseID: "several", verdict: report.NotObserved,
			message: "the client made no retry that would show it (see mrtr/retried)", tell: func(s *story) { two(s) }},

		{name: "results", check: "mrtr/answers-valid", caseID: "several", verdict: report.Pass, message: "the answers are valid",
			tell: func(s *story) { two(s).again(8, gives(withState("s"), "a", "b")) }},
		{name: "a response in its place", check: "mrtr/answers-valid", caseID: "several", verdict: report.Fail,
			message: `the answer under "a" is not a valid CreateMessageResult`,
			tell: func(s *story) {
				one(s).again(8, `,"requestState":"s","inputResponses":{"a":{"result":`+saying("Yes.")+`}}`)
			}},
		{name: "roots that are none", check: "mrtr/answers-valid", caseID: "mixed", verdict: report.Fail, message: `the answer under "r" is not a valid ListRootsResult`,
			tell: func(s *story) {
				s.wishes(7, `"inputRequests":{"r":{"method":"roots/list"}},`).again(8, `,"inputResponses":{"r":{"roots":{}}}`)
			}},

		{name: "the same request", check: "mrtr/same-params", caseID: "several", verdict: report.Pass, message: "the retries are the same request",
			tell: func(s *story) { one(s).again(8, `,"arguments":{ }`+gives(withState("s"), "a")) }},
		{name: "no arguments for empty ones", check: "mrtr/same-params", caseID: "several", verdict: report.Pass, message: "the retries are the same request",
			tell: func(s *story) { one(s).again(8, `,"arguments":null`+gives(withState("s"), "a")) }},
		{name: "other arguments", check: "mrtr/same-params", caseID: "several", verdict: report.Fail, message: "the retry differs from the call in its arguments",
			tell: func(s *story) { one(s).again(8, `,"arguments":{"a":1}`+gives(withState("s"), "a")) }},
		{name: "another method", check: "mrtr/same-params", caseID: "several", verdict: report.Fail, message: "the retry differs from the call in its method",
			tell: func(s *story) {
				one(s).frame(s.caseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"x"`+gives(withState("s"), "a")+`}}`)
			}},

		{name: "another id", check: "mrtr/new-id", caseID: "several", verdict: report.Pass, message: "each retry has an id of its own",
			tell: func(s *story) { one(s).again(`"7"`, gives(withState("s"), "a")) }},
		{name: "the same id", check: "mrtr/new-id", caseID: "several", verdict: report.Fail, message: "the retry has the id 7, as the request before it",
			tell: func(s *story) { one(s).again(7, gives(withState("s"), "a")) }},
		{name: "the call's id in the second round", check: "mrtr/new-id", caseID: "states", verdict: report.Fail, message: "the retry has the id 7, as the request before it",
			tell: func(s *story) {
				one(s).again(8, gives(withState("s"), "a")).wishes(8, inputs("b")).again(7, gives("", "b"))
			}},

		{name: "once", check: "mrtr/retries-once", caseID: "states", verdict: report.Pass, message: "each wish was answered by one retry",
			tell: func(s *story) {
				one(s).again(8, gives(withState("s"), "a")).wishes(8, inputs("b")).again(9, gives("", "b"))
			}},
		{name: "twice, the second after the next wish", check: "mrtr/retries-once", caseID: "states", verdict: report.Fail,
			message: "the client made its request 2 times in answer to one result",
			tell: func(s *story) {
				one(s).again(8, gives(withState("s"), "a")).wishes(8, inputs("b")).again(9, gives(withState("s"), "a")).again(10, gives("", "b"))
			}},
		{name: "a late double is no wrong state", check: "mrtr/no-state-invented", caseID: "states", verdict: report.Pass, message: "no state was sent where none came",
			tell: func(s *story) {
				one(s).again(8, gives(withState("s"), "a")).wishes(8, inputs("b")).again(9, gives(withState("s"), "a")).again(10, gives("", "b"))
			}},
	})
}

func TestTheStateThatComesBack(t *testing.T) {
	first := func(s *story, sent, back string) *story {
		return s.wishes(7, inputs("a")+state(sent)).again(8, gives(back, "a"))
	}
	inRoundTrips(t, []telling{
		{name: "as it was, in other escapes", check: "mrtr/state-echoed", caseID: "states", verdict: report.Pass, message: "the state came back as it was",
			tell: func(s *story) { first(s, "Zürich \U0001F986", `,"requestState":"Z\u00fcrich \ud83e\udd86"`) }},
		{name: "left out", check: "mrtr/state-echoed", caseID: "states", verdict: report.Fail,
			message: "the retry has no requestState, and the result that it answers had one", tell: func(s *story) { first(s, "s", "") }},
		{name: "parsed", check: "mrtr/state-echoed", caseID: "states", verdict: report.Fail,
			message: "the retry's requestState is no string", tell: func(s *story) { first(s, "{}", `,"requestState":{}`) }},
		{name: "changed", check: "mrtr/state-echoed", caseID: "states", verdict: report.Fail,
			message: "the requestState came back changed: 6 bytes in place of 7", tell: func(s *story) { first(s, "Zürich", withState("Zurich")) }},
		{name: "an older one", check: "mrtr/state-echoed", caseID: "states", verdict: report.Fail, message: "the retry has the requestState of another round",
			tell: func(s *story) {
				first(s, "one", withState("one")).wishes(8, inputs("b")+state("two")).again(9, gives(withState("one"), "b"))
			}},
		{name: "of a result that asks for nothing", check: "mrtr/state-echoed", caseID: "only-state", verdict: report.Pass, message: "the state came back as it was",
			tell: func(s *story) { s.wishes(7, state("s")).again(8, withState("s")) }},
		{name: "where nothing is asked for, and no retry made", check: "mrtr/state-echoed", caseID: "only-state", verdict: report.NotApplicable,
			message: "the client does not retry where no input is asked for, which it may", tell: func(s *story) { s.wishes(7, state("s")) }},

		{name: "an empty one", check: "mrtr/state-empty", caseID: "empty-state", verdict: report.Pass, message: "the empty state came back", tell: func(s *story) { first(s, "", withState("")) }},
		{name: "an empty one, left out", check: "mrtr/state-empty", caseID: "empty-state", verdict: report.Fail,
			message: "the retry has no requestState, and the result that it answers had one", tell: func(s *story) { first(s, "", "") }},
		{name: "null for an empty one", check: "mrtr/state-empty", caseID: "empty-state", verdict: report.Fail,
			message: "the retry's requestState is no string", tell: func(s *story) { first(s, "", `,"requestState":null`) }},

		{name: "none for none", check: "mrtr/no-state-invented", caseID: "no-state", verdict: report.Pass, message: "no state was sent where none came",
			tell: func(s *story) { s.wishes(7, inputs("a")).again(8, gives("", "a")) }},
		{name: "null for none", check: "mrtr/no-state-invented", caseID: "no-state", verdict: report.Fail,
			message: "the retry has a requestState, and the result that it answers had none",
			tell:    func(s *story) { s.wishes(7, inputs("a")).again(8, gives(`,"requestState":null`, "a")) }},
		{name: "an earlier one for none", check: "mrtr/no-state-invented", caseID: "states", verdict: report.Fail,
			message: "the retry has a requestState, and the result that it answers had none",
			tell: func(s *story) {
				first(s, "one", withState("one")).wishes(8, inputs("b")).again(9, gives(withState("one"), "b"))
			}},

		{name: "retried", check: "mrtr/state-only", caseID: "only-state", verdict: report.Info, message: "a result without input requests is answered by a retry",
			tell: func(s *story) { s.wishes(7, state("s")).again(8, withState("s")) }},
		{name: "not retried", check: "mrtr/state-only", caseID: "only-state", verdict: report.Info, message: "a result without input requests is not answered by a retry",
			tell: func(s *story) { s.wishes(7, state("s")).passesBarrier() }},
		{name: "not retried yet", check: "mrtr/state-only", caseID: "only-state", verdict: report.NotObserved,
			message: "no retry came, and it is not settled that none would have: no later sample was answered, so that it may only not have come yet",
			tell:    func(s *story) { s.wishes(7, state("s")) }},
	})
}

// inSomeRounds is a story of rounds of which each but the last is gone on from.
func inSomeRounds(rounds int) func(*story) {
	return func(s *story) {
		for i := range rounds {
			s.wishes(7+i, inputs(fmt.Sprint("k", i))+state("s")).again(8+i, gives(withState("s"), fmt.Sprint("k", i)))
		}
	}
}

func TestHowManyRoundsAClientMakes(t *testing.T) {
	after := func(rounds int, then func(*story)) func(*story) {
		return func(s *story) {
			inSomeRounds(rounds)(s)
			s.wishes(7+rounds, inputs("last")+state("s"))
			then(s)
		}
	}
	inRoundTrips(t, []telling{
		{name: "five", check: "mrtr/rounds", caseID: "five-rounds", verdict: report.Pass, message: "the client made 5 rounds", tell: inSomeRounds(5)},
		{name: "three", check: "mrtr/rounds", caseID: "five-rounds", verdict: report.Fail, message: "the client stopped after 3 rounds of 5", tell: after(3, func(*story) {})},
		{name: "none", check: "mrtr/rounds", caseID: "five-rounds", verdict: report.NotObserved, message: "the client made no retry at all (see mrtr/retried)", tell: after(0, func(*story) {})},

		{name: "a limit", check: "mrtr/endless", caseID: "for-ever", verdict: report.Pass, message: "the client gave up after 9 rounds",
			tell: after(9, func(s *story) { s.passesBarrier() })},
		{name: "a limit that the client tells of", check: "mrtr/endless", caseID: "for-ever", verdict: report.Pass, message: "the client gave up after 9 rounds, and says of its call: gave-up",
			tell: after(9, func(s *story) { s.marks(trace.MarkOutcome, `{"mcp-conform":"outcome","tool":"x","outcome":"gave-up"}`) })},
		{name: "a limit, or more to come", check: "mrtr/endless", caseID: "for-ever", verdict: report.NotObserved,
			message: "that the client gave up after 9 rounds cannot be said: no later sample was answered, so that it may only not have come yet", tell: after(9, func(*story) {})},
		{name: "no limit", check: "mrtr/endless", caseID: "for-ever", verdict: report.Fail, message: "the client made its request again 100 times, and showed no sign of a limit",
			tell: inSomeRounds(tooManyRounds)},
		{name: "no retry", check: "mrtr/endless", caseID: "for-ever", verdict: report.NotObserved, message: "the client made no retry at all (see mrtr/retried)", tell: after(0, func(*story) {})},
	})
}

func TestInputOfACallInOtherRequests(t *testing.T) {
	leak := func(members string) func(*story) {
		return func(s *story) {
			s.wishes(7, inputs("a")+state("s"))
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{`+s.meta()+`"x":1`+members+`}}`)
			s.again(8, gives(withState("s"), "a"))
		}
	}
	inRoundTrips(t, []telling{
		{name: "none of it, meanwhile", check: "mrtr/isolation", caseID: "several", verdict: report.Pass,
			message: "no other request has input or state of the call, also none that was made while it was asked for input", tell: leak("")},
		{name: "none of it, afterwards", check: "mrtr/isolation", caseID: "several", verdict: report.Pass,
			message: "no request that followed has input or state of the call; none was made while it was asked for input",
			tell:    func(s *story) { inSomeRounds(1)(s); s.passesBarrier() }},
		{name: "another state", check: "mrtr/isolation", caseID: "several", verdict: report.Pass,
			message: "no other request has input or state of the call, also none that was made while it was asked for input", tell: leak(withState("its own"))},
		{name: "its state", check: "mrtr/isolation", caseID: "several", verdict: report.Fail,
			message: "a tools/list that is no retry has the input or the state of a call of mrtr-several", tell: leak(withState("s"))},
		{name: "its input", check: "mrtr/isolation", caseID: "several", verdict: report.Fail,
			message: "a tools/list that is no retry has the input or the state of a call of mrtr-several", tell: leak(gives("", "a"))},
		{name: "nowhere that it could be", check: "mrtr/isolation", caseID: "several", verdict: report.NotObserved,
			message: "the client made no other request in which it could be", tell: inSomeRounds(1)},
	})
}

func TestPromptsAndResourcesOfAClient(t *testing.T) {
	tell := func(then func(*story)) *report.Result {
		s := unconnected(t, catalogue, inB[0], native[0], "mrtr/prompt")
		s.trace.Header.Cases[0].Carrier = "prompts/get"
		s.connects()
		then(s)
		return s.result("mrtr/prompts-and-resources")
	}
	gets := func(s *story, id int, more string) {
		s.frame(s.caseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{%s"name":"mrtr-prompt"%s}}`, id, s.meta(), more))
	}
	for name, c := range map[string]struct {
		tell    func(*story)
		verdict report.Verdict
		message string
	}{
		"made again": {func(s *story) {
			gets(s, 7, "")
			s.wishes(7, inputs("a")+state("s"))
			gets(s, 8, gives(withState("s"), "a"))
		}, report.Pass,
			"the prompts/get was made again, with its input"},
		"never made": {func(*story) {}, report.Unsupported,
			"the client never made the prompts/get: it takes one that heeds the prompts and resources in MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources)"},
		"not made again": {func(s *story) { gets(s, 7, ""); s.wishes(7, inputs("a")+state("s")) }, report.Fail,
			"the prompts/get was answered with a wish for input, and the client did not make it again"},
		"made again without its state": {func(s *story) { gets(s, 7, ""); s.wishes(7, inputs("a")+state("s")); gets(s, 8, gives("", "a")) }, report.Fail,
			"the retry has no requestState, and the result that it answers had one"},
		"made again without its input": {func(s *story) { gets(s, 7, ""); s.wishes(7, inputs("a")+state("s")); gets(s, 8, withState("s")) }, report.Fail,
			`the retry has nothing under the key "a", which was asked for (sampling/createMessage)`},
		"made again under its id": {func(s *story) {
			gets(s, 7, "")
			s.wishes(7, inputs("a")+state("s"))
			gets(s, 7, gives(withState("s"), "a"))
		}, report.Fail,
			"the retry has the id 7, as the request before it"},
	} {
		t.Run(name, func(t *testing.T) {
			got := tell(c.tell)
			require.Equal(t, c.message, got.Message)
			require.Equal(t, c.verdict, got.Verdict)
		})
	}
}

package mrtr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sampleKey is an input request for a sample under a key.
func sampleKey(key string) string {
	return fmt.Sprintf(`%q:{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, key)
}

// wishes is a result of the type that asks for input, for the request with the id. The members each end in a comma.
func wishes(s *tracetest.Story, id int, members string) *tracetest.Story {
	return results(s, id, members+`"resultType":"input_required"`)
}

// results is the result of the request with the id.
func results(s *tracetest.Story, id int, members string) *tracetest.Story {
	s.Frame(s.CaseID, trace.ToClient, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{%s}}`, id, members))
	return s
}

// again is the client's request with the id, with members after the tool's name, each with a comma before it.
func again(s *tracetest.Story, id any, members string) *tracetest.Story {
	if !strings.Contains(members, `"arguments"`) {
		members = `,"arguments":{}` + members
	}
	s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{%s"name":"x"%s}}`, id, s.Meta(), members))
	return s
}

// gives are inputResponses, each key with an answer, and the state that goes with them.
func gives(state string, keys ...string) string {
	var members []string
	for _, key := range keys {
		members = append(members, fmt.Sprintf("%q:%s", key, tracetest.Saying("Yes.")))
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
func inRoundTrips(t *testing.T, tellings []tracetest.Test) {
	for i := range tellings {
		tellings[i].In, tellings[i].Dialects = tracetest.InB, tracetest.Native
	}
	tracetest.Run(t, catalogue, tellings)
}

func TestWhatARetryHasToBring(t *testing.T) {
	two := func(s *tracetest.Story) *tracetest.Story { return wishes(s, 7, inputs("a", "b")+state("s")) }
	one := func(s *tracetest.Story) *tracetest.Story { return wishes(s, 7, inputs("a")+state("s")) }
	inRoundTrips(t, []tracetest.Test{
		{Name: "made again", Check: "mrtr/retried", CaseID: "several", Verdict: report.Pass, Message: "the request was made again",
			Steps: func(s *tracetest.Story) { again(two(s), 8, gives(withState("s"), "b", "a")) }},
		{Name: "never made again", Check: "mrtr/retried", CaseID: "several", Verdict: report.Fail, Message: "the client was asked for input, and did not make its request again",
			Steps: func(s *tracetest.Story) { two(s) }},
		{Name: "made from the beginning", Check: "mrtr/retried", CaseID: "several", Verdict: report.Fail,
			Message: "the client was asked for input, and called again as if for the first time, without inputResponses or requestState",
			Steps:   func(s *tracetest.Story) { two(s).Calls() }},
		{Name: "nothing to ask beside", Check: "mrtr/retried", CaseID: "mixed", Verdict: report.NotApplicable,
			Message: "the client declares neither roots nor elicitation, so that nothing can be asked for beside a sample",
			Steps:   func(s *tracetest.Story) { s.Marks(trace.MarkHandlerEnded, "") }},
		{Name: "the model had no answer", Check: "mrtr/retried", CaseID: "several", Verdict: report.NotObserved,
			Message: "the model had no answer for the client: no rule",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("Which?")).Prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 500, Miss: "no rule"})
			}},

		{Name: "in any order, and more", Check: "mrtr/every-key", CaseID: "several", Verdict: report.Pass, Message: "every key that was asked for has its answer",
			Steps: func(s *tracetest.Story) { again(two(s), 8, gives(withState("s"), "more", "b", "a")) }},
		{Name: "one of two", Check: "mrtr/every-key", CaseID: "several", Verdict: report.Fail,
			Message: `the retry has nothing under the key "b", which was asked for (sampling/createMessage)`,
			Steps:   func(s *tracetest.Story) { again(two(s), 8, gives(withState("s"), "a")) }},
		{Name: "null for one", Check: "mrtr/every-key", CaseID: "several", Verdict: report.Fail,
			Message: `the retry has nothing under the key "a", which was asked for (sampling/createMessage)`,
			Steps: func(s *tracetest.Story) {
				again(two(s), 8, `,"requestState":"s","inputResponses":{"a":null,"b":`+tracetest.Saying("Yes.")+`}`)
			}},
		{Name: "in an array", Check: "mrtr/every-key", CaseID: "several", Verdict: report.Fail,
			Message: `the retry has nothing under the key "a", which was asked for (sampling/createMessage)`,
			Steps: func(s *tracetest.Story) {
				again(two(s), 8, `,"requestState":"s","inputResponses":[`+tracetest.Saying("Yes.")+`]`)
			}},
		{Name: "a client that refuses", Check: "mrtr/every-key", CaseID: "several", Verdict: report.NotObserved,
			Message: "the client made no retry that would show it (see mrtr/retried)", Steps: func(s *tracetest.Story) { two(s) }},

		{Name: "results", Check: "mrtr/answers-valid", CaseID: "several", Verdict: report.Pass, Message: "the answers are valid",
			Steps: func(s *tracetest.Story) { again(two(s), 8, gives(withState("s"), "a", "b")) }},
		{Name: "a response in its place", Check: "mrtr/answers-valid", CaseID: "several", Verdict: report.Fail,
			Message: `the answer under "a" is not a valid CreateMessageResult`,
			Steps: func(s *tracetest.Story) {
				again(one(s), 8, `,"requestState":"s","inputResponses":{"a":{"result":`+tracetest.Saying("Yes.")+`}}`)
			}},
		{Name: "roots that are none", Check: "mrtr/answers-valid", CaseID: "mixed", Verdict: report.Fail, Message: `the answer under "r" is not a valid ListRootsResult`,
			Steps: func(s *tracetest.Story) {
				again(wishes(s, 7, `"inputRequests":{"r":{"method":"roots/list"}},`), 8, `,"inputResponses":{"r":{"roots":{}}}`)
			}},

		{Name: "the same request", Check: "mrtr/same-params", CaseID: "several", Verdict: report.Pass, Message: "the retries are the same request",
			Steps: func(s *tracetest.Story) { again(one(s), 8, `,"arguments":{ }`+gives(withState("s"), "a")) }},
		{Name: "no arguments for empty ones", Check: "mrtr/same-params", CaseID: "several", Verdict: report.Pass, Message: "the retries are the same request",
			Steps: func(s *tracetest.Story) { again(one(s), 8, `,"arguments":null`+gives(withState("s"), "a")) }},
		{Name: "other arguments", Check: "mrtr/same-params", CaseID: "several", Verdict: report.Fail, Message: "the retry differs from the call in its arguments",
			Steps: func(s *tracetest.Story) { again(one(s), 8, `,"arguments":{"a":1}`+gives(withState("s"), "a")) }},
		{Name: "another method", Check: "mrtr/same-params", CaseID: "several", Verdict: report.Fail, Message: "the retry differs from the call in its method",
			Steps: func(s *tracetest.Story) {
				one(s).Frame(s.CaseID, trace.FromClient, 0, `{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"x"`+gives(withState("s"), "a")+`}}`)
			}},

		{Name: "another id", Check: "mrtr/new-id", CaseID: "several", Verdict: report.Pass, Message: "each retry has an id of its own",
			Steps: func(s *tracetest.Story) { again(one(s), `"7"`, gives(withState("s"), "a")) }},
		{Name: "the same id", Check: "mrtr/new-id", CaseID: "several", Verdict: report.Fail, Message: "the retry has the id 7, as the request before it",
			Steps: func(s *tracetest.Story) { again(one(s), 7, gives(withState("s"), "a")) }},
		{Name: "the call's id in the second round", Check: "mrtr/new-id", CaseID: "states", Verdict: report.Fail, Message: "the retry has the id 7, as the request before it",
			Steps: func(s *tracetest.Story) {
				again(wishes(again(one(s), 8, gives(withState("s"), "a")), 8, inputs("b")), 7, gives("", "b"))
			}},

		{Name: "once", Check: "mrtr/retries-once", CaseID: "states", Verdict: report.Pass, Message: "each wish was answered by one retry",
			Steps: func(s *tracetest.Story) {
				again(wishes(again(one(s), 8, gives(withState("s"), "a")), 8, inputs("b")), 9, gives("", "b"))
			}},
		{Name: "twice, the second after the next wish", Check: "mrtr/retries-once", CaseID: "states", Verdict: report.Fail,
			Message: "the client made its request 2 times in answer to one result",
			Steps: func(s *tracetest.Story) {
				again(again(wishes(again(one(s), 8, gives(withState("s"), "a")), 8, inputs("b")), 9, gives(withState("s"), "a")), 10, gives("", "b"))
			}},
		{Name: "a late double is no wrong state", Check: "mrtr/no-state-invented", CaseID: "states", Verdict: report.Pass, Message: "no state was sent where none came",
			Steps: func(s *tracetest.Story) {
				again(again(wishes(again(one(s), 8, gives(withState("s"), "a")), 8, inputs("b")), 9, gives(withState("s"), "a")), 10, gives("", "b"))
			}},
	})
}

func TestTheStateThatComesBack(t *testing.T) {
	first := func(s *tracetest.Story, sent, back string) *tracetest.Story {
		return again(wishes(s, 7, inputs("a")+state(sent)), 8, gives(back, "a"))
	}
	inRoundTrips(t, []tracetest.Test{
		{Name: "as it was, in other escapes", Check: "mrtr/state-echoed", CaseID: "states", Verdict: report.Pass, Message: "the state came back as it was",
			Steps: func(s *tracetest.Story) { first(s, "Zürich \U0001F986", `,"requestState":"Z\u00fcrich \ud83e\udd86"`) }},
		{Name: "left out", Check: "mrtr/state-echoed", CaseID: "states", Verdict: report.Fail,
			Message: "the retry has no requestState, and the result that it answers had one", Steps: func(s *tracetest.Story) { first(s, "s", "") }},
		{Name: "parsed", Check: "mrtr/state-echoed", CaseID: "states", Verdict: report.Fail,
			Message: "the retry's requestState is no string", Steps: func(s *tracetest.Story) { first(s, "{}", `,"requestState":{}`) }},
		{Name: "changed", Check: "mrtr/state-echoed", CaseID: "states", Verdict: report.Fail,
			Message: "the requestState came back changed: 6 bytes in place of 7", Steps: func(s *tracetest.Story) { first(s, "Zürich", withState("Zurich")) }},
		{Name: "an older one", Check: "mrtr/state-echoed", CaseID: "states", Verdict: report.Fail, Message: "the retry has the requestState of another round",
			Steps: func(s *tracetest.Story) {
				again(wishes(first(s, "one", withState("one")), 8, inputs("b")+state("two")), 9, gives(withState("one"), "b"))
			}},
		{Name: "of a result that asks for nothing", Check: "mrtr/state-echoed", CaseID: "only-state", Verdict: report.Pass, Message: "the state came back as it was",
			Steps: func(s *tracetest.Story) { again(wishes(s, 7, state("s")), 8, withState("s")) }},
		{Name: "where nothing is asked for, and no retry made", Check: "mrtr/state-echoed", CaseID: "only-state", Verdict: report.NotApplicable,
			Message: "the client does not retry where no input is asked for, which it may", Steps: func(s *tracetest.Story) { wishes(s, 7, state("s")) }},

		{Name: "an empty one", Check: "mrtr/state-empty", CaseID: "empty-state", Verdict: report.Pass, Message: "the empty state came back", Steps: func(s *tracetest.Story) { first(s, "", withState("")) }},
		{Name: "an empty one, left out", Check: "mrtr/state-empty", CaseID: "empty-state", Verdict: report.Fail,
			Message: "the retry has no requestState, and the result that it answers had one", Steps: func(s *tracetest.Story) { first(s, "", "") }},
		{Name: "null for an empty one", Check: "mrtr/state-empty", CaseID: "empty-state", Verdict: report.Fail,
			Message: "the retry's requestState is no string", Steps: func(s *tracetest.Story) { first(s, "", `,"requestState":null`) }},

		{Name: "none for none", Check: "mrtr/no-state-invented", CaseID: "no-state", Verdict: report.Pass, Message: "no state was sent where none came",
			Steps: func(s *tracetest.Story) { again(wishes(s, 7, inputs("a")), 8, gives("", "a")) }},
		{Name: "null for none", Check: "mrtr/no-state-invented", CaseID: "no-state", Verdict: report.Fail,
			Message: "the retry has a requestState, and the result that it answers had none",
			Steps:   func(s *tracetest.Story) { again(wishes(s, 7, inputs("a")), 8, gives(`,"requestState":null`, "a")) }},
		{Name: "an earlier one for none", Check: "mrtr/no-state-invented", CaseID: "states", Verdict: report.Fail,
			Message: "the retry has a requestState, and the result that it answers had none",
			Steps: func(s *tracetest.Story) {
				again(wishes(first(s, "one", withState("one")), 8, inputs("b")), 9, gives(withState("one"), "b"))
			}},

		{Name: "retried", Check: "mrtr/state-only", CaseID: "only-state", Verdict: report.Info, Message: "a result without input requests is answered by a retry",
			Steps: func(s *tracetest.Story) { again(wishes(s, 7, state("s")), 8, withState("s")) }},
		{Name: "not retried", Check: "mrtr/state-only", CaseID: "only-state", Verdict: report.Info, Message: "a result without input requests is not answered by a retry",
			Steps: func(s *tracetest.Story) { wishes(s, 7, state("s")).PassesBarrier() }},
		{Name: "not retried yet", Check: "mrtr/state-only", CaseID: "only-state", Verdict: report.NotObserved,
			Message: "no retry came, and it is not settled that none would have: no later sampling request was answered, so it could still come",
			Steps:   func(s *tracetest.Story) { wishes(s, 7, state("s")) }},
	})
}

// inSomeRounds is a story of rounds of which each but the last is gone on from.
func inSomeRounds(rounds int) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		for i := range rounds {
			again(wishes(s, 7+i, inputs(fmt.Sprint("k", i))+state("s")), 8+i, gives(withState("s"), fmt.Sprint("k", i)))
		}
	}
}

func TestHowManyRoundsAClientMakes(t *testing.T) {
	after := func(rounds int, then func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			inSomeRounds(rounds)(s)
			wishes(s, 7+rounds, inputs("last")+state("s"))
			then(s)
		}
	}
	inRoundTrips(t, []tracetest.Test{
		{Name: "five", Check: "mrtr/rounds", CaseID: "five-rounds", Verdict: report.Pass, Message: "the client made 5 rounds", Steps: inSomeRounds(5)},
		{Name: "three", Check: "mrtr/rounds", CaseID: "five-rounds", Verdict: report.Fail, Message: "the client stopped after 3 rounds of 5", Steps: after(3, func(*tracetest.Story) {})},
		{Name: "none", Check: "mrtr/rounds", CaseID: "five-rounds", Verdict: report.NotObserved, Message: "the client made no retry at all (see mrtr/retried)", Steps: after(0, func(*tracetest.Story) {})},

		{Name: "a limit", Check: "mrtr/endless", CaseID: "for-ever", Verdict: report.Pass, Message: "the client gave up after 9 rounds",
			Steps: after(9, func(s *tracetest.Story) { s.PassesBarrier() })},
		{Name: "a limit that the client tells of", Check: "mrtr/endless", CaseID: "for-ever", Verdict: report.Pass, Message: "the client gave up after 9 rounds, and says of its call: gave-up",
			Steps: after(9, func(s *tracetest.Story) {
				s.Marks(trace.MarkOutcome, `{"mcp-conform":"outcome","tool":"x","outcome":"gave-up"}`)
			})},
		{Name: "a limit, or more to come", Check: "mrtr/endless", CaseID: "for-ever", Verdict: report.NotObserved,
			Message: "that the client gave up after 9 rounds cannot be said: no later sampling request was answered, so it could still come", Steps: after(9, func(*tracetest.Story) {})},
		{Name: "no limit", Check: "mrtr/endless", CaseID: "for-ever", Verdict: report.Fail, Message: "the client made its request again 100 times, and showed no sign of a limit",
			Steps: inSomeRounds(tooManyRounds)},
		{Name: "no retry", Check: "mrtr/endless", CaseID: "for-ever", Verdict: report.NotObserved, Message: "the client made no retry at all (see mrtr/retried)", Steps: after(0, func(*tracetest.Story) {})},
	})
}

func TestInputOfACallInOtherRequests(t *testing.T) {
	leak := func(members string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			wishes(s, 7, inputs("a")+state("s"))
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{`+s.Meta()+`"x":1`+members+`}}`)
			again(s, 8, gives(withState("s"), "a"))
		}
	}
	inRoundTrips(t, []tracetest.Test{
		{Name: "none of it, meanwhile", Check: "mrtr/isolation", CaseID: "several", Verdict: report.Pass,
			Message: "no other request has input or state of the call, also none that was made while it was asked for input", Steps: leak("")},
		{Name: "none of it, afterwards", Check: "mrtr/isolation", CaseID: "several", Verdict: report.Pass,
			Message: "no request that followed has input or state of the call; none was made while it was asked for input",
			Steps:   func(s *tracetest.Story) { inSomeRounds(1)(s); s.PassesBarrier() }},
		{Name: "another state", Check: "mrtr/isolation", CaseID: "several", Verdict: report.Pass,
			Message: "no other request has input or state of the call, also none that was made while it was asked for input", Steps: leak(withState("its own"))},
		{Name: "its state", Check: "mrtr/isolation", CaseID: "several", Verdict: report.Fail,
			Message: "a tools/list that is no retry has the input or the state of a call of mrtr-several", Steps: leak(withState("s"))},
		{Name: "its input", Check: "mrtr/isolation", CaseID: "several", Verdict: report.Fail,
			Message: "a tools/list that is no retry has the input or the state of a call of mrtr-several", Steps: leak(gives("", "a"))},
		{Name: "nowhere that it could be", Check: "mrtr/isolation", CaseID: "several", Verdict: report.NotObserved,
			Message: "the client made no other request in which it could be", Steps: inSomeRounds(1)},
	})
}

func TestPromptsAndResourcesOfAClient(t *testing.T) {
	tell := func(then func(*tracetest.Story)) *report.Result {
		s := tracetest.Unconnected(t, catalogue, tracetest.InB[0], tracetest.Native[0], "mrtr/prompt")
		s.Trace.Header.Cases[0].Carrier = "prompts/get"
		s.Connects()
		then(s)
		return s.Result("mrtr/prompts-and-resources")
	}
	gets := func(s *tracetest.Story, id int, more string) {
		s.Frame(s.CaseID, trace.FromClient, 0, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"prompts/get","params":{%s"name":"mrtr-prompt"%s}}`, id, s.Meta(), more))
	}
	for name, c := range map[string]struct {
		tell    func(*tracetest.Story)
		verdict report.Verdict
		message string
	}{
		"made again": {func(s *tracetest.Story) {
			gets(s, 7, "")
			wishes(s, 7, inputs("a")+state("s"))
			gets(s, 8, gives(withState("s"), "a"))
		}, report.Pass,
			"the prompts/get was made again, with its input"},
		"never made": {func(*tracetest.Story) {}, report.Unsupported,
			"the client never made the prompts/get: it takes one that heeds the prompts and resources in MCP_CONFORMANCE_CONTEXT (Env.Prompts, Env.Resources)"},
		"not made again": {func(s *tracetest.Story) { gets(s, 7, ""); wishes(s, 7, inputs("a")+state("s")) }, report.Fail,
			"the prompts/get was answered with a wish for input, and the client did not make it again"},
		"made again without its state": {func(s *tracetest.Story) {
			gets(s, 7, "")
			wishes(s, 7, inputs("a")+state("s"))
			gets(s, 8, gives("", "a"))
		}, report.Fail,
			"the retry has no requestState, and the result that it answers had one"},
		"made again without its input": {func(s *tracetest.Story) {
			gets(s, 7, "")
			wishes(s, 7, inputs("a")+state("s"))
			gets(s, 8, withState("s"))
		}, report.Fail,
			`the retry has nothing under the key "a", which was asked for (sampling/createMessage)`},
		"made again under its id": {func(s *tracetest.Story) {
			gets(s, 7, "")
			wishes(s, 7, inputs("a")+state("s"))
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

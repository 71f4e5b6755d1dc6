package mrtr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The second era has no requests of the server's: a result asks for input, and the client makes its request again with it, and with the
// state that the result gave it to keep (2026-07-28, basic/patterns/mrtr).
var Scenario = check.Scenario{
	ID:        "mrtr",
	Purpose:   "results that ask for input, and requests that are made again with it",
	Revisions: []server.Revision{server.V20260728},
	Cases:     slices.Concat(stateCases, roundCases, []harness.Case{prompted, read}, resultCases, directCases, badInputs),
	Checks: []check.Check{
		retried, everyKey, answersValid, stateEchoed, stateEmpty, noStateInvented, newID, sameParams, retriesOnce, fiveRounds, endless, stateOnly, isolation,
		promptsAndResources, missingResultType, unknownResultType, directRequestUnanswered, noResponses, idsOfRequests, undeclaredInput, badInput,
	},
}

// States that come back as they were only from a client that takes them for nothing but a string.
var (
	strangeState = "Zürich 日本語 \U0001F986 \"quoted\" \\u0041 C:\\temp\\ <b>&amp;</b>\u2028\ttab\nline\x00 {\"round\":1} =="
	laterState   = "the second state, and no other"
	bigState     = strings.Repeat("0123456789abcdef", 64<<10/16)
)

// whereSampling is a play about input: one of a client that may not be asked for samples asks for none, and that is noted.
func whereSampling(play server.Handler) server.Handler {
	return func(s *server.Session) (any, error) {
		if !s.Declares("sampling") {
			return s.Sample(s.Ask("Are you there?")) // withheld
		}
		return play(s)
	}
}

// inputRequest is a sampling request as it stands in a result.
func inputRequest(params any) any {
	return map[string]any{"method": "sampling/createMessage", "params": params}
}

// inRounds is a case with a round for each state, nil for a round without one, each of which asks for one sample.
func inRounds(id string, states ...*string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A duck."), Handler: whereSampling(func(s *server.Session) (any, error) {
		for i, state := range states {
			key := fmt.Sprintf("%s-%d", strings.TrimPrefix(id, "mrtr/"), i+1)
			_, err := s.InputRequired(server.Input{State: state, Requests: map[string]any{key: inputRequest(s.Ask("Name an animal."))}})
			if err != nil {
				return nil, err
			}
		}
		return "done", nil
	})}
}

// followed is a case that has something after it in its session, in which what it leaves behind would show.
func followed(c harness.Case) harness.Case {
	c.Barrier = true
	return c
}

var stateCases = []harness.Case{
	followed(inRounds("mrtr/states", &strangeState, &laterState, nil)),
	inRounds("mrtr/big-state", &bigState),
	inRounds("mrtr/empty-state", new(string)),
	inRounds("mrtr/no-state", nil),
	{ID: "mrtr/only-state", Barrier: true, Handler: func(s *server.Session) (any, error) {
		state := "nothing but a state"
		_, err := s.InputRequired(server.Input{State: &state})
		return "done", err
	}},
}

// enoughRounds is how many rounds a client has to be able to make, and tooManyRounds how many are no call any more: a client that makes all of
// those knows no limit.
const (
	enoughRounds  = 5
	tooManyRounds = 100
)

// sampleTimes is a play of so many rounds.
func sampleTimes(rounds int) server.Handler {
	return func(s *server.Session) (any, error) {
		for range rounds {
			if _, err := s.Sample(s.Ask("And another one?")); err != nil {
				return nil, err
			}
		}
		return "That is enough.", nil
	}
}

var roundCases = []harness.Case{
	{ID: "mrtr/several", Script: story.Says("A goose."), Barrier: true, Handler: func(s *server.Session) (any, error) {
		for _, answer := range s.SampleAll(s.Ask("Name a bird."), s.Ask("Name a fish.")) {
			if answer.Err != nil {
				return nil, answer.Err
			}
		}
		return "done", nil
	}},
	mixed("mrtr/mixed", `{"method":"roots/list","params":{}}`),
	mixed("mrtr/bare-input", `{"method":"roots/list"}`), // whose params may be left out
	{ID: "mrtr/five-rounds", Script: story.Says("Another one."), Handler: sampleTimes(enoughRounds)},
	{ID: "mrtr/for-ever", Script: story.Says("Another one."), Handler: sampleTimes(tooManyRounds), Barrier: true},
}

// mixed is a case in which something else is asked for beside a sample: roots, as the request says, or what a client declares that has none.
func mixed(id, roots string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A swan."), Handler: whereSampling(func(s *server.Session) (any, error) {
		beside := json.RawMessage(roots)
		switch {
		case s.Declares("roots"):
		case s.Declares("elicitation"):
			beside = elicitation
		default:
			return "The client declares neither roots nor elicitation.", nil
		}
		state := "two kinds"
		_, err := s.InputRequired(server.Input{State: &state, Requests: map[string]any{"sample": inputRequest(s.Ask("Name a bird.")), "beside": beside}})
		return "done", err
	})}
}

// elicitation asks the person something.
var elicitation = json.RawMessage(`{"method":"elicitation/create","params":{"mode":"form","message":"May I?","requestedSchema":{"type":"object","properties":{"may":{"type":"boolean"}}}}}`)

// The other requests that may be answered so.
var (
	prompted = harness.Case{ID: "mrtr/prompt", Carrier: server.PromptsGet, Script: story.Says("A heron."), Handler: askForBird}
	read     = harness.Case{ID: "mrtr/resource", Carrier: server.ResourcesRead, Script: story.Says("A heron."), Handler: askForBird}
)

func askForBird(s *server.Session) (any, error) { return s.Sample(s.Ask("Name a bird.")) }

// unheardOf is a type of result that there is not.
const unheardOf = "unheard-of"

// looksLikeAWish is a case with a result that has input requests, and content, and another type than the one that asks.
func looksLikeAWish(id, resultType string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A crane."), Barrier: true, Handler: whereSampling(func(s *server.Session) (any, error) {
		result := map[string]any{"content": []any{server.Text("All is done.")}, "requestState": "of no use",
			"inputRequests": map[string]any{"look-alike": inputRequest(s.Ask("Name a bird."))}}
		if resultType != "" {
			result["resultType"] = resultType
		}
		return server.RawResult(dialect.Marshal(result)), nil
	})}
}

var resultCases = []harness.Case{
	looksLikeAWish("mrtr/untyped", ""),
	looksLikeAWish("mrtr/unknown-type", unheardOf),
}

// sends is a case in which the server sends messages that this era does not have, before it answers the call. It is a session of its own: a
// client that responds to one is told that it must not, and may take that for the end.
func sends(id string, messages func(*server.Session) []string) harness.Case {
	return harness.Case{ID: id, Script: story.Says("A stork."), Barrier: true, Isolated: true, Handler: whereSampling(func(s *server.Session) (any, error) {
		for _, m := range messages(s) {
			if err := s.Send([]byte(`{"jsonrpc":"2.0",` + m + `}`)); err != nil {
				return nil, err
			}
		}
		select { // a client may stop to respond as soon as it has its result
		case <-time.After(timeToRespond):
		case <-s.Context().Done():
		}
		return "done", nil
	})}
}

// timeToRespond is how long a client has to do what it should not. In virtual time it is long enough for whatever it does.
const timeToRespond = 100 * time.Millisecond

// The ids of requests that are the server's.
const (
	directSample = "direct-sample"
	directPing   = "direct-ping"
)

var directCases = []harness.Case{
	sends("mrtr/direct", func(s *server.Session) []string {
		return []string{`"id":"` + directSample + `","method":"sampling/createMessage","params":` + string(story.JSON(s.Ask("Name a bird.")))}
	}),
	sends("mrtr/ping", func(*server.Session) []string {
		return []string{`"method":"notifications/message","params":{"level":"info","data":"birds ahead"}`, `"id":"` + directPing + `","method":"ping"`}
	}), {
		ID: "mrtr/undeclared", Barrier: true, Handler: func(s *server.Session) (any, error) {
			beside := any(elicitation)
			switch {
			case !s.Declares("roots"):
				beside = map[string]any{"method": "roots/list"}
			case s.Declares("elicitation"):
				return "The client declares all that could be asked for.", nil
			}
			state := "more than was declared"
			_, err := s.InputRequired(server.Input{State: &state, Requests: map[string]any{"undeclared": beside}})
			return "done", err
		}},
}

// wrongInput is a case with one input request that is none. It may be the end of a client.
func wrongInput(id, request string) harness.Case {
	return harness.Case{ID: id, Hostile: true, Barrier: true, Handler: whereSampling(func(s *server.Session) (any, error) {
		state := "with input that is none"
		_, err := s.InputRequired(server.Input{State: &state, Requests: map[string]any{"bad": json.RawMessage(request)}})
		return "done", err
	})}
}

var badInputs = []harness.Case{
	wrongInput("mrtr/null-input", `null`),
	wrongInput("mrtr/unknown-input", `{"method":"sampling/dream","params":{}}`),
	wrongInput("mrtr/malformed-input", `{"method":"sampling/createMessage","params":{"messages":null,"maxTokens":"many"}}`),
}

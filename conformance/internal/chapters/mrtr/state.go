package mrtr

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// States that come back unchanged only if the client treats them as opaque strings.
var (
	strangeState = "Zu\u0308rich 日本語 \U0001F986 \"quoted\" \\u0041 C:\\temp\\ " +
		"<b>&amp;</b>\u2028\ttab\nline\x00 {\"round\":1} =="
	laterState = " the second state, and no other\n"
	jsonState  = `{"round": 3,"of":3.0}`
	bigState   = strings.Repeat("0123456789abcdef", 64<<10/16)
)

var stateCases = []harness.Case{
	beforeBarrier(withStates("mrtr/states", &strangeState, &laterState, &jsonState, nil)),
	withStates("mrtr/big-state", &bigState),
	withStates("mrtr/empty-state", new(string)),
	withStates("mrtr/no-state", nil),
	{ID: "mrtr/only-state", Barrier: true, Handler: func(s *server.Session) (any, error) {
		return askFor(s, "nothing but a state", nil)
	}},
	{ID: "mrtr/state-after-input", Barrier: true, Script: story.Says("A duck."),
		Handler: ifSampling(func(s *server.Session) (any, error) {
			animal := map[string]any{"animal": inputRequest(s.Ask("Name an animal."))}
			if _, err := askFor(s, "an animal", animal); err != nil {
				return nil, err
			}
			return askFor(s, "nothing but a state", nil)
		})},
}

// arguments are those of calls that wait for input. Careless code loses them, or what it takes for empty.
var arguments = story.JSON(story.Object{"city": "Zürich", "days": 3, "units": nil, "tags": []any{},
	"options": story.Object{"hourly": false, "from": ""}})

// oddKeys are keys of input requests that come back unchanged only if the client treats them as opaque strings. Cases
// with several states have them.
var oddKeys = []string{"", "0", ` States_of/~1.e` + "\u0301" + `["x"] 🗝`, "constructor"}

// withStates asks for one sample per state, in a round of its own. Nil stands for a result without requestState.
func withStates(id string, states ...*string) harness.Case {
	return harness.Case{
		ID:        id,
		Script:    story.Says("A duck."),
		Arguments: arguments,
		Handler: ifSampling(func(s *server.Session) (any, error) {
			for i, state := range states {
				key := strings.TrimPrefix(id, "mrtr/")
				if len(states) > 1 {
					key = oddKeys[i]
				}
				if state != nil {
					ownState := own(s, *state)
					state = &ownState
				} else {
					key = own(s, key)
				}
				requests := map[string]any{key: inputRequest(s.Ask("Name an animal."))}
				if _, err := s.InputRequired(server.InputRequiredResult{State: state, Requests: requests}); err != nil {
					return nil, err
				}
			}
			return "done", nil
		}),
	}
}

// beforeBarrier lets another call follow the case in its session, where always/isolation looks for the state.
func beforeBarrier(c harness.Case) harness.Case {
	c.Barrier = true
	return c
}

var stateOnly = check.Check{
	ID: "state-only", Rule: "Reports whether the client retries after a result with requestState but no inputRequests",
	Levels: check.InModern(report.May), Cases: []string{"only-state", "state-after-input"}, Needs: needsInput,
	Statements: []string{"mrtr/23"},
	Cause:      "a client may retry or not",
	Fix:        "No change is needed.",
	Judge: func(e *evidence.Case) check.Verdict {
		results := e.InputRequiredResults()
		from := results[len(results)-1]
		if len(from.InputRequired.Keys()) > 0 {
			return check.NotObserved("the call did not come to a result without inputRequests%s", e.WhyNoRetry())
		}
		if len(from.Retries) > 0 {
			return check.Info("the client retries after a result without inputRequests").At(from.Retries[0].Place)
		}
		return settled(e, from).
			Or(check.Info("the client does not retry after a result without inputRequests").At(from.InputRequired.Place))
	},
}

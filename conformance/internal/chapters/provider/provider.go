// Package provider judges what a client does when the model's provider fails: with an HTTP error (http_errors.go), in
// the middle of an answer (partial.go), or because it refuses to answer (refusals.go). The client must return an error
// and stay alive (recovery.go), and nothing that the provider says on the way is for the server: secrets are planted
// in all of it (leaks.go).
package provider

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// Scenario is the chapter.
var Scenario = story.Retold(check.Scenario{
	ID:        "provider-errors",
	Purpose:   "the model's provider fails or refuses to answer",
	Revisions: server.AllRevisions(),
	Cases:     slices.Concat(permanentErrors, badRequest, temporaryErrors, singleRateLimit, cuts, refusals),
	Checks: []check.Check{
		isError, partialNotWhole, refusalTold, retried, errorCode, alive, noUpstreamBody,
	},
},
	story.Again(names(permanentErrors[:1], badRequest, temporaryErrors, singleRateLimit, cuts, refusals),
		story.ToolsOffered, story.SecondRound),
	story.Again([]string{"unauthorized", "bad-request", "rate-limited", "rate-limited-once", "truncated-stream",
		"content-filter"}, story.AfterImage),
)

// Internals that the provider reveals when it fails.
const (
	InternalHost = "inference-q7x2.planted.internal"
	InternalCode = "/srv/gateway/route_k9v4.py"
	FrontMachine = "planted-9f3ad1c07be24-ZRH"
)

// frontHeaders are those of a content delivery network: its name, and a cookie for its own domain.
var frontHeaders = http.Header{
	"Set-Cookie": {"__cf_bm=" + leak.PlantedCookie +
		"; path=/; domain=.provider.example; HttpOnly; Secure; SameSite=None"},
	"Cf-Ray": {FrontMachine},
}

// failure is how the provider fails in a case.
type failure struct {
	name      string        // in messages: "after HTTP 500 …"
	refusal   string        // what the model says to refuse; "" for nothing
	noAccount bool          // the provider cannot know the account
	before    int           // the sampling requests that the provider answers before
	retries   time.Duration // what the client gets for its retries
}

func (f failure) String() string { return f.name }

func failureOf(e *evidence.Case) failure { return check.Expected[failure](e) }

// failedRound is the round in which the provider fails, or the last one if the client did not come so far.
func failedRound(e *evidence.Case) *evidence.Round {
	return e.Rounds[min(failureOf(e).before, len(e.Rounds)-1)]
}

// failing is a case in which the provider fails by the rules. Every answer names the planted cookie, machine and
// account. The barrier follows because a client of 2026-07-28 says nothing about a failure.
func failing(id string, f failure, rules ...*llm.Rule) harness.Case {
	for _, r := range rules {
		if r.Header(frontHeaders); !f.noAccount {
			r.Account(leak.PlantedAccount)
		}
	}
	return harness.Case{
		ID:      check.ProviderPrefix + id,
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("When does the bridge open?")) },
		Script:  func(string) []*llm.Rule { return rules },
		Expect:  f,
		Wait:    f.retries,
		Barrier: true,
	}
}

// names returns the IDs of cases without the scenario.
func names(lists ...[]harness.Case) []string {
	var ids []string
	for _, c := range slices.Concat(lists...) {
		ids = append(ids, strings.TrimPrefix(c.ID, check.ProviderPrefix))
	}
	return ids
}

// Package balance judges what a client does with histories that a server must not send: tool uses and tool results
// that do not belong together. Each case sends one. A client that validates histories refuses it. Providers refuse
// some of them themselves; in the native dialect the model accepts all, so that only the client can refuse.
package balance

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Scenario holds the cases and checks of this chapter.
var Scenario = check.Scenario{
	ID:        "balance",
	Purpose:   "histories in which tool uses and results do not balance",
	Revisions: check.WithTools,
	Cases:     cases(),
	Checks:    slices.Concat(refusals(), []check.Check{notDropped, noModelCall, alive}),
}

// history is one that a server must not send. It breaks one rule, and as far as possible no other.
type history struct {
	// name is that of its case.
	name string
	// wrong completes "a history in which …", and at is the index of the wrong message.
	wrong string
	at    int
	// messages follow the user's question.
	messages []server.SamplingMessage
	// marker is a word in the part that a careless converter drops; "" if none is likely to be dropped.
	marker string
}

// cases are one forbidden request each.
func cases() []harness.Case {
	var all []harness.Case
	for _, kind := range forbidden {
		for _, h := range kind.histories {
			all = append(all, harness.Case{ID: "balance/" + h.name, Barrier: true,
				Handler: h.send, Script: story.Says("It is mild there."), Expect: h})
		}
	}
	return all
}

// send sends the history. A client without sampling.tools gets a request that the server withholds, so that the reason
// is in the trace.
func (h history) send(s *server.Session) (any, error) {
	ask := s.Ask("What is the weather like?", story.GetWeather)
	if !s.Declares("sampling", "tools") {
		return s.Sample(ask)
	}
	ask.Messages = append(ask.Messages, h.messages...)
	return s.Sample(ask, server.Hostile())
}

// path is the path of the wrong message's content in the params.
func (h history) path() string { return fmt.Sprintf("messages[%d].content", h.at) }

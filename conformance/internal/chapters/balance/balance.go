// Package balance judges what a client does with histories that a server must not send: tool uses and tool results
// that do not belong together. Each case sends one. A client that validates histories refuses it. Providers refuse
// some of them themselves; in the native dialect the model accepts all, so that only the client can refuse.
package balance

import (
	"fmt"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// Scenario holds the cases and checks of this chapter.
var Scenario = scenario()

// kind is a check that the client refuses histories, and these histories. Its id is that of a rule of package validity.
type kind struct {
	id, refuses string // "The client refuses …"
	level       report.Level
	cause, fix  string
	histories   []history
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
}

func scenario() check.Scenario {
	s := check.Scenario{ID: "balance", Purpose: "histories in which tool uses and results do not balance",
		Revisions: check.WithTools}
	for _, k := range forbidden {
		c := check.Check{ID: k.id, Rule: "The client refuses " + k.refuses, Levels: check.Everywhere(k.level),
			Statements: k.statements(), Requests: 1, Cause: k.cause, Fix: k.fix, Judge: check.RefusedWithCode}
		for _, h := range k.histories {
			c.Cases = append(c.Cases, h.name)
			s.Cases = append(s.Cases, h.asCase())
		}
		s.Checks = append(s.Checks, c)
	}
	s.Checks = append(s.Checks, notDropped, noModelCall, alive)
	return s
}

// codeNamed is the statement that names the error code for a missing result and for mixed content (sampling/09, 08).
const codeNamed = "sampling/error-codes"

func (k kind) statements() []string {
	rule := validity.Kind(k.id).Statement()
	if rule == "sampling/08" || rule == "sampling/09" {
		return []string{codeNamed, rule}
	}
	return []string{rule}
}

func (h history) asCase() harness.Case {
	return harness.Case{ID: "balance/" + h.name, Barrier: true, Handler: h.send, Script: story.Says("It is mild there."),
		Expect: check.Refusal{What: "a history in which " + h.wrong, Path: fmt.Sprintf("messages[%d].content", h.at),
			Codes: []int{evidence.CodeInvalidParams}}}
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

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

// Kind is a check that the client refuses histories, and these histories. Its id is that of a rule of package validity.
type Kind struct {
	ID, refuses string // "The client refuses …"
	level       report.Level
	cause, fix  string
	Histories   []History
}

// History is one that a server must not send. It breaks one rule, and as far as possible no other.
type History struct {
	// Name is that of its case.
	Name string
	// Wrong completes "a history in which …", and at is the index of the wrong message.
	Wrong string
	at    int
	// Messages follow the user's question.
	Messages []server.SamplingMessage
	// Later is true if a question about an image comes first in the call: in 2026-07-28 the history is then part of a
	// retry. The image comes again with the history, unless the client refuses it.
	Later bool
}

func scenario() check.Scenario {
	s := check.Scenario{ID: "balance", Purpose: "histories in which tool uses and results do not balance",
		Revisions: check.WithTools}
	for _, k := range Forbidden {
		c := check.Check{ID: k.ID, Rule: "The client refuses " + k.refuses, Levels: check.Everywhere(k.level),
			Statements: k.Statements(), Requests: 1, Needs: []check.Need{sent}, Cause: k.cause, Fix: k.fix,
			Judge: check.RefusedWithCode}
		for _, h := range k.Histories {
			c.Cases = append(c.Cases, h.Name)
			s.Cases = append(s.Cases, h.AsCase())
		}
		s.Checks = append(s.Checks, c)
	}
	s.Checks = append(s.Checks, NotDropped, noModelCall, alive)
	return s
}

// CodeNamed is the statement that names the error code for a missing result and for mixed content (sampling/09, 08).
const CodeNamed = "sampling/error-codes"

// Statements is exported for the tests, which are in a package of their own.
func (k Kind) Statements() []string {
	rule := validity.Kind(k.ID).Statement()
	if rule == "sampling/08" || rule == "sampling/09" {
		return []string{CodeNamed, rule}
	}
	return []string{rule}
}

// AsCase is exported for the tests, which are in a package of their own.
func (h History) AsCase() harness.Case {
	expected := check.Refusal{What: "a history in which " + h.Wrong, Path: fmt.Sprintf("messages[%d].content", h.at),
		Codes: []int{evidence.CodeInvalidParams}}
	if h.Later {
		expected.Index = 1
	}
	return harness.Case{ID: "balance/" + h.Name, Barrier: true, Handler: h.send, Script: story.Says("It is mild there."),
		Expect: expected}
}

// sent needs the history to have been sent. Before it may come an image that the client refuses.
func sent(e *evidence.Case) *check.Verdict {
	return check.SentBehindImage(e, check.Expected[check.Refusal](e).Index)
}

// send sends the history. A client without sampling.tools gets a request that the server withholds, so that the reason
// is in the trace.
func (h History) send(s *server.Session) (any, error) {
	if h.Later && s.Declares("sampling", "tools") {
		if err := story.BehindImage(s); err != nil {
			return nil, err
		}
	}
	ask := s.Ask("What is the weather like?", story.GetWeather)
	if !s.Declares("sampling", "tools") {
		return s.Sample(ask)
	}
	ask.Messages = append(ask.Messages, h.Messages...)
	return s.Sample(ask, server.Hostile())
}

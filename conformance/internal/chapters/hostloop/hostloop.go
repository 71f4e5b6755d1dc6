// Package hostloop is the chapter host-loop: it judges the tool loop of a host, in which the host's own model calls the
// tools of the server. The fake model makes a mistake towards the host: it uses an unknown tool, gives invalid
// arguments, uses a tool that fails, never ends, or says nothing. A correct host tells its model, and continues.
//
// Each case is played in a session of its own, and only for hosts. The host calls the case's tool, which asks for a
// sample. In its next turns the model makes the mistake, and then calls the barrier. The files: told.go is about uses
// after which the model has to learn what went wrong, and bounded.go about turns that lead to nothing.
package hostloop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/offered"
)

// Scenario is the chapter.
var Scenario = check.Scenario{
	ID:        "host-loop",
	Purpose:   "the tool loop of a host whose own model makes mistakes",
	Revisions: check.WithTools,
	Cases: []harness.Case{
		unknownTool, invalidJSON, invalidArguments, failingTool, refusedCall, endless, empty,
	},
	Checks: []check.Check{
		unknownToolTold, badJSONTold, badArgumentsTold, failingToolTold, bounded, emptyAnswer,
	},
}

// mistake is a case in which the model of the host says these turns. The tool is another one of the server.
func mistake(id string, tool server.Tool, turns ...[]llm.Block) harness.Case {
	return harness.Case{ID: check.HostLoopPrefix + id, Isolated: true, Barrier: true, HostTurns: turns,
		Tools:   []server.Tool{tool},
		Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Are you ready?")) },
		Script:  func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply(llm.Text("I am."))} }}
}

func uses(tool, arguments string) []llm.Block { return []llm.Block{llm.Call(tool, arguments)} }

// using reports whether the model uses a tool in a turn, under whatever name the host offers it.
func using(tool string) func(*evidence.Exchange) bool {
	return func(x *evidence.Exchange) bool { return useOf(x, tool) != nil }
}

// useOf returns the model's use of a tool in a turn; nil for none.
func useOf(x *evidence.Exchange, tool string) *dialect.Block {
	calls := x.Calls()
	if i := slices.IndexFunc(calls, func(b dialect.Block) bool { return named(b.Name, tool) }); i >= 0 {
		return &calls[i]
	}
	return nil
}

// named reports whether a name is the one of a tool, with a prefix of the host or without.
func named(name, tool string) bool {
	return offered.Match(&dialect.Tool{Name: name}, []dialect.Tool{{Name: tool}}) == tool
}

// notReached is the verdict for a host whose model did not get to its mistake.
func notReached(e *evidence.Case) check.Verdict {
	s := e.Session
	if s.Ended != nil && s.Ended.Clean() {
		return check.Unsupported(
			"the host ended its task with turn %d of its model, before the mistake: allow it more turns",
			len(s.HostTurns()),
		)
	}
	return check.NotObserved("the model of the host did not get to its mistake: %s", s.Ending())
}

// rustPanic is the exit status of a panic in Rust.
const rustPanic = 101

// lastWords match output that ends with what the runtime of Python, Node or Java reports of an uncaught exception. In
// the middle of the output it may be a log of an exception that was handled.
var lastWords = regexp.MustCompile(
	`(^|\n)(  \+ Exception Group Traceback [^\n]*(\n [^\n]*)*` +
		`|Traceback \(most recent call last\):\n([^\n]*\n)*?` +
		`([\w.]+(Error|Exception|Group|Exit)|\w+(\.\w+)+)(: [^\n]*)?(\n +[^\n]*|\n\w+)*(\n +[^\n]*)?` +
		`|Node\.js v\d[\d.]*|Exception in thread "main" [^\n]*(\n[ \t]+[^\n]*|\nCaused by: [^\n]*)*)\s*$`)

// uncaught reports whether a host ended with an exception that it did not handle.
func uncaught(p *trace.Process) bool {
	return p.ExitCode == rustPanic ||
		p.ExitCode != 0 && lastWords.MatchString(strings.ReplaceAll(p.Stdout+p.Stderr, "\r", ""))
}

// crashed returns the failure for a host that crashed, or was ended by the harness; nil for one that ended by itself.
func crashed(e *evidence.Case, said *evidence.Exchange, what string) *check.Verdict {
	s := e.Session
	switch {
	case s.Ended == nil:
		return check.Instead(check.NotObserved("the trace does not say how the host ended"))
	case evidence.EndedByItself(s.Ended) && !uncaught(s.Ended):
		return nil
	case s.Ended.Deadline:
		what += ", found that it hangs"
	default:
		what += ", found a crash"
	}
	return check.Instead(check.Fail("expected the host to %s: %s", what, s.Ending()).
		ShowAs("model said", said.Place, "%s", saidIn(said)).ShowOutput(s).
		Because("the host does not expect such a reply of its model",
			"Handle every reply of the model, also one that makes no sense: tell the model what is wrong, or end the task "+
				"with an error."))
}

// saidIn describes the model's reply in a turn.
func saidIn(x *evidence.Exchange) string {
	if x.Reply() == nil {
		return "nothing"
	}
	if calls := x.Calls(); len(calls) > 0 {
		return fmt.Sprintf("%s(%s)", calls[0].Name, evidence.Compact(calls[0].Input))
	}
	return fmt.Sprintf("%q", dialect.PlainText(x.Reply().Content))
}

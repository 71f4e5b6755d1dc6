package play

import (
	"context"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// Learner notes which conditions hold in a run. The zero value has noted nothing.
type Learner struct {
	mu   sync.Mutex
	seen map[string]Conditions // by call
}

// Conditions are the names of conditions that hold.
type Conditions map[string]bool

// Watch returns an edit that notes what it sees. An edit in a [mutants.Wire] sees the messages that its hooks are for.
func (l *Learner) Watch(edit func(*mutants.Wire) mutants.Edit) func(*mutants.Wire) mutants.Edit {
	return func(w *mutants.Wire) mutants.Edit {
		e := edit(w)
		e.Noted = l.note
		return e
	}
}

func (l *Learner) note(call string, f mutants.Facts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil {
		l.seen = map[string]Conditions{}
	}
	if l.seen[call] == nil {
		l.seen[call] = Conditions{}
	}
	for _, c := range mutants.Conditions() {
		if c.Holds(f) {
			l.seen[call][c.Name] = true
		}
	}
}

// ByCase returns which conditions hold in which cases of a run that has ended.
func (l *Learner) ByCase(traces []*trace.Trace) map[string]Conditions {
	l.mu.Lock()
	defer l.mu.Unlock()
	cases := CasesByCall(traces)
	found := map[string]Conditions{}
	for call, conditions := range l.seen {
		if id := cases[call]; id != "" {
			found[id] = conditions
		}
	}
	return found
}

// AnySample is a condition that holds for everything that belongs to a sample.
var AnySample = mutants.Condition{Name: "samples", Holds: func(mutants.Facts) bool { return true }}

// Learn lets the reference play these cases (see [conformance.Suite]), and returns which conditions hold in which of
// them.
func (s *Setting) Learn(ctx context.Context, only, skip []string) (map[string]Conditions, error) {
	var l Learner
	suite := s.Suite(mutants.Client(s.Config, l.Watch(mutants.Everything), AnySample, nil))
	suite.Only, suite.Skip = only, skip
	_, traces, err := suite.Run(ctx)
	if err != nil {
		return nil, err
	}
	return l.ByCase(traces), nil
}

// CasesByCall returns the cases of a run by their tools, prompts and URIs (see [mutants.Change]).
func CasesByCall(traces []*trace.Trace) map[string]string {
	ids := map[string]string{}
	for _, t := range traces {
		for _, c := range t.Header.Cases {
			if c.ID != harness.BarrierID {
				ids[c.Tool], ids[server.ResourceURI(c.Tool)] = c.ID, c.ID
			}
		}
	}
	return ids
}

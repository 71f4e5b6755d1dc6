// Package faults plays random bugs against the checks. It learns the places of all messages from a run of the correct
// client, draws a place, an edit and a condition, and plays the client with that bug on cases that have the place.
// Mutants show what their authors thought of; faults show what nobody thought of. Here belong the drawing, the playing
// and the list of changes that are legal; how the wire is edited belongs in package mutants.
package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/workers"
)

// Options are the settings of [Run].
type Options struct {
	// Seed and N say which faults to draw: the first N of the seed.
	Seed uint64
	N    int
	// Only is the number of the only fault to play, from 1; 0 for all N.
	Only int
	// Parallel is how many clients run at once; 0 for one.
	Parallel int
}

// Outcome is what became of a fault.
type Outcome string

// The outcomes.
const (
	// Named faults fail a check.
	Named Outcome = "named"
	// Legal faults change what a client may change.
	Legal Outcome = "legal"
	// NeverFired faults have no message to change: a stimulus is missing.
	NeverFired Outcome = "never fired"
	// NoEffect faults misread what the client does not use: neither wire shows them.
	NoEffect Outcome = "no effect"
	// Missed faults fail no check.
	Missed Outcome = "missed"
)

// Played is a fault and what became of it.
type Played struct {
	*Fault
	// Number counts the faults of the seed from 1.
	Number  int     `json:"number"`
	Outcome Outcome `json:"outcome"`
	// Fired is how many values the fault changed.
	Fired int `json:"fired"`
	// Cases are those in which it was played, and Checks those that failed it, as scenario/check.
	Cases  []string `json:"cases,omitempty"`
	Checks []string `json:"checks,omitempty"`
	// Reason says why the fault is legal.
	Reason string `json:"reason,omitempty"`
	// Changes are the first changes, as before → after; only of a single fault, like its results and traces.
	Changes []string        `json:"changes,omitempty"`
	Results *report.Results `json:"-"`
	Traces  []*trace.Trace  `json:"-"`

	shown   bool // on a wire
	refused bool // all that the client did was to refuse requests
}

// Report is the outcome of a run.
type Report struct {
	Seed   uint64   `json:"seed"`
	Faults []Played `json:"faults"`
}

// Count returns how many faults have the outcome.
func (r *Report) Count(o Outcome) int {
	n := 0
	for i := range r.Faults {
		if r.Faults[i].Outcome == o {
			n++
		}
	}
	return n
}

// Score is the share of named faults among those that fired and are not legal, in per cent; 100 for none.
func (r *Report) Score() float64 {
	named, missed := r.Count(Named), r.Count(Missed)
	if named+missed == 0 {
		return 100
	}
	return 100 * float64(named) / float64(named+missed)
}

// Text returns a line for each fault that was missed or never fired, and the counts. Of a single fault it returns all.
func (r *Report) Text() string {
	var b strings.Builder
	if len(r.Faults) == 1 {
		return r.Faults[0].text()
	}
	for _, o := range []Outcome{Missed, NeverFired} {
		for i := range r.Faults {
			if f := &r.Faults[i]; f.Outcome == o {
				fmt.Fprintf(&b, "%-11s  %s\n", o, f)
			}
		}
	}
	fmt.Fprintf(&b, "seed %d, %d faults: %d named, %d missed, %d legal, %d without effect, %d never fired: "+
		"%.1f %% of %d named\n", r.Seed, len(r.Faults), r.Count(Named), r.Count(Missed), r.Count(Legal),
		r.Count(NoEffect), r.Count(NeverFired), r.Score(), r.Count(Named)+r.Count(Missed))
	return b.String()
}

// String is the fault with its number and how often it fired.
func (f *Played) String() string {
	return fmt.Sprintf("%4d  %s, fired %d times", f.Number, f.Fault, f.Fired)
}

func (f *Played) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(f.String()))
	for _, change := range f.Changes {
		fmt.Fprintf(&b, "  changed  %s\n", change)
	}
	for _, name := range f.Cases {
		fmt.Fprintf(&b, "  case     %s\n", name)
	}
	for _, id := range f.Checks {
		fmt.Fprintf(&b, "  failed   %s\n", id)
	}
	fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(string(f.Outcome)+": "+f.Reason, ": "))
	return b.String()
}

// Goal is the least score, in per cent, with which the checks are good enough.
const Goal = 95

// sessionTimeout limits a session of a broken client.
const sessionTimeout = 5 * time.Second

// Run draws the faults and plays them. Its error says that something on our side failed, or that the context ended.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Seed: o.Seed, Faults: make([]Played, o.N)}
	first := 0
	if o.Only > 0 {
		first, r.Faults = o.Only-1, r.Faults[:1]
	}
	p := &player{Options: o, lessons: map[Setting]func() (*lesson, error){}}
	for _, s := range settings() {
		p.lessons[s] = sync.OnceValues(func() (*lesson, error) { return learn(ctx, s) })
	}
	errs := make([]error, len(r.Faults))
	workers.Each(len(r.Faults), o.Parallel, func(i int) { errs[i] = p.one(ctx, &r.Faults[i], first+i) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("fault %d of seed %d: %w", first+i+1, o.Seed, err)
		}
	}
	return r, ctx.Err()
}

package faults

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Setting is a way to reach the server and to ask the model.
type Setting struct {
	Revision server.Revision `json:"revision"`
	Dialect  string          `json:"dialect"`
	Plain    bool            `json:"plain"` // not streamed
}

func (s Setting) String() string {
	if s.Plain {
		return fmt.Sprintf("%s, %s, plain", s.Revision, s.Dialect)
	}
	return fmt.Sprintf("%s, %s, streamed", s.Revision, s.Dialect)
}

func (s Setting) config() reference.Config {
	return reference.Config{Dialect: s.Dialect, Plain: s.Plain}
}

// settings are all settings.
func settings() []Setting {
	all := []Setting{}
	for _, r := range server.DefaultRevisions() {
		for _, d := range dialects.APIs() {
			if !dialects.FactsOf(d).Plain {
				all = append(all, Setting{r, d, false})
			}
			all = append(all, Setting{r, d, true})
		}
	}
	return all
}

// unplayed are cases that cost as much as many others, and whose faults show elsewhere.
var unplayed = []string{"time", "time/*", "malformed", "malformed/*", "basic/long", "mrtr/for-ever", "consent/fifty",
	"loop/sixty-four-rounds"}

// conversations is how many generated conversations are played beside the catalogue's cases, for places and conditions
// that rarely come together.
const conversations = 24

// seen is where a place occurs: the edits that would change it, as bits, by case.
type seen map[string]uint

func (s seen) edits() uint {
	var bits uint
	for _, b := range s {
		bits |= b
	}
	return bits
}

// lesson is what a run of the correct client teaches about a setting.
type lesson struct {
	places     [][]Place // by group, sorted
	at         map[Place]seen
	cases      seen                       // in which the client sent anything
	conditions []mutants.Condition        // that occur
	holds      map[string]play.Conditions // by case
}

// learn runs the correct client.
func learn(ctx context.Context, s Setting) (*lesson, error) {
	p := &pupil{at: map[Place]seen{}}
	suite := s.suite(p.client(s.config()))
	suite.Skip = unplayed
	rs, traces, err := suite.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("learning the places of %s: %w", s, err)
	}
	for i := range rs.Results {
		if r := &rs.Results[i]; accused(r) {
			return nil, fmt.Errorf("learning the places of %s: the correct client fails %s: %s", s, r.ID(), r.Message)
		}
	}
	l := p.lesson(play.CasesByCall(traces))
	l.holds = p.learner.ByCase(traces)
	l.conditions = slices.DeleteFunc(mutants.Conditions(), func(c mutants.Condition) bool {
		for _, conditions := range l.holds {
			if conditions[c.Name] {
				return false
			}
		}
		return true
	})
	return l, nil
}

func (s Setting) suite(client func(context.Context, harness.Env) error) *conformance.Suite {
	played := play.Setting{Revision: s.Revision, Config: s.config()}
	suite := played.Suite(client)
	suite.Timeout, suite.Explore = sessionTimeout, conversations
	return suite
}

// pupil notes the places of all messages, by call instead of case (see [mutants.Change]).
type pupil struct {
	learner play.Learner
	mu      sync.Mutex
	at      map[Place]seen
}

// client is the correct client, whose messages the pupil sees.
func (p *pupil) client(c reference.Config) func(context.Context, harness.Env) error {
	watch := p.learner.Watch(func(w *mutants.Wire) mutants.Edit {
		before := map[Place][]any{}
		return hooks(func(kind string, body object, m *mutants.Message) {
			p.mu.Lock()
			defer p.mu.Unlock()
			call := w.Calling()
			if m != nil {
				p.note(Place{kind, ""}, call, whole)
			}
			patterns, spots := placesIn(body)
			for _, pattern := range patterns {
				at := Place{kind, pattern}
				p.note(at, call, can(spots[pattern], before[at], p.at[at][call]))
				before[at] = valuesOf(spots[pattern])
			}
		})
	})
	return func(ctx context.Context, env harness.Env) error {
		if env.Revision == "" { // the server speaks another revision, which has sessions of its own
			return reference.Client(c)(ctx, env)
		}
		return mutants.Client(c, watch, mutants.Condition{}, nil)(ctx, env)
	}
}

func (p *pupil) note(at Place, call string, bits uint) {
	if bits == 0 {
		return
	}
	if p.at[at] == nil {
		p.at[at] = seen{}
	}
	p.at[at][call] |= bits
}

// lesson sorts what was noted. A message before the first call belongs to all cases.
func (p *pupil) lesson(ids map[string]string) *lesson {
	l := &lesson{places: make([][]Place, len(groups)), at: map[Place]seen{}, cases: seen{}}
	for at, calls := range p.at {
		l.at[at] = seen{}
		for call, bits := range calls {
			if id := ids[call]; id != "" {
				l.cases[id] = ^uint(0)
				l.at[at][id] |= bits
			} else if call == "" {
				l.at[at][""] |= bits
			}
		}
		if g := groupOf(at.Kind); len(l.at[at]) > 0 {
			l.places[g] = append(l.places[g], at)
		}
	}
	for _, places := range l.places {
		slices.SortFunc(places, func(a, b Place) int {
			return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Pattern, b.Pattern))
		})
	}
	return l
}

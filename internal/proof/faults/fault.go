package faults

import (
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// Fault is a random bug: an edit of a place, under a condition, in a setting.
type Fault struct {
	Place
	// Edit is what the fault does to a value, such as reverse.
	Edit string `json:"edit"`
	// Which says which of several values at the place of one message the fault changes: all, first or last.
	Which string `json:"which"`
	// From says from which message with the place on the fault changes the messages of a client, counted from 0.
	From int `json:"from,omitempty"`
	// Condition names the condition that limits the fault to some messages; "" for none.
	Condition string `json:"condition,omitempty"`
	// Setting is how the client reaches the server and asks the model.
	Setting Setting `json:"setting"`

	edit int // in edits
	when mutants.Condition
}

func (f *Fault) String() string {
	parts := []string{f.Place.String(), f.Edit}
	if f.Which != allValues {
		parts = append(parts, f.Which)
	}
	if f.From > 0 {
		parts = append(parts, fmt.Sprintf("from message %d on", f.From+1))
	}
	if f.Condition != "" {
		parts = append(parts, f.Condition)
	}
	return fmt.Sprintf("%s (%s)", strings.Join(parts, " | "), f.Setting)
}

const (
	allValues  = "all"
	firstValue = "first"
	lastValue  = "last"
)

// perSetting is how many faults in a row have the same setting, whose lesson takes a while.
const perSetting = 10

func settingOf(seed uint64, n int) Setting {
	all := settings()
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
	return all[order[n/perSetting%len(all)]]
}

// draw draws the nth fault of a seed, counted from 0, from what was learned about its setting. It depends on nothing
// else.
func draw(seed uint64, n int, s Setting, l *lesson) *Fault {
	r := rand.New(rand.NewPCG(seed, uint64(n)+1))
	f := &Fault{Setting: s, Which: allValues}
	for len(l.places[groupOf(f.Kind)]) == 0 || f.Kind == "" {
		if places := l.places[r.IntN(len(groups))]; len(places) > 0 {
			f.Place = places[r.IntN(len(places))]
		}
	}
	can := l.at[f.Place].edits()
	for nth := r.IntN(bits.OnesCount(can)); nth > 0; nth-- {
		can &= can - 1 // without its lowest bit
	}
	f.edit = bits.TrailingZeros(can)
	f.Edit = edits[f.edit].name
	if which := r.IntN(5); f.Pattern != "" && which < 2 {
		f.Which = []string{firstValue, lastValue}[which]
	}
	if r.IntN(10) == 0 {
		f.From = 1 + r.IntN(3)
	}
	if ofSamples := groupOf(f.Kind) < len(groups)-1; ofSamples && r.IntN(5) < 3 {
		if c := l.conditions[r.IntN(len(l.conditions))]; !contradicts(f.Place, c.Name) {
			f.Condition, f.when = c.Name, c
		}
	}
	return f
}

// contradicts reports whether no message with the place can be under the condition.
func contradicts(p Place, condition string) bool {
	switch condition {
	case "without-tools":
		return toolPlace.MatchString(p.Pattern)
	case "with-history":
		return resultPlace.MatchString(p.Pattern)
	}
	return false
}

var (
	toolPlace   = regexp.MustCompile(`^tool(s|Choice|Config|_choice)\b`)
	resultPlace = regexp.MustCompile(`tool_result|role=tool\b|function_call_output|functionResponse`)
)

// edits returns the fault as an edit of the wire, which calls fired for each change.
func (f *Fault) edits(fired func(before, after any)) func(w *mutants.Wire) mutants.Edit {
	return func(*mutants.Wire) mutants.Edit {
		var mu sync.Mutex
		var before []any
		met := 0
		return hooks(func(kind string, body object, m *mutants.Message) {
			mu.Lock()
			defer mu.Unlock()
			_, spots := placesIn(body)
			here := spots[f.Pattern]
			if kind != f.Kind || f.Pattern != "" && len(here) == 0 {
				return
			}
			earlier := before
			before = valuesOf(here)
			if met++; met <= f.From {
				return
			}
			switch {
			case f.Pattern != "":
				f.change(here, earlier, fired)
			case m != nil && f.Edit == "delete":
				m.Drop()
				fired(body, gone{})
			case m != nil:
				m.After(body)
				fired(body, []any{body, body})
			}
		})
	}
}

// change changes the values at the place of one message.
func (f *Fault) change(spots []spot, before []any, fired func(before, after any)) {
	e := &edits[f.edit]
	changed := e.changes(spots, before)
	indexes := slices.Sorted(maps.Keys(changed))
	if n := len(indexes); n > 0 && f.Which == firstValue {
		indexes = indexes[:1]
	} else if n > 0 && f.Which == lastValue {
		indexes = indexes[n-1:]
	}
	for _, i := range indexes {
		fired(spots[i].value, changed[i])
		spots[i].become(changed[i])
	}
}

package evidence

import (
	"cmp"
	"slices"
)

// RoundsBeside returns the sampling requests of the other calls of the case's tool that were open at the same time. In
// a recorded session, which does not say when a handler ended, a call is open until its last answer.
func (ev *Case) RoundsBeside() []*Round {
	s := ev.Session
	over := func(call *Case) int {
		last := s.Order[call.FirstCall]
		for _, r := range call.Rounds {
			last = max(last, s.AnsweredAt(r))
		}
		return cmp.Or(call.OverAt, last)
	}
	var rounds []*Round
	for _, other := range s.Calls[ev.Case.ID] {
		if other != ev && s.Order[other.FirstCall] < over(ev) && s.Order[ev.FirstCall] < over(other) {
			rounds = append(rounds, other.Rounds...)
		}
	}
	return rounds
}

// Alone reports whether no other sampling request of the case was open at the same time.
func (ev *Case) Alone(r *Round) bool {
	s := ev.Session
	for _, other := range slices.Concat(ev.Rounds, ev.RoundsBeside()) {
		before := s.AnsweredAt(other) < s.Order[r.Asked.Ref]
		after := s.Order[other.Asked.Ref] > s.AnsweredAt(r)
		if other != r && !before && !after {
			return false
		}
	}
	return true
}

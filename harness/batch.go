package harness

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// mostCases is how many cases share a session. It bounds what a hang costs; hosts accept only so many tools.
const mostCases = 64

// mostLingering is how many cases that linger share a session.
const mostLingering = 12

type batch struct {
	cases []Case
	index []int
}

func (b *batch) single() bool { return len(b.cases) == 1 }

// lingering is 1 for a session of cases that linger, else 0.
func (b *batch) lingering() int {
	if b.cases[0].Lingers {
		return 1
	}
	return 0
}

// part is a session for the cases from one index to before another.
func (b *batch) part(from, to int) batch {
	return batch{b.cases[from:to:to], b.index[from:to:to]}
}

// batches puts the cases into as few sessions as they allow, in the order of each session's first case.
func batches(cases []Case, stdio bool) []batch {
	var all []batch
	open := map[string]int{} // the session to join, by what the client receives
	for i, c := range cases {
		key := fmt.Sprint(c.declare(), " ", cmp.Or(c.Decision, Approve), " ", c.Hostile, c.Lingers)
		most := mostCases
		if c.Lingers {
			most = mostLingering
		}
		at, found := open[key]
		switch {
		case c.Isolated && (stdio || !c.Stdio) || c.waiting():
			all = append(all, batch{[]Case{c}, []int{i}})
		case found && len(all[at].cases) < most:
			all[at].cases, all[at].index = append(all[at].cases, c), append(all[at].index, i)
		default:
			open[key] = len(all)
			all = append(all, batch{[]Case{c}, []int{i}})
		}
	}
	return all
}

type finished struct {
	batch
	trace *trace.Trace // nil if it did not begin
	err   error
}

// rerun returns the sessions for the cases that a session left unfinished, and notes those cases in its trace. Another
// case may be to blame, so the session says nothing about them. If together is true, hostile cases and those that
// the client did not serve may rerun together.
func (f *finished) rerun(together bool) []batch {
	if f.trace == nil {
		return nil
	}
	s := survey(f.trace)
	if s.ended == nil || s.endedEarly() || !s.asked {
		return nil // a client that never asked for the tools, or is slow, would do the same with fewer
	}
	indices := f.due(&s)
	suspect := slices.IndexFunc(f.cases, func(c Case) bool { return c.ID == s.last })
	if together && len(indices) == len(f.cases) && s.crashed() && suspect >= 0 && f.cases[0].Hostile {
		return f.around(suspect)
	}
	var sessions []batch
	for chunk := range slices.Chunk(indices, f.fits(&s)) {
		sessions = append(sessions, f.pick(chunk))
	}
	if together && !s.died() && !f.cases[0].Hostile {
		sessions = append(sessions, f.unserved(&s)...)
	}
	return sessions
}

// unserved returns sessions for the cases that the client did not serve any more: the first one, or what came before,
// may have broken it. The first one counts here, too. It runs again alone, the others together.
func (f *finished) unserved(s *surveyed) []batch {
	unserved, after := s.unserved()
	var first, others []int
	for i := range f.cases {
		c := &f.trace.Header.Cases[i]
		switch {
		case !slices.Contains(unserved, c.ID):
			continue
		case c.ID == unserved[0]:
			c.UnservedAfter = after
			first = append(first, i)
		case !c.Replayed:
			c.Replayed = true
			others = append(others, i)
		}
	}
	if slices.Contains(unserved, BarrierID) { // it is the last case, and not one of f.cases
		f.trace.Header.Cases[len(f.cases)].Replayed = true
	}
	sessions := []batch{f.pick(first), f.pick(others)}
	return slices.DeleteFunc(sessions, func(b batch) bool { return len(b.cases) == 0 })
}

// due returns the indices of the cases that a session left unfinished, and notes them in its trace.
func (f *finished) due(s *surveyed) (indices []int) {
	isDue := f.unfinished
	if f.cases[0].Hostile && slices.ContainsFunc(f.cases, func(c Case) bool { return c.Barrier }) {
		isDue = f.unsettled
	}
	header := &f.trace.Header
	header.Cases = slices.Clone(header.Cases)
	for i := range f.cases {
		if isDue(s, i) {
			header.Cases[i].Replayed = true
			indices = append(indices, i)
		}
	}
	if len(indices) == len(f.cases) && len(header.Cases) > len(f.cases) {
		header.Cases[len(f.cases)].Replayed = true // the barrier
	}
	return indices
}

// fits returns how many cases a session may have for a host that ended in order before it had called every tool, since
// hosts limit the calls of one task; 1 for any other client.
func (f *finished) fits(s *surveyed) int {
	if f.trace.Header.PromptMark == "" || s.died() {
		return 1
	}
	size := 0
	for i := range f.cases {
		if s.called[f.cases[i].ID] {
			size++
		}
	}
	if slices.ContainsFunc(f.cases, func(c Case) bool { return c.Barrier }) {
		size--
	}
	return max(size, 1)
}

func (f *finished) pick(indices []int) batch {
	var b batch
	for _, i := range indices {
		b.cases, b.index = append(b.cases, f.cases[i]), append(b.index, f.index[i])
	}
	return b
}

// unfinished reports whether the session says nothing about a case.
func (f *finished) unfinished(s *surveyed, i int) bool {
	c := &f.cases[i]
	open := s.over[c.ID] == 0 || s.begun[c.ID] > s.over[c.ID] || c.Barrier // a barrier needs an end in order
	return !s.reached(c) || s.died() && open || !f.trace.Whole
}

// unsettled is unfinished for hostile cases. The effect of one may show in another, so they count together, if the
// barrier behind them got its sample. A client that never answers would show no more in other sessions.
func (f *finished) unsettled(s *surveyed, i int) bool {
	answers := slices.ContainsFunc(f.cases, func(c Case) bool { return s.over[c.ID] > 0 })
	settled := s.over[BarrierID] > 0 || !answers && !s.died()
	return !s.reached(&f.cases[i]) || !settled || !f.trace.Whole
}

// around returns the sessions after a crash in one case: the cases before it, the case alone, and those after it.
func (f *finished) around(suspect int) []batch {
	parts := []batch{f.part(0, suspect), f.part(suspect, suspect+1), f.part(suspect+1, len(f.cases))}
	return slices.DeleteFunc(parts, func(b batch) bool { return len(b.cases) == 0 })
}

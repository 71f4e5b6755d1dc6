package check

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// How many steps a report shows before and after each piece of evidence, how many in all, and how many places it marks
// in one of them.
const (
	stepsBefore = 1
	stepsAfter  = 3
	mostSteps   = 14
	mostMarks   = 2
)

// Around returns the steps of the exchange just before and after the evidence, with the places of the evidence marked
// in them. All are of the case of the first piece of evidence, or passed beside it at the front of a gateway.
func Around(s *evidence.Session, shown []report.Evidence) []report.Step {
	caseID, marked := markedEvents(s, shown)
	var lines []*trace.Event // Described only where they are near: a client may flood.
	near := map[int]bool{}
	for _, e := range eventsOf(s.Trace, caseID) {
		_, isEvidence := marked[e.Ref()]
		if !isEvidence && !worthALine(e) {
			continue
		}
		if isEvidence {
			for n := len(lines) - stepsBefore; n <= len(lines)+stepsAfter; n++ {
				near[n] = true
			}
		}
		lines = append(lines, e)
	}
	var steps []report.Step
	for i, e := range lines {
		paths, isEvidence := marked[e.Ref()]
		if !near[i] || len(steps) >= mostSteps && !isEvidence {
			continue
		}
		step := describe(s, e)
		if isEvidence {
			step.Marked, step.Excerpts = true, excerpts(e, paths)
		}
		steps = append(steps, step)
	}
	return steps
}

// eventsOf returns the events of a case, and what passed between them at the front of a gateway while no other case had
// an event.
func eventsOf(t *trace.Trace, caseID string) []*trace.Event {
	var of, beside []*trace.Event
	for i := range t.Events {
		switch e := &t.Events[i]; {
		case e.Case == caseID:
			of, beside = append(append(of, beside...), e), nil
		case e.Front != nil:
			beside = append(beside, e)
		case e.Case != "":
			beside = nil
		}
	}
	return of
}

// markedEvents returns the case of the first piece of evidence, and the paths of all evidence of that case, or at the
// front of a gateway, by event.
func markedEvents(s *evidence.Session, shown []report.Evidence) (caseID string, marked map[trace.Ref][]string) {
	marked = map[trace.Ref][]string{}
	known := false
	for _, one := range shown {
		ref := trace.Ref{Case: one.Case, Seq: one.Seq}
		e := s.Trace.Find(ref)
		if e == nil {
			continue
		}
		if !known && e.Front == nil {
			caseID, known = one.Case, true
		}
		if (one.Case == caseID || e.Front != nil) && (one.Path != "" || marked[ref] == nil) {
			marked[ref] = append(marked[ref], one.Path)
		}
	}
	return caseID, marked
}

// excerpts marks the places in the event's JSON.
func excerpts(e *trace.Event, paths []string) []report.Excerpt {
	var raw []byte
	switch {
	case e.Frame != nil:
		raw = e.Frame.Raw
	case e.Front != nil:
		raw = e.Front.Raw
	case e.Request != nil:
		raw = e.Request.Body
	}
	var found []report.Excerpt
	for _, path := range slices.Compact(paths) {
		if x, ok := evidence.Excerpt(raw, path); ok && len(found) < mostMarks {
			found = append(found, x)
		}
	}
	return found
}

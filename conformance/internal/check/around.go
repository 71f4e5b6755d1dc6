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

// around returns the steps of the exchange just before and after the evidence, with the places of the evidence marked
// in them. All are of the case of the first piece of evidence.
func around(s *evidence.Session, shown []report.Evidence) []report.Step {
	caseID, marked := markedEvents(s, shown)
	var lines []*trace.Event // Described only where they are near: a client may flood.
	near := map[int]bool{}
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		_, isEvidence := marked[e.Ref()]
		if e.Case != caseID || !isEvidence && !worthALine(e) {
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

// markedEvents returns the case of the first piece of evidence, and the paths of all evidence of that case by event.
func markedEvents(s *evidence.Session, shown []report.Evidence) (caseID string, marked map[trace.Ref][]string) {
	marked = map[trace.Ref][]string{}
	for _, one := range shown {
		ref := trace.Ref{Case: one.Case, Seq: one.Seq}
		if s.Trace.Find(ref) == nil {
			continue
		}
		if len(marked) == 0 {
			caseID = one.Case
		}
		if one.Case == caseID && (one.Path != "" || marked[ref] == nil) {
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

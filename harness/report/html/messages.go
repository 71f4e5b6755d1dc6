package html

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type place struct {
	revision string
	trace.Ref
}

type located struct {
	*trace.Trace
	*trace.Event
	hasFront bool // of a gateway
}

// eventsByPlace has the events of each place: several if a case was played twice.
type eventsByPlace map[place][]located

// messages finds the events of the steps in the run's results.
func messages(run Run) eventsByPlace {
	all := eventsByPlace{}
	for i := range run.Results.Results {
		r := &run.Results.Results[i]
		for _, one := range r.Findings() {
			for _, s := range one.Around {
				all[place{r.Revision, trace.Ref{Case: s.Case, Seq: s.Seq}}] = nil
			}
		}
	}
	for _, t := range run.Traces {
		hasFront := t.HasFront()
		for i := range t.Events {
			at := place{t.Header.Revision, t.Events[i].Ref()}
			if _, shown := all[at]; shown {
				all[at] = append(all[at], located{t, &t.Events[i], hasFront})
			}
		}
	}
	return all
}

// of returns the message of one of several steps; "" if it is unknown, or if several events may be meant. Other
// sessions have events with the same numbers, but not those of all steps.
func (all eventsByPlace) of(revision string, steps []report.Step, s report.Step) string {
	fitting := all.fitting(revision, s)
	for _, other := range steps {
		beside := all.fitting(revision, other)
		fitting = slices.DeleteFunc(fitting, func(e located) bool {
			return len(beside) > 0 && !slices.ContainsFunc(beside, func(o located) bool { return o.Trace == e.Trace })
		})
	}
	if len(fitting) != 1 {
		return ""
	}
	text := strings.ToValidUTF8(fitting[0].text(), "\ufffd")
	if len(text) > longestMessage {
		cut := longestMessage
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return text
}

func (all eventsByPlace) fitting(revision string, s report.Step) []located {
	var fitting []located
	for _, e := range all[place{revision, trace.Ref{Case: s.Case, Seq: s.Seq}}] {
		if e.from() == s.From {
			fitting = append(fitting, e)
		}
	}
	return fitting
}

func (e located) from() string {
	switch {
	case e.Frame != nil && e.Frame.Dir == trace.ToClient:
		return "server"
	case e.Front != nil && e.Front.Dir == trace.ToClient, e.Frame != nil && e.hasFront:
		return "gateway"
	case e.Chunk != nil || e.End != nil:
		return "model"
	}
	return "client"
}

// text is the message: JSON as it was on the wire, or the whole answer of the model.
func (e located) text() string {
	switch {
	case e.Frame != nil:
		return string(e.Frame.Raw)
	case e.Front != nil:
		return string(e.Front.Raw)
	case e.Request != nil:
		return string(e.Request.Body)
	case e.End != nil:
		return e.answer(e.End.Exchange)
	case e.Chunk != nil:
		return e.answer(e.Chunk.Exchange)
	}
	return ""
}

func (e located) answer(exchange int64) string {
	var b bytes.Buffer
	for i := range e.Events {
		if c := e.Events[i].Chunk; c != nil && c.Exchange == exchange && b.Len() <= longestMessage {
			b.Write(c.Data)
		}
	}
	return b.String()
}

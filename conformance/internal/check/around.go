package check

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// How many steps before and after each piece of evidence are told, how many in all, and how many places are marked in one of them.
const (
	stepsBefore = 1
	stepsAfter  = 3
	mostSteps   = 14
	mostMarks   = 2
)

// around tells what went over the wires just before and after the evidence, with the places marked in the frames themselves.
func around(s *evidence.Session, evidence []report.Evidence) []report.Step {
	var caseID string
	marked := map[trace.Ref][]string{} // paths by event
	for _, f := range evidence {
		ref := trace.Ref{Case: f.Case, Seq: f.Seq}
		if s.Trace.Find(ref) == nil {
			continue
		}
		if len(marked) == 0 {
			caseID = f.Case
		}
		if f.Case == caseID && (f.Path != "" || marked[ref] == nil) {
			marked[ref] = append(marked[ref], f.Path)
		}
	}
	var all []report.Step
	near := map[int]bool{}
	for i := range s.Trace.Events {
		e := &s.Trace.Events[i]
		if e.Case != caseID {
			continue
		}
		paths, isEvidence := marked[e.Ref()]
		step, ok := step(s, e)
		if !ok && !isEvidence {
			continue
		}
		if isEvidence {
			step.Marked = true
			step.Excerpts = excerpts(e, paths)
			for n := len(all) - stepsBefore; n <= len(all)+stepsAfter; n++ {
				near[n] = true
			}
		}
		all = append(all, step)
	}
	var told []report.Step
	for i, step := range all {
		if near[i] && (len(told) < mostSteps || step.Marked) {
			told = append(told, step)
		}
	}
	return told
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

// Who speaks on the two wires.
const (
	theServer = "server"
	theClient = "client"
	itsModel  = "model"
)

// step tells an event in a few words; false for one that is not worth a line.
func step(s *evidence.Session, e *trace.Event) (report.Step, bool) {
	step := report.Step{Case: e.Case, Seq: e.Seq}
	switch {
	case e.Frame != nil:
		step.From, step.To = theServer, theClient
		if e.Frame.Dir == trace.FromClient {
			step.From, step.To = theClient, theServer
		}
		step.Says = FrameSays(e.Frame)
	case e.Request != nil:
		step.From, step.To, step.Says = theClient, itsModel, e.Request.Method+" "+e.Request.Path
	case e.End != nil:
		step.From, step.To, step.Says = itsModel, theClient, endSays(e.End)
	case e.Process != nil && e.Process.State == trace.Ended:
		step.From, step.Says = theClient, s.Ending()
	case e.Mark != nil && e.Mark.Name == trace.MarkOutcome:
		step.From, step.Says = theClient, "says of its call: "+e.Mark.Text
	case e.Mark != nil && e.Mark.Name == trace.MarkBatch:
		step.From, step.Says = theServer, e.Mark.Text
	case e.Mark != nil && e.Mark.Name == trace.MarkStderr:
		step.From, step.Says = theServer, "writes to standard error: "+e.Mark.Text
	case e.Mark != nil && e.Mark.Name == trace.MarkWithheld:
		step.From, step.Says = theServer, "asks nothing: the client does not declare "+e.Mark.Text
	default:
		return step, false
	}
	return step, true
}

func FrameSays(f *trace.Frame) string {
	var what string
	m := evidence.ReadMessage(f.Raw)
	switch {
	case f.Closed && f.Event != "":
		what = fmt.Sprintf("closes the connection behind event %s, to be come back for after %s", f.Event, f.Retry)
	case f.Closed:
		what = "ends the stream"
	case f.Raw.IsZero() && f.HTTP != nil && f.HTTP.Header["Last-Event-Id"] != "":
		what = fmt.Sprintf("%s behind event %s", f.HTTP.Method, f.HTTP.Header["Last-Event-Id"])
	case f.Raw.IsZero() && f.HTTP != nil && f.HTTP.Method != "":
		what = f.HTTP.Method
	case f.Raw.IsZero() && f.Event != "":
		what = "event " + f.Event + ", without a message"
	case f.Raw.IsZero() && f.HTTP != nil:
		what = fmt.Sprintf("HTTP %d", f.HTTP.Status)
	case m.Method != "" && m.ID == nil:
		what = m.Method
	case m.Method != "" && evidence.HasMember(m.Params, "inputResponses"):
		what = fmt.Sprintf("%s again with its inputResponses, id %s", m.Method, m.ID)
	case m.Method != "":
		what = fmt.Sprintf("%s, id %s", m.Method, m.ID)
	case m.Err != nil:
		what = fmt.Sprintf("error %d for %s: %s", m.Err.Code, idSays(m.ID), m.Err.Message)
	case m.Result != nil:
		what = fmt.Sprintf("%s for %s", resultSays(m.Result), idSays(m.ID))
	default:
		what = "what is no message: " + evidence.Compact(json.RawMessage(f.Raw))
	}
	if f.HTTP != nil && f.HTTP.Status >= 400 && !f.Raw.IsZero() {
		what = fmt.Sprintf("HTTP %d, %s", f.HTTP.Status, what)
	}
	if f.Lost {
		what += " (the stream was gone)"
	}
	return cut(what)
}

func idSays(id json.RawMessage) string {
	if id == nil {
		return "no id"
	}
	return "id " + string(id)
}

// cut keeps a step to a line.
func cut(text string) string {
	const most = 110
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// resultSays names a result by its type, where it has one.
func resultSays(result json.RawMessage) string {
	var o dialect.Object
	_ = json.Unmarshal(result, &o) // one that is no object has no type
	if t := o.Text("resultType"); t != "" {
		return "result (" + t + ")"
	}
	return "result"
}

func endSays(end *trace.ModelEnd) string {
	switch {
	case end.HungUp:
		return "nothing more: the client hung up"
	case end.Closed:
		return "nothing more: the model was closed"
	case end.Refused != "":
		return cut(fmt.Sprintf("%d, refused: %s", end.Status, end.Refused))
	case end.Miss != "":
		return cut(fmt.Sprintf("%d, not foreseen: %s", end.Status, end.Miss))
	case end.Stream:
		return fmt.Sprintf("%d, a stream", end.Status)
	}
	return fmt.Sprint(end.Status)
}

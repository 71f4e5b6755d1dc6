package harness

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

type surveyed struct {
	ended       *trace.Process
	came        bool            // with a message
	asked       bool            // for the tools
	called      map[string]bool // the tools of these cases
	ending      bool            // the harness is ending the client
	last        string          // the case of the client's last request
	begun, over map[string]int  // handler runs by case, and those that succeeded before the client ended
	sampling    []string        // the cases with a sampling request, in the order of the first ones
	model       map[string]bool // the cases for which the client asked the model
}

// reached reports whether the client called the case's tool. Other carriers are optional for clients.
func (s *surveyed) reached(c *Case) bool { return s.called[c.ID] || c.Carrier != "" }

func (s *surveyed) crashed() bool {
	p := s.ended
	return !p.Deadline && !p.OutsideBubble && (p.Signal != "" || p.ExitCode != 0 || p.Panic != "" || p.Err != "")
}

func (s *surveyed) endedEarly() bool { return s.ended.Interrupted || s.ended.Unfinished }

func (s *surveyed) died() bool { return s.ended.Deadline || s.ended.OutsideBubble || s.crashed() }

func survey(t *trace.Trace) surveyed {
	s := surveyed{called: map[string]bool{}, begun: map[string]int{}, over: map[string]int{}, model: map[string]bool{}}
	for i := range t.Events {
		e := &t.Events[i]
		switch {
		case e.Process != nil && e.Process.State == trace.Ended:
			s.ended = e.Process
		case e.Mark != nil:
			s.mark(e)
		case e.Request != nil:
			s.model[e.Case] = true
		case asksForSample(e) && !slices.Contains(s.sampling, e.Case):
			s.sampling = append(s.sampling, e.Case)
		case fromClient(e):
			s.came = true
			s.called[e.Case] = true
			method := trace.ReadMessage(e.Frame.Raw).Method
			s.asked = s.asked || strings.HasPrefix(method, "tools/")
			if e.Case != "" && method != "" && !strings.HasPrefix(method, "notifications/") {
				s.last = e.Case
			}
		}
	}
	return s
}

// asksForSample reports whether the server sent a sampling request, in a result or by itself.
func asksForSample(e *trace.Event) bool {
	return e.Frame != nil && e.Frame.Dir == trace.ToClient && e.Case != "" &&
		bytes.Contains(e.Frame.Raw, []byte(`"sampling/createMessage"`))
}

// unserved returns the last cases with a sampling request if the client asked the model for none of them, and the case
// before, for which it did. It returns nil for a client that serves to the end, or never.
func (s *surveyed) unserved() (cases []string, after string) {
	const fewest = 2 // for some cases, a client need not ask
	last := len(s.sampling) - 1
	for last >= 0 && !s.model[s.sampling[last]] {
		last--
	}
	if behind := s.sampling[last+1:]; last >= 0 && len(behind) >= fewest {
		return behind, s.sampling[last]
	}
	return nil, ""
}

func (s *surveyed) mark(e *trace.Event) {
	switch {
	case e.Mark.Name == trace.MarkHandlerStarted:
		s.begun[e.Case]++
	case e.Mark.Name == trace.MarkHandlerEnded && e.Mark.Text == "" && s.ended == nil && !s.ending:
		s.over[e.Case]++
	case e.Mark.Name == trace.MarkEnding:
		s.ending = true
	}
}

// outOfReach is the reason for a session that waits in real time.
const outOfReach = "the client waited for something outside virtual time"

// outOfTime is the reason for a session whose client did not hang.
const outOfTime = "the client needed more time"

// stuck says why a session of one case wasted time; "" if it did not. In virtual time hardly any session does.
func stuck(t *trace.Trace, virtual bool) string {
	s := survey(t)
	first := &t.Header.Cases[0]
	switch {
	case s.ended != nil && s.ended.OutsideBubble:
		return outOfReach
	case !t.Whole:
		return "the client sent more than the trace keeps"
	case virtual || s.ended == nil || s.ended.Interrupted:
		return ""
	case s.ended.Unfinished:
		return outOfTime
	case s.ended.Deadline:
		return "the client hung"
	case !s.called[first.ID] && first.Carrier == "" && t.Header.ServerRevisions == nil:
		return "the client never called the tool"
	}
	return ""
}

// absent says that the client of a session sent no message, as one does that cannot read its configuration; "" for any
// other session.
func absent(t *trace.Trace, _ bool) string {
	if s := survey(t); s.ended == nil || s.ended.Interrupted || s.came {
		return ""
	}
	return "the client never used the server"
}

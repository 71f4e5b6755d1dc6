// Package tracetest writes traces by hand for tests of checks: a [Story] is one session, step by step, and [Run]
// judges stories as a table. It holds what tests of several chapters share. Steps return the story, so that
// they chain.
package tracetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Story is a trace of one session with one case. Its methods append what happens next.
type Story struct {
	T         testing.TB
	catalogue check.Catalogue
	Trace     *trace.Trace
	Revision  server.Revision
	Dialect   string
	CaseID    string
	Call      int // Calls of the tool.
	Samples   int // Sampling requests of this call.
	Asked     int // Sampling requests of all calls.
	Models    int64
	Seq       map[string]int64
	Ended     bool
	Declares  string        // The capabilities that the client declares.
	Passed    time.Duration // In addition to a millisecond for each event.
}

// Everything is the capabilities of a client that supports all of sampling.
const Everything = `{"sampling":{"tools":{}}}`

// SamplingOnly is the capabilities of a client without sampling.tools.
const SamplingOnly = `{"sampling":{}}`

// SessionID is the session of a story in the first era.
const SessionID = "session-1"

// Begin starts a story in which the client connects and calls the tool of the case.
func Begin(t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID string) *Story {
	return BeginDeclaring(t, catalogue, revision, dialect, caseID, Everything)
}

// BeginDeclaring is [Begin] with other capabilities.
func BeginDeclaring(
	t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID, capabilities string,
) *Story {
	s := Unconnected(t, catalogue, revision, dialect, caseID)
	s.Declares = capabilities
	s.Connects()
	s.Calls()
	return s
}

// Unconnected starts a story in which the client has started.
func Unconnected(t testing.TB, catalogue check.Catalogue, revision server.Revision, dialect, caseID string) *Story {
	c := harness.Case{ID: caseID}
	s := &Story{
		T: t, catalogue: catalogue, Revision: revision, Dialect: dialect, CaseID: caseID,
		Declares: Everything, Seq: map[string]int64{},
	}
	s.Trace = &trace.Trace{Whole: true, Header: trace.Header{
		Tool: "test", Client: "written by hand", Revision: string(revision), Seed: 1, Timeout: time.Minute,
		Cases: []trace.Case{{ID: caseID, Tool: c.Tool(), Mark: c.Mark()}}}}
	s.Add("", trace.Event{Process: &trace.Process{State: trace.Started}})
	return s
}

// Add appends an event, one millisecond after the last. A caseID of "" is for none.
func (s *Story) Add(caseID string, e trace.Event) {
	s.Seq[caseID]++
	e.Case, e.Seq, e.At = caseID, s.Seq[caseID], s.Passed+time.Duration(len(s.Trace.Events))*time.Millisecond
	s.Trace.Events = append(s.Trace.Events, e)
}

// Frame appends a message. Status 0 is a request of the client, or an event on an open stream.
func (s *Story) Frame(caseID string, dir trace.Direction, status int, raw string) {
	f := &trace.Frame{Dir: dir, Raw: trace.Bytes(raw)}
	if !s.Revision.Modern() {
		f.Session = SessionID
	}
	switch {
	case status != 0:
		f.HTTP = &trace.HTTP{Status: status}
	case dir == trace.FromClient:
		f.HTTP = &trace.HTTP{Method: "POST", Header: s.header(raw)}
	}
	call := 0
	if caseID != "" {
		call = s.Call
	}
	s.Add(caseID, trace.Event{Call: call, Frame: f})
}

// header returns the headers that a correct client sends with a message.
func (s *Story) header(raw string) map[string]string {
	header := map[string]string{"Mcp-Protocol-Version": string(s.Revision), "Content-Type": "application/json"}
	m := evidence.ReadMessage([]byte(raw))
	if s.Revision.Modern() && m.Method != "" {
		header["Mcp-Method"] = m.Method
		var params struct{ Name string }
		if json.Unmarshal(m.Params, &params) == nil && params.Name != "" {
			header["Mcp-Name"] = params.Name
		}
	}
	return header
}

// Meta returns the first members of a request's params: in the second era, the client's declarations; else "".
func (s *Story) Meta() string {
	if !s.Revision.Modern() {
		return ""
	}
	return fmt.Sprintf(`"_meta":{%q:%q,%q:{"name":"told","version":"1"},%q:%s},`,
		evidence.MetaVersion, s.Revision, evidence.MetaInfo, evidence.MetaCapabilities, s.Declares)
}

// Connects appends the connection: in the first era initialize, in the second tools/list.
func (s *Story) Connects() {
	if s.Revision.Modern() {
		s.Frame("", trace.FromClient, 0,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+strings.TrimSuffix(s.Meta(), ",")+`}}`)
		s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
		return
	}
	s.Frame("", trace.FromClient, 0,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+string(s.Revision)+
			`","clientInfo":{"name":"told","version":"1"},"capabilities":`+s.Declares+`}}`)
	s.Trace.Events[len(s.Trace.Events)-1].Frame.Session = "" // The server has not issued it yet.
	s.Frame("", trace.ToClient, 200, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"`+string(s.Revision)+`"}}`)
	s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// Calls appends a call of the case's tool.
func (s *Story) Calls() *Story {
	s.Call++
	s.Samples = 0
	s.Frame(s.CaseID, trace.FromClient, 0,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{`+s.Meta()+`"name":"x","arguments":{}}}`)
	return s
}

// WithToken gives the call that was just made a progress token, as a driver does that abandons it.
func (s *Story) WithToken() *Story {
	call := &s.Trace.Events[len(s.Trace.Events)-1].Frame.Raw
	if s.Revision.Modern() {
		*call = bytes.Replace(*call, []byte(`"_meta":{`), []byte(`"_meta":{"progressToken":7,`), 1)
	} else {
		*call = bytes.Replace(*call, []byte(`"params":{`), []byte(`"params":{"_meta":{"progressToken":7},`), 1)
	}
	return s
}

// PassesBarrier appends the call of the barrier and the answer to its sampling request. If the client does not declare
// sampling, the barrier ends without one.
func (s *Story) PassesBarrier() *Story {
	before, call := s.CaseID, s.Call
	s.CaseID, s.Call = harness.BarrierID, 0
	s.Trace.Header.Cases = append(s.Trace.Header.Cases, trace.Case{ID: harness.BarrierID, Tool: harness.BarrierID})
	s.Calls()
	if strings.Contains(s.Declares, "sampling") {
		s.Asks(Asking("Are you still there?")).Answers(Saying("Yes."))
	} else {
		s.Marks(trace.MarkWithheld, "sampling").Marks(trace.MarkHandlerEnded, "")
	}
	s.CaseID, s.Call = before, call
	return s
}

// Marks appends a mark of the harness.
func (s *Story) Marks(name, text string) *Story {
	s.Add(s.CaseID, trace.Event{Call: s.Call, Mark: &trace.Mark{Name: name, Text: text}})
	return s
}

// CallEnds appends the client's report of how its call ended.
func (s *Story) CallEnds(outcome string) *Story {
	text := fmt.Sprintf(`{"mcp-conform":"outcome","tool":"x","outcome":%q}`, outcome)
	s.Add(s.CaseID, trace.Event{Mark: &trace.Mark{Name: trace.MarkOutcome, Text: text}})
	return s
}

// Ends appends how the client ended, unless the story has ended. A story without it ends with success.
func (s *Story) Ends(p trace.Process) *Story {
	if !s.Ended {
		p.State = trace.Ended
		s.Add("", trace.Event{Process: &p})
		s.Ended = true
	}
	return s
}

// Died is a client that exits with status 1.
var Died = trace.Process{ExitCode: 1}

// WaitsFor sets the client timeout, whether the client declared it, and the patience of the harness.
func (s *Story) WaitsFor(limit time.Duration, declared bool, patience time.Duration) *Story {
	h := &s.Trace.Header
	h.ClientTimeout, h.TimeoutDeclared, h.ModelDelay = limit, declared, patience
	return s
}

// Later lets time pass before the next event.
func (s *Story) Later(d time.Duration) *Story {
	s.Passed += d
	return s
}

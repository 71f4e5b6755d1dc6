package evidence

import (
	"cmp"
	"fmt"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// OverStdio reports whether the transport was stdio.
func (s *Session) OverStdio() bool { return s.Trace.Header.Transport == trace.Stdio }

// addEvent adds what concerns the session, whatever case the event belongs to.
func (s *Session) addEvent(e *trace.Event, m *Message) {
	if e.Process != nil && e.Process.State == trace.Ended {
		s.Ended = e.Process
	}
	if e.Mark != nil && e.Mark.Name == trace.MarkConnection && s.OverStdio() {
		s.Connections++
	}
	f := e.Frame
	if f == nil {
		return
	}
	if f.Dir == trace.ToClient {
		s.Lost = s.Lost || f.Closed && f.Hostile
		return
	}
	s.addFromClient(e, m)
}

func (s *Session) addFromClient(e *trace.Event, m *Message) {
	f := e.Frame
	s.Asked = s.Asked || !f.Closed
	if s.OverStdio() && !f.Raw.IsZero() {
		s.addLine(e, m)
	}
	s.addRequest(e, m)
	s.addToolCancel(e, m)
	if version, _ := jsonvalue.TextOf(m.Version); version != "2.0" && (m.Method != "" || m.IsResponse()) {
		s.Unversioned = append(s.Unversioned, Place{e.Ref(), "jsonrpc", "a message of the client"})
	}
}

// addLine adds a line that the client wrote over stdio.
func (s *Session) addLine(e *trace.Event, m *Message) {
	switch {
	case e.Frame.Partial:
		s.PartialLines = append(s.PartialLines, Place{e.Ref(), "", "an incomplete line"})
	case m.Method == "" && !m.IsResponse():
		s.InvalidLines = append(s.InvalidLines, Place{e.Ref(), "", "not a JSON-RPC message"})
	case !utf8.Valid(e.Frame.Raw):
		s.InvalidLines = append(s.InvalidLines, Place{e.Ref(), "", "invalid UTF-8"})
	default:
		s.Messages++
	}
}

// addSessionMark adds a mark without a case.
func (s *Session) addSessionMark(m *trace.Mark) {
	switch {
	case m == nil:
	case m.Name == trace.MarkHarnessError:
		s.Fault = m.Text
	case m.Name == trace.MarkStrangers:
		s.Strangers = m.Text
	case m.Name == trace.MarkSupports:
		s.Supports[m.Text] = true
	}
}

// addSessionFrame adds a frame, or a request to the model, without a case. The server refused an unreadable one: its
// HTTP status says so.
func (s *Session) addSessionFrame(e *trace.Event, m *Message) {
	f := e.Frame
	if f == nil {
		s.addOwnRequest(e)
		return
	}
	if s.addToolCall(e, m); e.Tool != "" {
		return
	}
	if f.Dir == trace.ToClient {
		s.addSessionResponse(e, m)
		return
	}
	switch {
	case m.Method == "initialize":
		s.noteInitialize(m)
	case s.Revision.Modern():
	case s.Issued[f.Session] && m.Method != "":
		s.Connected = true
	case m.Method == "server/discover" || ModernVersion(f, m) != "":
		s.Foreign, s.Tried = true, cmp.Or(ModernVersion(f, m), "server/discover")
	}
	switch {
	case m.Method == "tools/call":
		var p jsonvalue.Object
		_ = jsonvalue.ReadPart(m.Params, &p) // A call with invalid params has no tool name.
		s.ForeignCalls = append(s.ForeignCalls, ForeignCall{Place{e.Ref(), "params.name", "tools/call"}, p.Text("name")})
	case m.IsResponse():
		s.UnmatchedResponses = append(s.UnmatchedResponses,
			Answer{Place: Place{e.Ref(), "", "a response"}, ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr}.lazily())
	}
}

// addSessionResponse adds a response of the server without a case.
func (s *Session) addSessionResponse(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case f.HTTP != nil && f.HTTP.Status >= 400:
		s.Refused = append(s.Refused, Place{e.Ref(), "", fmt.Sprintf("HTTP %d", f.HTTP.Status)})
	case s.OverStdio() && m.Err != nil:
		s.Refused = append(s.Refused, Place{e.Ref(), "error", fmt.Sprintf("error %d", m.Err.Code)})
	case m.Result != nil && s.Revision.Modern():
		s.Connected = true
	case (s.OverStdio() || f.Session == "") && !HasMember(m.Result, "protocolVersion"):
		// A response to a ping or to server/discover, which may precede initialize.
	case m.Result != nil:
		if !s.Issued[f.Session] {
			s.assignSession(f.Session, m.ID)
		}
		s.Issued[f.Session] = true // The client may still reject the revision, so it is not connected yet.
	}
}

// noteInitialize notes another revision in an initialize request. A request without a revision is invalid and names
// none.
func (s *Session) noteInitialize(m *Message) {
	var p jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Params, &p)
	switch version := p.Text("protocolVersion"); {
	case s.Revision.Modern():
		s.Foreign, s.Tried = true, cmp.Or(version, "initialize, which only older revisions have")
	case version != "" && version != string(s.Revision):
		s.Foreign, s.Tried = true, version
	}
}

// ModernVersion returns the revision of the second era in a message's header or _meta; "" for none.
func ModernVersion(f *trace.Frame, m *Message) string {
	var named []string
	if f.HTTP != nil {
		named = append(named, f.HTTP.Header["Mcp-Protocol-Version"])
	}
	var params, meta jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Params, &params) // Invalid params name no revision.
	_ = params.Read("_meta", &meta)
	for _, version := range append(named, meta.Text(MetaVersion)) {
		if server.Revision(version).Modern() {
			return version
		}
	}
	return ""
}

// noteService notes that the server served a client that only calls a tool.
func (s *Session) noteService(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case f == nil || f.Dir != trace.ToClient:
	case s.OverStdio():
		s.Connected = s.Connected || !f.Lost && m.Err == nil
	case f.HTTP != nil && f.HTTP.Status == 200:
		s.Connected = true
	}
}

package evidence

import (
	"cmp"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// takeFrame takes note of what belongs to the session as a whole. What cannot be read was refused, and is noted by its status.
func (s *Session) takeFrame(e *trace.Event, m *Message) {
	f := e.Frame
	if f == nil {
		if e.Request != nil {
			s.Unmarked = append(s.Unmarked, Place{e.Ref(), "", "a model request without a mark"})
		}
		return
	}
	if f.Dir == trace.ToClient {
		s.takeServed(e, m)
		return
	}
	switch {
	case m.Method == "initialize":
		s.takeInitialize(m)
	case s.Revision.Modern():
	case s.Issued[f.Session] && m.Method != "":
		s.Connected = true
	case m.Method == "server/discover" || ModernVersion(f, m) != "":
		s.Foreign, s.Tried = true, cmp.Or(ModernVersion(f, m), "server/discover")
	}
	switch {
	case m.Method == "tools/call":
		var p dialect.Object
		_ = dialect.ReadPart(m.Params, &p) // a call without a name is of no tool
		s.ForeignCalls = append(s.ForeignCalls, ForeignCall{Place{e.Ref(), "params.name", "tools/call"}, p.Text("name")})
	case m.IsResponse():
		s.UnmatchedResponses = append(s.UnmatchedResponses, Answer{Place: Place{e.Ref(), "", "a response"}, ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr})
	}
}

// takeEnds takes note of a client that came, and of a server that went.
func (s *Session) takeEnds(e *trace.Event) {
	f := e.Frame
	s.Asked = s.Asked || f != nil && f.Dir == trace.FromClient && !f.Closed
	s.Lost = s.Lost || f != nil && f.Dir == trace.ToClient && f.Closed && f.Hostile
}

// takeVersion takes note of a message of the client's that does not say that it is JSON-RPC 2.0.
func (s *Session) takeVersion(e *trace.Event, m *Message) {
	if e.Frame == nil || e.Frame.Dir != trace.FromClient {
		return
	}
	if version, _ := dialect.TextOf(m.Version); version != "2.0" && (m.Method != "" || m.IsResponse()) {
		s.Unversioned = append(s.Unversioned, Place{e.Ref(), "jsonrpc", "a message of the client"})
	}
}

// takeServed takes note of what the server said.
func (s *Session) takeServed(e *trace.Event, m *Message) {
	f := e.Frame
	switch {
	case f.HTTP != nil && f.HTTP.Status >= 400:
		s.Refused = append(s.Refused, Place{e.Ref(), "", fmt.Sprintf("HTTP %d", f.HTTP.Status)})
	case s.OverStdio() && m.Err != nil:
		s.Refused = append(s.Refused, Place{e.Ref(), "error", fmt.Sprintf("error %d", m.Err.Code)})
	case m.Result != nil && s.Revision.Modern():
		s.Connected = true
	case s.OverStdio() && !HasMember(m.Result, "protocolVersion"): // to a ping, which may come before all else
	case m.Result != nil:
		if !s.Issued[f.Session] {
			s.takeSession(f.Session, m.ID)
		}
		s.Issued[f.Session] = true // answering initialize is not yet agreement: the client may not take the revision
	}
}

// takeInitialize takes note of a client that speaks another revision. One that names none is not well-formed, which is no
// other revision of anything.
func (s *Session) takeInitialize(m *Message) {
	var p dialect.Object
	_ = dialect.ReadPart(m.Params, &p)
	switch version := p.Text("protocolVersion"); {
	case s.Revision.Modern():
		s.Foreign, s.Tried = true, cmp.Or(version, "initialize, which only older revisions have")
	case version != "" && version != string(s.Revision):
		s.Foreign, s.Tried = true, version
	}
}

// modernVersion returns the revision of the second era that a message names, in its header or its _meta; "" for none.
func ModernVersion(f *trace.Frame, m *Message) string {
	var named []string
	if f.HTTP != nil {
		named = append(named, f.HTTP.Header["Mcp-Protocol-Version"])
	}
	var params, meta dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // what cannot be read names nothing
	_ = params.Read("_meta", &meta)
	for _, version := range append(named, meta.Text("io.modelcontextprotocol/protocolVersion")) {
		if server.Revision(version).Modern() {
			return version
		}
	}
	return ""
}

// noteService sees that a client is served when all it does is call a tool.
func (s *Session) noteService(e *trace.Event, m *Message) {
	f := e.Frame
	if f == nil || f.Dir != trace.ToClient {
		return
	}
	if s.OverStdio() {
		s.Connected = s.Connected || !f.Lost && m.Err == nil
	} else if f.HTTP != nil && f.HTTP.Status == 200 {
		s.Connected = true
	}
}

// interrupted reports whether we ended the client because the run was given up.
func (s *Session) Interrupted() bool { return s.Ended != nil && s.Ended.Interrupted }

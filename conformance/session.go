package conformance

import (
	"cmp"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// takeFrame takes note of what belongs to the session as a whole. What cannot be read was refused, and is noted by its status.
func (s *Session) takeFrame(e *trace.Event, m *rpc) {
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
	case m.method == "initialize":
		s.takeInitialize(m)
	case s.Revision.Modern():
	case s.issued[f.Session] && m.method != "":
		s.Connected = true
	case m.method == "server/discover" || modernVersion(f, m) != "":
		s.Foreign, s.Tried = true, cmp.Or(modernVersion(f, m), "server/discover")
	}
	switch {
	case m.method == "tools/call":
		var p dialect.Object
		_ = dialect.ReadPart(m.params, &p) // a call without a name is of no tool
		s.ForeignCalls = append(s.ForeignCalls, ForeignCall{Place{e.Ref(), "params.name", "tools/call"}, p.Text("name")})
	case m.isResponse():
		s.Strays = append(s.Strays, Answer{Place: Place{e.Ref(), "", "a response"}, ID: m.id, Result: m.result, Err: m.err, RawErr: m.rawErr})
	}
}

// takeEnds takes note of a client that came, and of a server that went.
func (s *Session) takeEnds(e *trace.Event) {
	f := e.Frame
	s.asked = s.asked || f != nil && f.Dir == trace.FromClient && !f.Closed
	s.lost = s.lost || f != nil && f.Dir == trace.ToClient && f.Closed && f.Hostile
}

// takeVersion takes note of a message of the client's that does not say that it is JSON-RPC 2.0.
func (s *Session) takeVersion(e *trace.Event, m *rpc) {
	if e.Frame == nil || e.Frame.Dir != trace.FromClient {
		return
	}
	if version, _ := dialect.TextOf(m.version); version != "2.0" && (m.method != "" || m.isResponse()) {
		s.Unversioned = append(s.Unversioned, Place{e.Ref(), "jsonrpc", "a message of the client"})
	}
}

// takeServed takes note of what the server said.
func (s *Session) takeServed(e *trace.Event, m *rpc) {
	f := e.Frame
	switch {
	case f.HTTP != nil && f.HTTP.Status >= 400:
		s.Refused = append(s.Refused, Place{e.Ref(), "", fmt.Sprintf("HTTP %d", f.HTTP.Status)})
	case s.overStdio() && m.err != nil:
		s.Refused = append(s.Refused, Place{e.Ref(), "error", fmt.Sprintf("error %d", m.err.Code)})
	case m.result != nil && s.Revision.Modern():
		s.Connected = true
	case s.overStdio() && !hasMember(m.result, "protocolVersion"): // to a ping, which may come before all else
	case m.result != nil:
		if !s.issued[f.Session] {
			s.takeSession(f.Session, m.id)
		}
		s.issued[f.Session] = true // answering initialize is not yet agreement: the client may not take the revision
	}
}

// takeInitialize takes note of a client that speaks another revision. One that names none is not well-formed, which is no
// other revision of anything.
func (s *Session) takeInitialize(m *rpc) {
	var p dialect.Object
	_ = dialect.ReadPart(m.params, &p)
	switch version := p.Text("protocolVersion"); {
	case s.Revision.Modern():
		s.Foreign, s.Tried = true, cmp.Or(version, "initialize, which only older revisions have")
	case version != "" && version != string(s.Revision):
		s.Foreign, s.Tried = true, version
	}
}

// modernVersion returns the revision of the second era that a message names, in its header or its _meta; "" for none.
func modernVersion(f *trace.Frame, m *rpc) string {
	var named []string
	if f.HTTP != nil {
		named = append(named, f.HTTP.Header["Mcp-Protocol-Version"])
	}
	var params, meta dialect.Object
	_ = dialect.ReadPart(m.params, &params) // what cannot be read names nothing
	_ = params.Read("_meta", &meta)
	for _, version := range append(named, meta.Text("io.modelcontextprotocol/protocolVersion")) {
		if server.Revision(version).Modern() {
			return version
		}
	}
	return ""
}

// noteService sees that a client is served when all it does is call a tool.
func (s *Session) noteService(e *trace.Event, m *rpc) {
	f := e.Frame
	if f == nil || f.Dir != trace.ToClient {
		return
	}
	if s.overStdio() {
		s.Connected = s.Connected || !f.Lost && m.err == nil
	} else if f.HTTP != nil && f.HTTP.Status == 200 {
		s.Connected = true
	}
}

// interrupted reports whether we ended the client because the run was given up.
func (s *Session) interrupted() bool { return s.Ended != nil && s.Ended.Interrupted }

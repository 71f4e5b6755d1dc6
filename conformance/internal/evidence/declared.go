package evidence

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

// ClientRequest is what a request of the client declares: in the second era in its _meta, in the first in the params
// of initialize.
type ClientRequest struct {
	// Place is the _meta, or the params.
	Place
	Method string
	// Version, Info and Capabilities are as they were written; nil if missing.
	Version, Info, Capabilities json.RawMessage
	// Name is the params' name or uri, which the second era repeats in a header for some methods.
	Name string
	// Header holds the HTTP headers of the protocol; nil on other transports.
	Header map[string]string

	ID      json.RawMessage
	Session string
}

// Members of _meta that the second era reserves (2026-07-28, basic/index#meta).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaInfo         = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// addRequest adds what a request of the client declares. In the second era, initialize is only a probe of the server's
// revisions and declares nothing.
func (s *Session) addRequest(e *trace.Event, m *Message) {
	if e.Frame.Raw.IsZero() || m.Method == "" || m.ID == nil || s.Revision.Modern() && m.Method == "initialize" {
		return
	}
	var params, meta jsonvalue.Object
	_ = jsonvalue.ReadPart(m.Params, &params) // Invalid params declare nothing.
	r := ClientRequest{Place: Place{e.Ref(), "params", m.Method}, Method: m.Method, ID: m.ID, Session: e.Frame.Session}
	if http := e.Frame.HTTP; http != nil {
		r.Header = http.Header
		if r.Header == nil {
			r.Header = map[string]string{}
		}
	}
	switch {
	case s.Revision.Modern():
		_ = params.Read("_meta", &meta)
		r.Path = "params._meta"
		r.Version, r.Info, r.Capabilities = meta[MetaVersion], meta[MetaInfo], meta[MetaCapabilities]
		r.Name = params.Text(replay.Carriers[m.Method])
	case m.Method == "initialize":
		r.Version, r.Info, r.Capabilities = params["protocolVersion"], params["clientInfo"], params["capabilities"]
	}
	s.Requests = append(s.Requests, r)
}

// NoteRun notes in the sessions of a run what only all of them show: what any of them declares, whether the client
// ever asks the model, who runs the tool loop, where it keeps the limit that it was told, how it refuses media, and
// which settings it passes on. What a client declares because the harness asked it to does not count.
func NoteRun(sessions []*Session) {
	declared := map[string]bool{}
	noteLoop(sessions)
	noteLimits(sessions)
	noteMedia(sessions)
	noteSettings(sessions)
	answers, asks := false, false
	for _, s := range sessions {
		answers = answers || s.AnswersAny() && !s.EndedEarly() // it may have been about to ask
		asks = asks || len(s.Exchanges)+len(s.Unmarked) > 0
	}
	for _, s := range sessions {
		s.AnswersItself = answers && !asks
		if len(s.Trace.Header.Declare) > 0 {
			continue
		}
		for i := range s.Requests {
			declared["sampling"] = declared["sampling"] || s.Requests[i].Declares("sampling")
			declared["sampling.tools"] = declared["sampling.tools"] || s.Requests[i].Declares("sampling", "tools")
		}
		s.DeclaredInRun = declared
	}
}

// noteLimits notes in which cases the client hung up on the model about when the limit was over that it was told. The
// client counts from before the request arrives, and one that is killed hangs up later.
func noteLimits(sessions []*Session) {
	var kept []string
	for _, s := range sessions {
		h := s.Trace.Header
		for id, exchanges := range s.Exchanges {
			if slices.ContainsFunc(exchanges, func(x *Exchange) bool {
				waited := s.Trace.Events[x.Behind].At - s.Trace.Events[x.Began].At
				return x.End.HungUp && waited > h.ClientTimeout/2 && waited < h.ModelDelay
			}) {
				kept = append(kept, id)
			}
		}
	}
	slices.Sort(kept)
	for _, s := range sessions {
		s.KeptLimits = kept
	}
}

// assignSession assigns a new session to the initialize request that it answers.
func (s *Session) assignSession(session string, id json.RawMessage) {
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Method == "initialize" && r.Session == "" && SameID(r.ID, id) {
			r.Session = session
			return
		}
	}
}

// declaration returns the request whose declarations apply to a frame: in the second era the same request, in the
// first the initialize of its session; nil for none.
func (s *Session) declaration(e *trace.Event) *ClientRequest {
	for i := range s.Requests {
		r := &s.Requests[i]
		initialized := r.Method == "initialize" && r.Session == e.Frame.Session
		if s.Revision.Modern() && r.Ref == e.Ref() || !s.Revision.Modern() && initialized {
			return r
		}
	}
	return nil
}

// Declared returns the value at a path of the capabilities, such as "sampling", "tools"; nil if missing.
func (r *ClientRequest) Declared(path ...string) json.RawMessage {
	if r == nil {
		return nil
	}
	value := r.Capabilities
	for _, name := range path {
		var o jsonvalue.Object
		if jsonvalue.ReadPart(value, &o) != nil {
			return nil
		}
		value = o[name]
	}
	return value
}

// Declares reports whether the client declares a capability, with any value but null.
func (r *ClientRequest) Declares(path ...string) bool {
	value := r.Declared(path...)
	return value != nil && string(value) != "null"
}

// CapabilitiesAt returns the place of the capabilities.
func (r *ClientRequest) CapabilitiesAt() Place {
	switch {
	case r == nil:
		return Place{Label: "client declared"}
	case r.Path == "params._meta":
		return r.At("[\"" + MetaCapabilities + "\"]")
	}
	return r.At("capabilities")
}

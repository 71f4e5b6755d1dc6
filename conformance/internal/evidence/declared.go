package evidence

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// ClientRequest is what a request of the client's says of the client itself: in its _meta in the second era, and in the first, where only
// initialize does, in its params.
type ClientRequest struct {
	// Place is where it says so: the _meta, or the params.
	Place
	Method string
	// Version, Info and Capabilities are as they were written; nil where they are missing.
	Version, Info, Capabilities json.RawMessage
	// Name is the params' name or uri, which the second era repeats in a header for some methods.
	Name string
	// Header holds the HTTP headers that bear on the protocol; nil on transports without HTTP.
	Header map[string]string

	ID      json.RawMessage
	Session string
}

// carrying are the methods whose results may ask for sampling (2026-07-28, basic/patterns/mrtr#supported-requests), with the member of
// their params that the header Mcp-Name repeats.
var CarryingMethods = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// Members of _meta that the second era reserves (2026-07-28, basic/index#meta).
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaInfo         = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// takeRequest takes note of what a frame says of the client; of one that is no request of the client's, nothing. Requests of another era,
// with which a client finds out what the server speaks, are held to nothing.
func (s *Session) takeRequest(e *trace.Event, m *Message) {
	f := e.Frame
	if f == nil || f.Dir != trace.FromClient || f.Raw.IsZero() {
		return
	}
	if m.Method == "" || m.ID == nil || s.Revision.Modern() && m.Method == "initialize" {
		return
	}
	var params, meta dialect.Object
	_ = dialect.ReadPart(m.Params, &params) // what cannot be read says nothing
	r := ClientRequest{Place: Place{e.Ref(), "params", m.Method}, Method: m.Method, ID: m.ID, Session: f.Session}
	if f.HTTP != nil {
		r.Header = f.HTTP.Header
		if r.Header == nil {
			r.Header = map[string]string{}
		}
	}
	switch {
	case s.Revision.Modern():
		_ = params.Read("_meta", &meta)
		r.Path = "params._meta"
		r.Version, r.Info, r.Capabilities = meta[MetaVersion], meta[MetaInfo], meta[MetaCapabilities]
		r.Name = params.Text(CarryingMethods[m.Method])
	case m.Method == "initialize":
		r.Version, r.Info, r.Capabilities = params["protocolVersion"], params["clientInfo"], params["capabilities"]
	}
	s.Requests = append(s.Requests, r)
}

// takeSession takes note of the session that the server opened in answer to an initialize: what that declared holds for it.
func (s *Session) takeSession(session string, id json.RawMessage) {
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Method == "initialize" && r.Session == "" && SameID(r.ID, id) {
			r.Session = session
			return
		}
	}
}

// declaration is the request by which the client declares what holds for a request of the wire: that request itself in the
// second era, the session's initialize in the first. Nil where there is none.
func (s *Session) declaration(e *trace.Event) *ClientRequest {
	for i := range s.Requests {
		r := &s.Requests[i]
		if s.Revision.Modern() && r.Ref == e.Ref() || !s.Revision.Modern() && r.Method == "initialize" && r.Session == e.Frame.Session {
			return r
		}
	}
	return nil
}

// declared returns what stands at a path of the capabilities, such as "sampling", "tools"; nil where nothing does.
func (r *ClientRequest) Declared(path ...string) json.RawMessage {
	if r == nil {
		return nil
	}
	value := r.Capabilities
	for _, name := range path {
		var o dialect.Object
		if dialect.ReadPart(value, &o) != nil {
			return nil
		}
		value = o[name]
	}
	return value
}

// declares reports whether the client declares the capability, in whatever shape.
func (r *ClientRequest) Declares(path ...string) bool {
	value := r.Declared(path...)
	return value != nil && string(value) != "null"
}

// capabilities is where the capabilities stand, to be shown beside them.
func (r *ClientRequest) CapabilitiesAt() Place {
	switch {
	case r == nil:
		return Place{Label: "client declared"}
	case r.Path == "params._meta":
		return r.At("[\"" + MetaCapabilities + "\"]")
	}
	return r.At("capabilities")
}

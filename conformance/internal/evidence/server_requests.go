package evidence

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// ServerRequest is a request of the server, and the client's response to it.
type ServerRequest struct {
	Place  // of the params, or of the message if it has none
	Method string
	// ID is the id as it was written.
	ID json.RawMessage
	// Params are the params; nil if they are missing or not an object.
	Params jsonvalue.Object
	// Response is the first response; nil for none.
	Response *Answer
}

// Result returns the result; nil for none that is an object.
func (r *ServerRequest) Result() jsonvalue.Object {
	if r.Response == nil {
		return nil
	}
	return ObjectOf(r.Response.Result)
}

// ServerRequests returns the server's requests of the call with one of the methods, in order. Responses are found by
// id, compared as [IDText] does.
func (ev *Case) ServerRequests(methods ...string) []*ServerRequest {
	var all []*ServerRequest
	ev.EachFrame(func(e *trace.Event, m *Message) {
		switch {
		case e.Frame.Resent:
		case e.Frame.Dir == trace.ToClient && slices.Contains(methods, m.Method):
			place := Place{e.Ref(), "params", m.Method}
			if m.Params == nil {
				place.Path = ""
			}
			all = append(all, &ServerRequest{Place: place, Method: m.Method, ID: m.ID, Params: ObjectOf(m.Params)})
		case e.Frame.Dir == trace.FromClient && m.IsResponse():
			i := slices.IndexFunc(all, func(r *ServerRequest) bool {
				return r.Response == nil && IDText(r.ID) == IDText(m.ID)
			})
			if i >= 0 {
				all[i].Response = responseTo(all[i], e, m)
			}
		}
	})
	return all
}

func responseTo(r *ServerRequest, e *trace.Event, m *Message) *Answer {
	path := "result"
	if m.Err != nil {
		path = "error"
	}
	place := Place{e.Ref(), path, "response to " + r.Method}
	a := Answer{Place: place, ID: m.ID, Result: m.Result, Err: m.Err, RawErr: m.RawErr}.lazily()
	return &a
}

// ObjectOf decodes a JSON object; nil for anything else.
func ObjectOf(raw json.RawMessage) jsonvalue.Object {
	var o jsonvalue.Object
	if !json.Valid(raw) || jsonvalue.ReadPart(raw, &o) != nil {
		return nil
	}
	return o
}

// Body returns the error of a response as it was written, or else its result.
func (a *Answer) Body() json.RawMessage {
	if a.Err != nil {
		return a.RawErr
	}
	return a.Result
}

// Outcome names a response by its kind: "a result" or "the error -32602".
func (a *Answer) Outcome() string {
	if a.Err != nil {
		return fmt.Sprintf("the error %d", a.Err.Code)
	}
	return "a result"
}

// DifferentMember returns the first member, by name, in which two objects differ, except _meta; "" for none.
// Of values that are not objects it returns "type".
func DifferentMember(a, b json.RawMessage) string {
	one, other := ObjectOf(a), ObjectOf(b)
	if one == nil || other == nil {
		return "type"
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(one)), maps.Keys(other))
	slices.Sort(names)
	for _, name := range names {
		if name != "_meta" && normal(one[name]) != normal(other[name]) {
			return name
		}
	}
	return ""
}

// normal is JSON in a form that does not depend on the order of members.
func normal(raw json.RawMessage) string { return string(jsonvalue.Marshal(jsonvalue.Decode(raw))) }

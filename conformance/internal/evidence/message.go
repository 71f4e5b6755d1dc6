package evidence

import (
	"encoding/json"
	"iter"
	"math"
	"math/big"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Codes of JSON-RPC errors.
const (
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
)

// CodeDeclined is the error code for a request that the user declined (2025-11-25, client/sampling#error-handling).
const CodeDeclined = -1

// Message is a JSON-RPC message of the wire (see [trace.ReadMessage]).
type Message struct {
	trace.Message
	// Err is the decoded error; nil without one. RawErr is the error as it was written.
	Err    *server.RPCError
	RawErr json.RawMessage
	// JSON is the whole message.
	JSON *Document
}

// ReadMessage decodes a message. An invalid one gives the zero Message.
func ReadMessage(raw []byte) Message {
	m := Message{Message: trace.ReadMessage(raw), JSON: newDocument(raw)}
	if m.Error != nil {
		m.Err, m.RawErr = &server.RPCError{}, m.Error
		if err := jsonvalue.ReadPart(m.Error, m.Err); err != nil {
			m.Err = &server.RPCError{Message: "an error that is not well-formed: " + Compact(m.Error)}
		}
	}
	return m
}

// Message returns the message of a frame of the trace. Each frame is decoded once.
func (s *Session) Message(e *trace.Event) *Message { return s.messages[e] }

// FromClient returns the client's frames with their messages, in order.
func (s *Session) FromClient() iter.Seq2[*trace.Event, *Message] {
	return func(yield func(*trace.Event, *Message) bool) {
		for i := range s.Trace.Events {
			if e := &s.Trace.Events[i]; e.Frame != nil && e.Frame.Dir == trace.FromClient && !yield(e, s.Message(e)) {
				return
			}
		}
	}
}

// HTTPRequests returns the client's HTTP requests with their messages, in order.
func (s *Session) HTTPRequests() iter.Seq2[*trace.Event, *Message] {
	return func(yield func(*trace.Event, *Message) bool) {
		for e, m := range s.FromClient() {
			if e.Frame.HTTP != nil && e.Frame.HTTP.Method != "" && !yield(e, m) {
				return
			}
		}
	}
}

// IsResponse reports whether the message is a response, with a result or an error.
func (m *Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Err != nil) }

// HasMember reports whether raw is an object with the member, and the member is not null.
func HasMember(raw json.RawMessage, name string) bool {
	var o jsonvalue.Members
	_ = jsonvalue.ReadPart(raw, &o) // An invalid object has no members.
	return o.Has(name)
}

// IDText returns the text of a string id and the value of a number, so that an id that came back with another type is
// still found.
func IDText(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return text
	}
	if f, err := strconv.ParseFloat(string(id), 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return string(id)
}

// SameID reports whether an id came back as it was sent: with its type and its value, in any notation.
func SameID(sent, got json.RawMessage) bool { return CanonicalID(sent) == CanonicalID(got) }

// CanonicalID returns the same text for equal ids: 3, 3.0 and 3e0 are one number, and "3" is another id.
func CanonicalID(id json.RawMessage) string {
	var text string
	if len(id) > 0 && id[0] == '"' && json.Unmarshal(id, &text) == nil {
		return `"` + text
	}
	const bits = 512
	f, _, err := big.ParseFloat(string(id), 10, bits, big.ToNearestEven)
	if err != nil || f.IsInf() {
		return string(id)
	}
	return f.Text('p', 0) // in time that does not depend on the exponent
}

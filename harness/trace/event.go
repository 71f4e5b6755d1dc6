package trace

import "time"

// Event is one thing that was seen. Exactly one of the payloads (Frame to Mark) is set.
type Event struct {
	// Seq counts the events of one case from 1. Events without a case are counted separately. So the numbers in a
	// report are the same in every run, whatever other cases do meanwhile. The overall order is that of Trace.Events.
	Seq int64 `json:"seq"`
	// At is the time since the recorder was made, on the clock of the run (virtual in a synctest bubble).
	At time.Duration `json:"at"`
	// Case is the ID of the event's case, or "" for the session as a whole.
	Case string `json:"case,omitempty"`
	// Call is the number, from 1, of the client's call of the case's tool. Each call starts the handler anew. 0 where
	// it does not apply, as on the model's wire.
	Call int `json:"call,omitempty"`
	// Tool is the tool of a case ([Case.Tools]) that the event is about, with its own numbers of calls; else "". The event
	// then has no Case.
	Tool string `json:"tool,omitempty"`

	Frame *Frame `json:"frame,omitempty"`
	// Front is a message between the client and a gateway. Frame is then between the gateway and the server.
	Front   *Frame        `json:"front,omitempty"`
	Request *ModelRequest `json:"modelRequest,omitempty"`
	Chunk   *ModelChunk   `json:"modelChunk,omitempty"`
	End     *ModelEnd     `json:"modelEnd,omitempty"`
	Process *Process      `json:"process,omitempty"`
	Mark    *Mark         `json:"mark,omitempty"`
}

// Ref names an event by its number within its case. The zero Ref names no event.
type Ref struct {
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq"`
}

// Ref returns the name of the event.
func (e *Event) Ref() Ref { return Ref{Case: e.Case, Seq: e.Seq} }

func (e *Event) payloads() int {
	n := 0
	for _, set := range []bool{
		e.Frame != nil, e.Front != nil, e.Request != nil, e.Chunk != nil, e.End != nil, e.Process != nil, e.Mark != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

// Direction says who sent a frame.
type Direction string

// The two directions.
const (
	FromClient Direction = "from-client"
	ToClient   Direction = "to-client"
)

// Frame is one message on the MCP wire, or an HTTP request or status without a message.
type Frame struct {
	Dir Direction `json:"dir"`
	// Raw is the JSON-RPC message, byte for byte; empty for a GET, a DELETE or a bare status.
	Raw Bytes `json:"raw,omitzero"`
	// HTTP carried the message; nil without HTTP, and on later events of a stream.
	HTTP *HTTP `json:"http,omitempty"`
	// Stream identifies the response stream of the message; empty for a message in a body of its own.
	Stream string `json:"stream,omitempty"`
	// Session is the MCP session id, or on stdio the name of the connection; empty over HTTP without sessions.
	Session string `json:"session,omitempty"`
	// Partial is true for an incomplete line: the connection ended first, or the line exceeded the limit and is cut.
	Partial bool `json:"partial,omitempty"`
	// Lost is true for a frame that could not be sent because the stream had ended.
	Lost bool `json:"lost,omitempty"`
	// Closed is true for an event that is only the end of a stream; Dir says who ended it.
	Closed bool `json:"closed,omitempty"`
	// Hostile is true for a frame with which the harness breaks the protocol on purpose.
	Hostile bool `json:"hostile,omitempty"`
	// Event is the id of the server-sent event, for resumption; empty for an event without an id.
	Event string `json:"event,omitempty"`
	// Type is the type of the server-sent event; empty for the default, which is message. Clients read no other.
	Type string `json:"type,omitempty"`
	// Retry is the reconnection time sent to the client, in nanoseconds; 0 for none.
	Retry time.Duration `json:"retry,omitempty"`
	// Resent is true for an event that a resumed stream repeats.
	Resent bool `json:"resent,omitempty"`
}

// HTTP is the part of an HTTP message that matters to the protocol.
type HTTP struct {
	// Method is set on requests, Status on responses.
	Method string `json:"method,omitempty"`
	Status int    `json:"status,omitempty"`
	// Header holds the headers that [SelectHeader] keeps, under canonical names.
	Header map[string]string `json:"header,omitempty"`
	// Address holds a planted secret in the request's path or query (see [SelectAddress]); else "".
	Address string `json:"address,omitempty"`
}

// ModelRequest is a request from the client or its host to the model.
type ModelRequest struct {
	// Exchange ties the request to its chunks and its end; it counts from 1 per model server.
	Exchange int64 `json:"exchange"`
	// Dialect is the provider's wire format, such as "openai-chat".
	Dialect string `json:"dialect"`
	// SideRequest is true for a request outside the conversation, such as one for the list of models.
	SideRequest bool `json:"sideRequest,omitempty"`
	// Host is true for a request of the host's own conversation, which belongs to no sampling request.
	Host   bool              `json:"host,omitempty"`
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Header map[string]string `json:"header,omitempty"`
	Body   Bytes             `json:"body,omitzero"`
}

// ModelChunk is a part of the model's answer: one event of a stream, or a whole body.
type ModelChunk struct {
	Exchange int64 `json:"exchange"`
	Data     Bytes `json:"data,omitzero"`
}

// RefusalKind is what the model's refusal of a request is about.
type RefusalKind string

// A model refuses media that it does not take, or something else.
const (
	RefusedForMedia RefusalKind = "media"
	RefusedForOther RefusalKind = "other"
)

// ModelEnd is the end of the model's answer. It is recorded before the last write of the answer. If that write fails,
// a second ModelEnd with HungUp follows; the last one counts.
type ModelEnd struct {
	Exchange int64 `json:"exchange"`
	// Status is the HTTP status that was sent; 0 if the caller hung up first.
	Status int  `json:"status,omitempty"`
	Stream bool `json:"stream,omitempty"`
	// HungUp is true when the caller disconnected before the answer was complete.
	HungUp bool `json:"hungUp,omitempty"`
	// Closed is true when the model server was closed before the answer was complete.
	Closed bool `json:"closed,omitempty"`
	// Fault names a deliberate fault; empty for none.
	Fault string `json:"fault,omitempty"`
	// Miss says why no rule or recording matched; empty when one did.
	Unmatched string `json:"miss,omitempty"`
	// Refused says why the model, strict as the provider, refused the request; empty when it did not.
	Refused string `json:"refused,omitempty"`
	// RefusedFor is what a refusal is about; "" if the trace does not say.
	RefusedFor RefusalKind `json:"refusedFor,omitempty"`
	// Host is that of the request.
	Host bool `json:"host,omitempty"`
}

// ProcessState is a state of the client.
type ProcessState string

// Started comes first, Ended last. A client in process has both, too: its function was called, and returned.
const (
	Started ProcessState = "started"
	Ended   ProcessState = "ended"
)

// Process is the start or the end of the client under test.
type Process struct {
	State ProcessState `json:"state"`
	// Argv is the command line, on Started; empty for a client in process.
	Argv []string `json:"argv,omitempty"`
	// ExitCode is the exit status, on Ended; -1 after a signal, 0 for a client in process.
	ExitCode int `json:"exitCode,omitempty"`
	// Signal ended the process.
	Signal string `json:"signal,omitempty"`
	// Deadline is true when the harness ended the client because its time was up.
	Deadline bool `json:"deadline,omitempty"`
	// Unfinished is true, with Deadline, for a client that was still making progress.
	Unfinished bool `json:"unfinished,omitempty"`
	// Interrupted is true when the harness ended the client because the run was cancelled.
	Interrupted bool `json:"interrupted,omitempty"`
	// Err is the error of a client in process.
	Err string `json:"err,omitempty"`
	// Panic is the value of its panic.
	Panic string `json:"panic,omitempty"`
	// Leak says what a client in process left running.
	Leak string `json:"leak,omitempty"`
	// Outside is true for a client in virtual time that waited for something in real time. It was left running.
	OutsideBubble bool `json:"outside,omitempty"`
	// Listened is where a gateway listened; "" if that is unknown.
	Listened Listening `json:"listened,omitempty"`
	// Stdout and Stderr are the output of the process; of long output only the beginning and the end.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// Listening is where a program listens: on the loopback interface only, or on all.
type Listening string

// On a machine without another interface the two cannot be told apart.
const (
	OnLoopback   Listening = "loopback"
	OnInterfaces Listening = "all interfaces"
)

// Clean reports whether the client ended by itself, with success.
func (p *Process) Clean() bool {
	return p.State == Ended && p.ExitCode == 0 && p.Signal == "" && !p.Deadline && !p.Interrupted &&
		p.Err == "" && p.Panic == "" && p.Leak == "" && !p.OutsideBubble
}

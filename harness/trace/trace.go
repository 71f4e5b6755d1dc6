// Package trace is the evidence of a run: one ordered list of everything that was seen on the MCP wire,
// on the model's wire and of the client's process, with a codec to keep it in a file.
//
// A trace is written by one [Recorder], which any number of goroutines may use. Whatever judges a client reads
// nothing but a trace, so a saved one can be judged again elsewhere, offline. The package imports nothing of ours and
// understands none of the protocols: payloads are the bytes as they were seen, and decoding is up to the reader.
package trace

import (
	"encoding/json"
	"time"
)

// Trace is what a run saw, in the order in which it was seen.
type Trace struct {
	Header Header
	Events []Event
	// Whole is true when nothing was left out: the run was recorded to its end, within the recorder's limits.
	Whole bool
	// Dropped counts the events that a [Recorder] left out because its limit was reached. Zero when Whole.
	Dropped int64
}

// Header says how the trace came about: all that a judge has to know beyond the events.
type Header struct {
	// Tool is the version of the program that recorded the trace.
	Tool string `json:"tool,omitempty"`
	// Client names the client under test, as given by whoever started the run.
	Client string `json:"client,omitempty"`
	// Revision is the protocol revision that the server offered, such as "2025-11-25".
	Revision string `json:"revision"`
	// Speaks are the revisions that the server spoke, where those were others: the client was left to find out. Empty where it was Revision alone.
	Speaks []string `json:"speaks,omitempty"`
	// Transport is how the client spoke to the server: [Stdio], or "" for Streamable HTTP.
	Transport string `json:"transport,omitempty"`
	// Seed is the number from which marks, ids and tokens of the run were made.
	Seed int64 `json:"seed"`
	// Declare holds the client capabilities that the client was asked to declare, as JSON; empty when it was
	// asked for nothing in particular.
	Declare json.RawMessage `json:"declare,omitempty"`
	// Decision is what the person decided who was asked, as the client was told; empty for approve.
	Decision string `json:"decision,omitempty"`
	// Key is the planted provider key: a made-up secret that must never show up on the MCP wire.
	Key string `json:"key,omitempty"`
	// Timeout is how long the client was given, in nanoseconds. Zero: no limit.
	Timeout time.Duration `json:"timeout,omitempty"`
	// ClientTimeout is how long the client was told to wait for the model, in nanoseconds. Zero: it was told of no limit.
	ClientTimeout time.Duration `json:"clientTimeout,omitempty"`
	// TimeoutDeclared is true where that is what is known of the client, and not only what it was asked to do.
	TimeoutDeclared bool `json:"timeoutDeclared,omitempty"`
	// Patience is how long the model kept the client waiting where it did so by design, in nanoseconds.
	Patience time.Duration `json:"patience,omitempty"`
	// Replayed is true where the model's answers came from recordings: then a request that none is like is no fault of the client's.
	Replayed bool `json:"replayed,omitempty"`
	// Cases are the cases that were played, in the order in which the client was offered them.
	Cases []Case `json:"cases,omitempty"`
}

// Stdio is the transport of a client that launches its server, and writes each message in a line.
const Stdio = "stdio"

// Case is one thing the client was asked to do: a tool of the server and the play behind it.
type Case struct {
	// ID is scenario and case, such as "parallel/two-cities". Events carry it.
	ID string `json:"id"`
	// Tool is the name of the server's tool that starts the case.
	Tool string `json:"tool"`
	// Mark is the word that tells the case's conversation apart from others on the model's wire.
	Mark string `json:"mark,omitempty"`
	// Carrier is the request that starts the play, where that is not a call of a tool: "prompts/get" or "resources/read".
	Carrier string `json:"carrier,omitempty"`
	// Again is true where the session says nothing of the case, because it died or ended before the case was over: it was played
	// again in a session of its own.
	Replayed bool `json:"replayed,omitempty"`
}

// Event is one thing that was seen. Exactly one of the payloads (Frame and those after it) is set.
type Event struct {
	// Seq counts the events of one case from 1, in the order in which they were seen; the events that belong to no
	// case (Case is "") are counted by themselves. Counting by case keeps the numbers of a report the same in every
	// run, whatever other cases do meanwhile. The order over all cases is that of Trace.Events.
	Seq int64 `json:"seq"`
	// At is the time since the recorder was made, on the clock of the run (virtual in a synctest bubble).
	At time.Duration `json:"at"`
	// Case is the ID of the case that the event belongs to, or "" for the session as a whole.
	Case string `json:"case,omitempty"`
	// Call counts, from 1, how often the client had called the case's tool when the event came about: a client may call
	// it twice, and each call plays by itself. 0 where that does not apply, as on the model's wire.
	Call int `json:"call,omitempty"`

	Frame   *Frame        `json:"frame,omitempty"`
	Request *ModelRequest `json:"modelRequest,omitempty"`
	Chunk   *ModelChunk   `json:"modelChunk,omitempty"`
	End     *ModelEnd     `json:"modelEnd,omitempty"`
	Process *Process      `json:"process,omitempty"`
	Mark    *Mark         `json:"mark,omitempty"`
}

// Ref names an event: the number within its case. The zero Ref names nothing.
type Ref struct {
	Case string `json:"case,omitempty"`
	Seq  int64  `json:"seq"`
}

// Ref returns the name of the event.
func (e *Event) Ref() Ref { return Ref{Case: e.Case, Seq: e.Seq} }

// payloads counts the payloads that are set.
func (e *Event) payloads() int {
	n := 0
	for _, set := range []bool{e.Frame != nil, e.Request != nil, e.Chunk != nil, e.End != nil, e.Process != nil, e.Mark != nil} {
		if set {
			n++
		}
	}
	return n
}

// Direction says who sent a frame.
type Direction string

// The two directions, seen from the client under test.
const (
	FromClient Direction = "from-client"
	ToClient   Direction = "to-client"
)

// Frame is one message on the MCP wire, or an HTTP request or status that carried none.
type Frame struct {
	Dir Direction `json:"dir"`
	// Raw is the JSON-RPC message, byte for byte; empty when there was none (a GET, a DELETE, a bare status).
	Raw Bytes `json:"raw,omitzero"`
	// HTTP is what carried the message; nil on transports without HTTP, and on the further events of a stream.
	HTTP *HTTP `json:"http,omitempty"`
	// Stream tells the response streams of one server apart; empty for a message that came in a body of its own.
	Stream string `json:"stream,omitempty"`
	// Session is the MCP session id, and on stdio the name of the connection; empty over HTTP where the revision has none.
	Session string `json:"session,omitempty"`
	// Partial is true for bytes that are not all of a message: where messages are lines, the connection ended before the line did, or
	// the line was over the limit, and is cut.
	Partial bool `json:"partial,omitempty"`
	// Lost is true for a frame that was to be sent and could not be, because the stream was gone.
	Lost bool `json:"lost,omitempty"`
	// Closed is true for an event that is only the end of a stream: Dir says who ended it.
	Closed bool `json:"closed,omitempty"`
	// Hostile is true for a frame of ours that breaks the protocol on purpose.
	Hostile bool `json:"hostile,omitempty"`
	// Event is the id of the server-sent event that the frame is, by which the stream can be resumed; empty for one that has none.
	Event string `json:"event,omitempty"`
	// Retry is how long the client was told to wait before it comes back for the stream, in nanoseconds. Zero: it was not told.
	Retry time.Duration `json:"retry,omitempty"`
	// Again is true for an event that was sent before, of a stream that the client came back for.
	Resent bool `json:"resent,omitempty"`
}

// HTTP is the part of an HTTP message that bears on the protocol.
type HTTP struct {
	// Method is set on requests, Status on responses.
	Method string `json:"method,omitempty"`
	Status int    `json:"status,omitempty"`
	// Header holds selected headers (see [SelectHeader]) under canonical names.
	Header map[string]string `json:"header,omitempty"`
	// Address is what of a request's path and query holds a planted secret (see [SelectAddress]); "" for any other.
	Address string `json:"address,omitempty"`
}

// ModelRequest is a request that the client, or its host, made of the model.
type ModelRequest struct {
	// Exchange ties the request to its chunks and its end; it counts from 1 per model server.
	Exchange int64 `json:"exchange"`
	// Dialect is the provider's wire format, such as "openai-chat".
	Dialect string `json:"dialect"`
	// Aside is true for a request beside the conversation, such as one for the list of models: it asks nothing of the model.
	SideRequest bool              `json:"sideRequest,omitempty"`
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	Header      map[string]string `json:"header,omitempty"`
	Body        Bytes             `json:"body,omitzero"`
}

// ModelChunk is a piece of the model's answer: one event of a stream, or a whole body.
type ModelChunk struct {
	Exchange int64 `json:"exchange"`
	Data     Bytes `json:"data,omitzero"`
}

// ModelEnd is the end of the model's answer. It is recorded before the last of the answer is written; where that write then fails a
// second one, with HungUp, follows, and the last one counts.
type ModelEnd struct {
	Exchange int64 `json:"exchange"`
	// Status is the HTTP status that was sent; 0 when the caller hung up before one was.
	Status int  `json:"status,omitempty"`
	Stream bool `json:"stream,omitempty"`
	// HungUp is true when the caller went away before the answer was whole.
	HungUp bool `json:"hungUp,omitempty"`
	// Closed is true when the model server was closed before the answer was whole.
	Closed bool `json:"closed,omitempty"`
	// Fault names what went wrong with the answer on purpose; empty when nothing did.
	Fault string `json:"fault,omitempty"`
	// Miss says why no rule or recording matched; empty when one did.
	Miss string `json:"miss,omitempty"`
	// Refused says why the model, strict as the provider, refused the request; empty when it did not.
	Refused string `json:"refused,omitempty"`
}

// ProcessState says what became of the client.
type ProcessState string

// Started comes first, Ended last. A client in process has them too: its function was called, and returned.
const (
	Started ProcessState = "started"
	Ended   ProcessState = "ended"
)

// Process is the start or the end of the client under test.
type Process struct {
	State ProcessState `json:"state"`
	// Argv is the command line, on Started; empty for a client in process.
	Argv []string `json:"argv,omitempty"`
	// ExitCode is the exit status, on Ended; -1 for a client that a signal ended, 0 for a client in process.
	ExitCode int `json:"exitCode,omitempty"`
	// Signal names the signal that ended the process.
	Signal string `json:"signal,omitempty"`
	// Deadline is true when the client was ended by us because its time was up.
	Deadline bool `json:"deadline,omitempty"`
	// Interrupted is true when the client was ended by us because the run was given up.
	Interrupted bool `json:"interrupted,omitempty"`
	// Err is the error that a client in process returned.
	Err string `json:"err,omitempty"`
	// Panic is the value with which a client in process panicked.
	Panic string `json:"panic,omitempty"`
	// Leak says what a client in process left running.
	Leak string `json:"leak,omitempty"`
	// Outside is true for a client in virtual time that waited, by a real clock, for something outside of it. It was left behind.
	Outside bool `json:"outside,omitempty"`
	// Stdout and Stderr are what the process wrote, of much only the beginning and the end.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// Clean reports whether the client came to its end by itself and called it a success.
func (p *Process) Clean() bool {
	return p.State == Ended && p.ExitCode == 0 && p.Signal == "" && !p.Deadline && !p.Interrupted &&
		p.Err == "" && p.Panic == "" && p.Leak == "" && !p.Outside
}

// Mark is a note that the harness or a play left in the trace.
type Mark struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// Names of the marks that the harness itself leaves. Plays choose others.
const (
	// MarkHarnessError says that we broke our own rules: nothing may be held against the client.
	MarkHarnessError = "harness-error"
	// MarkPlayStarted and MarkPlayEnded enclose a play; the text of the latter is its error, if it had one.
	MarkHandlerStarted = "handler-started"
	MarkHandlerEnded   = "handler-ended"
	// MarkBatch says that the messages that follow came as one; the text is how many.
	MarkBatch = "batch"
	// MarkConnection says that a connection was opened on which each message is a line; the text is its name, the session of its frames.
	MarkConnection = "connection"
	// MarkKilled says that the client ended the server's process before it ended its input; the text is the connection.
	MarkKilled = "killed"
	// MarkStderr is what the server wrote to its standard error, over stdio; the text is the line.
	MarkStderr = "stderr"
	// MarkWithheld says that the server did not send a sampling request, because the client has not declared what it
	// needs; the text is the capability, such as "sampling.tools".
	MarkWithheld = "withheld"
	// MarkSessionEnded says that the server ended the client's session: whoever comes with its id from then on gets 404.
	MarkSessionEnded = "session-ended"
	// MarkNotPlayed says that a case was given up before it was played; the text is the reason.
	MarkNotPlayed = "not-played"
	// MarkOutcome is what a client said of its own call; the text is an adapter's outcome line.
	MarkOutcome = "outcome"
	// MarkSupports is what a client announced of itself as a whole; the text is the feature.
	MarkSupports = "supports"
)

// For returns the part of the trace that bears on one case: its events and the session's, in order, under the same header.
func (t *Trace) For(caseID string) *Trace {
	part := &Trace{Header: t.Header, Whole: t.Whole, Dropped: t.Dropped}
	for i := range t.Events {
		if c := t.Events[i].Case; c == "" || c == caseID {
			part.Events = append(part.Events, t.Events[i])
		}
	}
	return part
}

// Find returns the event that ref names, or nil. It points into the trace.
func (t *Trace) Find(ref Ref) *Event {
	if ref == (Ref{}) {
		return nil // also where events made by hand have no numbers
	}
	for i := range t.Events {
		if t.Events[i].Ref() == ref {
			return &t.Events[i]
		}
	}
	return nil
}

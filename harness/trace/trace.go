// Package trace is the evidence of a run: one ordered list of everything seen on the MCP wire, on the model's wire and
// of the client's process, with a codec for files.
//
// One [Recorder] writes a trace; any number of goroutines may use it. Whatever judges a client reads only a trace, so
// a saved one can be judged again offline. Here belong the events, their recording and their file format. The package
// imports nothing of this module and knows no protocol: payloads are the bytes as seen, and readers decode them.
package trace

import (
	"encoding/json"
	"slices"
	"time"
)

// Trace is what a run saw, in the order in which it was seen.
type Trace struct {
	Header Header
	Events []Event
	// Whole is true when the trace has every event of the run.
	Whole bool
	// Dropped counts the events beyond the limit of the [Recorder]; 0 when Whole.
	Dropped int64
	// Cut is true when the recording went on after the trace was written: its end is missing, as when a tap was killed.
	Cut bool
}

// Header holds what a judge has to know beyond the events.
type Header struct {
	// Tool is the version of the program that recorded the trace.
	Tool   string `json:"tool,omitempty"`
	Client string `json:"client,omitempty"`
	// Revision is the protocol revision of the run, such as "2025-11-25".
	Revision string `json:"revision"`
	// Speaks are the server's revisions if they differ from Revision: the client has to negotiate. Else empty.
	ServerRevisions []string `json:"speaks,omitempty"`
	// Transport is [Stdio], or "" for Streamable HTTP.
	Transport string `json:"transport,omitempty"`
	// Seed determines the run's marks, ids and tokens.
	Seed int64 `json:"seed"`
	// Declare holds the client capabilities that the client was asked to declare, as JSON; empty for no request.
	Declare json.RawMessage `json:"declare,omitempty"`
	// Decision is the user's decision that the client was given; empty for approve.
	Decision string `json:"decision,omitempty"`
	// PromptMark identifies the conversation of a host with a model of its own: it is in its prompt. "" for a client that
	// calls the tools by itself.
	PromptMark string `json:"promptMark,omitempty"`
	// Key is the planted provider key: a fake secret that must never appear on the MCP wire.
	Key string `json:"key,omitempty"`
	// Timeout is the time limit of the session, in nanoseconds; 0 for none.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Hurried is true for a session whose limit is short because the client hung in earlier ones.
	Hurried bool `json:"hurried,omitempty"`
	// ClientTimeout is how long the client was asked to wait for the model, in nanoseconds; 0 for no request.
	ClientTimeout time.Duration `json:"clientTimeout,omitempty"`
	// TimeoutDeclared is true when ClientTimeout is a known property of the client, not only a request to it.
	TimeoutDeclared bool `json:"timeoutDeclared,omitempty"`
	// Patience is how long the model delayed its answer by design, in nanoseconds.
	ModelDelay time.Duration `json:"patience,omitempty"`
	// Loop says who was declared to run the tool loop: "client" or "server"; "" if the trace has to tell.
	Loop string `json:"loop,omitempty"`
	// Replayed is true when the model's answers are recordings. An unmatched request is then not the client's fault.
	Replayed bool `json:"replayed,omitempty"`
	// Tapped is true for a session between a client and a server that are not ours: nothing was provoked, and how the
	// client began and ended is unknown.
	Tapped bool `json:"tapped,omitempty"`
	// Cases are in the order in which the client was offered them.
	Cases []Case `json:"cases,omitempty"`
}

// Stdio is the transport of a client that launches its server and writes each message as a line.
const Stdio = "stdio"

// Case is one tool of the server, or one prompt or resource, and the handler behind it.
type Case struct {
	// ID is scenario and case, such as "parallel/two-cities". Events carry it.
	ID string `json:"id"`
	// Tool is the name of the tool, prompt or resource that starts the case.
	Tool string `json:"tool"`
	// Mark identifies the case's conversation on the model's wire.
	Mark string `json:"mark,omitempty"`
	// Carrier is the request that starts the case if not a tool call: "prompts/get" or "resources/read".
	Carrier string `json:"carrier,omitempty"`
	// Tools are further tools of the server, which the model of the case uses.
	Tools []string `json:"tools,omitempty"`
	// Replayed is true when the session ended before the case was over, or the client no longer served it: the case ran
	// again in another session.
	Replayed bool `json:"replayed,omitempty"`
	// UnservedAfter is set when the client asked the model for no sampling request of the session from the case on,
	// although it did before: it is the last case before. The case ran again in another session, but counts here, too.
	// Those behind it are Replayed.
	UnservedAfter string `json:"unservedAfter,omitempty"`
}

// For returns the events of one case and those of the session, in order, under the same header.
func (t *Trace) For(caseID string) *Trace {
	part := &Trace{Header: t.Header, Whole: t.Whole, Dropped: t.Dropped, Cut: t.Cut}
	for i := range t.Events {
		if c := t.Events[i].Case; c == "" || c == caseID {
			part.Events = append(part.Events, t.Events[i])
		}
	}
	return part
}

// HasFront reports whether the session was through a gateway, so that there are messages of its front.
func (t *Trace) HasFront() bool {
	return slices.ContainsFunc(t.Events, func(e Event) bool { return e.Front != nil })
}

// Find returns the event that ref names, as a pointer into the trace, or nil.
func (t *Trace) Find(ref Ref) *Event {
	if ref == (Ref{}) {
		return nil // hand-made events may have no numbers
	}
	for i := range t.Events {
		if t.Events[i].Ref() == ref {
			return &t.Events[i]
		}
	}
	return nil
}

// Package evidence decodes a trace into what checks judge: sessions, cases, sampling requests with their answers, and
// the requests to the model. [Decode] is a pure function of the trace. The package reads
// traces and does not judge them: no verdicts, no levels, nothing that only one chapter needs.
package evidence

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

// Place is a part of a trace: an event, a path into its JSON, and the event's name in reports.
type Place struct {
	Ref   trace.Ref
	Path  string
	Label string
}

// At returns the place at a path relative to this one.
func (p Place) At(path string) Place {
	if p.Path != "" && path != "" && !strings.HasPrefix(path, "[") {
		p.Path += "."
	}
	p.Path += path
	return p
}

// Session is one session of a client.
type Session struct {
	Trace    *trace.Trace
	Revision server.Revision
	// Connected is true if the server served the client in the revision of the run. Foreign is true if the client tried
	// another revision, and Tried says which.
	Connected, Foreign bool
	Tried              string
	// GivenUp is true if no client was started, because too many sessions had achieved nothing.
	GivenUp bool
	// Omitted is true, with GivenUp, for cases that do not fit the client.
	Omitted bool
	// Fault is an error of the harness about the whole session, which does not count against the client; "" for none.
	Fault string
	// Strangers is how many requests came without the path of our URLs; "" for none.
	Strangers string
	// Supports holds the features that the client announced.
	Supports map[string]bool
	// Ended is how the client ended; nil if unknown.
	Ended *trace.Process
	// Stopped is the index of the event with which the harness ended the client, and [math.MaxInt] if it did not. What
	// follows is not the client's doing.
	Stopped int
	// Refused holds the client's requests that the server refused, in order.
	Refused []Place
	// ForeignCalls holds calls of unknown tools, in order.
	ForeignCalls []ForeignCall
	// ToolCalls holds calls of tools that start no case, in order.
	ToolCalls []*ToolCall
	// ClientLoop is true if the client runs the tool loop itself (see [NoteRun]).
	ClientLoop bool
	// Requests holds what the client's requests declare, in order.
	Requests []ClientRequest
	// DeclaredInRun holds the capabilities, such as "sampling.tools", that a request of some session of the run declares
	// (see [NoteRun]).
	DeclaredInRun map[string]bool
	// AnswersItself is true if the client answers sampling requests and no session of the run has a request to the model
	// (see [NoteRun]).
	AnswersItself bool
	// KeptLimits holds the IDs of the run's cases in which the client hung up on the model when the limit that it was told
	// was over (see [NoteRun]).
	KeptLimits []string
	// OmittedFrom says from what request a setting is missing that the client passes on in others of the run (see
	// [NoteRun]).
	OmittedFrom map[Setting]string
	// media is nil before [NoteRun].
	media *runMedia
	// Unmarked holds requests to the model that belong to no case, in order.
	Unmarked []Place
	// Own holds the requests of a host's own, and those in Unmarked, in order.
	Own []*OwnRequest
	// Connections counts how often the client launched the server, over stdio.
	Connections int
	// Messages counts the client's valid messages over stdio. InvalidLines and PartialLines hold the other lines, in
	// order.
	Messages                   int
	InvalidLines, PartialLines []Place
	// UnmatchedResponses holds responses of the first era to unknown requests, in order.
	UnmatchedResponses []Answer
	// Unversioned holds the client's messages without "jsonrpc": "2.0", in order.
	Unversioned []Place

	Asked bool // The client sent something to the server.
	Lost  bool // The server ended on purpose.

	Issued    map[string]bool           // The session ids that the server issued.
	Calls     map[string][]*Case        // By case ID, one for each call of its tool.
	Exchanges map[string][]*Exchange    // By case ID, in order.
	Order     map[trace.Ref]int         // The index of each event.
	messages  map[*trace.Event]*Message // Each frame, decoded once.
}

// ForeignCall is a call of a tool that the server does not have.
type ForeignCall struct {
	Place
	Tool string
}

// Case is the evidence of one call of a case's tool.
type Case struct {
	Session  *Session
	Case     trace.Case
	Revision server.Revision
	// Expect is what the case's author expects, for its checks; nil for nothing. The judge sets it.
	Expect any
	// Called is true once the client called the tool.
	Called bool
	// TurnedDown is the HTTP status, or over stdio the error, with which the server refused the call at TurnedDownAt; ""
	// for none.
	TurnedDown   string
	TurnedDownAt Place
	// Rounds holds the sampling requests, in order.
	Rounds []*Round
	// CarryingRequests holds the call and its retries of the second era, in order.
	CarryingRequests []*CarryingRequest
	// Outcome is how the client reported its call; nil if it did not.
	Outcome *harness.Outcome
	// Declared is the latest request with the client's declarations for the call; nil for none.
	Declared *ClientRequest
	// Withheld is the undeclared capability because of which the server did not send a sampling request; "" for none.
	Withheld string
	// NotPlayed is why the case was not played; "" if it was.
	NotPlayed string
	// OutOfTime is true for a case that was not played because the client needs more time.
	OutOfTime bool
	// Omitted is the name of the mark of a case that does not fit the client; "" for any other.
	Omitted string
	// Over is true if the handler ended before the client did.
	Over bool
	// OverAt is the index of the event with which the handler ended; 0 if it did not.
	OverAt int
	// HarnessErrors holds errors of the harness.
	HarnessErrors []string
	// Took is the time between the first event of the case and the last.
	Took time.Duration

	FirstCall trace.Ref // The first request of the call.
	killed    bool      // The client reported its call when its time was up.
}

// Round is one sampling request, with the requests to the model and the answers that belong to it.
type Round struct {
	// N counts the rounds of the case from 1.
	N int
	// Asked is the place of the params.
	Asked Place
	// Params is the request in neutral form; nil if the params are invalid.
	Params *dialect.Request
	// Raw holds the params as they were sent, and Sent decodes them.
	Raw  json.RawMessage
	Sent *Document
	// Hostile is true if the server broke the protocol with the request on purpose.
	Hostile bool
	// Declared is what the client had declared at the time; nil for nothing.
	Declared *ClientRequest
	// Model holds the requests to the model, in order.
	Model []*Exchange
	// Answers holds what the client sent back; a correct client sends one.
	Answers []Answer

	Key   string          // The request id in text form (see [IDText]), or the input key.
	RawID json.RawMessage // The request id as it was written; nil in the second era.

	Conversations []string // The conversations that the params name (see [Conversations]).
	faults        func() []validity.Fault
}

// Answer is the client's answer to a sampling request.
type Answer struct {
	Place
	// ID is the JSON-RPC id as it was written; nil in the second era.
	ID json.RawMessage
	// Result is the CreateMessageResult; nil if Err is set.
	Result json.RawMessage
	Err    *server.RPCError
	// RawErr is the error as it was written.
	RawErr json.RawMessage

	members func() jsonvalue.Members // Of the result.
	blocks  func() []dialect.Block
}

// Exchange is one request to the model and its response.
type Exchange struct {
	Place
	Request *dialect.Request
	// Unreadable is why Request is nil.
	Unreadable error
	End        trace.ModelEnd

	Answer        []byte // All bytes of the response.
	Dialect       string // The wire format.
	number        int64
	conversations []string // The conversations that the body names.
	reply         func() *dialect.DecodedReply
	body          *Document
	Began, Behind int // The index of the request's event, and of its first end.
}

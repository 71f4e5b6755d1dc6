package evidence

import (
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// Place is somewhere in a trace: an event, a path into its JSON, and what the event is called in the story.
type Place struct {
	Ref   trace.Ref
	Path  string
	Label string
}

// At returns the place further down, at a path relative to this one.
func (p Place) At(path string) Place {
	switch {
	case p.Path == "" || path == "":
		p.Path += path
	case strings.HasPrefix(path, "["):
		p.Path += path
	default:
		p.Path += "." + path
	}
	return p
}

// Session is what one session of a client shows, decoded from its trace.
type Session struct {
	Trace    *trace.Trace
	Revision server.Revision
	// Connected is true once the client was served by the revision of the run, Foreign once it tried to speak another one.
	Connected, Foreign bool
	// Tried is what it tried to speak then.
	Tried string
	// GivenUp is true where no client was started, because too many sessions had led to nothing.
	GivenUp bool
	// Fault is a failure of ours about the session as a whole, of which nothing can be held against the client; "" for none.
	Fault string
	// Supports are the features that the client announced.
	Supports map[string]bool
	// Ended is how the client ended; nil when the trace does not say.
	Ended *trace.Process
	// Refused are requests of the client that the server turned down with an HTTP status, in order.
	Refused []Place
	// ForeignCalls are calls of tools that the server does not have, in order.
	ForeignCalls []ForeignCall
	// Requests are what the client's requests say of itself, in order.
	Requests []ClientRequest
	// Unmarked are requests to the model that belong to no case, in order.
	Unmarked []Place
	// Connections counts how often the client launched the server, over stdio.
	Connections int
	// Messages counts what the client sent that is a message, over stdio.
	Messages int
	// NoMessages is what the client sent that is no message, and Cut what is not all of a line, over stdio, in order.
	InvalidLines, PartialLines []Place
	// Strays are responses of the first era to which there is no request, in order.
	UnmatchedResponses []Answer
	// Unversioned are messages of the client that do not say that they are JSON-RPC 2.0, in order.
	Unversioned []Place

	Asked bool // the server for anything
	Lost  bool // its server, which ended on purpose

	Issued    map[string]bool           // session ids that the server gave
	Calls     map[string][]*Case        // by case, one for each call of its tool
	Exchanges map[string][]*Exchange    // by case, in order
	Order     map[trace.Ref]int         // the place of each event among all
	messages  map[*trace.Event]*Message // what each frame says
}

// ForeignCall is a call of a tool that is not the server's.
type ForeignCall struct {
	Place
	Tool string
}

// Evidence is what a session shows of one case: of one call of its tool.
type Case struct {
	Session  *Session
	Case     trace.Case
	Revision server.Revision
	// Expect is what the author of the case expects, for its checks; nil for none. It is set by the judge, not decoded.
	Expect any
	// Called is true once the client called the case's tool.
	Called bool
	// TurnedDown is the HTTP status, or over stdio the error, with which the server turned the call down, and TurnedDownAt where; "" when
	// it did not.
	TurnedDown   string
	TurnedDownAt Place
	// Rounds are the samples that were asked for, in order.
	Rounds []*Round
	// Links are the requests of the second era that carry the play, in order.
	CarryingRequests []*CarryingRequest
	// Outcome is what the client said of its call; nil for a client that says nothing.
	Outcome *harness.Outcome
	// Declared is the request by which the client declared what it is held to, the latest of the call; nil where there is none.
	Declared *ClientRequest
	// Withheld is the capability for lack of which a sample was not asked for.
	Withheld string
	// NotPlayed says why the case was given up before it was played; "" where it was not.
	NotPlayed string
	// Over is true when the play came to its end while the client was still there.
	Over bool
	// HarnessErrors are our own faults.
	HarnessErrors []string
	// Took is the time from the first event of the case to its last.
	Took time.Duration

	FirstCall trace.Ref // the first request for the call
}

// Round is one sample: what the server asked, what the client asked of the model for it, and what it answered.
type Round struct {
	// N counts the rounds of the case from 1.
	N int
	// Asked is where the params stand.
	Asked Place
	// Params are the request in neutral form; nil for params that cannot be read.
	Params *dialect.Request
	// Raw are the params as they were sent.
	Raw json.RawMessage
	// Hostile is true for one that the server must not ask, and asks on purpose.
	Hostile bool
	// Declared is what the client declared when it was asked; nil where it never did.
	Declared *ClientRequest
	// Model are the requests that the model got for it, in order.
	Model []*Exchange
	// Answers are what came back: one, if all is well.
	Answers []Answer

	Key   string          // request id or input key, by which answers are known
	RawID json.RawMessage // the request id as it was written; nil in the second era

	Conversations []string // of the case that the params name
}

// Answer is the client's answer to a sample.
type Answer struct {
	Place
	// ID is the JSON-RPC id as it was written; nil in the second era, which has none.
	ID json.RawMessage
	// Result is the CreateMessageResult; nil where Err is set.
	Result json.RawMessage
	Err    *server.RPCError
	// RawErr is the error as it was written.
	RawErr json.RawMessage

	read bool // whether held is known
	held []dialect.Block
}

// Exchange is one request to the model and what came of it.
type Exchange struct {
	Place
	Request *dialect.Request
	// Unreadable says why Request is nil.
	Unreadable error
	End        trace.ModelEnd

	Answer        []byte // as it went out, all pieces of it
	number        int64
	conversations []string // of the case that the body names
	Began, Behind int      // the places of its request and of its (first) end among all events
}

// Decode reads the evidence out of a trace. It is a pure function.
func Decode(t *trace.Trace) *Session {
	s := &Session{Trace: t, Revision: server.Revision(t.Header.Revision), Supports: map[string]bool{}, Issued: map[string]bool{}, Calls: map[string][]*Case{},
		Exchanges: map[string][]*Exchange{}, Order: make(map[trace.Ref]int, len(t.Events)), messages: make(map[*trace.Event]*Message, len(t.Events))}
	for _, c := range t.Header.Cases {
		s.Calls[c.ID] = []*Case{{Session: s, Case: c, Revision: s.Revision}}
	}
	first := map[string]time.Duration{}
	for i := range t.Events {
		e := &t.Events[i]
		s.Order[e.Ref()] = i
		m := s.read(e)
		if s.OverStdio() {
			s.takePipe(e, m)
		}
		if e.Process != nil && e.Process.State == trace.Ended {
			s.Ended = e.Process
		}
		s.takeRequest(e, m)
		s.takeVersion(e, m)
		s.takeEnds(e)
		if s.Calls[e.Case] == nil {
			if e.Mark != nil && e.Mark.Name == trace.MarkHarnessError {
				s.Fault = e.Mark.Text
			}
			if e.Mark != nil && e.Mark.Name == trace.MarkSupports {
				s.Supports[e.Mark.Text] = true
			}
			s.takeFrame(e, m)
			continue
		}
		if _, ok := first[e.Case]; !ok {
			first[e.Case] = e.At
		}
		switch {
		case e.Request != nil:
			s.takeModelRequest(e)
		case e.Chunk != nil:
			s.takeModelChunk(e)
		case e.End != nil:
			s.takeModelEnd(e)
		default:
			s.call(e).take(e, m)
			s.noteService(e, m)
		}
		for _, ev := range s.Calls[e.Case] {
			ev.Took = e.At - first[e.Case]
		}
	}
	for caseID := range s.Exchanges {
		s.attribute(caseID)
	}
	return s
}

// call returns the evidence of the call that the event belongs to. What belongs to no particular one goes to the first.
func (s *Session) call(e *trace.Event) *Case {
	calls := s.Calls[e.Case]
	for len(calls) < e.Call && len(calls) < mostCalls {
		calls = append(calls, &Case{Session: s, Case: calls[0].Case, Revision: s.Revision})
	}
	s.Calls[e.Case] = calls
	return calls[min(max(e.Call, 1), len(calls))-1]
}

// mostCalls is how many calls of one tool are told apart; a client that calls it more often repeats itself.
const mostCalls = 100

// Case returns the evidence of a case; nil when the session did not offer it. Each call of its tool plays by itself: the first
// one in which something was asked counts. A client may have been told by the one before it what it has to declare.
func (s *Session) Case(id string) *Case {
	calls := s.Calls[id]
	for _, ev := range calls {
		if len(ev.Rounds) > 0 {
			return ev
		}
	}
	if calls == nil {
		return nil
	}
	return calls[0]
}

// rpc is any JSON-RPC message of the wire, its members by their exact names.
type Message struct {
	ID             json.RawMessage
	Method         string
	Params, Result json.RawMessage
	Err            *server.RPCError
	RawErr         json.RawMessage
	Version        json.RawMessage // that of JSON-RPC
}

// readRPC reads a message as loosely as it can be read; the zero rpc is one that cannot. What it returns are parts of raw, known to be JSON.
func ReadMessage(raw []byte) Message {
	if len(raw) == 0 {
		return Message{}
	}
	o, err := dialect.ReadMembers(raw)
	if err != nil {
		return Message{}
	}
	m := Message{ID: o.Raw("id"), Method: o.Text("method"), Params: o.Raw("params"), Result: o.Raw("result"), Version: o.Raw("jsonrpc")}
	if o.Has("error") {
		m.Err, m.RawErr = &server.RPCError{}, o.Raw("error")
		if err := o.Read("error", m.Err); err != nil {
			m.Err = &server.RPCError{Message: "an error that is not well-formed: " + Compact(m.RawErr)}
		}
	}
	return m
}

// read reads what an event says, if that is a frame; nil where it is none.
func (s *Session) read(e *trace.Event) *Message {
	if e.Frame == nil {
		return nil
	}
	m := ReadMessage(e.Frame.Raw)
	s.messages[e] = &m
	return &m
}

// message is what a frame of the trace says. All of them were read when it was decoded: many checks look through them, and some are long.
func (s *Session) Message(e *trace.Event) *Message { return s.messages[e] }

// fromClient are the frames that the client sent, in order, and what each says.
func (s *Session) FromClient() iter.Seq2[*trace.Event, *Message] {
	return func(yield func(*trace.Event, *Message) bool) {
		for i := range s.Trace.Events {
			if e := &s.Trace.Events[i]; e.Frame != nil && e.Frame.Dir == trace.FromClient && !yield(e, s.Message(e)) {
				return
			}
		}
	}
}

// isResponse reports whether the message is one, whatever it says.
func (m *Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Err != nil) }

func HasMember(raw json.RawMessage, name string) bool {
	var o dialect.Members
	_ = dialect.ReadPart(raw, &o) // what is no object has no members
	return o.Has(name)
}

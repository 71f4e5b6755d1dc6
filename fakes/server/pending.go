package server

import (
	"encoding/json"
	"fmt"
)

// Pending is a sampling request in flight: see [Session.Start].
type Pending struct {
	sent
	done   chan struct{}
	answer Answer // once done is closed
}

// sent is a request as it went out.
type sent struct {
	id    json.RawMessage
	frame []byte
}

// ID is the JSON-RPC id that the request was sent under; nil in the second era, whose samples have none.
func (p *Pending) ID() json.RawMessage { return p.id }

// Done returns a channel that is closed when the request was answered, or will not be any more.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Answer waits for the answer and returns it, as [Session.Sample] does.
func (p *Pending) Answer() (json.RawMessage, error) {
	<-p.done
	return p.answer.Result, p.answer.Err
}

// pend waits for the answer on a goroutine of its own.
func pend(out *sent, wait func() Answer) *Pending {
	p := &Pending{sent: *out, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.answer = wait()
	}()
	return p
}

// Start is Sample for a play that has something else to do before the answer comes. Where it returns without an error the request is on its
// way, before all that the play sends after it; in the second era, where a sample ends the pending round, what is asked next waits for the
// retry. A request that was started is pending until it is answered, cancelled by nobody but the client's end of the call or the
// closing of the server.
func (s *Session) Start(params any) (*Pending, error) {
	request, err := s.outgoing(params)
	if err != nil {
		return nil, err
	}
	return s.carrier.start(request)
}

// Cancel tells the client that a request is not wanted any more (2025-11-25, basic/utilities/cancellation), whether it was answered or not: it
// is on the wire when Cancel returns. What the client does about it is for Pending to see. Where the call was given up, so that its stream may be
// gone, it goes out on the client's GET stream, if there is one. It returns ErrNoStream where there is none, and ErrEra in the second era, in which a
// server cancels nothing of the kind.
func (s *Session) Cancel(p *Pending, reason string) error {
	if p.id == nil {
		return fmt.Errorf("%w: a server cancels requests of its own, the client speaks %s", ErrEra, s.revision)
	}
	params := mustEncode(struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason,omitempty"`
	}{p.id, reason})
	return s.carrier.notify(requestFrame(nil, methodCancelled, params))
}

// Repeat sends the request once more, byte for byte, which a server must not (2025-11-25, basic#requests): the trace says that it was meant. It
// returns ErrNoStream where there is no stream to send on, and ErrEra in the second era, whose samples are no requests.
func (s *Session) Repeat(p *Pending) error {
	if p.id == nil {
		return fmt.Errorf("%w: the client speaks %s", ErrEra, s.revision)
	}
	return s.Send(p.frame)
}

const methodCancelled = "notifications/cancelled"

// CallID is the JSON-RPC id of the client's request that waits for the play's result: in the second era that of the latest round.
func (s *Session) CallID() json.RawMessage { return s.carrier.callID() }

// Call counts from 1 how often the client has called the tool.
func (s *Session) Call() int { return s.number }

// WantsProgress reports whether the client asked for progress with a token.
func (s *Session) WantsProgress() bool { return isID(s.carrying()["progressToken"]) }

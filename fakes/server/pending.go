package server

import "encoding/json"

// Pending is a request in flight: see [Session.Start].
type Pending struct {
	sent
	by     *Session
	done   chan struct{}
	answer Response // valid once done is closed
}

type sent struct {
	id    json.RawMessage
	frame []byte
}

// ID returns the JSON-RPC id of the request; nil in 2026-07-28, where samples have no id.
func (p *Pending) ID() json.RawMessage { return p.id }

// Done returns a channel that is closed when the response has arrived, or will not arrive any more.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Wait waits for the response and returns it, as [Session.Sample] does.
func (p *Pending) Wait() (json.RawMessage, error) {
	<-p.done
	return p.answer.Result, p.answer.Err
}

func (s *Session) pend(out *sent, wait func() Response) *Pending {
	p := &Pending{sent: *out, by: s, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.answer = wait()
	}()
	return p
}

// Start is Sample without the wait for the response, and also sends requests of another [Method]. When it returns nil,
// the request is on the wire, before all that the handler sends later. In 2026-07-28, where a sample ends the pending
// round, the next sample waits for the retry. The request stays pending until the client responds or abandons the call,
// or the server is closed.
func (s *Session) Start(params any, options ...RequestOption) (*Pending, error) {
	request, err := s.outgoing(params, options)
	if err != nil {
		return nil, err
	}
	p, err := s.protocol.start(request)
	if request.method != "" {
		return p, err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.call.Samples = append(s.call.Samples, Sample{Params: request.params, Response: Response{Err: err}, pending: p})
	return p, err
}

// Cancel sends notifications/cancelled for the request, whether it has a response or not (2025-11-25,
// basic/utilities/cancellation). It does not end the Pending. If the call was abandoned and its stream may be gone,
// the notification goes out on the client's GET stream. It returns ErrNoStream without a stream, and ErrRevision in
// 2026-07-28, where a server sends no requests.
func (p *Pending) Cancel(reason string) error {
	if p.id == nil {
		return p.by.hasNo("cancelling a server's request")
	}
	params := mustEncode(struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason,omitempty"`
	}{p.id, reason})
	return p.by.protocol.notify(requestFrame(nil, methodCancelled, params))
}

// Resend sends the request once more, byte for byte, which a server must not do (2025-11-25, basic#requests); the trace
// marks it as hostile. It returns ErrNoStream without a stream, and ErrRevision in 2026-07-28, where samples are not
// requests.
func (p *Pending) Resend() error {
	if p.id == nil {
		return p.by.hasNo("repeating a request")
	}
	return p.by.Transport().Send(p.frame)
}

const methodCancelled = "notifications/cancelled"

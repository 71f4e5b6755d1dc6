package server

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Call is one call of a tool, and what its handler did.
type Call struct {
	// Tool is the tool's name, Number counts its calls from 1.
	Tool   string
	Number int
	// Revision is what the client speaks.
	Revision Revision
	// ID is the JSON-RPC id of the client's request: in 2026-07-28, of that of the latest round.
	ID json.RawMessage
	// Arguments are those of the call; nil without any.
	Arguments json.RawMessage
	// ProgressToken is the client's progress token; nil without a valid one.
	ProgressToken json.RawMessage
	// Samples are the sampling requests of the handler, in order.
	Samples []Sample
	// Ended is true once the handler has returned; then Result is the result of the call, and Err the handler's error.
	Ended  bool
	Result json.RawMessage
	Err    error
}

// Sample is a sampling request that a handler sent. Without a response it has neither Result nor Err.
type Sample struct {
	Params json.RawMessage
	Response

	pending *Pending // of Session.Start
}

// maxCalls limits the journal, which drops its oldest calls.
const maxCalls = 10_000

// Journal returns the calls of all tools in order of arrival, without those whose arguments were refused. It keeps the
// newest 10,000.
func (s *Server) Journal() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := make([]Call, len(s.journal))
	for i, c := range s.journal {
		calls[i] = c.copy()
	}
	return calls
}

func (c *Call) copy() Call {
	now := *c
	now.Samples = slices.Clone(c.Samples)
	for i := range now.Samples {
		now.Samples[i].settle()
	}
	return now
}

// settle takes the response of a request that [Session.Start] sent, if it has arrived.
func (s *Sample) settle() {
	if s.pending == nil {
		return
	}
	select {
	case <-s.pending.done:
		s.Response = s.pending.answer
	default:
	}
	s.pending = nil
}

// Uncalled describes the tools, prompts and resources that were never called and are not [Tool.Optional], and of a
// [Replay] each recorded call that no client made.
func (s *Server) Uncalled() []string {
	if s.replay != nil {
		return s.replay.book.Unused()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var uncalled []string
	for _, t := range s.tools {
		if !t.Optional && s.calls[t] == 0 {
			uncalled = append(uncalled, fmt.Sprintf("tool %s was never called", t.Name))
		}
	}
	return uncalled
}

// opened adds the call to the journal.
func (s *Session) opened(id, arguments json.RawMessage) {
	s.call = &Call{Tool: s.tool.Name, Number: s.number, Revision: s.revision, ID: id, Arguments: arguments,
		ProgressToken: progressToken(s.meta)}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if len(s.server.journal) == maxCalls {
		s.server.journal = slices.Delete(s.server.journal, 0, 1)
	}
	s.server.journal = append(s.server.journal, s.call)
}

func (s *Session) ended(result CallToolResult, err error) {
	raw, _ := encode(result) // a handler's own raw result may be invalid
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.call.Ended, s.call.Result, s.call.Err = true, raw, err
}

// sampled adds requests to the call and returns a function that adds their responses.
func (s *Session) sampled(requests ...outgoing) (responded func([]Response)) {
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	first := len(s.call.Samples)
	for _, r := range requests {
		s.call.Samples = append(s.call.Samples, Sample{Params: r.params})
	}
	return func(all []Response) {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		for i, r := range all {
			s.call.Samples[first+i].Response = r
		}
	}
}

func (s *Session) sample(requests []outgoing) []Response {
	responded := s.sampled(requests...)
	responses := s.protocol.sample(requests)
	responded(responses)
	return responses
}

package server

import "encoding/json"

// InputRequiredResult is the InputRequiredResult that a handler builds.
type InputRequiredResult struct {
	// Requests holds the input requests by key. Each marshals to {"method": …, "params": …}; nil leaves out
	// inputRequests.
	Requests map[string]any
	// State is the requestState; nil leaves it out, and the retry is then found by its keys.
	State *string
}

// Retry is the client's retry.
type Retry struct {
	// Responses holds the inputResponses by key; nil without any.
	Responses map[string]json.RawMessage
	// State is the requestState that came back, as JSON; nil without one.
	State json.RawMessage

	meta object
}

// InputRequired responds to the pending request with an InputRequiredResult, valid or not, and returns the retry. If
// it is invalid, or asks for what the client has not declared, the trace marks it as hostile. It is for handlers about
// MRTR itself (2026-07-28, basic/patterns/mrtr); in legacy revisions it returns ErrRevision. Without a retry it
// returns when the server is closed, with an error that [Refused] accepts.
func (s *Session) InputRequired(in InputRequiredResult) (*Retry, error) {
	return s.protocol.inputRequired(in)
}

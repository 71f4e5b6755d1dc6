package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// inputRequired is the part of a result that asks for input (2026-07-28, basic/patterns/mrtr).
type inputRequired struct {
	ResultType    string             `json:"resultType"`
	InputRequests map[string]message `json:"inputRequests"`
	state         *string
}

// request sends a request, and retries it with the input that its results ask for, until the result is complete.
func (s *stateless) request(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	retry := params
	for range s.client.options.MaxRounds {
		raw, err := s.once(ctx, method, retry)
		if err != nil {
			return nil, err
		}
		asked, err := s.readInputRequired(raw)
		if err != nil || asked == nil {
			return raw, err
		}
		retry = maps.Clone(params)
		if asked.state != nil {
			retry[s.revision.StateMember()] = *asked.state
		}
		if asked.InputRequests == nil {
			continue
		}
		responses, err := s.fulfil(ctx, asked.InputRequests)
		if err != nil {
			return nil, &InputError{Result: Result(raw), Err: err}
		}
		retry["inputResponses"] = responses
	}
	return nil, fmt.Errorf("%w after %d rounds of input", ErrAbandoned, s.client.options.MaxRounds)
}

// readInputRequired returns what a result asks for; nil if it is complete. A result without a type is complete, one of
// an unknown type is invalid (2026-07-28, basic/index#resulttype).
func (s *stateless) readInputRequired(raw json.RawMessage) (*inputRequired, error) {
	var r inputRequired
	var members map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &r), json.Unmarshal(raw, &members)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if state := members[s.revision.StateMember()]; state != nil {
		if err := json.Unmarshal(state, &r.state); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	switch r.ResultType {
	case "input_required":
		return &r, nil
	case "complete", "":
		return nil, nil
	}
	return nil, fmt.Errorf("%w: unknown resultType %q", ErrUnusable, r.ResultType)
}

// fulfil answers all input requests, or returns why one cannot be answered.
func (s *stateless) fulfil(ctx context.Context, requests map[string]message) (map[string]any, error) {
	responses := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		switch method := requests[key].Method; {
		case method == methodSampling, s.client.answers(method):
			result, refused := s.client.respond(ctx, method, requests[key].Params)
			if refused != nil {
				return nil, fmt.Errorf("input request %s: %w", key, refused)
			}
			responses[key] = result
		case method == methodRoots && s.client.capabilities()["roots"] != nil:
			responses[key] = map[string]any{"roots": []any{}}
		default:
			return nil, fmt.Errorf("input request %s: method %q is not declared", key, method)
		}
	}
	return responses, nil
}

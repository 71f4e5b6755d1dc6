package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// maxRounds is how often a call may come back for input before the client gives up on it.
const maxRounds = 80

// result is the part of a result that says how to go on.
type result struct {
	ResultType    string             `json:"resultType"`
	InputRequests map[string]message `json:"inputRequests"`
	RequestState  *string            `json:"requestState"`
}

// How a call can fail without a word of the server's.
var (
	errGivenUp  = errors.New("given up")
	errUnusable = errors.New("the result is of no use")
)

// request sends a request, and again with what was asked for, until it is complete (basic/patterns/mrtr).
func (m *modern) request(base context.Context, method string, params map[string]any) (json.RawMessage, error) {
	ctx, done := m.model.begin(base, method, params)
	defer done()
	broken := &m.model.config.broken.rounds
	first := m.lastID.Load()
	said := &said{params: params}
	retry := params
	for round := 1; round <= broken.limit(); round++ {
		raw, err := m.once(ctx, method, retry)
		if broken.retriesTwice && round > 1 {
			_, _ = m.once(ctx, method, retry) // what the server says to that is no matter
		}
		if isGivenUp(ctx) {
			return nil, errToldTo
		}
		if err != nil {
			return nil, err
		}
		r, asks, err := broken.read(raw)
		if err != nil {
			return nil, err
		}
		if !asks || slices.Contains(broken.ignores, method) || broken.needsInput && len(r.InputRequests) == 0 {
			return raw, nil
		}
		retry = maps.Clone(params)
		if r.RequestState != nil {
			retry["requestState"] = *r.RequestState
		}
		if r.InputRequests != nil {
			responses, err := m.fulfil(ctx, r.InputRequests)
			if isGivenUp(ctx) {
				return m.givesUp(base, method, retry)
			}
			if err != nil && (m.model.config.broken.diesOf(err) || errors.Is(err, errDeadly) || errors.Is(err, errDies)) {
				return nil, errors.New("broken on purpose: " + err.Error())
			}
			if isDeclined(err) && m.model.config.broken.consent.retriesWithout {
				responses, err = map[string]any{}, nil
			}
			if err != nil {
				// Nothing is owed to the server, which must not count on a retry. The call is over, and what it was for has failed.
				return raw, nil
			}
			retry["inputResponses"] = responses
		}
		said.retry, said.result = retry, r
		broken.onRetry(said)
		if broken.leaks {
			_, _ = m.once(ctx, "tools/list", map[string]any{"requestState": retry["requestState"], "inputResponses": retry["inputResponses"]})
		}
		if broken.reusesID {
			m.lastID.Store(first)
		}
	}
	return nil, fmt.Errorf("%w after %d rounds of input", errGivenUp, broken.limit())
}

// fulfil answers every input request, or none.
func (m *modern) fulfil(ctx context.Context, requests map[string]message) (map[string]any, error) {
	responses := map[string]any{}
	first := 0 // how many of them begin a conversation
	broken := &m.model.config.broken
	if broken.rounds.oneAtMost && len(requests) > 1 {
		return nil, errors.New("broken on purpose: answers one input request")
	}
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		switch method := requests[key].Method; {
		case method == "sampling/createMessage":
		case method == "roots/list" && m.model.capabilities()["roots"] != nil, broken.rounds.fulfilsUndeclared:
			responses[key] = map[string]any{"roots": []any{}}
			continue
		case method == "" && broken.rounds.panicsOnNull:
			panic("broken on purpose: input request " + key + " is null")
		default:
			return nil, fmt.Errorf("input request %s: method %q was not declared", key, method)
		}
		if broken.neverAnswers {
			return nil, errors.New("broken on purpose: never answers")
		}
		if err := broken.dies(requests[key].Params); err != nil {
			return nil, err
		}
		if broken.forgets(requests[key].Params, &first) {
			continue
		}
		answer, err := m.model.createMessage(ctx, requests[key].Params)
		if err != nil && broken.diesOfImbalance && unbalanced(requests[key].Params) {
			return nil, errDies
		}
		if err != nil && isDeclined(err) && broken.consent.answersWithError {
			answer, err = map[string]any{"error": err}, nil
		}
		if errors.Is(err, errLeftOut) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("input request %s: %w", key, err)
		}
		if broken.runsTools || broken.runsUnoffered {
			m.model.runTools(ctx, m, requests[key].Params, answer)
		}
		responses[key] = answer
	}
	return responses, nil
}

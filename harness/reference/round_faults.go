package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
)

// roundFaults are the ways in which the client can be broken where it is asked for input (second era).
type roundFaults struct {
	retry func(*said) // edits a retry before it is sent

	ignores           []string // methods whose results may ask for input as they like
	stopsAfter        int      // rounds; 0 for those that a right client gives a call
	neverGivesUp      bool
	reusesID          bool // of the call for its retries
	retriesTwice      bool
	leaks             bool // lists the tools with the input and the state of a call
	oneAtMost         bool // answers one input request, and no more together
	fulfilsUndeclared bool // whatever is asked for, with no roots
	panicsOnNull      bool
	needsInput        bool // to make a retry
	fractions         bool // in the ids of what is no call
	answersDirect     bool // sampling requests that come as requests
	answersPing       bool // which this era has no more
	takesUntyped      bool // a result without a type that asks for input, as one that is to ask
	refusesUntyped    bool // a result without a type
	takesUnknown      bool // a result of a type that nobody knows, as complete
	fulfilsUnknown    bool // such a result, where it asks for input
}

// said is what a client keeps of a call while it goes on.
type said struct {
	params map[string]any // of the call
	retry  map[string]any // that is to be sent
	result *result        // that it answers
	rounds int            // that there were before
	states []*string      // of their results, with this one
}

// latest is the newest state before this round; nil where there was none.
func (s *said) latest() *string {
	for i := len(s.states) - 2; i >= 0; i-- {
		if s.states[i] != nil {
			return s.states[i]
		}
	}
	return nil
}

func (f *roundFaults) onRetry(s *said) {
	s.states = append(s.states, s.result.RequestState)
	if f.retry != nil {
		f.retry(s)
	}
	s.rounds++
}

func (f *roundFaults) limit() int {
	switch {
	case f.neverGivesUp:
		return math.MaxInt
	case f.stopsAfter > 0:
		return f.stopsAfter
	}
	return maxRounds
}

// read reads a result, and says whether it asks for input (2026-07-28, basic/index#resulttype).
func (f *roundFaults) read(raw json.RawMessage) (*result, bool, error) {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, false, fmt.Errorf("%w: %w", errUnusable, err)
	}
	asks := r.InputRequests != nil
	switch r.ResultType {
	case "input_required":
		return &r, true, nil
	case "complete":
		return &r, false, nil
	case "":
		if f.refusesUntyped {
			return nil, false, fmt.Errorf("%w: it has no type", errUnusable)
		}
		return &r, asks && f.takesUntyped, nil
	}
	if f.takesUnknown || asks && f.fulfilsUnknown {
		return &r, asks && f.fulfilsUnknown, nil
	}
	return nil, false, fmt.Errorf("%w: its type %q is unknown", errUnusable, r.ResultType)
}

// direct answers what comes as a request of the server's, which in this era nothing does: nil for the client that is right.
func (m *modern) direct(ctx context.Context) func(*message) error {
	broken := &m.model.config.broken.rounds
	if !broken.answersDirect && !broken.answersPing {
		return nil
	}
	return func(asked *message) error {
		response := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
		switch {
		case asked.Method == "ping" && broken.answersPing:
			response["result"] = map[string]any{}
		case asked.Method == "sampling/createMessage" && broken.answersDirect:
			result, refused := m.model.createMessage(ctx, asked.Params)
			if refused != nil {
				response["error"] = refused
			} else {
				response["result"] = result
			}
		default:
			return nil
		}
		if m.pipe != nil {
			return m.pipe.send(response)
		}
		header := http.Header{"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {string(m.env.Revision)}}
		resp, err := post(ctx, m.env.HTTP, m.env.URL, header, marshal(response))
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
}

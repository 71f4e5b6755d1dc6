package server

import (
	"encoding/json"
	"maps"
	"slices"
)

// parking is a call that waits for its retry. It stays known after that, so that a second retry is seen for what it is.
type parking struct {
	call  *modernCall
	taken bool
}

// parkedAs is what the retry of a call is known by: its requestState or, where the result had none, each of its input keys.
// It is the tool's own, for plays choose states and keys freely, and two may choose the same.
type parkedAs struct {
	tool  *offered
	kind  string
	value string
}

const byState, byKey = "state", "key"

// park makes the call known by what its retry will bring.
func (c *modernCall) park(in Input) {
	waiting := &parking{call: c}
	if in.State != nil {
		// As the client reads it: what is no UTF-8 does not go into JSON as it is.
		state, _ := textOf(mustEncode(*in.State))
		c.server.park(parkedAs{c.tool, byState, state}, waiting)
		return
	}
	for key := range in.Requests {
		c.server.park(parkedAs{c.tool, byKey, key}, waiting)
	}
}

// mostParked is how many states and keys of a tool's are known at once. A client owes nobody a retry, so that what it never came back to would
// else stay for as long as the server stands.
const mostParked = 1000

// park adds to what is known by as. Those that were answered are of no more use there. Where the tool has too many, the oldest is forgotten,
// and its play, if it still waits, ended.
func (s *Server) park(as parkedAs, waiting *parking) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parked[as] = append(slices.DeleteFunc(s.parked[as], func(p *parking) bool { return p.taken }), waiting)
	s.known[as.tool] = append(s.known[as.tool], known{as, waiting})
	if of := s.known[as.tool]; len(of) > mostParked {
		oldest := of[0]
		s.known[as.tool] = of[1:]
		s.parked[oldest.as] = slices.DeleteFunc(s.parked[oldest.as], func(p *parking) bool { return p == oldest.parking })
		if len(s.parked[oldest.as]) == 0 {
			delete(s.parked, oldest.as)
		}
		if !oldest.taken {
			oldest.taken = true
			oldest.call.cancel()
		}
	}
}

// known is a parking with one of the names that it is known by.
type known struct {
	as parkedAs
	*parking
}

// findParked returns the call that a retry continues: the one that has waited longest, or else one that was answered. Nil
// where none is known.
func (s *Server) findParked(tool *offered, p callParams) *parking {
	var known []parkedAs
	if p.requestState != nil {
		if state, ok := textOf(p.requestState); ok {
			known = append(known, parkedAs{tool, byState, state})
		}
	} else {
		for _, key := range slices.Sorted(maps.Keys(objectOf(p.inputResponses))) {
			known = append(known, parkedAs{tool, byKey, key})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *parking
	for _, as := range known {
		for _, waiting := range s.parked[as] {
			if found == nil || found.taken && !waiting.taken {
				found = waiting
			}
		}
	}
	return found
}

// claim reports whether the call is there and was still waiting; from then on it is not.
func (s *Server) claim(waiting *parking) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waiting == nil || waiting.taken {
		return false
	}
	waiting.taken = true
	return true
}

// retry goes on with the call that a retry continues, whose pending round it becomes.
func (s *Server) retry(x *exchange, id json.RawMessage, waiting *parking, p callParams) {
	responses := objectOf(p.inputResponses)
	if p.inputResponses != nil && responses == nil {
		s.fail(x, id, rpcErrorf(codeInvalidParams, "inputResponses of %s must be an object, got %s", p.method, show(p.inputResponses)))
		return
	}
	if !s.claim(waiting) || !waiting.call.next(x, id) {
		s.fail(x, id, rpcErrorf(codeInvalidParams, "no call waits for this retry: its requestState or input keys are unknown, or were used before"))
		return
	}
	waiting.call.resume <- &Retry{Responses: responses, State: p.requestState, meta: p.meta}
	x.wait(waiting.call.cancel)
}

// next makes an exchange the one that the play answers. It reports false where the play has returned while it was waiting, as one
// can that asks on other goroutines.
func (c *modernCall) next(x *exchange, id json.RawMessage) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.x, c.id = x, id
	x.writtenAs(c.written)
	return true
}

package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// takeModelRequest takes in a request to the model. Which round it was made for is seen once all is known.
func (s *Session) takeModelRequest(e *trace.Event) {
	if e.Request.SideRequest {
		return // nothing is asked of the model
	}
	x := &Exchange{Place: Place{Ref: e.Ref()}, number: e.Request.Exchange, Began: s.Order[e.Ref()], Behind: s.Order[e.Ref()]}
	x.Request, x.Unreadable = llm.Decode(e.Request.Dialect, e.Request.Path, e.Request.Body)
	x.conversations = Conversations(e.Request.Body, s.Calls[e.Case][0].Case.Mark)
	if x.Request != nil {
		Pair(x.Request.Messages)
	}
	s.Exchanges[e.Case] = append(s.Exchanges[e.Case], x)
}

// takeModelChunk takes in a piece of the model's answer.
func (s *Session) takeModelChunk(e *trace.Event) {
	for _, x := range s.Exchanges[e.Case] {
		if x.number == e.Chunk.Exchange {
			x.Answer = append(x.Answer, e.Chunk.Data...)
		}
	}
}

func (s *Session) takeModelEnd(e *trace.Event) {
	for _, x := range s.Exchanges[e.Case] {
		if x.number != e.End.Exchange {
			continue
		}
		if x.Behind == x.Began { // what corrects it comes later, when the client may have gone on
			x.Behind = s.Order[e.Ref()]
		}
		x.End = *e.End
	}
}

// attribute gives the case's model requests to the rounds that they were made for. The model's wire does not say: a client may call a
// tool twice at once, and each call asks the model the same. So each round gets first the request that its answer can rest on: one that
// the model answered after the round was asked and before it was answered, for a history as long. Rounds choose in the order in which
// they were answered, which leaves none without where all can have one. What is left goes to a round that was open.
func (s *Session) attribute(caseID string) {
	var rounds []*Round
	for _, ev := range s.Calls[caseID] {
		rounds = append(rounds, ev.Rounds...)
	}
	slices.SortStableFunc(rounds, func(a, b *Round) int { return cmp.Compare(s.AnsweredAt(a), s.AnsweredAt(b)) })
	taken := map[*Exchange]*Round{}
	for _, exactly := range []bool{true, false} {
		for _, r := range rounds {
			if len(r.Model) > 0 {
				continue
			}
			i := slices.IndexFunc(s.Exchanges[caseID], func(x *Exchange) bool {
				return taken[x] == nil && x.End.Status == 200 && s.Order[r.Asked.Ref] < x.Began && x.Behind < s.AnsweredAt(r) &&
					(r.fits(x) || !exactly && !s.elsewhere(rounds, r, x))
			})
			if i >= 0 {
				x := s.Exchanges[caseID][i]
				taken[x], r.Model = r, []*Exchange{x}
			}
		}
	}
	for _, x := range s.Exchanges[caseID] {
		if taken[x] != nil {
			continue
		}
		if r := s.likeliest(rounds, x); r != nil {
			r.Model = append(r.Model, x)
		}
	}
	for _, ev := range s.Calls[caseID] {
		count := 0
		for _, r := range ev.Rounds {
			slices.SortFunc(r.Model, func(a, b *Exchange) int { return cmp.Compare(a.Began, b.Began) })
			for _, x := range r.Model {
				count++
				x.Label = fmt.Sprintf("model request %d", count)
			}
		}
	}
}

// likeliest returns the round that a request was made for when no answer rests on it: one that was open, with a history as long, the latest
// asked; nil for a request that came before anything was asked.
func (s *Session) likeliest(rounds []*Round, x *Exchange) *Round {
	var best *Round
	most := -1
	for _, r := range rounds {
		asked := s.Order[r.Asked.Ref]
		if asked > x.Began {
			continue
		}
		likely := 0
		if x.Began < s.AnsweredAt(r) {
			likely += 2
		}
		if r.converses(x) && x.Began < s.AnsweredAt(r) {
			likely += 4 // of several that are open, it is of the one that it names
		}
		if r.fits(x) {
			likely++
		}
		if likely > most || likely == most && asked > s.Order[best.Asked.Ref] {
			best, most = r, likely
		}
	}
	return best
}

// fits reports whether a request has a history as long as the round's, and is of the same conversation, where it says of which it is.
func (r *Round) fits(x *Exchange) bool {
	return x.Request != nil && r.Params != nil && x.Request.Turn() == r.Params.Turn() && (len(x.conversations) == 0 || r.converses(x))
}

// converses reports whether a request names the round's conversation.
func (r *Round) converses(x *Exchange) bool {
	return slices.ContainsFunc(r.Conversations, func(c string) bool { return slices.Contains(x.conversations, c) })
}

// elsewhere reports whether a request names the conversation of another round that is open beside this one, and not this one's. Where nothing
// else is open, what a request names is no matter: a client may still give the model what was asked before.
func (s *Session) elsewhere(rounds []*Round, r *Round, x *Exchange) bool {
	return !r.converses(x) && slices.ContainsFunc(rounds, func(other *Round) bool {
		return other.converses(x) && s.Order[other.Asked.Ref] < x.Began && x.Began < s.AnsweredAt(other)
	})
}

// conversations returns the words by which a case's conversations are told apart, as they stand in a text: its mark and a number.
func Conversations(text []byte, mark string) []string {
	var found []string
	for mark != "" {
		_, rest, more := bytes.Cut(text, []byte(mark+"n"))
		if !more {
			break
		}
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if name := mark + "n" + string(rest[:digits]); digits > 0 && !slices.Contains(found, name) {
			found = append(found, name)
		}
		text = rest
	}
	return found
}

// answeredAt is the place of a round's first answer among all events; beyond them all where there is none.
func (s *Session) AnsweredAt(r *Round) int {
	if len(r.Answers) == 0 {
		return math.MaxInt
	}
	return s.Order[r.Answers[0].Ref]
}

package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// addModelRequest adds a request to the model. [Session.attribute] finds its round once all events are known.
func (s *Session) addModelRequest(e *trace.Event) {
	if e.Request.SideRequest || s.Trace.Header.Tapped && e.Request.Body.IsZero() {
		return // It asks the model nothing, or was recorded without its body.
	}
	x := s.exchange(e)
	x.conversations = Conversations(e.Request.Body, s.Calls[e.Case][0].Case.Mark)
	s.Exchanges[e.Case] = append(s.Exchanges[e.Case], x)
}

// exchange decodes a request to the model.
func (s *Session) exchange(e *trace.Event) *Exchange {
	at := s.Order[e.Ref()]
	x := &Exchange{Place: Place{Ref: e.Ref()}, Dialect: e.Request.Dialect,
		number: e.Request.Exchange, Began: at, Behind: at}
	x.Request, x.Unreadable = dialects.Decode(e.Request.Dialect, e.Request.Path, e.Request.Body)
	if x.Request != nil {
		pair(x.Request.Messages)
	}
	x.body = newDocument(json.RawMessage(e.Request.Body))
	x.reply = sync.OnceValue(func() *dialect.DecodedReply {
		reply, _ := dialects.DecodeReply(x.Dialect, x.Answer) // nil with an error
		return reply
	})
	return x
}

func (s *Session) addModelChunk(e *trace.Event) {
	for _, x := range s.Exchanges[e.Case] {
		if x.number == e.Chunk.Exchange {
			x.Answer = append(x.Answer, e.Chunk.Data...)
		}
	}
}

// addModelEnd adds the end of the model's response. A later end corrects the first, but the client may have continued
// since the first.
func (s *Session) addModelEnd(e *trace.Event) {
	for _, x := range s.Exchanges[e.Case] {
		if x.number != e.End.Exchange {
			continue
		}
		if x.Behind == x.Began {
			x.Behind = s.Order[e.Ref()]
		}
		x.End = *e.End
		x.End.RefusedFor = cmp.Or(x.End.RefusedFor, dialects.RefusedFor(x.End.Refused)) // older traces have only the words
	}
}

// attribute assigns the case's model requests to rounds. A request does not name its round, and two concurrent calls
// of a tool ask the model the same. So each round first gets the request that its answer can be based on: one that the
// model answered between the sampling request and the answer, with a history of the same length, and at best with its
// texts. Rounds with a result choose first, because an error rests on no answer of the model, and all in the order of
// their answers, so that each gets a request if that is possible. The other requests go to the likeliest round. A
// request with the texts of one call only is never another one's.
func (s *Session) attribute(caseID string) {
	var rounds []*Round
	for _, ev := range s.Calls[caseID] {
		rounds = append(rounds, ev.Rounds...)
	}
	own := map[*Exchange][]*Round{}
	for _, x := range s.Exchanges[caseID] {
		own[x] = s.askedBy(caseID, x)
	}
	slices.SortStableFunc(rounds, func(a, b *Round) int { return cmp.Compare(s.AnsweredAt(a), s.AnsweredAt(b)) })
	slices.SortStableFunc(rounds, func(a, b *Round) int { return cmp.Compare(a.lacksResult(), b.lacksResult()) })
	taken := map[*Exchange]bool{}
	for _, could := range []func(*Round, *Exchange) bool{
		func(r *Round, x *Exchange) bool { return r.fits(x) && r.Prompts(x) },
		(*Round).fits,
		func(r *Round, x *Exchange) bool { return r.fits(x) || !s.namesOther(rounds, r, x) },
	} {
		for _, r := range slices.DeleteFunc(slices.Clone(rounds), func(r *Round) bool { return len(r.Model) > 0 }) {
			i := slices.IndexFunc(s.Exchanges[caseID], func(x *Exchange) bool {
				return !taken[x] && s.canRestOn(r, x) && could(r, x) && slices.Contains(own[x], r)
			})
			if i >= 0 {
				r.Model = s.Exchanges[caseID][i : i+1 : i+1]
				taken[r.Model[0]] = true
			}
		}
	}
	for _, x := range s.Exchanges[caseID] {
		if r := s.likeliest(own[x], x); r != nil && !taken[x] {
			r.Model = append(r.Model, x)
		}
	}
	for _, ev := range s.Calls[caseID] {
		ev.labelModelRequests()
	}
}

// lacksResult is 1 for a round without a result, 0 for any other.
func (r *Round) lacksResult() int {
	if r.Result() == nil {
		return 1
	}
	return 0
}

// askedBy returns the rounds of the calls that asked with the texts of a request before it, or those of all calls
// if none did.
func (s *Session) askedBy(caseID string, x *Exchange) []*Round {
	var all, found []*Round
	for _, ev := range s.Calls[caseID] {
		all = append(all, ev.Rounds...)
		if slices.ContainsFunc(ev.Rounds, func(r *Round) bool {
			return s.Order[r.Asked.Ref] < x.Began && r.fits(x) && r.Prompts(x)
		}) {
			found = append(found, ev.Rounds...)
		}
	}
	if len(found) > 0 {
		return found
	}
	return all
}

// canRestOn reports whether the model answered the request between the sampling request of the round and its answer.
func (s *Session) canRestOn(r *Round, x *Exchange) bool {
	return x.End.Status == 200 && s.Order[r.Asked.Ref] < x.Began && x.Behind < s.AnsweredAt(r)
}

// Sources returns the requests to the model on which the answer to the round can be based, in order: those whose
// response came whole, between the sampling request and its answer. If several rounds are open, the conversation or
// else the prompt says which requests belong to the round.
func (ev *Case) Sources(r *Round) []*Exchange {
	s := ev.Session
	var rounds []*Round // of all calls: two of one tool may be open
	for _, call := range s.Calls[ev.Case.ID] {
		rounds = append(rounds, call.Rounds...)
	}
	var all []*Exchange
	for _, x := range s.Exchanges[ev.Case.ID] {
		whole := x.received() && x.Reply() != nil && x.Reply().Complete
		if s.canRestOn(r, x) && whole && (!s.namesOther(rounds, r, x) || slices.Contains(r.Model, x)) {
			all = append(all, x)
		}
	}
	if len(all) < 2 || r.Params == nil {
		return all
	}
	named := slices.DeleteFunc(slices.Clone(all), func(x *Exchange) bool { return !r.converses(x) })
	prompted := slices.DeleteFunc(slices.Clone(all), func(x *Exchange) bool { return !r.Prompts(x) })
	switch {
	case len(named) > 0:
		return named
	case len(prompted) > 0:
		return prompted
	}
	return all
}

// Prompts reports whether a request has all texts of the round's last turn, also those of its tool results.
func (r *Round) Prompts(x *Exchange) bool {
	turn := r.Params.LastUserTurn()
	texts := BlocksOf(turn, dialect.Text)
	for _, result := range BlocksOf(turn, dialect.ToolResult) {
		texts = append(texts, Only(result.Content, dialect.Text)...)
	}
	return x.Request != nil && !slices.ContainsFunc(texts, func(b dialect.Block) bool { return !x.Says(b.Text) })
}

// labelModelRequests orders the model requests of each round, and numbers those of the case.
func (ev *Case) labelModelRequests() {
	count := 0
	for _, r := range ev.Rounds {
		slices.SortFunc(r.Model, func(a, b *Exchange) int { return cmp.Compare(a.Began, b.Began) })
		for _, x := range r.Model {
			count++
			x.Label = fmt.Sprintf("model request %d", count)
		}
	}
}

// likeliest returns the round of a request on which no answer is based: preferably an open one, of the same
// conversation, with a history of the same length, without another request, and the latest of those; nil if the
// request precedes every round.
func (s *Session) likeliest(rounds []*Round, x *Exchange) *Round {
	var best *Round
	most := -1
	for _, r := range rounds {
		asked := s.Order[r.Asked.Ref]
		if asked > x.Began {
			continue
		}
		likely, open := 0, x.Began < s.AnsweredAt(r)
		if open && r.converses(x) {
			likely += 8
		}
		if open {
			likely += 4
		}
		if r.fits(x) {
			likely += 2
		}
		if open && len(r.Model) == 0 {
			likely++
		}
		if likely > most || likely == most && asked > s.Order[best.Asked.Ref] {
			best, most = r, likely
		}
	}
	return best
}

// fits reports whether a request has a history of the round's length and names no other conversation.
func (r *Round) fits(x *Exchange) bool {
	return x.Request != nil && r.Params != nil && x.Request.Turn() == r.Params.Turn() &&
		(len(x.conversations) == 0 || r.converses(x))
}

// converses reports whether a request names the round's conversation.
func (r *Round) converses(x *Exchange) bool {
	return slices.ContainsFunc(r.Conversations, func(c string) bool { return slices.Contains(x.conversations, c) })
}

// namesOther reports whether a request names the conversation of another open round and not this one's. A round that
// is over does not count: a client may still send the model what it was asked before.
func (s *Session) namesOther(rounds []*Round, r *Round, x *Exchange) bool {
	return !r.converses(x) && slices.ContainsFunc(rounds, func(other *Round) bool {
		return other.converses(x) && s.Order[other.Asked.Ref] < x.Began && x.Began < s.AnsweredAt(other)
	})
}

// Conversations returns the names of a case's conversations in a text: its mark, "n" and a number. Without a mark
// there are none.
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

// AnsweredAt returns the index of the event with the round's first answer; [math.MaxInt] for none.
func (s *Session) AnsweredAt(r *Round) int {
	if len(r.Answers) == 0 {
		return math.MaxInt
	}
	return s.Order[r.Answers[0].Ref]
}

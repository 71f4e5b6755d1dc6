package evidence

import (
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/native"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// StandardStopReasons holds the stop reasons that the specification defines (2025-11-25, schema#createmessageresult).
var StandardStopReasons = []string{
	string(dialect.EndTurn), string(dialect.StopToolUse), string(dialect.StopMaxTokens), string(dialect.StopStopSequence),
}

// Result returns the first answer that is a result; nil for none.
func (r *Round) Result() *Answer {
	for i := range r.Answers {
		if r.Answers[i].Err == nil {
			return &r.Answers[i]
		}
	}
	return nil
}

// AnswersAny reports whether the client answered a sampling request of the session with a result.
func (s *Session) AnswersAny() bool { return s.Answers(func(*Round) bool { return true }) }

// Answers reports whether the client answered such a round with a result.
func (s *Session) Answers(kind func(*Round) bool) bool {
	for r := range s.rounds() {
		if r.Result() != nil && kind(r) {
			return true
		}
	}
	return false
}

// rounds returns the rounds of all cases, in no order.
func (s *Session) rounds() iter.Seq[*Round] {
	return func(yield func(*Round) bool) {
		for _, calls := range s.Calls {
			for _, ev := range calls {
				for _, r := range ev.Rounds {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

// lazily returns the answer with its result decoded at first use.
func (a Answer) lazily() Answer {
	a.members = sync.OnceValue(func() jsonvalue.Members {
		var members jsonvalue.Members
		_ = jsonvalue.ReadPart(a.Result, &members) // what is not an object has no members
		return members
	})
	a.blocks = sync.OnceValue(func() []dialect.Block { return native.Blocks(a.Member("content")) })
	return a
}

// Member returns a member of the result as it was written; nil if missing.
func (a *Answer) Member(name string) json.RawMessage { return a.members().Raw(name) }

// Text returns a member of the result, and whether it is a string.
func (a *Answer) Text(name string) (string, bool) { return jsonvalue.TextOf(a.Member(name)) }

// Blocks returns the content of the answer, with paths relative to the answer; nil if it is invalid.
func (a *Answer) Blocks() []dialect.Block { return a.blocks() }

// Uses returns the tool uses of the answer.
func (a *Answer) Uses() []dialect.Block { return Only(a.Blocks(), dialect.ToolUse) }

// RequestedCities returns the cities of the answer's tool uses, in order; "" for an invalid input.
func RequestedCities(a *Answer) []string {
	var cities []string
	for _, use := range a.Uses() {
		var input struct{ City string }
		_ = json.Unmarshal(Arguments(use), &input) // An invalid input names no city.
		cities = append(cities, input.City)
	}
	return cities
}

// Arguments returns the input of a tool use, also if it is a JSON text in a string: always/server-was-given judges its
// type.
func Arguments(use dialect.Block) json.RawMessage {
	var text string
	if json.Unmarshal(use.Input, &text) == nil {
		return json.RawMessage(text)
	}
	return use.Input
}

// IsNoAnswer reports whether the answer has nothing of a CreateMessageResult: it may be an error, another method's
// result, or empty.
func IsNoAnswer(a *Answer) bool { return a.Member("content") == nil && a.Member("role") == nil }

// DescribeNoAnswer names an answer for which [IsNoAnswer] holds.
func DescribeNoAnswer(a *Answer) string {
	if IsNoAnswer(a) && (a.Member("error") != nil || a.Member("code") != nil) {
		return "an error"
	}
	return "an object that is not a CreateMessageResult"
}

// RetryWithoutKey returns the retry of the round's call that lacks an answer for it, where null does not count; nil
// for none.
func (ev *Case) RetryWithoutKey(r *Round) *Place {
	s := ev.Session
	asked := s.Order[r.Asked.Ref]
	for i := asked + 1; i < len(s.Trace.Events); i++ {
		e := &s.Trace.Events[i]
		// Call 0 is a retry that the server could not assign to a call.
		otherCall := e.Call != 0 && e.Call != s.Trace.Events[asked].Call
		if e.Case != ev.Case.ID || otherCall || e.Frame == nil || e.Frame.Dir != trace.FromClient {
			continue
		}
		m := s.Message(e)
		isRetry := HasMember(m.Params, "inputResponses") || HasMember(m.Params, s.Revision.StateMember())
		answered := slices.ContainsFunc(r.Answers, func(a Answer) bool {
			return a.Ref == e.Ref() && string(a.Result) != "null"
		})
		if m.Method == "tools/call" && isRetry && !answered {
			return &Place{e.Ref(), "params", "the retry"}
		}
	}
	return nil
}

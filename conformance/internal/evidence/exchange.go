package evidence

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// LastExchange returns the request to the model on which the round's answer is based: the last successful one, or else
// the last; nil for none.
func (r *Round) LastExchange() *Exchange {
	for _, x := range slices.Backward(r.Model) {
		if x.End.Status == 200 {
			return x
		}
	}
	if len(r.Model) == 0 {
		return nil
	}
	return r.Model[len(r.Model)-1]
}

// At returns the place at a path of the request. The path "messages" is the conversation, whatever the wire format
// calls it.
func (x *Exchange) At(path string) Place {
	if path == "messages" {
		path = cmp.Or(dialects.FactsOf(x.Dialect).Conversation, path)
	}
	return x.Place.At(path)
}

// CassetteMiss returns why no script rule and no recording matched the last request to the model; "" if one did.
func (r *Round) CassetteMiss() string {
	if x := r.LastExchange(); x != nil {
		return x.End.Unmatched
	}
	return ""
}

// CompletedCalls returns the requests to the model whose response arrived.
func (r *Round) CompletedCalls() []*Exchange {
	var found []*Exchange
	for _, x := range r.Model {
		if x.End.Status == 200 && !x.End.HungUp {
			found = append(found, x)
		}
	}
	return found
}

// RefusedOwn is the last refusal by the model of a request that belongs to no sampling request, such as the host's own.
type RefusedOwn struct {
	Place
	Why string
}

// RefusedOwn returns the last such refusal; nil for none.
func (s *Session) RefusedOwn() *RefusedOwn {
	for i := range slices.Backward(s.Trace.Events) {
		e := &s.Trace.Events[i]
		if e.End == nil || e.End.Refused+e.End.Unmatched == "" || s.answers(e) {
			continue
		}
		return &RefusedOwn{Place{e.Ref(), "", "the model"}, cmp.Or(e.End.Refused, e.End.Unmatched)}
	}
	return nil
}

// answers reports whether an end belongs to a sampling request.
func (s *Session) answers(end *trace.Event) bool {
	return slices.ContainsFunc(s.Calls[end.Case], func(ev *Case) bool {
		return slices.ContainsFunc(ev.Rounds, func(r *Round) bool {
			return slices.ContainsFunc(r.Model, func(x *Exchange) bool { return x.number == end.End.Exchange })
		})
	})
}

// AnsweredWhole reports whether a response of the model arrived that the model did not cut.
func (r *Round) AnsweredWhole() bool {
	return slices.ContainsFunc(r.CompletedCalls(), (*Exchange).SentWhole)
}

// splitOnly matches the names of the fake model's faults that only split an answer.
var splitOnly = regexp.MustCompile(`^Split(EveryByte|AtRandom)\([^)]*\)$`)

// delayOnly matches the names of those that only delay it.
var delayOnly = regexp.MustCompile(`^(Spread|PauseBefore|PauseAfter)\(`)

// received reports whether the whole answer came, sooner or later, and the client waited for it.
func (x *Exchange) received() bool {
	return x.SentWhole() || delayOnly.MatchString(x.End.Fault) && !x.End.HungUp
}

// SentWhole reports whether the model sent its whole answer at once, without a fault or with one that only splits it.
func (x *Exchange) SentWhole() bool { return x.End.Fault == "" || splitOnly.MatchString(x.End.Fault) }

// Reply returns what the model said; nil if its response cannot be decoded or is an error.
func (x *Exchange) Reply() *dialect.DecodedReply { return x.reply() }

// Calls returns the tool uses of the reply.
func (x *Exchange) Calls() []dialect.Block {
	if x.Reply() == nil {
		return nil
	}
	return Only(x.Reply().Content, dialect.ToolUse)
}

// ResultOf returns the result of a tool use in the request; nil for none. A use without an id, as some dialects have
// them, is the one with the same name and arguments.
func (x *Exchange) ResultOf(use *dialect.Block) *dialect.Block {
	id := use.ID
	for _, b := range BlocksOf(x.Request.Messages, dialect.ToolUse) {
		if id == "" && b.Name == use.Name && jsonvalue.Same(Arguments(b), Arguments(*use)) {
			id = b.ID
		}
	}
	results := BlocksOf(x.Request.Messages, dialect.ToolResult)
	if i := slices.IndexFunc(results, func(b dialect.Block) bool { return id != "" && b.ID == id }); i >= 0 {
		return &results[i]
	}
	return nil
}

// Says reports whether a string of the request's body contains the text (see [Contains]).
func (x *Exchange) Says(text string) bool {
	return jsonvalue.Contains(x.Body().Value(), text)
}

// Body returns the body of the request.
func (x *Exchange) Body() *Document { return x.body }

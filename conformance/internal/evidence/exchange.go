package evidence

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// LastExchange returns the request to the model on which the round's answer is based: the last successful one, or else
// the last; nil if there is none.
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

// AnsweredWhole reports whether a response of the model arrived that the model did not cut.
func (r *Round) AnsweredWhole() bool {
	return slices.ContainsFunc(r.CompletedCalls(), func(x *Exchange) bool { return x.End.Fault == "" })
}

// Says reports whether a string of the request's body contains the text (see [Contains]).
func (x *Exchange) Says(text string) bool { return Contains(DecodeJSON(x.Request.Body), text) }

// Shows counts the media of the type in the request. Size and format do not matter, and a URL counts.
func (x *Exchange) Shows(t dialect.BlockType) int {
	n := 0
	for _, b := range dialect.Blocks(x.Request.Messages, t) {
		if len(b.Data) > 0 || b.Text != "" {
			n++
		}
	}
	return n
}

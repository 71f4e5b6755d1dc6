package always

import (
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// acceptedName matches the names of tools that every provider accepts.
var acceptedName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// refused returns the verdict for a request that has what the server sent, and that the provider refused; nil if the
// client is not to blame: it asked again, or the provider does not take what the server sent. A client need not know
// which media and names its model takes. The second value is the kind of difference.
func refused(r *evidence.Round, x *evidence.Exchange) (*check.Verdict, *kind) {
	media := x.End.RefusedFor == trace.RefusedForMedia && hasMediaAnywhere(r.Params)
	provider := x.Request.Dialect
	if x.End.Refused == "" || x != r.LastExchange() || media ||
		hasOddNames(r.Params) && hasOddNames(x.Request) || !accepts(provider, worded(r.Params)) {
		return nil, nil
	}
	how := refusedRequest
	if !accepts(provider, r.Params) {
		how = refusedFailure
	}
	v := check.Fail("sampling request %d: expected a request that the model accepts, it refused: %s", r.N,
		evidence.Clip(x.End.Refused)).At(r.Asked, x.Place)
	return check.Instead(how.explain(v)), how
}

func hasMediaAnywhere(params *dialect.Request) bool {
	return slices.ContainsFunc(params.Messages, func(m dialect.Message) bool {
		return slices.ContainsFunc(m.Content, func(b dialect.Block) bool { return isMedium(b) || hasMedia(&item{Block: b}) })
	})
}

func hasOddNames(params *dialect.Request) bool {
	return slices.ContainsFunc(params.Tools, func(t dialect.Tool) bool { return !acceptedName.MatchString(t.Name) }) ||
		slices.ContainsFunc(params.Messages, func(m dialect.Message) bool {
			return slices.ContainsFunc(evidence.Only(m.Content, dialect.ToolUse), func(b dialect.Block) bool {
				return !acceptedName.MatchString(b.Name)
			})
		})
}

// accepts reports whether the provider accepts the sampling request in the form that its codec gives it.
func accepts(provider string, params *dialect.Request) bool {
	path, body, err := dialects.EncodeRequest(provider, params)
	return err == nil && dialects.Check(provider, path, body) == nil
}

// worded returns a request in which every failed result has a text, and nothing else: some providers want that.
func worded(params *dialect.Request) *dialect.Request {
	w := *params
	w.Messages = slices.Clone(params.Messages)
	for i := range w.Messages {
		m := &w.Messages[i]
		m.Content = slices.Clone(m.Content)
		for j := range m.Content {
			b := &m.Content[j]
			texts := len(evidence.Only(b.Content, dialect.Text))
			if b.IsError && (texts == 0 || texts < len(b.Content)) {
				b.Content = []dialect.Block{{Type: dialect.Text, Text: "error"}}
			}
		}
	}
	return &w
}

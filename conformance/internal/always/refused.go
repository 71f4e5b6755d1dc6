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
// which media and names its model takes.
func refused(r *evidence.Round, x *evidence.Exchange) *check.Verdict {
	media := x.End.RefusedFor == trace.RefusedForMedia && hasMediaAnywhere(r.Params)
	if x.End.Refused == "" || x != r.LastExchange() || media ||
		hasOddNames(r.Params) && hasOddNames(x.Request) || !canBeAccepted(r.Params, x.Request.Dialect) {
		return nil
	}
	return check.Instead(check.Fail("sampling request %d: expected a request that the model accepts, it refused: %s", r.N,
		evidence.Clip(x.End.Refused)).At(r.Asked, x.Place))
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

// canBeAccepted reports whether the provider accepts the sampling request in the form that its codec gives it.
func canBeAccepted(params *dialect.Request, provider string) bool {
	path, body, err := dialects.EncodeRequest(provider, params)
	return err == nil && dialects.Check(provider, path, body) == nil
}

package always

import (
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// aboutMedia and aboutNames match the refusals of a provider that a correct client may cause: it need not know what its
// model takes. aboutForm matches those about the form of a block. acceptedName matches the names of tools that every
// provider accepts.
var (
	aboutForm    = regexp.MustCompile(`(?i)supported values|in base64`)
	aboutMedia   = regexp.MustCompile(`(?i)image|audio|\bmedia|mime|modalit|inline_?data`)
	aboutNames   = regexp.MustCompile(`(?i)name|pattern`)
	acceptedName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
)

// refused returns the verdict for a request that has what the server sent, and that the provider refused; nil if the
// client is not to blame: it asked again, or the provider does not take what the server sent.
func refused(r *evidence.Round, x *evidence.Exchange) *check.Verdict {
	why := x.End.Refused
	media := aboutMedia.MatchString(why) && !aboutForm.MatchString(why)
	if why == "" || x != r.LastExchange() || media && hasMediaAnywhere(r.Params) ||
		hasOddNames(r.Params) && aboutNames.MatchString(why) || !canBeAccepted(r.Raw, x.Dialect) {
		return nil
	}
	return check.Instead(check.Fail("sampling request %d: expected a request that the model accepts, it refused: %s", r.N,
		evidence.Clip(why)).At(r.Asked, x.Place))
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

// canBeAccepted reports whether the provider accepts the sampling request as the built-in client writes it.
func canBeAccepted(raw []byte, provider string) bool {
	params, err := jsonvalue.ReadObject(raw)
	if err != nil {
		return false
	}
	accepted := false
	m := model.New(model.Options{Dialect: provider, URL: "http://model", Plain: true, HTTP: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			accepted = err == nil && llm.Check(provider, r.URL.Path, body) == nil
			return nil, errors.New("no model is there")
		})}})
	_, _ = m.Sample(context.Background(), params) // It fails after the request.
	return accepted
}

type transport func(r *http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

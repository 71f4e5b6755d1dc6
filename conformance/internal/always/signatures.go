package always

import (
	"encoding/base64"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// anySignature is what Gemini accepts as signature of a call that another model made
// (ai.google.dev/gemini-api/docs/thought-signatures). Google's SDKs have the member as bytes, and send them as Base64.
const anySignature = "skip_thought_signature_validator"

var anySignatureBytes = base64.StdEncoding.EncodeToString([]byte(anySignature))

var thoughtSignature = check.Check{
	ID:         "thought-signature",
	Rule:       "The model receives the thought signatures of its tool calls again, with the calls",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause:      "MCP has no member for signatures, so they are lost on the way to the server",
	Fix: "Store each signature by the id of its tool use, or in the _meta of the tool use. Send it back with the " +
		"call.",
	Judge: func(e *evidence.Case) check.Verdict {
		returned := 0
		var warned *check.Verdict
		for i, r := range e.Rounds {
			for _, call := range signedCalls(r) {
				for _, later := range e.Rounds[i+1:] {
					x := later.LastExchange()
					if !restates(later, call.id) || x == nil || x.Request == nil || !belongs(e, later, x) {
						continue
					}
					returned++
					switch v := unsigned(x, call.Block); {
					case v == nil:
					case v.Kind == check.Failed:
						return *v
					case warned == nil:
						warned = v
					}
				}
			}
		}
		switch {
		case warned != nil:
			return *warned
		case returned == 0:
			return check.NotApplicable("no signed tool call of the model is in a later request")
		}
		return check.Pass("the model received its signatures again")
	},
}

// signedCall is a tool call of the model that has a signature, with the id that the client gave it.
type signedCall struct {
	dialect.Block
	id string
}

// signedCalls returns those of a round's last answer.
func signedCalls(r *evidence.Round) []signedCall {
	x, a := r.LastExchange(), r.Result()
	if x == nil || a == nil || len(x.Calls()) != len(a.Uses()) {
		return nil
	}
	var signed []signedCall
	for i, call := range x.Calls() {
		if call.Signature != "" {
			signed = append(signed, signedCall{call, a.Uses()[i].ID})
		}
	}
	return signed
}

// restates reports whether a sampling request has the tool use with the id once.
func restates(r *evidence.Round, id string) bool {
	n := 0
	if r.IsValid() {
		for _, use := range dialect.Blocks(r.Params.Messages, dialect.ToolUse) {
			if use.ID == id {
				n++
			}
		}
	}
	return n == 1
}

// unsigned returns the verdict for a model request without the signature of a call; nil for one that has it.
func unsigned(x *evidence.Exchange, call dialect.Block) *check.Verdict {
	restated := evidence.BlocksOf(x.Request.Messages, dialect.ToolUse)
	signed := func(signature string) bool {
		return slices.ContainsFunc(restated, func(use dialect.Block) bool { return use.Signature == signature })
	}
	own := slices.DeleteFunc(slices.Clone(restated), func(use dialect.Block) bool {
		return use.Name != call.Name || !jsonvalue.Same(use.Input, call.Input)
	})
	isItsOwn := func(use dialect.Block) bool { return use.Signature == call.Signature }
	judge, found := check.Fail, "it without"
	switch {
	case signed(call.Signature) && (len(own) == 0 || slices.ContainsFunc(own, isItsOwn)):
		return nil
	case signed(call.Signature):
		found = "another call with it"
	case signed(anySignature) || signed(anySignatureBytes):
		judge, found = check.Warn, "a placeholder"
	case !slices.ContainsFunc(restated, func(use dialect.Block) bool { return use.Name == call.Name }):
		found = "no such call"
	}
	return check.Instead(judge("expected the call of %s with its signature, found %s", call.Name, found).
		ShowAs("model received", x.Place, "%s", evidence.Describe(restated)))
}

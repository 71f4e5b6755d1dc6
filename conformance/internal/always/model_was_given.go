package always

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

var modelWasGivenCheck = check.Check{
	ID: "model-was-given",
	Statements: slices.Concat(requirements.Balance, choiceModes, messageSchema, check.ToolUseSchema,
		[]string{oneRequest}),
	Rule:       "Every request to the model has the messages, tools and tool choice of its sampling request",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause: "the conversion to the provider's format loses or changes a block, often only with tools, in later rounds " +
		"or in long histories",
	Fix: "Build every model request from all messages, tools and the tool choice of the sampling request, each block " +
		"unchanged. Return an error for a block that the provider cannot take.",
	Judge: modelWasGiven,
}

// modelWasGiven compares each sampling request of a case with the requests to the model that belong to it. What may
// differ is in package legitimate. It does not judge a request after a mistake of the model: that may say what was
// wrong.
func modelWasGiven(ev *evidence.Case) check.Verdict {
	compared := 0
	var found findings
	for _, r := range ev.Rounds {
		if !r.IsValid() {
			continue
		}
		for _, x := range r.Model {
			switch {
			case !mustHave(ev, r, x):
			case x.Request != nil:
				compared++
				found.addAll(ev, r, x)
			case x == r.LastExchange() && !tookIt(ev, x) && ev.Session.Trace.Find(x.Ref).Request.Dialect != "":
				found.add(refusedRequest, unreadable(r, x))
			}
		}
	}
	switch v := found.verdict(); {
	case v != nil:
		return *v
	case compared == 0:
		return check.NotApplicable("no request to the model belongs to a valid sampling request")
	}
	return check.Pass("the model was given what the server sent, in all %d model requests", compared)
}

// addAll adds what a request to the model does not have as its sampling request says.
func (f *findings) addAll(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) {
	all := compare(r.Params, x.Request)
	if all == nil {
		all = some(cmp.Or(invalidParams(ev, r, x), foreign(ev, r, x)))
	}
	for _, d := range all {
		f.add(d.kind, d.verdict(r, x))
	}
	if all == nil {
		if v, how := refused(r, x); v != nil {
			f.add(how, *v)
		}
	}
}

// tookIt reports whether the model of a recorded session took a request that cannot be read: a compatible server may
// take what its provider refuses.
func tookIt(ev *evidence.Case, x *evidence.Exchange) bool {
	return ev.Session.Trace.Header.Tapped && x.End.Status == http.StatusOK
}

func mustHave(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) bool {
	return x.End.Unmatched == "" && belongs(ev, r, x) && !followsMistake(r, x)
}

func unreadable(r *evidence.Round, x *evidence.Exchange) check.Verdict {
	return refusedRequest.explain(check.Fail("sampling request %d: expected a valid request to the model, it refused: %s",
		r.N, evidence.Clip(cmp.Or(x.End.Refused, x.Unreadable.Error()))).At(r.Asked, x.Place))
}

// belongs reports whether a model request belongs to its round beyond doubt: the round was open, and no other open
// round with other params can have caused it. Without marks, such as in a tapped session, the texts tell rounds apart.
func belongs(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) bool {
	s := ev.Session
	named := evidence.Conversations(s.Trace.Find(x.Ref).Request.Body, ev.Case.Mark)
	canCause := func(r *evidence.Round) bool {
		open := s.Order[r.Asked.Ref] < x.Began && x.Began < s.AnsweredAt(r)
		return open && (len(named) == 0 || slices.ContainsFunc(named, func(name string) bool {
			return slices.Contains(r.Conversations, name)
		}))
	}
	if !canCause(r) {
		return false
	}
	for _, call := range s.Calls[ev.Case.ID] {
		for _, other := range call.Rounds {
			if other == r || !canCause(other) || other.Sent.Same(r.Sent) {
				continue
			}
			if ev.Case.Mark != "" || !r.Prompts(x) || other.Prompts(x) {
				return false
			}
		}
	}
	return true
}

func (d *difference) verdict(r *evidence.Round, x *evidence.Exchange) check.Verdict {
	where := ""
	if d.given != "" {
		where = " (" + d.given + ")"
	}
	v := check.Fail("sampling request %d: expected %s in the model request, found %s%s", r.N, d.want, d.got, where)
	return d.explain(v).ShowAs("server sent", r.Asked.At(d.sent), "%s", excerpt(r.Raw, d.sent)).
		ShowAs("model received", x.At(d.given), "%s", excerpt(x.Request.Body, d.given))
}

// invalidParams returns the difference for a request in MCP's own form that is invalid although the sampling request is
// valid. Members may be missing or null: SDKs in Go omit an empty text, and write null for an empty list. What must be
// there is compared.
func invalidParams(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *difference {
	if !dialects.FactsOf(x.Request.Dialect).Native ||
		r.Sent.Validate(string(ev.Revision), schema.CreateMessageRequestParams) != nil {
		return nil
	}
	body := jsonvalue.Marshal(withoutNulls(jsonvalue.Decode(x.Request.Body)))
	var invalid *schema.Error
	err := schema.Validate(string(ev.Revision), schema.CreateMessageRequestParams, body)
	if errors.As(err, &invalid) && !invalid.Missing {
		return invalidRequest.found("valid params", err.Error())
	}
	return nil
}

// withoutNulls removes the members of decoded JSON that are null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			} else {
				withoutNulls(member)
			}
		}
	case []any:
		for _, item := range v {
			withoutNulls(item)
		}
	}
	return v
}

func excerpt(body []byte, path string) string {
	if value := at(body, path); value != nil {
		return evidence.Compact(value)
	}
	return evidence.Compact(body)
}

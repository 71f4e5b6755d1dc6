package always

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/mcpjson"
	"github.com/mcp-conform/mcp-conform/internal/schema"
	"github.com/mcp-conform/mcp-conform/internal/validity"
)

var modelWasGivenCheck = check.Check{
	ID: "model-was-given",
	Statements: slices.Concat(requirements.Balance,
		[]string{"2025-11-25/sampling/09", "2026-07-28/sampling/10"}),
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
// differ is in [toModel]. It does not judge a request after a mistake of the model, which may say what was wrong.
func modelWasGiven(ev *evidence.Case) check.Verdict {
	compared := 0
	var warned *check.Verdict
	for _, r := range ev.Rounds {
		if !isValid(ev, r) {
			continue
		}
		for _, x := range r.Model {
			if !mustHave(ev, r, x) {
				continue
			}
			if x.Request == nil {
				if x == r.LastExchange() && ev.Session.Trace.Find(x.Ref).Request.Dialect != "" {
					return unreadable(r, x)
				}
				continue
			}
			compared++
			switch d := cmp.Or(compare(r.Params, x.Request), invalidParams(ev, r, x), foreign(ev, r, x)); {
			case d == nil:
				if v := refused(r, x); v != nil {
					return *v
				}
			case !d.warns:
				return d.verdict(r, x)
			case warned == nil:
				warned = check.Instead(d.verdict(r, x))
			}
		}
	}
	switch {
	case warned != nil:
		return *warned
	case compared == 0:
		return check.NotApplicable("no request to the model belongs to a valid sampling request")
	}
	return check.Pass("the model was given what the server sent, in all %d model requests", compared)
}

// mustHave reports whether a model request must have what the server sent.
func mustHave(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) bool {
	return x.End.Unmatched == "" && belongs(ev, r, x) && !followsMistake(r, x)
}

// unreadable is the verdict for a request that the provider could not read.
func unreadable(r *evidence.Round, x *evidence.Exchange) check.Verdict {
	return check.Fail("sampling request %d: expected a valid request to the model, it refused: %s", r.N,
		evidence.Clip(cmp.Or(x.End.Refused, x.Unreadable.Error()))).At(r.Asked, x.Place)
}

// isValid reports whether a correct client may pass a request to the model as it is: its params and its history are
// valid, and the client declares what it needs.
func isValid(e *evidence.Case, r *evidence.Round) bool {
	if r.Hostile || r.Params == nil {
		return false
	}
	params, err := mcpjson.Object(r.Raw)
	return err == nil && validity.Undeclared(params, r.Declared.Declares) == nil &&
		validity.Check(string(e.Revision), params) == nil
}

// belongs reports whether a model request belongs to its round beyond doubt: the round was open, and no other open
// round with other params can have caused it.
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
			if other != r && canCause(other) && !evidence.SameJSON(other.Raw, r.Raw) {
				return false
			}
		}
	}
	return true
}

// difference is the first thing that the model was not given as the server sent it.
type difference struct {
	// want and got describe both values, for "expected …, found …".
	want, got string
	// sent and given are the paths of both values, "" for the whole request.
	sent, given string
	warns       bool
}

func (d *difference) verdict(r *evidence.Round, x *evidence.Exchange) check.Verdict {
	where := ""
	if d.given != "" {
		where = " (" + d.given + ")"
	}
	v := check.Fail("sampling request %d: expected %s in the model request, found %s%s", r.N, d.want, d.got, where)
	if d.warns {
		v.Kind = check.Warn("").Kind
	}
	return v.ShowAs("server sent", r.Asked.At(d.sent), "%s", excerpt(r.Raw, d.sent)).
		ShowAs("model received", x.At(d.given), "%s", excerpt(x.Request.Body, d.given))
}

// invalidParams returns the difference for a request in MCP's own form that is invalid although the sampling request is
// valid. Members may be missing or null: SDKs in Go omit an empty text, and write null for an empty list. What must be
// there is compared.
func invalidParams(ev *evidence.Case, r *evidence.Round, x *evidence.Exchange) *difference {
	validate := func(params []byte) error {
		return schema.Validate(string(ev.Revision), schema.CreateMessageRequestParams, params)
	}
	if !llm.FactsOf(x.Request.Dialect).Native || validate(r.Raw) != nil {
		return nil
	}
	body := mcpjson.Marshal(withoutNulls(evidence.DecodeJSON(x.Request.Body)))
	if err := validate(body); err != nil && !strings.Contains(err.Error(), "missing property") {
		return &difference{want: "valid params", got: err.Error()}
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

// excerpt returns the JSON at a path.
func excerpt(body []byte, path string) string {
	if value := at(body, path); value != nil {
		return evidence.Compact(value)
	}
	return evidence.Compact(body)
}

// comparison is what was found out so far about one model request.
type comparison struct {
	sent, given *dialect.Request
	form        dialect.Form // of the given one
	// tools has the name of each tool for the model by its name for the server, and owners the other way round.
	tools, owners map[string]string
	// ids has the ids of the latest turn's tool uses for the model, by their ids for the server.
	ids map[string]string
	// called has the names of the latest turn's tool uses, for the server and for the model, by their ids for the model.
	called map[string][]string
	// shown are the paths of media that belong to tool results.
	shown map[string]bool
	// rounded is the first number that a double cannot hold, and that the client rounded.
	rounded *difference
}

// compare returns the first difference between a sampling request and a model request; nil if the model was given all.
func compare(sent, given *dialect.Request) *difference {
	c := &comparison{sent: sent, given: given, form: llm.FactsOf(given.Dialect).Form,
		tools: map[string]string{}, owners: map[string]string{}}
	for _, step := range []func() *difference{c.compareTools, c.compareChoice, c.compareTurns} {
		if d := step(); d != nil {
			return d
		}
	}
	return c.rounded
}

// compareTurns compares the conversation. It is at the end of the model request: the client's own messages may precede
// it.
func (c *comparison) compareTurns() *difference {
	want, got := turnsOf(c.sent.Messages, false), turnsOf(c.given.Messages, true)
	if n := len(got); len(want) > 0 && n > 0 && want[len(want)-1].role == dialect.Assistant &&
		got[n-1].role == dialect.User && len(got[n-1].items) == len(only(got[n-1].items, dialect.Text)) {
		got = got[:n-1] // providers want a message of the user at the end
	}
	if len(want) == 0 {
		return nil
	}
	lead := len(got) - len(want)
	var atEnd *difference
	if lead >= 0 {
		if atEnd = c.walk(want, got[lead:]); atEnd == nil {
			return cmp.Or(restated(want, got[:lead]), c.repeated(want, got))
		}
	}
	if c.asOneText(want, got) {
		return &difference{want: "every message under its role", got: "one text of the user with all of them",
			sent: "messages", given: got[len(got)-1].items[0].Path, warns: true}
	}
	if d := lost(want, got); d != nil && lead < 0 {
		return d
	}
	for start := range got {
		if c.compareTurn(&want[0], &got[start], true) == nil {
			return c.walk(want, got[start:])
		}
	}
	return cmp.Or(atEnd, c.walk(want, got))
}

// walk compares turn by turn.
func (c *comparison) walk(want, got []turn) *difference {
	c.shown, c.ids, c.called, c.rounded = map[string]bool{}, nil, nil, nil
	for i := range want {
		if i >= len(got) {
			return missing(&want[i].items[0])
		}
		if d := c.compareTurn(&want[i], &got[i], i == 0); d != nil {
			return d
		}
	}
	if len(got) > len(want) {
		extra := &got[len(want)].items[0]
		return &difference{want: "the end of the conversation", got: describe(extra), given: extra.Path}
	}
	return nil
}

// lost returns the first text or tool use that is nowhere in the model request, if there is one.
func lost(want, got []turn) *difference {
	for _, t := range want {
		for i := range t.items {
			w := &t.items[i]
			found := w.Type != dialect.Text && w.Type != dialect.ToolUse
			for _, g := range got {
				_, isThere := matchTexts([]string{w.Text}, textsOf(only(g.items, dialect.Text)), anything)
				found = found || w.Type == dialect.Text && isThere || slices.ContainsFunc(g.items, func(b item) bool {
					return w.Type == dialect.ToolUse && b.Type == w.Type && evidence.SameJSON(b.Input, w.Input)
				})
			}
			if !found {
				return missing(w)
			}
		}
	}
	return nil
}

func missing(w *item) *difference {
	return &difference{want: describe(w), got: "none", sent: w.Path}
}

// restated returns the first tool use or result before the conversation that is a copy of one in it.
func restated(want, before []turn) *difference {
	for _, t := range before {
		for i := range t.items {
			g := &t.items[i]
			for _, w := range want {
				if slices.ContainsFunc(w.items, func(w item) bool {
					return g.Type == dialect.ToolUse && w.Type == g.Type && w.ID == g.ID && evidence.SameJSON(w.Input, g.Input)
				}) {
					return &difference{want: "each tool use once", got: describe(g) + " twice", given: g.Path}
				}
			}
		}
	}
	return nil
}

// asOneText reports whether one text of the user has the whole conversation.
func (c *comparison) asOneText(want, got []turn) bool {
	var all []string
	for _, t := range want {
		if len(only(t.items, dialect.Text)) < len(t.items) {
			return false
		}
		all = append(all, textsOf(t.items)...)
	}
	if len(want) < 2 || len(got) == 0 || got[len(got)-1].role != dialect.User {
		return false
	}
	last := got[len(got)-1].items
	_, whole := matchTexts(all, []string{last[len(last)-1].Text}, anything)
	return whole
}

// quote quotes a text, long ones around the place where they differ from another.
func quote(text, other string) string {
	quoted, _ := evidence.Difference(text, other)
	return quoted
}

// quoteJSON shows two JSON values that differ.
func quoteJSON(want, got []byte) (wanted, found string) { return evidence.JSONDifference(want, got) }

// describe names a block for a message.
func describe(b *item) string {
	switch b.Type {
	case dialect.Text:
		return fmt.Sprintf("the text %s of the %s", quote(b.Text, ""), b.role)
	case dialect.ToolUse:
		return fmt.Sprintf("the tool use %s(%s)", b.Name, evidence.Clip(string(b.Input)))
	case dialect.ToolResult:
		return fmt.Sprintf("the result of %s %s", evidence.QuoteID(b.ID), quote(dialect.PlainText(b.Content), ""))
	case dialect.Image, dialect.Audio:
		return fmt.Sprintf("%s of type %s, %d bytes", b.Type, cmp.Or(b.MimeType, "unknown"), len(b.Data))
	}
	return "a block of another type"
}

package always

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

var serverWasGivenCheck = check.Check{
	ID: "server-was-given", Statements: check.ToolUseSchema,
	Rule:       "Every result says what the model said: its texts, its tool uses in order, and why it stopped",
	Levels:     check.Robust,
	ServerLoop: true,
	Cause: "the conversion from the provider's format loses or changes a block, often only with tools, in later rounds " +
		"or in streams",
	Fix: "Convert every block of the reply, in order: texts unchanged, arguments as raw JSON, each tool use under its " +
		"own id. Map the stop reason, or omit it.",
	Judge: serverWasGiven,
}

// serverWasGiven compares each result of a case with the model's reply on which it is based. What may differ is in
// package legitimate. Other checks judge a reply with invalid arguments, or one that did not arrive whole.
func serverWasGiven(ev *evidence.Case) check.Verdict {
	compared := 0
	var found findings
	for _, r := range ev.Rounds {
		sources := ev.Sources(r)
		if len(sources) == 0 || r.Params == nil || slices.ContainsFunc(sources, misbehaves) {
			continue
		}
		for i := range r.Answers {
			a := &r.Answers[i]
			if a.Err != nil || !readable(a) {
				continue
			}
			compared++
			if d := deviation(r, a, sources); d != nil {
				found.add(d.orBroken(saidBroken).kind, otherResult(d, a, sources[len(sources)-1]))
			}
		}
	}
	if v := found.verdict(); v != nil {
		return *v
	}
	if compared == 0 {
		return check.NotApplicable("the client returned no result for a complete reply of the model")
	}
	return check.Pass("the server was given what the model said, in all %d results", compared)
}

// misbehaves reports whether a reply has a tool use that MCP cannot express, or one beside the end of the turn although
// the provider's API does not have that.
func misbehaves(x *evidence.Exchange) bool {
	facts := dialects.FactsOf(x.Dialect)
	ended := facts.UsesNeverEnd && x.Reply().FinishReason == facts.End
	return ended && len(x.Calls()) > 0 || slices.ContainsFunc(x.Calls(), func(use dialect.Block) bool {
		_, isObject := inputOf(use).(map[string]any)
		return use.Name == "" || !isObject
	})
}

func inputOf(use dialect.Block) any {
	if len(use.Input) == 0 {
		return map[string]any{}
	}
	return jsonvalue.Decode(use.Input)
}

// readable reports whether the result has content of known types. Other checks judge the rest.
func readable(a *evidence.Answer) bool {
	return a.Blocks() != nil && len(evidence.Only(a.Blocks(), dialect.Other)) == 0
}

// deviation returns how a result differs from the last reply; nil if it is like any of them. A host that runs the tools
// itself may return the texts of all replies.
func deviation(r *evidence.Round, a *evidence.Answer, sources []*evidence.Exchange) *difference {
	var last *difference
	var all []dialect.Block
	for _, x := range sources {
		if last = newRendering(r, a, x, x.Reply()).compare(); last == nil {
			return nil
		}
		all = append(all, evidence.Only(x.Reply().Content, dialect.Text)...)
	}
	x := sources[len(sources)-1]
	together := *x.Reply()
	together.Content = slices.Concat(all, x.Calls())
	if len(sources) > 1 && newRendering(r, a, x, &together).compare() == nil {
		return nil
	}
	return last
}

// otherResult is the verdict for a result that differs from the last of the replies.
func otherResult(d *difference, a *evidence.Answer, said *evidence.Exchange) check.Verdict {
	place, because := strings.TrimSpace(d.given+" "+d.want), "as the model said"
	if word := said.Reply().FinishReason; d.kind == falseReason && !strings.HasSuffix(place, " "+word) {
		because = fmt.Sprintf("for the finish reason %q of the model", word)
		if len(a.Uses()) > 0 {
			because = fmt.Sprintf("beside tool uses, although the model said %q", word)
		}
	}
	return d.explain(check.Fail("expected %s %s, found %s", place, because, d.got)).
		ShowAs("model said", said.Place, "%s", describeReply(said.Reply())).
		ShowAs("server received", a.At(d.given), "%s", evidence.Compact(evidence.ValueAt(a.Result, d.given)))
}

func describeReply(reply *dialect.DecodedReply) string {
	var parts []string
	for _, b := range reply.Content {
		switch b.Type {
		case dialect.Text:
			parts = append(parts, evidence.Quote(b.Text))
		case dialect.ToolUse:
			parts = append(parts, fmt.Sprintf("tool use %s: %s(%s)", evidence.QuoteID(b.ID), b.Name,
				evidence.Compact(b.Input)))
		default:
			parts = append(parts, string(b.Type))
		}
	}
	return strings.Join(append(parts, "stopped by "+cmp.Or(reply.FinishReason, "nothing")), "\n")
}

// rendering is a result as a client's rendering of a reply.
type rendering struct {
	round *evidence.Round
	a     *evidence.Answer
	from  *evidence.Exchange
	reply *dialect.DecodedReply
	// said are the tool uses of the reply that the result has to have, and given those of the result.
	said, given []dialect.Block
	// rounded is the first number that a double cannot hold, and that the client rounded.
	rounded *difference
}

func newRendering(r *evidence.Round, a *evidence.Answer, x *evidence.Exchange, reply *dialect.DecodedReply) *rendering {
	return &rendering{round: r, a: a, from: x, reply: reply, said: evidence.Only(reply.Content, dialect.ToolUse),
		given: a.Uses()}
}

func (c *rendering) compare() *difference {
	for _, compare := range []func() *difference{c.compareUses, c.compareTexts, c.compareMedia, c.compareStopReason} {
		if d := compare(); d != nil {
			return d
		}
	}
	return c.rounded
}

// compareMedia compares images and audio, which few models return.
func (c *rendering) compareMedia() *difference {
	media := func(blocks []dialect.Block) (all []dialect.Block) {
		return append(evidence.Only(blocks, dialect.Image), evidence.Only(blocks, dialect.Audio)...)
	}
	said, given := media(c.reply.Content), media(c.a.Blocks())
	if len(said) != len(given) {
		return otherMedia.found(fmt.Sprintf("with %d images and audio", len(said)), fmt.Sprint(len(given))).at("", "content")
	}
	for i := range said {
		switch said, given := &said[i], &given[i]; {
		case !strings.EqualFold(said.MimeType, given.MimeType):
			return otherMedia.found(said.MimeType, given.MimeType).at("", given.Path+".mimeType")
		case string(said.Data) != string(given.Data):
			return otherMedia.found(fmt.Sprintf("with %d bytes", len(said.Data)),
				fmt.Sprintf("%d other bytes", len(given.Data))).at("", given.Path+".data")
		}
	}
	return nil
}

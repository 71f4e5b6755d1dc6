package parallel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// counterparts returns for each tool use that the server knows the one that the model was given for it; nil where there is none. A client may
// give ids of its own, if it does so everywhere, and may tell of the uses in another order: they are known by name and input, then by their id,
// then by their place.
func counterparts(known, given []dialect.Block) []*dialect.Block {
	found := make([]*dialect.Block, len(known))
	taken := make([]bool, len(given))
	match := func(same func(i, j int) bool) {
		for i := range known {
			for j := range given {
				if found[i] == nil && !taken[j] && same(i, j) {
					found[i], taken[j] = &given[j], true
				}
			}
		}
	}
	sameID := func(i, j int) bool { return known[i].ID == given[j].ID }
	sameUse := func(i, j int) bool { return sameUse(&known[i], &given[j]) }
	match(func(i, j int) bool { return sameID(i, j) && sameUse(i, j) })
	match(sameUse)
	match(sameID)
	if len(known) == len(given) {
		match(func(i, j int) bool { return i == j })
	}
	return found
}

// sameUse reports whether two tool uses ask for the same, whatever their ids.
func sameUse(a, b *dialect.Block) bool {
	return a.Name == b.Name && evidence.SameJSON(a.Input, b.Input)
}

// renamed maps the ids of the tool uses that the server knows to those that the model was given. An id without a counterpart is its own.
func renamed(known, given []dialect.Block) map[string]string {
	ids := map[string]string{}
	for i, other := range counterparts(known, given) {
		id := known[i].ID
		ids[id] = id
		if other != nil {
			ids[id] = other.ID
		}
	}
	return ids
}

// theirIDs are the ids under which the model was given the tool uses of the round's history, by those that the server knows.
func theirIDs(r *evidence.Round, x *evidence.Exchange) map[string]string {
	return renamed(evidence.Turns(r.Params.Messages, dialect.ToolUse), evidence.Turns(x.Request.Messages, dialect.ToolUse))
}

// secondRound returns the results that the server sent, the request that the model got with them, and the results in that.
func secondRound(e *evidence.Case) (sent []dialect.Block, x *evidence.Exchange, given []dialect.Block, missing *check.Verdict) {
	r := e.Rounds[1]
	if x, missing = check.ModelRequest(r); missing != nil {
		return nil, nil, nil, missing
	}
	return evidence.Turns(r.Params.LastUserTurn(), dialect.ToolResult), x, evidence.Turns(x.Request.Messages, dialect.ToolResult), nil
}

// compare shows what the server sent beside what the model was given, and says of which results there is none.
func compare(v check.Verdict, e *evidence.Case, sent []dialect.Block, x *evidence.Exchange, given []dialect.Block) check.Verdict {
	got := evidence.Describe(given)
	theirs := theirIDs(e.Rounds[1], x)
	for _, s := range sent {
		if !slices.ContainsFunc(given, func(g dialect.Block) bool { return g.ID == theirs[s.ID] }) {
			got += fmt.Sprintf("\n← there is no result for %s", evidence.QuoteID(theirs[s.ID]))
		}
	}
	if x.End.Refused != "" {
		got += "\nthe model refused it: " + x.End.Refused
	}
	return v.ShowAs("server sent", e.Rounds[1].Asked, "%s", evidence.Describe(sent)).ShowAs("model was given", x.Place, "%s", got)
}

var ResultsReachModel = check.Check{
	ID: "results-reach-model", Rule: "every tool result reaches the model, as a result of its own", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"two-cities", "thirty-three"}, Statements: requirements.Balance,
	Cause: "the converter stops after the first tool_result of a user message, or joins them into one",
	Fix:   "turn every tool_result block into a result in the provider's own shape: with OpenAI, one tool message each, with Anthropic all at the beginning of the next user message",
	Judge: func(e *evidence.Case) check.Verdict {
		sent, x, given, missing := secondRound(e)
		if missing != nil {
			return *missing
		}
		if len(given) < len(sent) {
			return compare(check.Fail("the server sent %d tool results, and the model was given %d", len(sent), len(given)), e, sent, x, given)
		}
		rest := slices.Clone(given)
		for _, s := range sent {
			i := holding(rest, dialect.PlainText(s.Content))
			if i < 0 {
				return compare(check.Fail("the model never saw the result for %s", evidence.QuoteID(s.ID)), e, sent, x, given)
			}
			rest = slices.Delete(rest, i, i+1)
		}
		seen := map[string]bool{}
		for _, g := range given {
			if seen[g.ID] {
				return compare(check.Fail("the model was given two results under the id %s", evidence.QuoteID(g.ID)), e, sent, x, given)
			}
			seen[g.ID] = true
		}
		if x.End.Refused != "" {
			return compare(check.Fail("the model refused the request with the tool results"), e, sent, x, given)
		}
		return compare(check.Pass("all %d results reached the model", len(sent)), e, sent, x, given)
	},
}

var resultsOrder = check.Check{
	ID: "results-order", Rule: "results belong to their tool uses by id, in whatever order they come", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"two-cities"}, Statements: requirements.Balance,
	Cause: "results are paired with tool uses by their place",
	Fix:   "pair by toolUseId",
	Judge: func(e *evidence.Case) check.Verdict {
		sent, x, given, missing := secondRound(e)
		if missing != nil {
			return *missing
		}
		if len(given) < len(sent) {
			return check.NotObserved("not all results reached the model (see parallel/results-reach-model)")
		}
		theirs := theirIDs(e.Rounds[1], x)
		for _, s := range sent {
			i := arrived(given, &s, theirs)
			if i < 0 {
				return check.NotObserved("the result for %s did not reach the model (see parallel/results-reach-model)", evidence.QuoteID(s.ID))
			}
			if want := theirs[s.ID]; given[i].ID != want {
				return compare(check.Fail("the result for %s was given to the model as the result for %s", evidence.QuoteID(want), evidence.QuoteID(given[i].ID)), e, sent, x, given)
			}
		}
		return compare(check.Pass("every result stands under its own id"), e, sent, x, given)
	},
}

var usesRestated = check.Check{
	ID: "uses-restated", Rule: "the assistant's turn is restated with its tool uses and their arguments", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"two-cities"},
	Cause: "only text of earlier turns is kept, or the arguments are lost on the way back into the provider's shape",
	Fix:   "write every tool_use block of the history as a tool call of the provider's, with its arguments",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[1]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		known, given := evidence.Turns(r.Params.Messages, dialect.ToolUse), evidence.Turns(x.Request.Messages, dialect.ToolUse)
		tell := func(v check.Verdict) check.Verdict {
			return v.ShowAs("server sent", r.Asked, "%s", evidence.Describe(known)).ShowAs("model was given", x.Place, "%s", evidence.Describe(given))
		}
		if len(given) != len(known) {
			return tell(check.Fail("the assistant's turn had %d tool uses, and the model was given %d of them back", len(known), len(given)))
		}
		for i, other := range counterparts(known, given) {
			if other == nil || !sameUse(&known[i], other) {
				return tell(check.Fail("tool use %d of the assistant's turn was given back to the model changed", i+1))
			}
		}
		return tell(check.Pass("the assistant's turn was restated whole"))
	},
}

var errorResult = check.Check{
	ID: "error-result", Rule: "that a tool failed reaches the model in a way that it can see", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"failing-tool"},
	Cause: "isError has no field in the provider's shape, and is dropped",
	Fix:   "set the provider's own flag, or say in the text of the result that the tool failed",
	Judge: func(e *evidence.Case) check.Verdict {
		sent, x, given, missing := secondRound(e)
		if missing != nil {
			return *missing
		}
		theirs := theirIDs(e.Rounds[1], x)
		uses := evidence.Turns(e.Rounds[1].Params.Messages, dialect.ToolUse)
		var failed, worked []shaped
		for i := range sent {
			at := arrived(given, &sent[i], theirs)
			if at < 0 || slices.ContainsFunc(slices.Concat(worked, failed), func(o shaped) bool { return o.block == &given[at] }) {
				return check.NotObserved("not all results reached the model, each by itself (see parallel/results-reach-model)").Show(x.At("messages"), "%s", evidence.Describe(given))
			}
			use := slices.IndexFunc(uses, func(u dialect.Block) bool { return u.ID == sent[i].ID })
			if use < 0 {
				return check.NotObserved("the server sent a result for no tool use of the client's").Show(e.Rounds[1].Asked.At(sent[i].Path), "%s", evidence.QuoteID(sent[i].ID))
			}
			t := shaped{&given[at], tracetest.Shape(&given[at], &sent[i], &uses[use])}
			if sent[i].IsError {
				failed = append(failed, t)
			} else {
				worked = append(worked, t)
			}
		}
		if len(failed) != 1 || len(worked) == 0 {
			return check.NotObserved("the server sent no failed result beside one that is none")
		}
		if f := failed[0]; f.differs(worked) {
			return check.Pass("the model can tell that the tool failed").Show(x.At(f.block.Path), "%s", evidence.Compact(f.block.Raw))
		}
		for _, m := range x.Request.LastUserTurn() {
			for _, block := range evidence.Only(m.Content, dialect.Text) {
				if speaksOfFailure.MatchString(block.Text) {
					return check.Pass("the model is told beside the results that the tool failed").Show(x.At(block.Path), "%q", block.Text)
				}
			}
		}
		return check.Fail("the model cannot tell the failed tool's result from the others").
			ShowAs("server sent", e.Rounds[1].Asked, "%s (the last one with isError)", evidence.Describe(sent)).
			ShowAs("model was given", x.At(worked[0].block.Path), "%s", evidence.Compact(worked[0].block.Raw)).ShowAs("and", x.At(failed[0].block.Path), "%s", evidence.Compact(failed[0].block.Raw))
	},
}

// shaped is a result as the model was given it, and its shape.
type shaped struct {
	block *dialect.Block
	shape string
}

// differs reports whether a result tells of a failure that the others do not tell of: by the wire's own flag, by a shape that is another than
// theirs, or, where theirs are all different, by words.
func (t shaped) differs(others []shaped) bool {
	alike := !slices.ContainsFunc(others, func(o shaped) bool { return o.shape != others[0].shape })
	if alike {
		return t.shape != others[0].shape
	}
	flagged := t.block.IsError && !slices.ContainsFunc(others, func(o shaped) bool { return o.block.IsError })
	spoken := speaksOfFailure.MatchString(t.shape) && !slices.ContainsFunc(others, func(o shaped) bool { return speaksOfFailure.MatchString(o.shape) })
	return flagged || spoken
}

// speaksOfFailure are words by which a client may tell of a failure in a text of its own.
var speaksOfFailure = regexp.MustCompile(`(?i)error|fail`)

// holding returns the index of the first block whose text holds the marker; -1 where none does.
func holding(blocks []dialect.Block, marker string) int {
	return slices.IndexFunc(blocks, func(b dialect.Block) bool { return strings.Contains(dialect.PlainText(b.Content), marker) })
}

// arrived returns the index of the result that the model was given for one that the server sent: the one under its id, by their ids, if
// that has its text, and else the first with its text; -1 where none has.
func arrived(given []dialect.Block, sent *dialect.Block, theirs map[string]string) int {
	text := dialect.PlainText(sent.Content)
	i := slices.IndexFunc(given, func(g dialect.Block) bool {
		return g.ID == theirs[sent.ID] && strings.Contains(dialect.PlainText(g.Content), text)
	})
	if i < 0 {
		i = holding(given, text)
	}
	return i
}

var resultContent = check.Check{
	ID: "result-content", Rule: "what a tool result holds reaches the model, or an error says why it cannot", Levels: check.Everywhere(report.Robust), Requests: 2,
	Cases: []string{"result-texts", "result-image", "result-images", "result-audio", "result-resource-link", "result-embedded-resource",
		"result-structured", "result-structured-and-text", "result-empty"},
	Cause: "the converter knows text blocks only, and leaves out the rest, or takes the first block for the whole",
	Fix:   "give the model every block in a form that it takes, or answer with an error",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[1]
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client does not pass this on, and says so: %s", how)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		_, kind, _ := strings.Cut(e.Case.ID, "/result-")
		markers, medium := markersOf(kind)
		for _, marker := range markers {
			if !x.Says(marker) && (medium == "" || x.Shows(medium) < len(markers)) {
				return check.Fail("a tool result's content never reached the model (%s)", kind).
					ShowAs("server sent", r.Asked, "%s", evidence.Clip(marker)).
					ShowAs("model was given", x.Place, "%s", evidence.Describe(evidence.Turns(x.Request.Messages, dialect.ToolResult)))
			}
		}
		// What has no content has to be there all the same, or its tool use has no result.
		theirs := theirIDs(r, x)
		sent, given := evidence.Turns(r.Params.LastUserTurn(), dialect.ToolResult), evidence.Turns(x.Request.Messages, dialect.ToolResult)
		if len(sent) == 0 || !slices.ContainsFunc(given, func(b dialect.Block) bool { return b.ID == theirs[sent[0].ID] }) {
			return compare(check.Fail("a tool result never reached the model (%s)", kind), e, sent, x, given)
		}
		return check.Pass("the content reached the model").Show(x.Place, "")
	},
}

// markersOf are the words by which a kind of result is known at the model's side, and the medium that it is.
func markersOf(kind string) ([]string, dialect.BlockType) {
	for _, r := range rich {
		if r.id == kind {
			return r.markers, r.medium
		}
	}
	return nil, ""
}

var over32Calls = check.Check{
	ID: "over-32-calls", Rule: "33 tool uses at once come back whole, or as an error", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"thirty-three"},
	Cause: "a limit of the client or of a buffer drops what is over it",
	Fix:   "pass all of them on, or answer with an error that says what the limit is",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if how := check.Refusal(e, r); how != "" {
			return check.Pass("the client refuses so many, and says so: %s", how)
		}
		a, unread := check.ReadableResult(e, r)
		if unread != nil {
			return *unread
		}
		got := evidence.AskedFor(a)
		for _, city := range wanted(e.Case.ID) {
			if !slices.Contains(got, city) {
				return check.Fail("the model asked for 33 tools at once, and the answer has %d tool uses and no error", len(got)).
					Show(a.At("content"), "%s is missing among %s", city, evidence.Describe(a.Uses()))
			}
		}
		return check.Pass("all 33 tool uses came back")
	},
}

package tooluse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var stopReasonToolUse = check.Check{
	ID: "stop-reason-tooluse", Rule: "a turn with a tool use has the stop reason toolUse", Levels: check.Everywhere(report.Robust), Results: 1,
	Cases: []string{"one-tool"},
	Cause: "the provider's word is passed on, or mapped without a look at whether there are tool calls",
	Fix:   "give toolUse whenever the turn has a tool use, whatever the provider calls it",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		got, given := a.Text("stopReason")
		at := a.At("stopReason")
		switch {
		case len(a.Uses()) == 0:
			return check.NotObserved("the answer has no tool use (see tool-use/tool-use-block)").Show(a.Place, "%s", evidence.Compact(a.Result))
		case !given:
			return check.Warn("the stop reason is left out beside a tool use").Show(at, "it is missing")
		case got == string(dialect.StopForTool):
			return check.Pass("the stop reason is toolUse").Show(at, "%q", got)
		case slices.Contains(evidence.StandardStopReasons, got):
			return check.Fail("the answer has a tool use and says that it stopped for %s", got).Show(at, "%q", got)
		}
		return check.Warn("the stop reason beside a tool use is the client's own word").Show(at, "%q", got)
	},
}

var toolUseBlock = check.Check{
	ID: "tool-use-block", Rule: "the model's tool call comes back as a tool_use block with id, name, and input as an object",
	Levels: check.Everywhere(report.Must), Results: 1, Cases: []string{"one-tool", "two-turns"}, Statements: check.ToolUseSchema,
	Cause: "the provider's arguments are passed on as the text that they are there, or as null where they are empty, or the call is written out as text",
	Fix:   "parse the provider's arguments, and send the object as input",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		uses := a.Uses()
		if len(uses) == 0 {
			name, input := modelsUse(e)
			return check.Fail("the model asked for a tool, and the answer has no tool_use block").
				Show(evidence.Place{Label: "model said"}, "%s(%s)", name, input).Show(a.At("content"), "%s", check.OrMissing(a.Member("content")))
		}
		for _, use := range uses {
			var wrong string
			switch input := evidence.Compact(use.Input); {
			case use.ID == "":
				wrong = "it has no id"
			case use.Name == "":
				wrong = "it has no name"
			case len(use.Input) == 0 || use.Input[0] != '{':
				wrong = fmt.Sprintf("its input is %s, where an object is due", input)
			}
			if wrong != "" {
				return check.Fail("a tool_use block is not well-formed: %s", wrong).Show(a.At(use.Path), "%s", evidence.Compact(use.Raw))
			}
		}
		return check.Pass("the tool use is well-formed").Show(a.At(uses[0].Path), "%s", evidence.Compact(uses[0].Raw))
	},
}

// modelsUse is the tool use of the model's first turn in a case.
func modelsUse(e *evidence.Case) (name, input string) {
	if strings.HasSuffix(e.Case.ID, "/two-turns") {
		return "list_airports", "{}"
	}
	return "book_flight", tracetest.Booking
}

var inputIntact = check.Check{
	ID: "input-intact", Rule: "a tool use's input is what the model gave: nesting, text, long or not, big integers, what is empty",
	Levels: check.Everywhere(report.Robust), Results: 1, Cases: []string{"one-tool", "two-turns"},
	Cause: "arguments go through a float64 that rounds big integers, or through a type that drops what it does not know",
	Fix:   "pass the arguments on as the JSON that they are",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		uses := a.Uses()
		if len(uses) == 0 {
			return check.NotObserved("the answer has no tool use (see tool-use/tool-use-block)").Show(a.Place, "%s", evidence.Compact(a.Result))
		}
		name, input := modelsUse(e)
		use, got := uses[0], evidence.Arguments(uses[0])
		at := a.At(use.Path).At("input")
		tell := func(v check.Verdict) check.Verdict {
			return v.Show(evidence.Place{Label: "model said"}, "%s", input).Show(at, "%s", evidence.Compact(use.Input))
		}
		switch {
		case len(uses) > 1:
			return check.Fail("the model asked for one tool, and the answer has %d tool uses", len(uses)).Show(a.At("content"), "%s", evidence.Describe(uses))
		case use.Name != name:
			return check.Fail("the model asked for %s, and the answer for %s", name, use.Name).Show(a.At(use.Path).At("name"), "%q", use.Name)
		case evidence.SameJSON(got, []byte(input)):
			return check.Pass("the input came through unchanged").Show(at, "%s", evidence.Compact(use.Input))
		case evidence.SameJSON(rounded(got), rounded([]byte(input))) && rounds(e.Rounds[0]):
			return check.Pass("the input came through but for an integer beyond 2^53, which this provider's own wire rounds").Show(at, "%s", evidence.Compact(use.Input))
		case evidence.SameJSON(rounded(got), rounded([]byte(input))):
			return tell(check.Fail("an integer beyond 2^53 was rounded on its way from the model to the server"))
		}
		return tell(check.Fail("the input is not what the model gave"))
	},
}

// rounds reports whether the provider gives arguments as a protobuf Struct, whose numbers are a float64: nobody can hold a client to more.
func rounds(r *evidence.Round) bool {
	x := r.LastExchange()
	return x != nil && x.Request != nil && x.Request.Dialect == dialect.Gemini
}

// rounded is a document with its numbers as a float64 holds them, which is all that JavaScript knows.
func rounded(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return dialect.Marshal(v)
}

var textAndTool = check.Check{
	ID: "text-and-tool", Rule: "what the model says beside a tool use reaches the server, before the tool use where the model said it before",
	Levels: check.Everywhere(report.Robust), Results: 1, Cases: []string{"text-beside"},
	Cause: "the answer is made of the tool calls, or else of the text",
	Fix:   "answer with an array of all blocks, in the model's order",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		blocks, said := a.Blocks(), evidence.Place{Label: "model said"}
		use := slices.IndexFunc(blocks, func(b dialect.Block) bool { return b.Type == dialect.ToolUse })
		tell := func(v check.Verdict) check.Verdict {
			return v.Show(said, "%q, and then book_flight(%s)", beside, short).Show(a.At("content"), "%s", evidence.Compact(a.Member("content")))
		}
		switch {
		case use < 0:
			return tell(check.Fail("the model spoke and used a tool, and the answer has no tool use"))
		case !evidence.Holds(blocks, beside):
			return tell(check.Fail("the model spoke and used a tool, and what it said is not in the answer"))
		case !evidence.Holds(blocks[:use], beside) && ordered(e.Rounds[0]):
			return tell(check.Fail("the model spoke before it used a tool, and in the answer the text comes after the tool use"))
		}
		return check.Pass("the answer has the text and the tool use").Show(a.At("content"), "%s", evidence.Describe(blocks))
	},
}

// ordered reports whether the model's wire says in which order a text and a tool use came. OpenAI's chat completions and Ollama have a member
// for each, and no order.
func ordered(r *evidence.Round) bool {
	x := r.LastExchange()
	return x != nil && x.Request != nil && x.Request.Dialect != dialect.OpenAIChat && x.Request.Dialect != dialect.Ollama
}

var freshIDs = check.Check{
	ID: "fresh-ids", Rule: "tool uses of different turns have different ids", Levels: check.Everywhere(report.Robust), Results: 2, Cases: []string{"two-turns"},
	Cause: "ids are minted from the tool's name, or from a counter that starts anew with each request",
	Fix:   "pass the provider's ids on; where it has none, mint ids that no other turn has",
	Judge: func(e *evidence.Case) check.Verdict {
		first, second := e.Rounds[0].Result(), e.Rounds[1].Result()
		if len(first.Uses()) == 0 || len(second.Uses()) == 0 {
			return check.NotObserved("not both answers have a tool use (see tool-use/tool-use-block)").Show(first.At("content"), "").Show(second.At("content"), "")
		}
		for _, a := range first.Uses() {
			for _, b := range second.Uses() {
				if a.ID == b.ID && a.ID != "" {
					return check.Fail("tool uses of two turns have the id %s", evidence.QuoteID(a.ID)).Show(first.At(a.Path).At("id"), "%q", a.ID).Show(second.At(b.Path).At("id"), "%q", b.ID)
				}
			}
		}
		return check.Pass("the tool uses of two turns have different ids").Show(first.At("content"), "%s", evidence.Describe(first.Uses())).Show(second.At("content"), "%s", evidence.Describe(second.Uses()))
	},
}

var notExecuted = check.Check{
	ID: "not-executed", Rule: "the client does not run the tool itself: that is for the server", Levels: check.Everywhere(report.Robust),
	Cases: []string{"one-tool"}, Results: 2, // a later sample was answered: had the client wanted to run the tool, it would have by then
	Cause: "the host runs every tool call of its model, whoever asked for it",
	Fix:   "return the tool use to the server, with the stop reason toolUse",
	Judge: func(e *evidence.Case) check.Verdict {
		asked := e.Rounds[0].Params
		if asked == nil {
			return check.NotObserved("the params of sampling request 1 cannot be decoded").Show(e.Rounds[0].Asked, "")
		}
		for _, call := range e.Session.ForeignCalls {
			if slices.ContainsFunc(asked.Tools, func(t dialect.Tool) bool { return t.Name == call.Tool }) {
				return check.Fail("the client called the tool %s itself", call.Tool).Show(call.Place, "%s", call.Tool)
			}
		}
		return check.Pass("no call of the tool came until the session's end")
	},
}

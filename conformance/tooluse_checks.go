package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var toolUseSchema = []string{"2025-11-25/schema/ToolUseContent", "2026-07-28/schema/ToolUseContent"}

var stopReasonToolUse = Check{
	ID: "stop-reason-tooluse", Rule: "a turn with a tool use has the stop reason toolUse", Levels: everywhere(report.Robust), Answered: 1,
	Cases: []string{"one-tool"},
	Cause: "the provider's word is passed on, or mapped without a look at whether there are tool calls",
	Fix:   "give toolUse whenever the turn has a tool use, whatever the provider calls it",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		got, given := a.text("stopReason")
		at := a.At("stopReason")
		switch {
		case len(a.uses()) == 0:
			return NotObserved("the answer has no tool use (see tool-use/tool-use-block)").See(a.Place, "%s", compact(a.Result))
		case !given:
			return Warn("the stop reason is left out beside a tool use").See(at, "it is missing")
		case got == string(dialect.StopForTool):
			return Pass("the stop reason is toolUse").See(at, "%q", got)
		case slices.Contains(standardStopReasons, got):
			return Broken("the answer has a tool use and says that it stopped for %s", got).See(at, "%q", got)
		}
		return Warn("the stop reason beside a tool use is the client's own word").See(at, "%q", got)
	},
}

var toolUseBlock = Check{
	ID: "tool-use-block", Rule: "the model's tool call comes back as a tool_use block with id, name, and input as an object",
	Levels: everywhere(report.Must), Answered: 1, Cases: []string{"one-tool", "two-turns"}, Requirements: toolUseSchema,
	Cause: "the provider's arguments are passed on as the text that they are there, or as null where they are empty, or the call is written out as text",
	Fix:   "parse the provider's arguments, and send the object as input",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		if v := a.unreadable(); v != nil {
			return *v
		}
		uses := a.uses()
		if len(uses) == 0 {
			name, input := modelsUse(e)
			return Broken("the model asked for a tool, and the answer has no tool_use block").
				See(Place{Label: "model said"}, "%s(%s)", name, input).See(a.At("content"), "%s", orMissing(a.member("content")))
		}
		for _, use := range uses {
			var wrong string
			switch input := compact(use.Input); {
			case use.ID == "":
				wrong = "it has no id"
			case use.Name == "":
				wrong = "it has no name"
			case len(use.Input) == 0 || use.Input[0] != '{':
				wrong = fmt.Sprintf("its input is %s, where an object is due", input)
			}
			if wrong != "" {
				return Broken("a tool_use block is not well-formed: %s", wrong).See(a.At(use.Path), "%s", compact(use.Raw))
			}
		}
		return Pass("the tool use is well-formed").See(a.At(uses[0].Path), "%s", compact(uses[0].Raw))
	},
}

// modelsUse is the tool use of the model's first turn in a case.
func modelsUse(e *Evidence) (name, input string) {
	if strings.HasSuffix(e.Case.ID, "/two-turns") {
		return "list_airports", "{}"
	}
	return "book_flight", booking
}

var inputIntact = Check{
	ID: "input-intact", Rule: "a tool use's input is what the model gave: nesting, text, long or not, big integers, what is empty",
	Levels: everywhere(report.Robust), Answered: 1, Cases: []string{"one-tool", "two-turns"},
	Cause: "arguments go through a float64 that rounds big integers, or through a type that drops what it does not know",
	Fix:   "pass the arguments on as the JSON that they are",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		uses := a.uses()
		if len(uses) == 0 {
			return NotObserved("the answer has no tool use (see tool-use/tool-use-block)").See(a.Place, "%s", compact(a.Result))
		}
		name, input := modelsUse(e)
		use, got := uses[0], arguments(uses[0])
		at := a.At(use.Path).At("input")
		tell := func(v Verdict) Verdict {
			return v.See(Place{Label: "model said"}, "%s", input).See(at, "%s", compact(use.Input))
		}
		switch {
		case len(uses) > 1:
			return Broken("the model asked for one tool, and the answer has %d tool uses", len(uses)).See(a.At("content"), "%s", describe(uses))
		case use.Name != name:
			return Broken("the model asked for %s, and the answer for %s", name, use.Name).See(a.At(use.Path).At("name"), "%q", use.Name)
		case sameJSON(got, []byte(input)):
			return Pass("the input came through unchanged").See(at, "%s", compact(use.Input))
		case sameJSON(rounded(got), rounded([]byte(input))) && rounds(e.Rounds[0]):
			return Pass("the input came through but for an integer beyond 2^53, which this provider's own wire rounds").See(at, "%s", compact(use.Input))
		case sameJSON(rounded(got), rounded([]byte(input))):
			return tell(Broken("an integer beyond 2^53 was rounded on its way from the model to the server"))
		}
		return tell(Broken("the input is not what the model gave"))
	},
}

// rounds reports whether the provider gives arguments as a protobuf Struct, whose numbers are a float64: nobody can hold a client to more.
func rounds(r *Round) bool {
	x := r.LastModel()
	return x != nil && x.Request != nil && x.Request.Dialect == dialect.Gemini
}

// arguments returns a tool use's input, also where it was sent as text: that this is the wrong type is tool-use-block's business.
func arguments(use dialect.Block) json.RawMessage {
	var asText string
	if json.Unmarshal(use.Input, &asText) == nil {
		return json.RawMessage(asText)
	}
	return use.Input
}

// rounded is a document with its numbers as a float64 holds them, which is all that JavaScript knows.
func rounded(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return dialect.Marshal(v)
}

var textAndTool = Check{
	ID: "text-and-tool", Rule: "what the model says beside a tool use reaches the server, before the tool use where the model said it before",
	Levels: everywhere(report.Robust), Answered: 1, Cases: []string{"text-beside"},
	Cause: "the answer is made of the tool calls, or else of the text",
	Fix:   "answer with an array of all blocks, in the model's order",
	Judge: func(e *Evidence) Verdict {
		a := e.Rounds[0].Result()
		if v := a.unreadable(); v != nil {
			return *v
		}
		blocks, said := a.blocks(), Place{Label: "model said"}
		use := slices.IndexFunc(blocks, func(b dialect.Block) bool { return b.Type == dialect.ToolUse })
		tell := func(v Verdict) Verdict {
			return v.See(said, "%q, and then book_flight(%s)", beside, short).See(a.At("content"), "%s", compact(a.member("content")))
		}
		switch {
		case use < 0:
			return tell(Broken("the model spoke and used a tool, and the answer has no tool use"))
		case !holds(blocks, beside):
			return tell(Broken("the model spoke and used a tool, and what it said is not in the answer"))
		case !holds(blocks[:use], beside) && e.Rounds[0].ordered():
			return tell(Broken("the model spoke before it used a tool, and in the answer the text comes after the tool use"))
		}
		return Pass("the answer has the text and the tool use").See(a.At("content"), "%s", describe(blocks))
	},
}

// ordered reports whether the model's wire says in which order a text and a tool use came. OpenAI's chat completions and Ollama have a member
// for each, and no order.
func (r *Round) ordered() bool {
	x := r.LastModel()
	return x != nil && x.Request != nil && x.Request.Dialect != dialect.OpenAIChat && x.Request.Dialect != dialect.Ollama
}

var freshIDs = Check{
	ID: "fresh-ids", Rule: "tool uses of different turns have different ids", Levels: everywhere(report.Robust), Answered: 2, Cases: []string{"two-turns"},
	Cause: "ids are minted from the tool's name, or from a counter that starts anew with each request",
	Fix:   "pass the provider's ids on; where it has none, mint ids that no other turn has",
	Judge: func(e *Evidence) Verdict {
		first, second := e.Rounds[0].Result(), e.Rounds[1].Result()
		if len(first.uses()) == 0 || len(second.uses()) == 0 {
			return NotObserved("not both answers have a tool use (see tool-use/tool-use-block)").See(first.At("content"), "").See(second.At("content"), "")
		}
		for _, a := range first.uses() {
			for _, b := range second.uses() {
				if a.ID == b.ID && a.ID != "" {
					return Broken("tool uses of two turns have the id %s", quoteID(a.ID)).See(first.At(a.Path).At("id"), "%q", a.ID).See(second.At(b.Path).At("id"), "%q", b.ID)
				}
			}
		}
		return Pass("the tool uses of two turns have different ids").See(first.At("content"), "%s", describe(first.uses())).See(second.At("content"), "%s", describe(second.uses()))
	},
}

var notExecuted = Check{
	ID: "not-executed", Rule: "the client does not run the tool itself: that is for the server", Levels: everywhere(report.Robust),
	Cases: []string{"one-tool"}, Answered: 2, // a later sample was answered: had the client wanted to run the tool, it would have by then
	Cause: "the host runs every tool call of its model, whoever asked for it",
	Fix:   "return the tool use to the server, with the stop reason toolUse",
	Judge: func(e *Evidence) Verdict {
		asked := e.Rounds[0].Params
		if asked == nil {
			return NotObserved("what sampling request 1 asks for cannot be read").See(e.Rounds[0].Asked, "")
		}
		for _, call := range e.Session.ForeignCalls {
			if slices.ContainsFunc(asked.Tools, func(t dialect.Tool) bool { return t.Name == call.Tool }) {
				return Broken("the client called the tool %s itself", call.Tool).See(call.Place, "%s", call.Tool)
			}
		}
		return Pass("no call of the tool came until the session's end")
	},
}

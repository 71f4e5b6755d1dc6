package tooluse

import (
	"encoding/json"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var booking = toolUse{"book_flight", story.Booking}

// The model uses one of two tools. The server runs it and samples again with the result.
var oneTool = harness.Case{
	ID: "tool-use/one-tool",
	Handler: func(s *server.Session) (any, error) {
		ask := s.Ask("Book a flight from Zürich to Tokyo.", story.BookFlight, story.ListAirports)
		first, err := s.Sample(ask)
		if err != nil {
			return nil, err
		}
		return s.Sample(ask.After(first, story.Texts("booked as flight seventeen")))
	},
	Script: func(string) []*llm.Rule {
		return llm.Script(
			llm.When(llm.Turn(1)).Reply(booking.call()),
			llm.When(llm.Turn(2)).Reply(llm.Text("Your flight is booked.")),
		)
	},
	Expect: booking,
}

var stopReasonToolUse = check.Check{
	ID: "stop-reason-tooluse", Cases: []string{"one-tool"},
	Rule:   "A result with a tool use has the stop reason toolUse",
	Levels: check.Robust, Results: 1, Needs: []check.Need{returnsToolUse(1)},
	Cause: "the provider's finish reason is passed on, or mapped without regard to the tool calls",
	Fix:   "Set stopReason to toolUse if the result has a tool_use block, whatever the provider's finish reason is.",
	Judge: func(e *evidence.Case) check.Verdict {
		const expected = "expected the stop reason toolUse beside a tool use, found "
		a := e.Rounds[0].Result()
		got, isText := a.Text("stopReason")
		at := a.At("stopReason")
		switch {
		case !isText:
			return check.Warn(expected+"none").Show(at, "it is missing")
		case got == string(dialect.StopToolUse):
			return check.Pass("the stop reason is toolUse").Show(at, "%q", got)
		case slices.Contains(evidence.StandardStopReasons, got):
			return check.Fail(expected+"%s", got).Show(at, "%q", got)
		}
		return check.Warn(expected+"%s, which is not a standard one", got).Show(at, "%q", got)
	},
}

var toolUseBlock = check.Check{
	ID: "tool-use-block", Cases: []string{"one-tool", "two-turns"}, Statements: check.ToolUseSchema,
	Rule:   "The client MUST return the model's tool call as a tool_use block with an id, a name, and an object as input",
	Levels: check.Must, Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the provider's arguments are passed on as text, or as null if they are empty; or the call is written as text",
	Fix:   "Parse the provider's arguments, and send the object as input.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		uses := a.Uses()
		if len(uses) == 0 {
			return check.Fail("expected a tool_use block for the model's tool call, found none").
				Show(modelSaid, "%s", check.Expected[toolUse](e)).ShowMembers(a, "content")
		}
		for _, use := range uses {
			if found := flaw(use); found != "" {
				return check.Fail("expected a tool_use block with an id, a name and an object as input, found %s", found).
					ShowJSON(a.At(use.Path), use.Raw)
			}
		}
		return check.Pass("the tool_use block is valid").ShowJSON(a.At(uses[0].Path), uses[0].Raw)
	},
}

// flaw returns what is wrong with a tool_use block, "" for nothing.
func flaw(use dialect.Block) string {
	switch {
	case use.ID == "":
		return "no id"
	case use.Name == "":
		return "no name"
	case len(use.Input) == 0:
		return "no input"
	case use.Input[0] != '{':
		return "the input " + evidence.Compact(use.Input)
	}
	return ""
}

// inputIntact leaves blocks that are not valid to toolUseBlock.
var inputIntact = check.Check{
	ID: "input-intact", Cases: []string{"one-tool", "two-turns"},
	Rule:   "The input of a tool use reaches the server unchanged: nested values, long texts, big integers, empty values",
	Levels: check.Robust, Results: 1, Needs: []check.Need{returnsToolUse(1)},
	Cause: "arguments go through a float64, which rounds big integers, or through a type that drops unknown members",
	Fix:   "Pass the arguments on as raw JSON.",
	Judge: func(e *evidence.Case) check.Verdict {
		a, want := e.Rounds[0].Result(), check.Expected[toolUse](e)
		uses := a.Uses()
		use, got, input := uses[0], evidence.Arguments(uses[0]), []byte(want.input)
		at := a.At(use.Path).At("input")
		failed := func(found string) check.Verdict {
			return check.Fail("expected the model's input unchanged, found %s", found).
				Show(modelSaid, "%s", want.input).ShowJSON(at, use.Input)
		}
		switch {
		case len(uses) > 1:
			return check.Fail("expected 1 tool use, found %d", len(uses)).ShowUses(a)
		case use.Name != want.name:
			return check.Fail("expected a use of the tool %s, found %s", want.name, use.Name).
				Show(a.At(use.Path).At("name"), "%q", use.Name)
		case evidence.SameJSON(got, input):
			return check.Pass("the input is unchanged").ShowJSON(at, use.Input)
		case !evidence.SameJSON(rounded(got), rounded(input)):
			return failed("another input")
		case dialectOf(e.Rounds[0]) == dialect.Gemini: // whose arguments are a protobuf Struct, with numbers as float64
			return check.Pass("the input is unchanged except an integer beyond 2^53, which the provider itself rounds").
				ShowJSON(at, use.Input)
		}
		return failed("an integer beyond 2^53 rounded")
	},
}

// rounded returns a document with its numbers as float64, as JavaScript has them; nil for invalid JSON.
func rounded(raw []byte) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return dialect.Marshal(v)
}

var notExecuted = check.Check{
	ID: "not-executed", Cases: []string{"one-tool"},
	Rule:   "The client returns a tool use to the server and does not run the tool itself",
	Levels: check.Robust, Needs: []check.Need{decodedParams},
	Results: 2, // a client that runs tools does so before it answers a later request
	Cause:   "the host runs every tool call of its model, regardless of who offered the tool",
	Fix:     "Return the tool use to the server, with the stop reason toolUse.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, call := range e.Session.ForeignCalls {
			if offers(e.Rounds[0].Params.Tools, call.Tool) {
				return check.Fail("expected no call of the tool %s by the client, found one", call.Tool).
					Show(call.Place, "%s", call.Tool)
			}
		}
		return check.Pass("the client did not call the tool before the session ended")
	},
}

const besideUse = "Let me book that flight."

// The model says something, then uses a tool.
var textBeside = flight("text-beside", nil, llm.When().Reply(llm.Text(besideUse), simpleBooking.call()))

var textAndTool = check.Check{
	ID: "text-and-tool", Cases: []string{"text-beside"},
	Rule:   "Text beside a tool use reaches the server, in the model's order",
	Levels: check.Robust, Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the result is built either from the tool calls or from the text",
	Fix:   "Return an array of all blocks, in the model's order.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		blocks := a.Blocks()
		use := slices.IndexFunc(blocks, func(b dialect.Block) bool { return b.Type == dialect.ToolUse })
		failed := func(found string) check.Verdict {
			return check.Fail("expected a text, then a tool use, found %s", found).
				Show(modelSaid, "%q, then %s", besideUse, simpleBooking).ShowMembers(a, "content")
		}
		switch {
		case use < 0:
			return failed("no tool use")
		case !evidence.Holds(blocks, besideUse):
			return failed("no text of the model")
		case !evidence.Holds(blocks[:use], besideUse) && ordersBlocks(e.Rounds[0]):
			return failed("the text after the tool use")
		}
		return check.Pass("the result has the text and the tool use").
			Show(a.At("content"), "%s", evidence.Describe(blocks))
	},
}

// ordersBlocks reports whether the provider's answer orders text and tool uses. OpenAI's chat completions and Ollama
// have a member for each, and no order.
func ordersBlocks(r *evidence.Round) bool {
	return !slices.Contains([]string{dialect.OpenAIChat, dialect.Ollama, ""}, dialectOf(r))
}

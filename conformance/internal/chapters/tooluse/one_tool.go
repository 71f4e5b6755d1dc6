package tooluse

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// The model uses one of two tools. The server runs it and samples again with the result. Then the same with an integer
// beyond 2^53.
var (
	oneTool    = books("tool-use/one-tool", ToolUse{"book_flight", story.Booking})
	bigInteger = books("tool-use/big-integer",
		ToolUse{"book_flight", `{"from":"Zürich","to":"Tokyo","number":9007199254740993}`})
)

func books(id string, booking ToolUse) harness.Case {
	return harness.Case{
		ID: id,
		Handler: func(s *server.Session) (any, error) {
			return story.TwoRounds(s, s.Ask(question, story.BookFlight, story.ListAirports),
				story.Texts("booked as flight seventeen"))
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{
				llm.When(story.WithResults()).Reply(llm.Text("Your flight is booked.")),
				llm.When().ReplyFunc(booking.call()),
			}
		},
	}
}

// stopReasonToolUse leaves standard stop reasons that are not true to always/server-was-given.
var stopReasonToolUse = check.Check{
	ID: "stop-reason-tooluse", Cases: []string{"one-tool"},
	Rule:   "A result with a tool use has the stop reason toolUse",
	Levels: check.Advice, Results: 1, Needs: []check.Need{returnsToolUse(1)},
	Cause: "the provider's finish reason is passed on, or the stop reason is left out",
	Fix:   "Set stopReason to toolUse if the result has a tool_use block, whatever the provider's finish reason is.",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		got, isText := a.Text("stopReason")
		switch at := a.At("stopReason"); {
		case !isText:
			return check.Info("the client gives no stop reason, which is optional: a server looks for tool uses then").
				Show(at, "it is missing")
		case !slices.Contains(evidence.StandardStopReasons, got):
			return check.Fail("expected the stop reason toolUse beside a tool use, found %s, which is not a standard one",
				got).Show(at, "%q", got)
		default:
			return check.Pass("the stop reason is a standard one").Show(at, "%q", got)
		}
	},
}

// The model says something, then uses a tool. A stream may have the whole use beside the finish reason.
var textBeside = flight("text-beside", nil,
	llm.When().ReplyFunc(simpleBooking.call(llm.Text("Let me book that flight."))).Stream(llm.EndBesideFinish))

package chapters_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

var booked = tracetest.Uses(tracetest.Booked())

func TestStopReasonBesideAToolUse(t *testing.T) {
	reason := func(word string) steps {
		return tracetest.Uses(tracetest.With(tracetest.Booked(), "stopReason", word))
	}
	toolUseJudges(t, "stop-reason-tooluse", "one-tool",
		passes("toolUse", booked),
		passes("another standard word, which another rule judges", reason(`"endTurn"`)),
		warns("none", reason(""), "found none"),
		warns("a word of the client", reason(`"tool_calls"`), "found tool_calls"),
		unobserved("no tool use", toolUseSaying("Booked!"), "see tool-use/tool-use-block"))
}

func TestToolUseBlocksAreValid(t *testing.T) {
	const whole = `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	block := func(name, value string) steps { return holding("[" + tracetest.With(whole, name, value) + "]") }
	toolUseJudges(t, "tool-use-block", "one-tool",
		passes("a valid block", booked),
		passes("no array", holding(whole)),
		passes("beside a text", holding(`[{"type":"text","text":"Booking."},`+whole+`]`)),
		fails("no id", block("id", ""), "found no id"),
		fails("no name", block("name", ""), "found no name"),
		fails("no input", block("input", ""), "found no input"),
		fails("input as text", block("input", `"{}"`), `found the input as a string: "{}"`),
		fails("input null", block("input", "null"), "found the input null"),
		fails("written as text", toolUseSaying("book_flight()"), "expected a tool_use block for"),
		fails("of the provider's type", block("type", `"function"`), "expected a tool_use block for"),
		inapplicable("the client answers without the model", unasked, "without the model"),
		native(inapplicable("the model uses no tool", func(s *session) {
			s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight())
			s.Says(tracetest.Saying("No.")).Answers(tracetest.Saying("No."))
		})),
		unreadable)
	toolUseJudges(t, "tool-use-block", "two-turns",
		fails("input null if there are no arguments",
			tracetest.Uses(tracetest.Wanting([3]string{"call_1", "list_airports", "null"})), "found the input null"),
		fails("no block if there are no arguments", tracetest.Uses(tracetest.Saying("Let me look.")),
			"for the model's tool call"))
}

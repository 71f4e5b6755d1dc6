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
		informs("none", reason(""), "optional"),
		warns("a word of the client", reason(`"tool_calls"`), "found tool_calls"),
		unobserved("no tool use", toolUseSaying("Booked!"), "see always/server-was-given"))
}

func TestToolUseBlocksAreValid(t *testing.T) {
	const whole = `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	block := func(name, value string) steps { return holding("[" + tracetest.With(whole, name, value) + "]") }
	uses := func(name, value, message string) {
		rules(t, "valid-result", "tool-use/one-tool", fails(name+" "+value, block(name, value), message))
		rules(t, "server-was-given", "tool-use/one-tool", fails(name+" "+value, block(name, value)))
	}
	uses("id", "", "missing property 'id'")
	uses("name", "", "missing property 'name'")
	uses("input", "", "missing property 'input'")
	uses("input", `"{}"`, "found string")
	uses("input", "null", "found null")
	rules(t, "valid-result", "tool-use/one-tool",
		passes("a valid block", booked),
		passes("no array", holding(whole)),
		fails("of the provider's type", block("type", `"function"`)))
	rules(t, "server-was-given", "tool-use/one-tool",
		passes("a valid block", booked),
		fails("written as text", toolUseSaying("book_flight()")),
		native(passes("the model uses no tool", func(s *session) {
			s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight())
			s.Says(tracetest.Saying("No.")).Answers(tracetest.Saying("No."))
		})))
	rules(t, "server-was-given", "tool-use/two-turns",
		fails("input null if there are no arguments",
			tracetest.Uses(tracetest.Wanting([3]string{"call_1", "list_airports", "null"}))),
		fails("no block if there are no arguments", tracetest.Uses(tracetest.Saying("Let me look."))))
}

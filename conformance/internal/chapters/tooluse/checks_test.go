package tooluse

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestStopReasonsBesideAToolUse(t *testing.T) {
	reason := func(word string) func(*tracetest.Story) {
		return tracetest.Uses(tracetest.With(tracetest.Booked(), "stopReason", word))
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "toolUse", Check: "tool-use/stop-reason-tooluse", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.Pass, Message: "the stop reason is toolUse"},
		{Name: "another standard word", Check: "tool-use/stop-reason-tooluse", CaseID: "one-tool", Steps: reason(`"endTurn"`),
			Verdict: report.Fail, Message: "the answer has a tool use and says that it stopped for endTurn"},
		{Name: "left out", Check: "tool-use/stop-reason-tooluse", CaseID: "one-tool", Steps: reason(""),
			Verdict: report.Warn, Message: "the stop reason is left out beside a tool use"},
		{Name: "a word of its own", Check: "tool-use/stop-reason-tooluse", CaseID: "one-tool", Steps: reason(`"tool_calls"`),
			Verdict: report.Warn, Message: "the stop reason beside a tool use is the client's own word"},
		{Name: "without a tool use", Check: "tool-use/stop-reason-tooluse", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Saying("Booked!")),
			Verdict: report.NotObserved, Message: "the answer has no tool use (see tool-use/tool-use-block)"},
	})
}

func TestAToolUseIsWellFormed(t *testing.T) {
	block := func(raw string) func(*tracetest.Story) {
		return tracetest.Uses(tracetest.With(tracetest.Booked(), "content", "["+raw+"]"))
	}
	whole := `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "whole", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.Pass, Message: "the tool use is well-formed"},
		{Name: "no array", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.With(tracetest.Booked(), "content", whole)), Verdict: report.Pass, Message: "the tool use is well-formed"},
		{Name: "beside a text", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(`{"type":"text","text":"Booking."},` + whole),
			Verdict: report.Pass, Message: "the tool use is well-formed"},
		{Name: "without an id", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.Without(whole, "id")),
			Verdict: report.Fail, Message: "a tool_use block is not well-formed: it has no id"},
		{Name: "without a name", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.Without(whole, "name")),
			Verdict: report.Fail, Message: "a tool_use block is not well-formed: it has no name"},
		{Name: "without input", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.Without(whole, "input")),
			Verdict: report.Fail, Message: "a tool_use block is not well-formed: its input is , where an object is due"},
		{Name: "its input as text", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.With(whole, "input", `"{}"`)),
			Verdict: report.Fail, Message: `a tool_use block is not well-formed: its input is "{}", where an object is due`},
		{Name: "its input null", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.With(whole, "input", `null`)),
			Verdict: report.Fail, Message: `a tool_use block is not well-formed: its input is null, where an object is due`},
		{Name: "its input null where it has no arguments", Check: "tool-use/tool-use-block", CaseID: "two-turns", Steps: turnsOf(tracetest.Wanting([3]string{"call_1", "list_airports", "null"}), ""),
			Verdict: report.Fail, Message: "a tool_use block is not well-formed: its input is null, where an object is due"},
		{Name: "of no arguments, and none of them there", Check: "tool-use/tool-use-block", CaseID: "two-turns", Steps: turnsOf(tracetest.Saying("Let me look."), ""),
			Verdict: report.Fail, Message: "the model asked for a tool, and the answer has no tool_use block"},
		{Name: "written out as text", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Saying("book_flight()")),
			Verdict: report.Fail, Message: "the model asked for a tool, and the answer has no tool_use block"},
		{Name: "of a provider's own kind", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: block(tracetest.With(whole, "type", `"function"`)),
			Verdict: report.Fail, Message: "the model asked for a tool, and the answer has no tool_use block"},
		{Name: "nowhere that can be read", Check: "tool-use/tool-use-block", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")),
			Verdict: report.NotObserved, Message: "the content of the result cannot be decoded (see basic/has-content)"},
	})
}

func TestAToolUsesInputIsKept(t *testing.T) {
	const kept, lost = "the input came through unchanged", "the input is not what the model gave"
	changed := func(old, new string) func(*tracetest.Story) {
		return tracetest.Uses(tracetest.Booked(strings.Replace(tracetest.Booking, old, new, 1)))
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "as it was", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.Pass, Message: kept},
		{Name: "in another order", Check: "tool-use/input-intact", CaseID: "one-tool", Verdict: report.Pass, Message: kept,
			Steps: tracetest.Uses(tracetest.Booked(`{"extras":{},"number":9007199254740993,"seats":[{"letter":"A","row":12},{"letter":"B","row":13}],"to":"東京 \"HND\"\n<any>","from":"Z\u00fcrich","notes":"` + strings.Repeat("No nuts, please. ", 500) + `"}`))},
		{Name: "with its numbers written otherwise", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed(`"row":12`, `"row":1.2e1`), Verdict: report.Pass, Message: kept},
		{Name: "as text, which is another check's business", Check: "tool-use/input-intact", CaseID: "one-tool",
			Steps: tracetest.Uses(tracetest.Booked(string(dialect.Marshal(tracetest.Booking)))), Verdict: report.Pass, Message: kept},
		{Name: "its big integer rounded", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed("9007199254740993", "9007199254740992"), Verdict: report.Fail,
			Message: "an integer beyond 2^53 was rounded on its way from the model to the server"},
		{Name: "its long text cut", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed(strings.Repeat("No nuts, please. ", 500), strings.Repeat("No nuts, please. ", 499)),
			Verdict: report.Fail, Message: lost},
		{Name: "its big integer cut down", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed("9007199254740993", "9007199254740"), Verdict: report.Fail, Message: lost},
		{Name: "its big integer as text", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed("9007199254740993", `"9007199254740993"`), Verdict: report.Fail, Message: lost},
		{Name: "its order of seats changed", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed(`{"row":12,"letter":"A"},{"row":13,"letter":"B"}`, `{"row":13,"letter":"B"},{"row":12,"letter":"A"}`),
			Verdict: report.Fail, Message: lost},
		{Name: "what is empty left out", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: changed(`,"extras":{}`, ""), Verdict: report.Fail, Message: lost},
		{Name: "empty", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked("{}")), Verdict: report.Fail, Message: lost},
		{Name: "empty, as the model gave it", Check: "tool-use/input-intact", CaseID: "two-turns", Steps: turnsOf(airports("call_1"), ""), Verdict: report.Pass, Message: kept},
		{Name: "empty no more", Check: "tool-use/input-intact", CaseID: "two-turns", Steps: turnsOf(tracetest.Wanting([3]string{"call_1", "list_airports", `{"near":""}`}), ""), Verdict: report.Fail, Message: lost},
		{Name: "null where it was empty", Check: "tool-use/input-intact", CaseID: "two-turns", Steps: turnsOf(tracetest.Wanting([3]string{"call_1", "list_airports", `null`}), ""), Verdict: report.Fail, Message: lost},
		{Name: "another tool's", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Wanting([3]string{"call_1", "list_airports", tracetest.Booking})), Verdict: report.Fail,
			Message: "the model asked for book_flight, and the answer for list_airports"},
		{Name: "twice", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Wanting([3]string{"call_1", "book_flight", tracetest.Booking}, [3]string{"call_2", "book_flight", tracetest.Booking})), Verdict: report.Fail,
			Message: "the model asked for one tool, and the answer has 2 tool uses"},
		{Name: "of no tool use", Check: "tool-use/input-intact", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Saying("Booked!")), Verdict: report.NotObserved,
			Message: "the answer has no tool use (see tool-use/tool-use-block)"},
	})
}

// airports is the tool use of a model that wants the airports listed.
func airports(id string) string { return tracetest.Wanting([3]string{id, "list_airports", "{}"}) }

// turnsOf is the first round, and the second where it is answered, too.
func turnsOf(first, second string) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Answers(first)
		if second != "" {
			s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Answers(second)
		}
	}
}

func TestTextBesideAToolUseIsKept(t *testing.T) {
	const check, kept = "tool-use/text-and-tool", "the answer has the text and the tool use"
	native := []string{dialect.Native}
	use := `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	text := func(s string) string { return string(dialect.Marshal(server.Text(s))) }
	blocks := func(list ...string) func(*tracetest.Story) {
		return tracetest.Uses(tracetest.With(tracetest.Booked(), "content", "["+strings.Join(list, ",")+"]"))
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it is", Check: check, CaseID: "text-beside", Steps: blocks(text(beside), use), Verdict: report.Pass, Message: kept},
		{Name: "in two blocks", Check: check, CaseID: "text-beside", Steps: blocks(text("Let me book "), text("that flight."), use), Verdict: report.Pass, Message: kept},
		{Name: "with its white space trimmed and a word of the client's", Check: check, CaseID: "text-beside", Steps: blocks(text("[model] "+beside+"\n"), use), Verdict: report.Pass, Message: kept},
		{Name: "before and after", Check: check, CaseID: "text-beside", Steps: blocks(text(beside), use, text("Done.")), Verdict: report.Pass, Message: kept},
		{Name: "behind the tool use, where the wire has no order", Check: check, CaseID: "text-beside", Steps: blocks(use, text(beside)), Dialects: tracetest.OpenAI, Verdict: report.Pass, Message: kept},
		{Name: "behind the tool use, where the wire has one", Check: check, CaseID: "text-beside", Steps: blocks(use, text(beside)), Dialects: native, Verdict: report.Fail,
			Message: "the model spoke before it used a tool, and in the answer the text comes after the tool use"},
		{Name: "it is lost", Check: check, CaseID: "text-beside", Steps: blocks(use), Verdict: report.Fail, Message: "the model spoke and used a tool, and what it said is not in the answer"},
		{Name: "it is empty", Check: check, CaseID: "text-beside", Steps: blocks(text(""), use), Verdict: report.Fail, Message: "the model spoke and used a tool, and what it said is not in the answer"},
		{Name: "the tool use is lost", Check: check, CaseID: "text-beside", Steps: tracetest.Uses(tracetest.Saying(beside)), Verdict: report.Fail, Message: "the model spoke and used a tool, and the answer has no tool use"},
		{Name: "nowhere that can be read", Check: check, CaseID: "text-beside", Steps: tracetest.Uses(tracetest.Without(tracetest.Booked(), "content")), Verdict: report.NotObserved,
			Message: "the content of the result cannot be decoded (see basic/has-content)"},
	})
}

func TestToolUsesOfTwoTurnsHaveDifferentIDs(t *testing.T) {
	const check, fresh = "tool-use/fresh-ids", "the tool uses of two turns have different ids"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "they do", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("call_1"), airports("call_2")), Verdict: report.Pass, Message: fresh},
		{Name: "of the client's own making", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("list_airports-0-a7"), airports("list_airports-0-b9")), Verdict: report.Pass, Message: fresh},
		{Name: "told apart by capitals", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("call_a"), airports("call_A")), Verdict: report.Pass, Message: fresh},
		{Name: "they have none, which is another check's business", Check: check, CaseID: "two-turns", Steps: turnsOf(airports(""), airports("")), Verdict: report.Pass, Message: fresh},
		{Name: "they share one", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("call_0"), airports("call_0")), Verdict: report.Fail, Message: "tool uses of two turns have the id call_0"},
		{Name: "there is one only", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("call_0"), tracetest.Saying("No more.")), Verdict: report.NotObserved,
			Message: "not both answers have a tool use (see tool-use/tool-use-block)"},
		{Name: "there was one turn only", Check: check, CaseID: "two-turns", Steps: turnsOf(airports("call_0"), ""), Verdict: report.NotObserved,
			Message: "the server did not send sampling request 2: the handler could not continue from the response to request 1"},
	})
}

func TestTheClientLeavesTheToolToTheServer(t *testing.T) {
	rounds := func(between func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			tracetest.Uses(tracetest.Booked())(s)
			between(s)
			s.Asks(tracetest.AskingForFlight()).Prompts(tracetest.AskingForFlight()).Answers(tracetest.Saying("Booked."))
		}
	}
	calls := func(tool string) func(*tracetest.Story) {
		return rounds(func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
		})
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "it does", Check: "tool-use/not-executed", CaseID: "one-tool", Steps: rounds(func(*tracetest.Story) {}), Verdict: report.Pass, Message: "no call of the tool came until the session's end"},
		{Name: "it calls the tool", Check: "tool-use/not-executed", CaseID: "one-tool", Steps: calls("book_flight"), Verdict: report.Fail, Message: "the client called the tool book_flight itself"},
		{Name: "it calls another one", Check: "tool-use/not-executed", CaseID: "one-tool", Steps: calls("mine"), Verdict: report.Pass, Message: "no call of the tool came until the session's end"},
		{Name: "it was not seen for long enough", Check: "tool-use/not-executed", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.NotObserved,
			Message: "the server did not send sampling request 2: the handler could not continue from the response to request 1"},
	})
}

package conformance

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func askingForFlight() *server.CreateMessageParams {
	return asking("Book a flight from Zürich to Tokyo.", bookFlight, listAirports)
}

// booked is the tool use that the model wants, with other input where some is given.
func booked(input ...string) string {
	return wanting([3]string{"call_1", "book_flight", append(input, booking)[0]})
}

// uses is the first round, with the client's answer.
func uses(result string) func(*story) {
	return func(s *story) { s.asks(askingForFlight()).prompts(askingForFlight()).answers(result) }
}

func TestStopReasonsBesideAToolUse(t *testing.T) {
	reason := func(word string) func(*story) { return uses(with(booked(), "stopReason", word)) }
	hold(t, catalogue, []telling{
		{name: "toolUse", check: "tool-use/stop-reason-tooluse", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: "the stop reason is toolUse"},
		{name: "another standard word", check: "tool-use/stop-reason-tooluse", caseID: "one-tool", tell: reason(`"endTurn"`),
			verdict: report.Fail, message: "the answer has a tool use and says that it stopped for endTurn"},
		{name: "left out", check: "tool-use/stop-reason-tooluse", caseID: "one-tool", tell: reason(""),
			verdict: report.Warn, message: "the stop reason is left out beside a tool use"},
		{name: "a word of its own", check: "tool-use/stop-reason-tooluse", caseID: "one-tool", tell: reason(`"tool_calls"`),
			verdict: report.Warn, message: "the stop reason beside a tool use is the client's own word"},
		{name: "without a tool use", check: "tool-use/stop-reason-tooluse", caseID: "one-tool", tell: uses(saying("Booked!")),
			verdict: report.NotObserved, message: "the answer has no tool use (see tool-use/tool-use-block)"},
	})
}

func TestAToolUseIsWellFormed(t *testing.T) {
	block := func(raw string) func(*story) { return uses(with(booked(), "content", "["+raw+"]")) }
	whole := `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	hold(t, catalogue, []telling{
		{name: "whole", check: "tool-use/tool-use-block", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: "the tool use is well-formed"},
		{name: "no array", check: "tool-use/tool-use-block", caseID: "one-tool", tell: uses(with(booked(), "content", whole)), verdict: report.Pass, message: "the tool use is well-formed"},
		{name: "beside a text", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(`{"type":"text","text":"Booking."},` + whole),
			verdict: report.Pass, message: "the tool use is well-formed"},
		{name: "without an id", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(without(whole, "id")),
			verdict: report.Fail, message: "a tool_use block is not well-formed: it has no id"},
		{name: "without a name", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(without(whole, "name")),
			verdict: report.Fail, message: "a tool_use block is not well-formed: it has no name"},
		{name: "without input", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(without(whole, "input")),
			verdict: report.Fail, message: "a tool_use block is not well-formed: its input is , where an object is due"},
		{name: "its input as text", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(with(whole, "input", `"{}"`)),
			verdict: report.Fail, message: `a tool_use block is not well-formed: its input is "{}", where an object is due`},
		{name: "its input null", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(with(whole, "input", `null`)),
			verdict: report.Fail, message: `a tool_use block is not well-formed: its input is null, where an object is due`},
		{name: "its input null where it has no arguments", check: "tool-use/tool-use-block", caseID: "two-turns", tell: turnsOf(wanting([3]string{"call_1", "list_airports", "null"}), ""),
			verdict: report.Fail, message: "a tool_use block is not well-formed: its input is null, where an object is due"},
		{name: "of no arguments, and none of them there", check: "tool-use/tool-use-block", caseID: "two-turns", tell: turnsOf(saying("Let me look."), ""),
			verdict: report.Fail, message: "the model asked for a tool, and the answer has no tool_use block"},
		{name: "written out as text", check: "tool-use/tool-use-block", caseID: "one-tool", tell: uses(saying("book_flight()")),
			verdict: report.Fail, message: "the model asked for a tool, and the answer has no tool_use block"},
		{name: "of a provider's own kind", check: "tool-use/tool-use-block", caseID: "one-tool", tell: block(with(whole, "type", `"function"`)),
			verdict: report.Fail, message: "the model asked for a tool, and the answer has no tool_use block"},
		{name: "nowhere that can be read", check: "tool-use/tool-use-block", caseID: "one-tool", tell: uses(without(booked(), "content")),
			verdict: report.NotObserved, message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestAToolUsesInputIsKept(t *testing.T) {
	const kept, lost = "the input came through unchanged", "the input is not what the model gave"
	changed := func(old, new string) func(*story) { return uses(booked(strings.Replace(booking, old, new, 1))) }
	hold(t, catalogue, []telling{
		{name: "as it was", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: kept},
		{name: "in another order", check: "tool-use/input-intact", caseID: "one-tool", verdict: report.Pass, message: kept,
			tell: uses(booked(`{"extras":{},"number":9007199254740993,"seats":[{"letter":"A","row":12},{"letter":"B","row":13}],"to":"東京 \"HND\"\n<any>","from":"Z\u00fcrich","notes":"` + strings.Repeat("No nuts, please. ", 500) + `"}`))},
		{name: "with its numbers written otherwise", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`"row":12`, `"row":1.2e1`), verdict: report.Pass, message: kept},
		{name: "as text, which is another check's business", check: "tool-use/input-intact", caseID: "one-tool",
			tell: uses(booked(string(dialect.Marshal(booking)))), verdict: report.Pass, message: kept},
		{name: "its big integer rounded", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", "9007199254740992"), verdict: report.Fail,
			message: "an integer beyond 2^53 was rounded on its way from the model to the server"},
		{name: "its long text cut", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(strings.Repeat("No nuts, please. ", 500), strings.Repeat("No nuts, please. ", 499)),
			verdict: report.Fail, message: lost},
		{name: "its big integer cut down", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", "9007199254740"), verdict: report.Fail, message: lost},
		{name: "its big integer as text", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", `"9007199254740993"`), verdict: report.Fail, message: lost},
		{name: "its order of seats changed", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`{"row":12,"letter":"A"},{"row":13,"letter":"B"}`, `{"row":13,"letter":"B"},{"row":12,"letter":"A"}`),
			verdict: report.Fail, message: lost},
		{name: "what is empty left out", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`,"extras":{}`, ""), verdict: report.Fail, message: lost},
		{name: "empty", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(booked("{}")), verdict: report.Fail, message: lost},
		{name: "empty, as the model gave it", check: "tool-use/input-intact", caseID: "two-turns", tell: turnsOf(airports("call_1"), ""), verdict: report.Pass, message: kept},
		{name: "empty no more", check: "tool-use/input-intact", caseID: "two-turns", tell: turnsOf(wanting([3]string{"call_1", "list_airports", `{"near":""}`}), ""), verdict: report.Fail, message: lost},
		{name: "null where it was empty", check: "tool-use/input-intact", caseID: "two-turns", tell: turnsOf(wanting([3]string{"call_1", "list_airports", `null`}), ""), verdict: report.Fail, message: lost},
		{name: "another tool's", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(wanting([3]string{"call_1", "list_airports", booking})), verdict: report.Fail,
			message: "the model asked for book_flight, and the answer for list_airports"},
		{name: "twice", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(wanting([3]string{"call_1", "book_flight", booking}, [3]string{"call_2", "book_flight", booking})), verdict: report.Fail,
			message: "the model asked for one tool, and the answer has 2 tool uses"},
		{name: "of no tool use", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(saying("Booked!")), verdict: report.NotObserved,
			message: "the answer has no tool use (see tool-use/tool-use-block)"},
	})
}

// airports is the tool use of a model that wants the airports listed.
func airports(id string) string { return wanting([3]string{id, "list_airports", "{}"}) }

// turnsOf is the first round, and the second where it is answered, too.
func turnsOf(first, second string) func(*story) {
	return func(s *story) {
		s.asks(askingForFlight()).prompts(askingForFlight()).answers(first)
		if second != "" {
			s.asks(askingForFlight()).prompts(askingForFlight()).answers(second)
		}
	}
}

func TestTextBesideAToolUseIsKept(t *testing.T) {
	const check, kept = "tool-use/text-and-tool", "the answer has the text and the tool use"
	native := []string{dialect.Native}
	use := `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	text := func(s string) string { return string(dialect.Marshal(server.Text(s))) }
	blocks := func(list ...string) func(*story) {
		return uses(with(booked(), "content", "["+strings.Join(list, ",")+"]"))
	}
	hold(t, catalogue, []telling{
		{name: "it is", check: check, caseID: "text-beside", tell: blocks(text(beside), use), verdict: report.Pass, message: kept},
		{name: "in two blocks", check: check, caseID: "text-beside", tell: blocks(text("Let me book "), text("that flight."), use), verdict: report.Pass, message: kept},
		{name: "with its white space trimmed and a word of the client's", check: check, caseID: "text-beside", tell: blocks(text("[model] "+beside+"\n"), use), verdict: report.Pass, message: kept},
		{name: "before and after", check: check, caseID: "text-beside", tell: blocks(text(beside), use, text("Done.")), verdict: report.Pass, message: kept},
		{name: "behind the tool use, where the wire has no order", check: check, caseID: "text-beside", tell: blocks(use, text(beside)), dialects: openAI, verdict: report.Pass, message: kept},
		{name: "behind the tool use, where the wire has one", check: check, caseID: "text-beside", tell: blocks(use, text(beside)), dialects: native, verdict: report.Fail,
			message: "the model spoke before it used a tool, and in the answer the text comes after the tool use"},
		{name: "it is lost", check: check, caseID: "text-beside", tell: blocks(use), verdict: report.Fail, message: "the model spoke and used a tool, and what it said is not in the answer"},
		{name: "it is empty", check: check, caseID: "text-beside", tell: blocks(text(""), use), verdict: report.Fail, message: "the model spoke and used a tool, and what it said is not in the answer"},
		{name: "the tool use is lost", check: check, caseID: "text-beside", tell: uses(saying(beside)), verdict: report.Fail, message: "the model spoke and used a tool, and the answer has no tool use"},
		{name: "nowhere that can be read", check: check, caseID: "text-beside", tell: uses(without(booked(), "content")), verdict: report.NotObserved,
			message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestToolUsesOfTwoTurnsHaveDifferentIDs(t *testing.T) {
	const check, fresh = "tool-use/fresh-ids", "the tool uses of two turns have different ids"
	hold(t, catalogue, []telling{
		{name: "they do", check: check, caseID: "two-turns", tell: turnsOf(airports("call_1"), airports("call_2")), verdict: report.Pass, message: fresh},
		{name: "of the client's own making", check: check, caseID: "two-turns", tell: turnsOf(airports("list_airports-0-a7"), airports("list_airports-0-b9")), verdict: report.Pass, message: fresh},
		{name: "told apart by capitals", check: check, caseID: "two-turns", tell: turnsOf(airports("call_a"), airports("call_A")), verdict: report.Pass, message: fresh},
		{name: "they have none, which is another check's business", check: check, caseID: "two-turns", tell: turnsOf(airports(""), airports("")), verdict: report.Pass, message: fresh},
		{name: "they share one", check: check, caseID: "two-turns", tell: turnsOf(airports("call_0"), airports("call_0")), verdict: report.Fail, message: "tool uses of two turns have the id call_0"},
		{name: "there is one only", check: check, caseID: "two-turns", tell: turnsOf(airports("call_0"), saying("No more.")), verdict: report.NotObserved,
			message: "not both answers have a tool use (see tool-use/tool-use-block)"},
		{name: "there was one turn only", check: check, caseID: "two-turns", tell: turnsOf(airports("call_0"), ""), verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
	})
}

func TestTheClientLeavesTheToolToTheServer(t *testing.T) {
	rounds := func(between func(*story)) func(*story) {
		return func(s *story) {
			uses(booked())(s)
			between(s)
			s.asks(askingForFlight()).prompts(askingForFlight()).answers(saying("Booked."))
		}
	}
	calls := func(tool string) func(*story) {
		return rounds(func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)
		})
	}
	hold(t, catalogue, []telling{
		{name: "it does", check: "tool-use/not-executed", caseID: "one-tool", tell: rounds(func(*story) {}), verdict: report.Pass, message: "no call of the tool came until the session's end"},
		{name: "it calls the tool", check: "tool-use/not-executed", caseID: "one-tool", tell: calls("book_flight"), verdict: report.Fail, message: "the client called the tool book_flight itself"},
		{name: "it calls another one", check: "tool-use/not-executed", caseID: "one-tool", tell: calls("mine"), verdict: report.Pass, message: "no call of the tool came until the session's end"},
		{name: "it was not seen for long enough", check: "tool-use/not-executed", caseID: "one-tool", tell: uses(booked()), verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
	})
}

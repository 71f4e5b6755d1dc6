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

// offers is the first round, in which the model is offered what the edit makes of the request.
func offers(edit func(*server.CreateMessageParams)) func(*story) {
	return func(s *story) {
		changed := askingForFlight()
		edit(changed)
		s.asks(askingForFlight()).prompts(changed).answers(booked())
	}
}

func TestStopReasonsBesideAToolUse(t *testing.T) {
	reason := func(word string) func(*story) { return uses(with(booked(), "stopReason", word)) }
	hold(t, []telling{
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
	hold(t, []telling{
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
	hold(t, []telling{
		{name: "as it was", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: kept},
		{name: "in another order", check: "tool-use/input-intact", caseID: "one-tool", verdict: report.Pass, message: kept,
			tell: uses(booked(`{"extras":{},"number":9007199254740993,"seats":[{"letter":"A","row":12},{"letter":"B","row":13}],"to":"東京 \"HND\"\n<any>","from":"Z\u00fcrich"}`))},
		{name: "with its numbers written otherwise", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`"row":12`, `"row":1.2e1`), verdict: report.Pass, message: kept},
		{name: "as text, which is another check's business", check: "tool-use/input-intact", caseID: "one-tool",
			tell: uses(booked(string(dialect.Marshal(booking)))), verdict: report.Pass, message: kept},
		{name: "its big integer rounded", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", "9007199254740992"), verdict: report.Fail,
			message: "an integer beyond 2^53 was rounded on its way from the model to the server"},
		{name: "its big integer cut down", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", "9007199254740"), verdict: report.Fail, message: lost},
		{name: "its big integer as text", check: "tool-use/input-intact", caseID: "one-tool", tell: changed("9007199254740993", `"9007199254740993"`), verdict: report.Fail, message: lost},
		{name: "its order of seats changed", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`{"row":12,"letter":"A"},{"row":13,"letter":"B"}`, `{"row":13,"letter":"B"},{"row":12,"letter":"A"}`),
			verdict: report.Fail, message: lost},
		{name: "what is empty left out", check: "tool-use/input-intact", caseID: "one-tool", tell: changed(`,"extras":{}`, ""), verdict: report.Fail, message: lost},
		{name: "empty", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(booked("{}")), verdict: report.Fail, message: lost},
		{name: "another tool's", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(wanting([3]string{"call_1", "list_airports", booking})), verdict: report.Fail,
			message: "the model asked for book_flight, and the answer for list_airports"},
		{name: "twice", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(wanting([3]string{"call_1", "book_flight", booking}, [3]string{"call_2", "book_flight", booking})), verdict: report.Fail,
			message: "the model asked for one tool, and the answer has 2 tool uses"},
		{name: "of no tool use", check: "tool-use/input-intact", caseID: "one-tool", tell: uses(saying("Booked!")), verdict: report.NotObserved,
			message: "the answer has no tool use (see tool-use/tool-use-block)"},
	})
}

// schemaOf is a request whose first tool has another input schema.
func schemaOf(schema any) func(*server.CreateMessageParams) {
	return func(p *server.CreateMessageParams) { p.Tools[0].InputSchema = schema }
}

// editSchema copies the schema of the first tool, edited as JSON text.
func editSchema(edits ...string) func(*server.CreateMessageParams) {
	text := string(dialect.Marshal(bookFlight.InputSchema))
	edited := strings.NewReplacer(edits...).Replace(text)
	if edited == text {
		panic("the edit changes nothing")
	}
	return schemaOf(rawSchema(edited))
}

type rawSchema string

func (r rawSchema) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestToolsReachTheModel(t *testing.T) {
	const check, offered, otherSchema = "tool-use/tools-reach-model", "the model was offered every tool", "the model was offered the tool book_flight with another input schema"
	hold(t, []telling{
		{name: "all", check: check, caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: offered},
		{name: "in another order", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[0], p.Tools[1] = p.Tools[1], p.Tools[0] })},
		{name: "with more in the description", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) {
				p.Tools[0].Description = "[flights] " + p.Tools[0].Description + "."
			})},
		{name: "with more in the schema", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"properties":{"extras"`, `"additionalProperties":false,"$schema":"x","properties":{"extras"`))},
		{name: "as a strict provider wants them", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"required":["from","to"]`, `"required":["to","from","number"]`, `"number":{"type":"integer"}`, `"number":{"type":["integer","null"]}`))},
		{name: "with its numbers written otherwise", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"minLength":1`, `"minLength":1.0`))},
		{name: "less what is empty", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[1].InputSchema = object{"type": "object"} })},
		{name: "none", check: check, caseID: "one-tool", verdict: report.Fail, message: "the model was never offered the tool book_flight",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools = nil })},
		{name: "one of two", check: check, caseID: "one-tool", verdict: report.Fail, message: "the model was never offered the tool list_airports",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools = p.Tools[:1] })},
		{name: "under another name", check: check, caseID: "one-tool", verdict: report.Fail, message: "the model was never offered the tool book_flight",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[0].Name = "bookFlight" })},
		{name: "without a description", check: check, caseID: "one-tool", verdict: report.Fail, message: "the model was offered the tool book_flight with another description",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[0].Description = "" })},
		{name: "without a schema", check: check, caseID: "one-tool", tell: offers(schemaOf(object{"type": "object"})), verdict: report.Fail, message: otherSchema},
		{name: "without what is required", check: check, caseID: "one-tool", tell: offers(editSchema(`,"required":["from","to"]`, "")), verdict: report.Fail, message: otherSchema},
		{name: "with less required", check: check, caseID: "one-tool", tell: offers(editSchema(`["from","to"]`, `["from"]`)), verdict: report.Fail, message: otherSchema},
		{name: "without a keyword", check: check, caseID: "one-tool", tell: offers(editSchema(`,"minLength":1`, "")), verdict: report.Fail, message: otherSchema},
		{name: "without what is nested", check: check, caseID: "one-tool", tell: offers(editSchema(`"row":{"type":"integer"}`, "")), verdict: report.Fail, message: otherSchema},
		{name: "with another type", check: check, caseID: "one-tool", tell: offers(editSchema(`"number":{"type":"integer"}`, `"number":{"type":"number"}`)), verdict: report.Fail, message: otherSchema},
		{name: "of no model that we know", check: check, caseID: "one-tool", tell: func(s *story) { s.asks(askingForFlight()).answers(booked()) },
			verdict: report.NotObserved, message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

func TestNoOtherToolsReachTheModel(t *testing.T) {
	hold(t, []telling{
		{name: "these", check: "tool-use/only-these-tools", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: "the model was offered no foreign tool"},
		{name: "none", check: "tool-use/only-these-tools", caseID: "one-tool", verdict: report.Pass, message: "the model was offered no foreign tool",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools = nil })},
		{name: "one of the host's", check: "tool-use/only-these-tools", caseID: "one-tool", verdict: report.Fail, message: "the model was offered host_search, which is not a tool of the request",
			tell: offers(func(p *server.CreateMessageParams) {
				p.Tools = append(p.Tools, server.Tool{Name: "host_search", InputSchema: object{"type": "object"}})
			})},
		{name: "of no model that we know", check: "tool-use/only-these-tools", caseID: "one-tool", tell: func(s *story) { s.asks(askingForFlight()).answers(booked()) },
			verdict: report.NotObserved, message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
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
	hold(t, []telling{
		{name: "it does", check: "tool-use/not-executed", caseID: "one-tool", tell: rounds(func(*story) {}), verdict: report.Pass, message: "no call of the tool came until the session's end"},
		{name: "it calls the tool", check: "tool-use/not-executed", caseID: "one-tool", tell: calls("book_flight"), verdict: report.Fail, message: "the client called the tool book_flight itself"},
		{name: "it calls another one", check: "tool-use/not-executed", caseID: "one-tool", tell: calls("mine"), verdict: report.Pass, message: "no call of the tool came until the session's end"},
		{name: "it was not seen for long enough", check: "tool-use/not-executed", caseID: "one-tool", tell: uses(booked()), verdict: report.NotObserved,
			message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
	})
}

package tooluse

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

var booked = tracetest.Uses(tracetest.Booked())

func TestStopReasonBesideAToolUse(t *testing.T) {
	reason := func(word string) steps {
		return tracetest.Uses(tracetest.With(tracetest.Booked(), "stopReason", word))
	}
	judges(t, "stop-reason-tooluse", "one-tool",
		passes("toolUse", booked),
		fails("another standard word", reason(`"endTurn"`), "found endTurn"),
		warns("none", reason(""), "found none"),
		warns("a word of the client", reason(`"tool_calls"`), "found tool_calls"),
		unobserved("no tool use", saying("Booked!"), "see tool-use/tool-use-block"))
}

func TestToolUseBlocksAreValid(t *testing.T) {
	const whole = `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	block := func(name, value string) steps { return holding("[" + tracetest.With(whole, name, value) + "]") }
	judges(t, "tool-use-block", "one-tool",
		passes("a valid block", booked),
		passes("no array", holding(whole)),
		passes("beside a text", holding(`[{"type":"text","text":"Booking."},`+whole+`]`)),
		fails("no id", block("id", ""), "found no id"),
		fails("no name", block("name", ""), "found no name"),
		fails("no input", block("input", ""), "found no input"),
		fails("input as text", block("input", `"{}"`), `found the input "{}"`),
		fails("input null", block("input", "null"), "found the input null"),
		fails("written as text", saying("book_flight()"), "expected a tool_use block for"),
		fails("of the provider's type", block("type", `"function"`), "expected a tool_use block for"),
		unreadable)
	judges(t, "tool-use-block", "two-turns",
		fails("input null if there are no arguments", turns(listing("call_1", "null"), ""), "found the input null"),
		fails("no block if there are no arguments", turns(tracetest.Saying("Let me look."), ""), "for the model's tool call"))
}

func TestToolInputIsUnchanged(t *testing.T) {
	const another, big = "found another input", "9007199254740993"
	const seatA, seatB = `{"row":12,"letter":"A"}`, `{"row":13,"letter":"B"}`
	nuts := strings.Repeat("No nuts, please. ", 500)
	changed := func(old, new string) steps {
		return tracetest.Uses(tracetest.Booked(strings.Replace(story.Booking, old, new, 1)))
	}
	reordered := `{"extras":{},"number":` + big + `,"seats":[{"letter":"A","row":12},{"letter":"B","row":13}],` +
		`"to":"東京 \"HND\"\n<any>","from":"Z\u00fcrich","notes":"` + nuts + `"}`
	use := [3]string{"call_1", "book_flight", story.Booking}
	judges(t, "input-intact", "one-tool",
		passes("unchanged", booked),
		passes("members in another order", tracetest.Uses(tracetest.Booked(reordered))),
		passes("another form of a number", changed(`"row":12`, `"row":1.2e1`)),
		passes("as text, which tool-use-block judges",
			tracetest.Uses(tracetest.Booked(string(dialect.Marshal(story.Booking))))),
		fails("a big integer rounded", changed(big, "9007199254740992"), "an integer beyond 2^53 rounded"),
		fails("a big integer cut", changed(big, "9007199254740"), another),
		fails("a big integer as text", changed(big, `"`+big+`"`), another),
		fails("a long text cut", changed(nuts, nuts[17:]), another),
		fails("an array in another order",
			changed(seatA+","+seatB, seatB+","+seatA), another),
		fails("an empty value lost", changed(`,"extras":{}`, ""), another),
		fails("empty", tracetest.Uses(tracetest.Booked("{}")), another),
		fails("another tool", using([3]string{"call_1", "list_airports", story.Booking}), "book_flight, found list_airports"),
		fails("two uses", using(use, [3]string{"call_2", use[1], use[2]}), "expected 1 tool use, found 2"),
		unobserved("no tool use", saying("Booked!"), "see tool-use/tool-use-block"))
	judges(t, "input-intact", "two-turns",
		passes("empty, as from the model", turns(airports("call_1"), "")),
		fails("no longer empty", turns(listing("call_1", `{"near":""}`), ""), another),
		fails("null for empty", turns(listing("call_1", "null"), ""), another))
}

func TestTheServerRunsTheTool(t *testing.T) {
	run := func(tool string) steps {
		return func(s *session) {
			booked(s)
			if tool != "" {
				calling(s, tool)
			}
			saying("Booked.")(s)
		}
	}
	judges(t, "not-executed", "one-tool",
		passes("the client calls no tool", run("")),
		fails("the client calls the tool", run("book_flight"), "book_flight"),
		passes("the client calls another tool", run("mine")),
		unobserved("no second request", booked, "sampling request 2"))
}

func TestTextBesideAToolUseReachesTheServer(t *testing.T) {
	const use = `{"type":"tool_use","id":"call_1","name":"book_flight","input":{}}`
	text := func(s string) string { return string(dialect.Marshal(server.Text(s))) }
	blocks := func(list ...string) steps { return holding("[" + strings.Join(list, ",") + "]") }
	judges(t, "text-and-tool", "text-beside",
		passes("text, then tool use", blocks(text(besideUse), use)),
		passes("the text in two blocks", blocks(text("Let me book "), text("that flight."), use)),
		passes("with words of the client", blocks(text("[model] "+besideUse+"\n"), use)),
		passes("text on both sides", blocks(text(besideUse), use, text("Done."))),
		openAI(passes("the text last, if the provider has no order", blocks(use, text(besideUse)))),
		native(fails("the text last, if the provider has an order",
			blocks(use, text(besideUse)), "the text after the tool use")),
		fails("no text", blocks(use), "found no text"),
		fails("an empty text", blocks(text(""), use), "found no text"),
		fails("no tool use", saying(besideUse), "found no tool use"),
		unreadable)
}

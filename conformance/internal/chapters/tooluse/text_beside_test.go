package tooluse

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

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
		native(fails("the text last, if the provider has an order", blocks(use, text(besideUse)), "the text after the tool use")),
		fails("no text", blocks(use), "found no text"),
		fails("an empty text", blocks(text(""), use), "found no text"),
		fails("no tool use", saying(besideUse), "found no tool use"),
		unreadable)
}

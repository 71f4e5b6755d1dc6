package tooluse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// offering is a client that edits the request on its way to the model.
func offering(edit func(*server.CreateMessageParams)) steps {
	return func(s *session) {
		s.Asks(tracetest.AskingForFlight()).Prompts(edited(edit)).Answers(tracetest.Booked())
	}
}

// schema is a client that offers the first tool with another input schema.
func schema(schema any) steps {
	return offering(func(p *server.CreateMessageParams) { p.Tools[0].InputSchema = schema })
}

// schemaEdit is a client that edits the JSON text of the first tool's input schema.
func schemaEdit(edits ...string) steps {
	text := string(dialect.Marshal(story.BookFlight.InputSchema))
	edited := strings.NewReplacer(edits...).Replace(text)
	if edited == text {
		panic("the edit changes nothing")
	}
	return schema(rawSchema(edited))
}

type rawSchema string

func (r rawSchema) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestToolsReachTheModel(t *testing.T) {
	const person = `{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}`
	const number, other = `"number":{"type":"integer"}`, "the input schema of book_flight"
	description := func(text string) steps {
		return offering(func(p *server.CreateMessageParams) { p.Tools[0].Description = text })
	}
	judges(t, "tools-reach-model", "one-tool",
		passes("all tools", booked),
		passes("in another order",
			offering(func(p *server.CreateMessageParams) { p.Tools[0], p.Tools[1] = p.Tools[1], p.Tools[0] })),
		passes("more in the description", description("[flights] "+story.BookFlight.Description+".")),
		passes("more in the schema",
			schemaEdit(`"properties":{"class"`, `"$schema":"x","title":"Booking","properties":{"class"`)),
		passes("as a strict provider requires", schemaEdit(`"required":["from","to"]`, `"required":["to","from","number"]`,
			number, `"number":{"type":["integer","null"]}`)),
		passes("another form of a number", schemaEdit(`"minLength":1`, `"minLength":1.0`)),
		passes("without an empty value",
			offering(func(p *server.CreateMessageParams) { p.Tools[1].InputSchema = story.Object{"type": "object"} })),
		passes("with a reference resolved",
			schemaEdit(`{"$ref":"#/$defs/person"}`, person, `"$defs":{"person":`+person+`},`, "")),
		passes("with definitions elsewhere", schemaEdit("$defs", "definitions")),
		passes("more in a property's description",
			schemaEdit("city of departure", "city of departure (at least 1 character)")),
		passes("with a property that may be null",
			schemaEdit(number, `"number":{"anyOf":[{"type":"integer"},{"type":"null"}]}`)),

		fails("no tools", offering(func(p *server.CreateMessageParams) { p.Tools = nil }), "found 0: book_flight is missing"),
		fails("one of two", offering(func(p *server.CreateMessageParams) { p.Tools = p.Tools[:1] }),
			"expected 2 tools in the model request, found 1: list_airports is missing"),
		fails("another name",
			offering(func(p *server.CreateMessageParams) { p.Tools[0].Name = "bookFlight" }), "book_flight is missing"),
		fails("no description", description(""), "the description of book_flight"),
		fails("another description", description("Books"), "the description of book_flight"),
		fails("no schema", schema(story.Object{"type": "object"}), other),
		fails("nothing required", schemaEdit(`,"required":["from","to"]`, ""), other),
		fails("less required", schemaEdit(`["from","to"]`, `["from"]`), other),
		fails("a keyword lost", schemaEdit(`,"minLength":1`, ""), other),
		fails("a nested property lost", schemaEdit(`,"row":{"minimum":1,"type":"integer"}`, ""), other),
		fails("a reference lost", schemaEdit(`{"$ref":"#/$defs/person"}`, `{"type":"object"}`), other),
		fails("a definition lost", schemaEdit(`"$defs":{"person":`+person+`},`, ""), other),
		fails("fewer enum values", schemaEdit(`["economy","business"]`, `["economy"]`), other),
		fails("a default lost", schemaEdit(`"default":"economy",`, ""), other),
		fails("a variant lost", schemaEdit(`{"anyOf":[{"type":"string"},{"items":{"type":"string"},"type":"array"}]}`,
			`{"type":"string"}`), other),
		fails("other properties allowed", schemaEdit(`"additionalProperties":false,`, ""), other),
		fails("another type", schemaEdit(number, `"number":{"type":"number"}`), other),
		unobserved("no model request", unasked, noModelRequest))
}

func TestNoOtherToolsReachTheModel(t *testing.T) {
	host := server.Tool{Name: "host_search", InputSchema: story.Object{"type": "object"}}
	without := func(offered ...server.Tool) steps {
		return func(s *session) {
			s.Asks(tracetest.Asking("Book it.")).Prompts(tracetest.Asking("Book it.", offered...))
			s.Answers(tracetest.Saying("How?"))
		}
	}
	judges(t, "only-these-tools", "one-tool",
		passes("the tools of the request", booked),
		passes("none", offering(func(p *server.CreateMessageParams) { p.Tools = nil })),
		fails("a tool of the host",
			offering(func(p *server.CreateMessageParams) { p.Tools = append(p.Tools, host) }), "found host_search"),
		unobserved("no model request", unasked, noModelRequest))
	judges(t, "only-these-tools", "no-tools",
		passes("none", without()),
		fails("a tool of the host", without(host), "found host_search"))
}

func TestManyToolsReachTheModelOrAreRefused(t *testing.T) {
	asks := func(n int) *server.CreateMessageParams { return tracetest.Asking("Use the last tool.", numbered(n)...) }
	last := func(n int) string { return tracetest.Wanting([3]string{"call_1", fmt.Sprintf("tool_%d", n), "{}"}) }
	offering := func(n, offered int, result string) steps {
		return func(s *session) { s.Asks(asks(n)).Prompts(asks(offered)).Answers(result) }
	}
	refusing := func(n int) steps { // and answering another request
		return func(s *session) {
			s.Asks(asks(n)).Refuses(-32603, "refused").Calls().Asks(asks(1)).Answers(tracetest.Saying("Fine."))
		}
	}
	const beside = `[{"type":"text","text":"So many!"},{"type":"tool_use","id":"a","name":"tool_65","input":{"value":1}}]`
	judges(t, "many-tools", "sixty-four-tools", append(refused(report.Fail, refusing(64)),
		passes("all tools", offering(64, 64, last(64))),
		passes("in reverse order", func(s *session) {
			reversed := asks(64)
			slices.Reverse(reversed.Tools)
			s.Asks(asks(64)).Prompts(reversed).Answers(last(64))
		}),
		unobserved("the client refuses everything",
			func(s *session) { s.Asks(asks(64)).Refuses(-32603, "no") }, noModelRequest),
		fails("40 of 64", offering(64, 40, tracetest.Saying("Which?")), "found 40: tool_41 is missing"),
		fails("the tool use is lost", offering(64, 64, tracetest.Saying("Which?")), "tool_64, the last of 64 tools"),
		unobserved("no result", func(s *session) { s.Asks(asks(64)).Prompts(asks(64)) }, tracetest.NoAnswer))...)
	judges(t, "many-tools", "sixty-five-tools", append(refused(report.Pass, refusing(65)),
		passes("all tools", offering(65, 65, last(65))),
		passes("a text beside the use", offering(65, 65, tracetest.With(last(65), "content", beside))),
		fails("64 of 65", offering(65, 64, last(65)), "tool_65 is missing"))...)
}

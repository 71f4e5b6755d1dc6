package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// offers is the first round, in which the model is offered what the edit makes of the request.
func offers(edit func(*server.CreateMessageParams)) func(*story) {
	return func(s *story) {
		changed := askingForFlight()
		edit(changed)
		s.asks(askingForFlight()).prompts(changed).answers(booked())
	}
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
	const person = `{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}`
	const check, offered, otherSchema = "tool-use/tools-reach-model", "the model was offered every tool", "the model was offered the tool book_flight with another input schema"
	hold(t, catalogue, []telling{
		{name: "all", check: check, caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: offered},
		{name: "in another order", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[0], p.Tools[1] = p.Tools[1], p.Tools[0] })},
		{name: "with more in the description", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) {
				p.Tools[0].Description = "[flights] " + p.Tools[0].Description + "."
			})},
		{name: "with more in the schema", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"properties":{"class"`, `"$schema":"x","title":"Booking","properties":{"class"`))},
		{name: "as a strict provider wants them", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"required":["from","to"]`, `"required":["to","from","number"]`, `"number":{"type":"integer"}`, `"number":{"type":["integer","null"]}`))},
		{name: "with its numbers written otherwise", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"minLength":1`, `"minLength":1.0`))},
		{name: "less what is empty", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(func(p *server.CreateMessageParams) { p.Tools[1].InputSchema = object{"type": "object"} })},
		{name: "with what it refers to in place", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`{"$ref":"#/$defs/person"}`, person, `"$defs":{"person":`+person+`},`, ""))},
		{name: "with its definitions elsewhere", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema("$defs", "definitions"))},
		{name: "with more in a property's description", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema("city of departure", "city of departure (at least 1 character)"))},
		{name: "with a property that may be null", check: check, caseID: "one-tool", verdict: report.Pass, message: offered,
			tell: offers(editSchema(`"number":{"type":"integer"}`, `"number":{"anyOf":[{"type":"integer"},{"type":"null"}]}`))},
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
		{name: "without what is nested", check: check, caseID: "one-tool", tell: offers(editSchema(`,"row":{"minimum":1,"type":"integer"}`, "")), verdict: report.Fail, message: otherSchema},
		{name: "without what it refers to", check: check, caseID: "one-tool", tell: offers(editSchema(`{"$ref":"#/$defs/person"}`, `{"type":"object"}`)), verdict: report.Fail, message: otherSchema},
		{name: "without what is defined", check: check, caseID: "one-tool", tell: offers(editSchema(`"$defs":{"person":`+person+`},`, "")), verdict: report.Fail, message: otherSchema},
		{name: "with fewer choices", check: check, caseID: "one-tool", tell: offers(editSchema(`["economy","business"]`, `["economy"]`)), verdict: report.Fail, message: otherSchema},
		{name: "without a default", check: check, caseID: "one-tool", tell: offers(editSchema(`"default":"economy",`, "")), verdict: report.Fail, message: otherSchema},
		{name: "with one of two variants", check: check, caseID: "one-tool", tell: offers(editSchema(`{"anyOf":[{"type":"string"},{"items":{"type":"string"},"type":"array"}]}`, `{"type":"string"}`)),
			verdict: report.Fail, message: otherSchema},
		{name: "open to other properties", check: check, caseID: "one-tool", tell: offers(editSchema(`"additionalProperties":false,`, "")), verdict: report.Fail, message: otherSchema},
		{name: "with another type", check: check, caseID: "one-tool", tell: offers(editSchema(`"number":{"type":"integer"}`, `"number":{"type":"number"}`)), verdict: report.Fail, message: otherSchema},
		{name: "of no model that we know", check: check, caseID: "one-tool", tell: func(s *story) { s.asks(askingForFlight()).answers(booked()) },
			verdict: report.NotObserved, message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

func TestNoOtherToolsReachTheModel(t *testing.T) {
	hold(t, catalogue, []telling{
		{name: "these", check: "tool-use/only-these-tools", caseID: "one-tool", tell: uses(booked()), verdict: report.Pass, message: "the model was offered no foreign tool"},
		{name: "none", check: "tool-use/only-these-tools", caseID: "one-tool", verdict: report.Pass, message: "the model was offered no foreign tool",
			tell: offers(func(p *server.CreateMessageParams) { p.Tools = nil })},
		{name: "one of the host's", check: "tool-use/only-these-tools", caseID: "one-tool", verdict: report.Fail, message: "the model was offered host_search, which is not a tool of the request",
			tell: offers(func(p *server.CreateMessageParams) {
				p.Tools = append(p.Tools, server.Tool{Name: "host_search", InputSchema: object{"type": "object"}})
			})},
		{name: "none, where there are none", check: "tool-use/only-these-tools", caseID: "no-tools", verdict: report.Pass, message: "the model was offered no foreign tool",
			tell: func(s *story) { s.asks(asking("Book it.")).prompts(asking("Book it.")).answers(saying("How?")) }},
		{name: "one of the host's, where there are none", check: "tool-use/only-these-tools", caseID: "no-tools", verdict: report.Fail,
			message: "the model was offered host_search, which is not a tool of the request",
			tell: func(s *story) {
				host := server.Tool{Name: "host_search", InputSchema: object{"type": "object"}}
				s.asks(asking("Book it.")).prompts(asking("Book it.", host)).answers(saying("How?"))
			}},
		{name: "of no model that we know", check: "tool-use/only-these-tools", caseID: "one-tool", tell: func(s *story) { s.asks(askingForFlight()).answers(booked()) },
			verdict: report.NotObserved, message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

func TestManyToolsWorkOrAreRefused(t *testing.T) {
	const check = "tool-use/many-tools"
	asks := func(n int) *server.CreateMessageParams { return asking("Use the last tool.", numbered(n)...) }
	last := func(n int) string { return wanting([3]string{"call_1", fmt.Sprintf("tool_%d", n), "{}"}) }
	offered := func(n, offered int, result string) func(*story) {
		return func(s *story) { s.asks(asks(n)).prompts(asks(offered)).answers(result) }
	}
	// A client that refuses answers something else: here, an earlier call of the tool, in which nothing was asked of it to begin with.
	refused := func(n int) func(*story) {
		return func(s *story) {
			s.asks(asks(n)).refuses(-32602, "too many tools")
			s.calls().asks(asks(1)).answers(saying("Fine."))
		}
	}
	hold(t, catalogue, []telling{
		{name: "64 do", check: check, caseID: "sixty-four-tools", tell: offered(64, 64, last(64)), verdict: report.Pass, message: "all 64 tools reached the model, and it could use the last"},
		{name: "65 do", check: check, caseID: "sixty-five-tools", tell: offered(65, 65, last(65)), verdict: report.Pass, message: "all 65 tools reached the model, and it could use the last"},
		{name: "beside a text", check: check, caseID: "sixty-five-tools", verdict: report.Pass, message: "all 65 tools reached the model, and it could use the last",
			tell: offered(65, 65, with(last(65), "content", `[{"type":"text","text":"So many!"},{"type":"tool_use","id":"a","name":"tool_65","input":{"value":1}}]`))},
		{name: "in reverse", check: check, caseID: "sixty-four-tools", verdict: report.Pass, message: "all 64 tools reached the model, and it could use the last",
			tell: func(s *story) {
				reverse := asks(64)
				for i, j := 0, 63; i < j; i, j = i+1, j-1 {
					reverse.Tools[i], reverse.Tools[j] = reverse.Tools[j], reverse.Tools[i]
				}
				s.asks(asks(64)).prompts(reverse).answers(last(64))
			}},
		{name: "65 are refused", check: check, caseID: "sixty-five-tools", in: inA, tell: refused(65), verdict: report.Pass, message: `the client refuses 65 tools, and says so: "too many tools" (code -32602)`},
		{name: "65 are not answered, by a client that answers", check: check, caseID: "sixty-five-tools", in: inB, tell: refused(65), verdict: report.Pass,
			message: "the client refuses 65 tools, and says so: it did not fulfil the input request"},
		{name: "64 are refused", check: check, caseID: "sixty-four-tools", in: inA, tell: refused(64), verdict: report.Fail, message: `the client refuses 64 tools: "too many tools" (code -32602)`},
		{name: "64 are refused by a client that refuses everything", check: check, caseID: "sixty-four-tools", tell: func(s *story) { s.asks(asks(64)).refuses(-32603, "no") }, verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
		{name: "40 of them do", check: check, caseID: "sixty-four-tools", tell: offered(64, 40, saying("Which?")), verdict: report.Fail,
			message: "of 64 tools the model was never offered tool_41, and no error says so"},
		{name: "64 of 65 do", check: check, caseID: "sixty-five-tools", tell: offered(65, 64, last(65)), verdict: report.Fail,
			message: "of 65 tools the model was never offered tool_65, and no error says so"},
		{name: "and the answer is lost", check: check, caseID: "sixty-four-tools", tell: offered(64, 64, saying("Which?")), verdict: report.Fail,
			message: "the model asked for tool_64, the last of 64 tools, and the answer has no tool use"},
		{name: "and no answer comes", check: check, caseID: "sixty-four-tools", tell: func(s *story) { s.asks(asks(64)).prompts(asks(64)) }, verdict: report.NotObserved,
			message: "sampling request 1 was not answered: no answer came for request 1"},
	})
}

// What a provider does not take in a schema is not held against the client, and what it takes is.
func TestSchemasWithinAProvidersLimits(t *testing.T) {
	const sent = `{"type":"object","properties":{"a":{"type":"string","minLength":1},"b":{"type":"array","maxItems":2,"items":{"type":"integer","minimum":0}}},"required":["a"],"additionalProperties":false}`
	const few = `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"ARRAY","items":{"type":"INTEGER"}}},"required":["a"]}`
	for name, c := range map[string]struct {
		dialect, declared, got string
		want                   bool
	}{
		"Ollama's own types":                    {dialect.Ollama, `{"function":{}}`, strings.Replace(strings.ToLower(few), `"integer"`, `"integer","minimum":0`, 1), true},
		"Gemini's own types":                    {dialect.Gemini, `{"parameters":{}}`, few, true},
		"Gemini's own types, less a property":   {dialect.Gemini, `{"parameters":{}}`, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`, false},
		"Gemini's own types, one of them wrong": {dialect.Gemini, `{"parameters":{}}`, strings.Replace(few, "INTEGER", "NUMBER", 1), false},
		"Gemini with JSON Schema":               {dialect.Gemini, `{"parametersJsonSchema":{}}`, few, false},
		"Gemini with JSON Schema, whole":        {dialect.Gemini, `{"parametersJsonSchema":{}}`, sent, true},
		"OpenAI":                                {dialect.OpenAIChat, `{"function":{"strict":false}}`, strings.ToLower(few), false},
		"OpenAI, strict":                        {dialect.OpenAIChat, `{"function":{"strict":true}}`, strings.ToLower(few), true},
		"OpenAI responses, strict":              {dialect.OpenAIResponses, `{"strict":true}`, strings.ToLower(few), true},
		"Anthropic":                             {dialect.Anthropic, `{}`, strings.ToLower(few), false},
		"Anthropic, whole":                      {dialect.Anthropic, `{}`, sent, true},
	} {
		t.Run(name, func(t *testing.T) {
			x := &Exchange{Request: &dialect.Request{Dialect: c.dialect, Body: json.RawMessage(`{"tools":[` + c.declared + `]}`)}}
			require.Equal(t, c.want, sameSchema(x, &dialect.Tool{InputSchema: []byte(c.got), Path: "tools[0]"}, &dialect.Tool{InputSchema: []byte(sent)}))
		})
	}
}

func TestASchemaThatRefersToItselfEnds(t *testing.T) {
	const endless = `{"type":"object","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`
	x := &Exchange{Request: &dialect.Request{Dialect: dialect.Native, Body: json.RawMessage(`{}`)}}
	require.False(t, sameSchema(x, &dialect.Tool{InputSchema: []byte(`{}`)}, &dialect.Tool{InputSchema: []byte(endless)}))
	require.NotPanics(t, func() {
		sameSchema(x, &dialect.Tool{InputSchema: []byte(endless)}, &dialect.Tool{InputSchema: []byte(endless)})
	})
}

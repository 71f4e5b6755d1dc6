package tooluse

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// offers is the first round, in which the model is offered what the edit makes of the request.
func offers(edit func(*server.CreateMessageParams)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		changed := tracetest.AskingForFlight()
		edit(changed)
		s.Asks(tracetest.AskingForFlight()).Prompts(changed).Answers(tracetest.Booked())
	}
}

// schemaOf is a request whose first tool has another input schema.
func schemaOf(schema any) func(*server.CreateMessageParams) {
	return func(p *server.CreateMessageParams) { p.Tools[0].InputSchema = schema }
}

// editSchema copies the schema of the first tool, edited as JSON text.
func editSchema(edits ...string) func(*server.CreateMessageParams) {
	text := string(dialect.Marshal(tracetest.BookFlight.InputSchema))
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
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "all", Check: check, CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.Pass, Message: offered},
		{Name: "in another order", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools[0], p.Tools[1] = p.Tools[1], p.Tools[0] })},
		{Name: "with more in the description", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(func(p *server.CreateMessageParams) {
				p.Tools[0].Description = "[flights] " + p.Tools[0].Description + "."
			})},
		{Name: "with more in the schema", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema(`"properties":{"class"`, `"$schema":"x","title":"Booking","properties":{"class"`))},
		{Name: "as a strict provider wants them", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema(`"required":["from","to"]`, `"required":["to","from","number"]`, `"number":{"type":"integer"}`, `"number":{"type":["integer","null"]}`))},
		{Name: "with its numbers written otherwise", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema(`"minLength":1`, `"minLength":1.0`))},
		{Name: "less what is empty", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools[1].InputSchema = story.Object{"type": "object"} })},
		{Name: "with what it refers to in place", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema(`{"$ref":"#/$defs/person"}`, person, `"$defs":{"person":`+person+`},`, ""))},
		{Name: "with its definitions elsewhere", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema("$defs", "definitions"))},
		{Name: "with more in a property's description", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema("city of departure", "city of departure (at least 1 character)"))},
		{Name: "with a property that may be null", Check: check, CaseID: "one-tool", Verdict: report.Pass, Message: offered,
			Steps: offers(editSchema(`"number":{"type":"integer"}`, `"number":{"anyOf":[{"type":"integer"},{"type":"null"}]}`))},
		{Name: "none", Check: check, CaseID: "one-tool", Verdict: report.Fail, Message: "the model was never offered the tool book_flight",
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools = nil })},
		{Name: "one of two", Check: check, CaseID: "one-tool", Verdict: report.Fail, Message: "the model was never offered the tool list_airports",
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools = p.Tools[:1] })},
		{Name: "under another name", Check: check, CaseID: "one-tool", Verdict: report.Fail, Message: "the model was never offered the tool book_flight",
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools[0].Name = "bookFlight" })},
		{Name: "without a description", Check: check, CaseID: "one-tool", Verdict: report.Fail, Message: "the model was offered the tool book_flight with another description",
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools[0].Description = "" })},
		{Name: "without a schema", Check: check, CaseID: "one-tool", Steps: offers(schemaOf(story.Object{"type": "object"})), Verdict: report.Fail, Message: otherSchema},
		{Name: "without what is required", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`,"required":["from","to"]`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "with less required", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`["from","to"]`, `["from"]`)), Verdict: report.Fail, Message: otherSchema},
		{Name: "without a keyword", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`,"minLength":1`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "without what is nested", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`,"row":{"minimum":1,"type":"integer"}`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "without what it refers to", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`{"$ref":"#/$defs/person"}`, `{"type":"object"}`)), Verdict: report.Fail, Message: otherSchema},
		{Name: "without what is defined", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`"$defs":{"person":`+person+`},`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "with fewer choices", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`["economy","business"]`, `["economy"]`)), Verdict: report.Fail, Message: otherSchema},
		{Name: "without a default", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`"default":"economy",`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "with one of two variants", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`{"anyOf":[{"type":"string"},{"items":{"type":"string"},"type":"array"}]}`, `{"type":"string"}`)),
			Verdict: report.Fail, Message: otherSchema},
		{Name: "open to other properties", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`"additionalProperties":false,`, "")), Verdict: report.Fail, Message: otherSchema},
		{Name: "with another type", Check: check, CaseID: "one-tool", Steps: offers(editSchema(`"number":{"type":"integer"}`, `"number":{"type":"number"}`)), Verdict: report.Fail, Message: otherSchema},
		{Name: "of no model that we know", Check: check, CaseID: "one-tool", Steps: func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Answers(tracetest.Booked()) },
			Verdict: report.NotObserved, Message: "the model received no request for sampling request 1: none had the mark of the case"},
	})
}

func TestNoOtherToolsReachTheModel(t *testing.T) {
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "these", Check: "tool-use/only-these-tools", CaseID: "one-tool", Steps: tracetest.Uses(tracetest.Booked()), Verdict: report.Pass, Message: "the model was offered no foreign tool"},
		{Name: "none", Check: "tool-use/only-these-tools", CaseID: "one-tool", Verdict: report.Pass, Message: "the model was offered no foreign tool",
			Steps: offers(func(p *server.CreateMessageParams) { p.Tools = nil })},
		{Name: "one of the host's", Check: "tool-use/only-these-tools", CaseID: "one-tool", Verdict: report.Fail, Message: "the model was offered host_search, which is not a tool of the request",
			Steps: offers(func(p *server.CreateMessageParams) {
				p.Tools = append(p.Tools, server.Tool{Name: "host_search", InputSchema: story.Object{"type": "object"}})
			})},
		{Name: "none, where there are none", Check: "tool-use/only-these-tools", CaseID: "no-tools", Verdict: report.Pass, Message: "the model was offered no foreign tool",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("Book it.")).Prompts(tracetest.Asking("Book it.")).Answers(tracetest.Saying("How?"))
			}},
		{Name: "one of the host's, where there are none", Check: "tool-use/only-these-tools", CaseID: "no-tools", Verdict: report.Fail,
			Message: "the model was offered host_search, which is not a tool of the request",
			Steps: func(s *tracetest.Story) {
				host := server.Tool{Name: "host_search", InputSchema: story.Object{"type": "object"}}
				s.Asks(tracetest.Asking("Book it.")).Prompts(tracetest.Asking("Book it.", host)).Answers(tracetest.Saying("How?"))
			}},
		{Name: "of no model that we know", Check: "tool-use/only-these-tools", CaseID: "one-tool", Steps: func(s *tracetest.Story) { s.Asks(tracetest.AskingForFlight()).Answers(tracetest.Booked()) },
			Verdict: report.NotObserved, Message: "the model received no request for sampling request 1: none had the mark of the case"},
	})
}

func TestManyToolsWorkOrAreRefused(t *testing.T) {
	const check = "tool-use/many-tools"
	asks := func(n int) *server.CreateMessageParams { return tracetest.Asking("Use the last tool.", numbered(n)...) }
	last := func(n int) string { return tracetest.Wanting([3]string{"call_1", fmt.Sprintf("tool_%d", n), "{}"}) }
	offered := func(n, offered int, result string) func(*tracetest.Story) {
		return func(s *tracetest.Story) { s.Asks(asks(n)).Prompts(asks(offered)).Answers(result) }
	}
	// A client that refuses answers something else: here, an earlier call of the tool, in which nothing was asked of it to begin with.
	refused := func(n int) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(asks(n)).Refuses(-32602, "too many tools")
			s.Calls().Asks(asks(1)).Answers(tracetest.Saying("Fine."))
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "64 do", Check: check, CaseID: "sixty-four-tools", Steps: offered(64, 64, last(64)), Verdict: report.Pass, Message: "all 64 tools reached the model, and it could use the last"},
		{Name: "65 do", Check: check, CaseID: "sixty-five-tools", Steps: offered(65, 65, last(65)), Verdict: report.Pass, Message: "all 65 tools reached the model, and it could use the last"},
		{Name: "beside a text", Check: check, CaseID: "sixty-five-tools", Verdict: report.Pass, Message: "all 65 tools reached the model, and it could use the last",
			Steps: offered(65, 65, tracetest.With(last(65), "content", `[{"type":"text","text":"So many!"},{"type":"tool_use","id":"a","name":"tool_65","input":{"value":1}}]`))},
		{Name: "in reverse", Check: check, CaseID: "sixty-four-tools", Verdict: report.Pass, Message: "all 64 tools reached the model, and it could use the last",
			Steps: func(s *tracetest.Story) {
				reverse := asks(64)
				for i, j := 0, 63; i < j; i, j = i+1, j-1 {
					reverse.Tools[i], reverse.Tools[j] = reverse.Tools[j], reverse.Tools[i]
				}
				s.Asks(asks(64)).Prompts(reverse).Answers(last(64))
			}},
		{Name: "65 are refused", Check: check, CaseID: "sixty-five-tools", In: tracetest.InA, Steps: refused(65), Verdict: report.Pass, Message: `the client refuses 65 tools, and says so: "too many tools" (code -32602)`},
		{Name: "65 are not answered, by a client that answers", Check: check, CaseID: "sixty-five-tools", In: tracetest.InB, Steps: refused(65), Verdict: report.Pass,
			Message: "the client refuses 65 tools, and says so: it did not fulfil the input request"},
		{Name: "64 are refused", Check: check, CaseID: "sixty-four-tools", In: tracetest.InA, Steps: refused(64), Verdict: report.Fail, Message: `the client refuses 64 tools: "too many tools" (code -32602)`},
		{Name: "64 are refused by a client that refuses everything", Check: check, CaseID: "sixty-four-tools", Steps: func(s *tracetest.Story) { s.Asks(asks(64)).Refuses(-32603, "no") }, Verdict: report.NotObserved,
			Message: "the model received no request for sampling request 1: none had the mark of the case"},
		{Name: "40 of them do", Check: check, CaseID: "sixty-four-tools", Steps: offered(64, 40, tracetest.Saying("Which?")), Verdict: report.Fail,
			Message: "of 64 tools the model was never offered tool_41, and no error says so"},
		{Name: "64 of 65 do", Check: check, CaseID: "sixty-five-tools", Steps: offered(65, 64, last(65)), Verdict: report.Fail,
			Message: "of 65 tools the model was never offered tool_65, and no error says so"},
		{Name: "and the answer is lost", Check: check, CaseID: "sixty-four-tools", Steps: offered(64, 64, tracetest.Saying("Which?")), Verdict: report.Fail,
			Message: "the model asked for tool_64, the last of 64 tools, and the answer has no tool use"},
		{Name: "and no answer comes", Check: check, CaseID: "sixty-four-tools", Steps: func(s *tracetest.Story) { s.Asks(asks(64)).Prompts(asks(64)) }, Verdict: report.NotObserved,
			Message: "no result for sampling request 1: no response to request 1"},
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
			x := &evidence.Exchange{Request: &dialect.Request{Dialect: c.dialect, Body: json.RawMessage(`{"tools":[` + c.declared + `]}`)}}
			require.Equal(t, c.want, sameSchema(x, &dialect.Tool{InputSchema: []byte(c.got), Path: "tools[0]"}, &dialect.Tool{InputSchema: []byte(sent)}))
		})
	}
}

func TestASchemaThatRefersToItselfEnds(t *testing.T) {
	const endless = `{"type":"object","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`
	x := &evidence.Exchange{Request: &dialect.Request{Dialect: dialect.Native, Body: json.RawMessage(`{}`)}}
	require.False(t, sameSchema(x, &dialect.Tool{InputSchema: []byte(`{}`)}, &dialect.Tool{InputSchema: []byte(endless)}))
	require.NotPanics(t, func() {
		sameSchema(x, &dialect.Tool{InputSchema: []byte(endless)}, &dialect.Tool{InputSchema: []byte(endless)})
	})
}

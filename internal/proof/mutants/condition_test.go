package mutants

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// under returns the condition with the name.
func under(t *testing.T, name string) Condition {
	t.Helper()
	when, ok := FindCondition(name)
	require.True(t, ok, name)
	return when
}

func TestAConditionHoldsWhereItsFactIs(t *testing.T) {
	const asks, uses = `{"role":"user","content":{"type":"text","text":"hi"}}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
	for params, names := range map[string][]string{
		`{"messages":[` + asks + `]}`:                         {"without-tools"},
		`{"tools":[],"messages":[` + asks + `]}`:              {"without-tools"},
		`{"tools":[{"name":"f"}],"messages":[` + asks + `]}`:  {"with-tools"},
		`{"messages":[` + asks + `,{"role":"assistant"},{}]}`: {"without-tools", "with-history"},
		`{"messages":[{"content":{"type":"audio"}}]}`:         {"without-tools", "media"},
		`{"tools":[{}],"messages":[` + uses + `,{"content":[{"type":"tool_result","isError":true}]}]}`: {"with-tools",
			"later-rounds", "errors"},
		`{"tools":[{}],"messages":[{"content":[{"type":"tool_result"},
			{"type":"tool_result","content":[{"type":"image"}]}]}]}`: {"with-tools", "later-rounds", "parallel", "media"},
	} {
		o, err := jsonvalue.ReadObject([]byte(params))
		require.NoError(t, err)
		var hold []string
		for _, c := range Conditions() {
			if c.Holds(SampleFacts(o)) {
				hold = append(hold, c.Name)
			}
		}
		require.Equal(t, names, hold, params)
	}
}

func TestTheFactsOfAModelRequestAreThoseOfItsNeutralForm(t *testing.T) {
	for dialectName, body := range map[string]string{
		dialect.OpenAIChat: `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"f"}}],"messages":[
			{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
			{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
				{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"y"}]}`,
		dialect.Anthropic: `{"model":"m","max_tokens":1,"stream":true,"tools":[{"name":"f","input_schema":{}}],"messages":[
			{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b"}]}]}`,
	} {
		r, err := dialects.Decode(dialectName, "/v1/chat/completions", []byte(body))
		require.NoError(t, err, dialectName)
		require.Equal(t, Facts{Sample: true, Tools: true, History: true, Later: true, Parallel: true, Media: true,
			Streamed: true}, ModelFacts(r), dialectName)
	}
}

func TestAConditionalEditLeavesEverythingElseAlone(t *testing.T) {
	for name, edit := range map[string]Edit{
		"params": {Params: set("maxTokens", 7)}, "result": {Result: unset("model")},
		"message":       {Out: func(m *Message) { m.Body["extra"] = true }},
		"model request": {ModelRequest: set("user", "somebody")},
		"model reply":   {ModelReply: func(chunks []object) []object { return append(chunks[:0:0], chunks[1:]...) }},
		"handler":       history(set("maxTokens", 7))(nil),
	} {
		t.Run(name, func(t *testing.T) {
			for when, cases := range map[string]map[string]bool{
				"with-tools":   {"basic/question": false, "tool-use/one-tool": true},
				"later-rounds": {"basic/turns": false, "tool-use/one-tool": true},
				"parallel":     {"tool-use/one-tool": false, "parallel/two-cities": true},
			} {
				for id, fires := range cases {
					var fired atomic.Int64
					run(t, Client(reference.Config{}, just(edit), under(t, when), func(Change) { fired.Add(1) }), id)
					require.Equal(t, fires, fired.Load() > 0, "%s in %s", when, id)
				}
			}
		})
	}
}

func TestEditsOfFailuresAndRetriesHaveTheirConditions(t *testing.T) {
	for when, c := range map[string]struct {
		edit Edit
		id   string
	}{
		"errors":  {Edit{Failed: func(err error) (object, error) { return nil, err }}, "provider-errors/forbidden"},
		"retries": {Edit{Retry: func(_ *Call, p object) { p["extra"] = true }}, "basic/question"},
	} {
		var fired atomic.Int64
		run(t, Client(reference.Config{}, just(c.edit), under(t, when), func(Change) { fired.Add(1) }), c.id)
		require.NotZero(t, fired.Load(), when)
	}
}

func TestAConditionalMutantFailsTheCheckWhereItShows(t *testing.T) {
	m := *Find("no-model")
	for when, verdict := range map[string]report.Verdict{"without-tools": report.Fail, "with-tools": report.Pass} {
		m.When = under(t, when)
		verdicts := run(t, m.Client(reference.Config{}, nil), "basic/question")
		require.Equal(t, verdict, verdicts["2025-11-25 always/has-model"], when)
	}
}

func TestACancelledRequestIsInFlightWhetherItIsAnsweredOrNot(t *testing.T) {
	cancel := func(id int) *Message {
		return &Message{Body: object{"method": methodCancelled, "params": object{"requestId": id}}}
	}
	answered := &Sample{}
	w := &Wire{traffic: newTraffic(), ofCall: []*Sample{answered}}
	w.traffic.samples[Key(1)] = answered
	require.Empty(t, w.inFlight())
	w.cancelled(cancel(2))
	require.Empty(t, w.inFlight(), "of an unknown request")
	w.cancelled(cancel(1))
	require.Len(t, w.inFlight(), 1)
}

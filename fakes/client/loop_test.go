package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type object = map[string]any

// uses is the model's turn with tool uses, each given as name and input. Their ids are their numbers.
func uses(pairs ...string) object {
	var blocks []any
	for i := 0; i < len(pairs); i += 2 {
		input, err := jsonvalue.ReadObject([]byte(pairs[i+1]))
		if err != nil {
			panic(err)
		}
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprint(i/2 + 1), "name": pairs[i], "input": input})
	}
	return object{"role": "assistant", "model": "m", "stopReason": "toolUse", "content": blocks}
}

// loopTest is a run of a loop: what the model answers in turn, and what came of it.
type loopTest struct {
	loop   client.Loop
	ask    string // members of the request beside messages and maxTokens
	model  []object
	mu     sync.Mutex
	asked  []object // the requests to the model
	called []string // the tools that ran, in order
	events []client.LoopEvent
}

const (
	citySchema = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`
	anySchema  = `"inputSchema":{"type":"object"}`
	offerAll   = `"tools":[{"name":"weather","inputSchema":` + citySchema + `},{"name":"fail",` + anySchema +
		`},{"name":"wipe",` + anySchema + `},{"name":"elsewhere",` + anySchema + `}]`
)

// tool is a tool of the server that notes its calls.
func (l *loopTest) tool(name string, schema any, annotations any, result any, err error) server.Tool {
	return server.Tool{Name: name, InputSchema: schema, Annotations: annotations, Optional: true,
		Handler: func(s *server.Session) (any, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.called = append(l.called, name+string(s.Call().Arguments))
			return result, err
		}}
}

// run plays the loop in a revision, and returns the client's answer to the sampling request.
func (l *loopTest) run(t *testing.T, revision server.Revision) (json.RawMessage, error) {
	t.Helper()
	l.asked, l.called, l.events = nil, nil, nil
	var answer json.RawMessage
	var refused error
	srv := server.New(t, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
		params := `{"maxTokens":5,"messages":[{"role":"user","content":{"type":"text","text":"Weather?"}}],` + l.ask + `}`
		answer, refused = s.Sample(json.RawMessage(params))
		return nil, nil
	}}, l.tool("weather", json.RawMessage(citySchema), nil, "18°C", nil),
		l.tool("fail", nil, nil, nil, errors.New("out of order")),
		l.tool("wipe", nil, object{"destructiveHint": true}, "wiped", nil))
	loop := l.loop
	loop.Observe = func(e client.LoopEvent) {
		e.Duration = 0
		l.events = append(l.events, e)
	}
	c := connect(t, client.Options{URL: srv.URL, Revision: revision, Loop: &loop,
		Sampling: func(ctx context.Context, params map[string]any) (map[string]any, error) {
			l.asked = append(l.asked, params)
			if len(l.asked) > len(l.model) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return l.model[len(l.asked)-1], nil
		}})
	_, err := c.CallTool(t.Context(), "ask", nil)
	if err != nil && refused == nil {
		refused = err
	}
	return answer, refused
}

// results returns the tool results of the nth request to the model, as id, text and whether it is an error.
func (l *loopTest) results(n int) []string {
	messages := jsonvalue.Messages(l.asked[n-1])
	var all []string
	for _, b := range jsonvalue.OfType(messages[len(messages)-1]["content"], "tool_result") {
		text := ""
		for _, inner := range jsonvalue.OfType(b["content"], "text") {
			text += jsonvalue.TextIn(inner, "text")
		}
		all = append(all, fmt.Sprintf("%v %s %v", b["toolUseId"], text, b["isError"] == true))
	}
	return all
}

func (l *loopTest) offered(n int) []string {
	var names []string
	tools, _ := l.asked[n-1]["tools"].([]any)
	for _, tool := range tools {
		names = append(names, jsonvalue.TextIn(tool.(object), "name"))
	}
	return names
}

var eras = []server.Revision{server.V20251125, server.V20260728}

func TestALoopRunsTheToolsAndReturnsTheFinalAnswer(t *testing.T) {
	for _, revision := range eras {
		l := &loopTest{ask: offerAll + `,"toolChoice":{"mode":"required"}`, model: []object{
			uses("weather", `{"city":"Paris"}`, "weather", `{"city":"Rome"}`), uses("fail", `{}`), client.Text("18°C."),
		}}
		answer, err := l.run(t, revision)
		require.NoError(t, err)
		require.Equal(t, "18°C.", client.Result(answer).Text())
		slices.Sort(l.called)
		require.Equal(t, []string{`fail{}`, `weather{"city":"Paris"}`, `weather{"city":"Rome"}`}, l.called)
		require.Equal(t, []string{"1 18°C false", "2 18°C false"}, l.results(2))
		require.Equal(t, []string{"1 out of order true"}, l.results(3))
		require.Equal(t, object{"mode": "required"}, l.asked[0]["toolChoice"])
		require.Nil(t, l.asked[1]["toolChoice"], "it would keep the model from ending the loop")
		require.Equal(t, []client.LoopEvent{{Iteration: 1, Tools: []string{"weather", "weather"}},
			{Iteration: 2, Tools: []string{"fail"}}, {Iteration: 3}, {Iteration: 3, Ended: true}}, l.events)
	}
}

func TestTheModelReceivesWhyAToolWasNotCalled(t *testing.T) {
	l := &loopTest{ask: offerAll, loop: client.Loop{Allowed: []string{"w*", "elsewhere"}}, model: []object{
		uses("teleport", `{}`, "weather", `{"city":7}`, "fail", `{}`, "wipe", `{}`, "elsewhere", `{}`), client.Text("No."),
	}}
	_, err := l.run(t, server.V20251125)
	require.NoError(t, err)
	require.Empty(t, l.called)
	require.Equal(t, []string{"weather", "wipe", "elsewhere"}, l.offered(1))
	const known = "the tools are weather, wipe, elsewhere true"
	results := l.results(2)
	require.Equal(t, `1 unknown tool "teleport": `+known, results[0])
	require.Contains(t, results[1], "arguments.city")
	require.Equal(t, `3 unknown tool "fail": `+known, results[2])
	require.Equal(t, `4 the user declined this tool call: nobody can confirm it true`, results[3])
	require.Equal(t, `5 unknown tool "elsewhere": `+known, results[4])
}

func TestADestructiveToolWaitsForConfirmationAfterTheOthers(t *testing.T) {
	var l *loopTest
	l = &loopTest{ask: offerAll,
		model: []object{uses("wipe", `{"n":1}`, "weather", `{"city":"Paris"}`), client.Text("Done.")},
		loop: client.Loop{Confirm: func(_ context.Context, use client.LoopUse) error {
			l.called = append(l.called, fmt.Sprint("asked about ", use.Name, use.Input))
			return nil
		}}}
	_, err := l.run(t, server.V20260728)
	require.NoError(t, err)
	require.Equal(t, []string{`weather{"city":"Paris"}`, `asked about wipemap[n:1]`, `wipe{"n":1}`}, l.called)
	require.Equal(t, []string{"1 wiped false", "2 18°C false"}, l.results(2))
}

func TestALoopIsLimited(t *testing.T) {
	again := uses("weather", `{"city":"Paris"}`)
	for _, c := range []struct {
		loop   client.Loop
		ask    string
		model  []object
		asked  int
		reason string
	}{
		{client.Loop{MaxIterations: 3}, "", slices.Repeat([]object{again}, 9), 3, "limit of 3 iterations"},
		{client.Loop{}, "", slices.Repeat([]object{again}, 20), 10, "limit of 10 iterations"},
		{client.Loop{}, `,"_meta":{"maxIterations":2}`, slices.Repeat([]object{again}, 9), 2, "limit of 2"},
		{client.Loop{}, `,"metadata":{"maxIterations":2}`, slices.Repeat([]object{again}, 9), 2, "limit of 2"},
		{client.Loop{MaxIterations: 3}, `,"maxIterations":8`, slices.Repeat([]object{again}, 9), 3, "limit of 3"},
		{client.Loop{Timeout: 1}, "", nil, 0, "timed out"},
		{client.Loop{}, `,"toolChoice":{"mode":"none"}`, []object{again}, 1, "does not allow"},
		{client.Loop{}, `,"toolChoice":{"mode":"required","name":"teleport"}`, nil, 0, `the unknown tool "teleport"`},
		{client.Loop{}, `,"_meta":{"allowedToolPatterns":["["]}`, nil, 0, `invalid pattern "["`},
	} {
		l := &loopTest{ask: offerAll + c.ask, loop: c.loop, model: c.model}
		_, err := l.run(t, server.V20251125)
		require.ErrorContains(t, err, c.reason)
		last := l.events[len(l.events)-1]
		require.True(t, last.Ended)
		require.ErrorContains(t, last.Err, c.reason)
		if c.model != nil {
			require.Len(t, l.asked, c.asked)
			require.Equal(t, c.asked, last.Iteration)
		}
	}
}

func TestARequestChoosesTools(t *testing.T) {
	end := []object{client.Text("No.")}
	for _, c := range []struct {
		ask     string
		offered []string
	}{
		{offerAll + `,"toolChoice":{"mode":"required","name":"weather"}`, []string{"weather"}},
		{offerAll + `,"metadata":{"allowedToolPatterns":["f*","wipe"]}`, []string{"fail", "wipe"}},
		{`"_meta":{"allowedToolPatterns":["w*"]}`, []string{"weather", "wipe"}},
		{offerAll + `,"_meta":{"allowedToolPatterns":[]}`, nil},
	} {
		l := &loopTest{ask: c.ask, model: end}
		_, err := l.run(t, server.V20251125)
		require.NoError(t, err)
		require.Equal(t, c.offered, l.offered(1))
	}
	_, err := client.Connect(t.Context(), client.Options{Loop: &client.Loop{Allowed: []string{"["}}})
	require.ErrorContains(t, err, `Options.Loop.Allowed: invalid pattern "["`)
}

package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// gatewayUnusual names a session with what the protocol allows and the built-in client never says: errors with data,
// unknown members, a block alone and in an array. Its messages are compared as all others are.
const gatewayUnusual = "unusual"

// unusualResults are results of a client. Those with an array are not for revisions before 2025-11-25.
var unusualResults = []string{
	`{"role":"assistant","model":"m","stopReason":"a reason of its own","content":{"type":"text","text":"A <b>&amp; “ü” 🗼",
		"annotations":{"audience":["user"],"priority":0.25},"_meta":{"example.com/block":1}},
		"_meta":{"example.com/cost":0.1,"example.com/n":9007199254740991},"x-usage":{"Tokens":9007199254740991,"none":null}}`,
	`{"role":"assistant","model":"","content":{"type":"text","text":""}}`,
	`{"role":"assistant","model":"m","stopReason":"endTurn","content":[{"type":"text","text":"one block in an array"}]}`,
	`{"role":"assistant","model":"m","stopReason":"endTurn","content":[{"type":"text","text":"the same"},
		{"type":"text","text":"the same"}]}`,
}

// unusualErrors are errors of a client: for revisions in which it sends some.
var unusualErrors = []*client.Error{
	{Code: -1, Message: "Nö: a person said “no”", Data: json.RawMessage(`{"reason":"busy","list":[1,"1",null,{}]}`)},
	{Code: 4711, Message: "later", Data: json.RawMessage(`"in a minute"`)},
	{Code: -32602, Message: "", Data: json.RawMessage(`9007199254740991`)},
}

// unusualMeta is in the _meta of each call.
var unusualMeta = map[string]any{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	"example.com/“ü”": []any{nil, json.Number("9007199254740991")}}

// failing is the argument of the call that gets unusualFailure, beside one of the calls at once.
const failing, beside = "fail", "beside"

var unusualFailure = &server.RPCError{Code: 4712, Message: "Nö: “closed”",
	Data: json.RawMessage(`{"until":[1,"1",null,{}]}`)}

// unusualParams are added to the params of a sampling request, unusualTools too if the client declares tools. Every
// second request has an empty list of tools and an unusualMessage instead. unusualArguments are those of the call.
const (
	unusualParams = `{"_meta":{"example.com/trace":"00-ab","example.com/n":9007199254740991},
		"systemPrompt":"\n Be brief: “ü” 🗼.\t ",
		"maxTokens":1000000,"temperature":0,"stopSequences":["ü","\n\n","ü"],
		"modelPreferences":{"hints":[{"name":"b"},{},{"name":"a"}],"costPriority":0},"x-unknown":{"Deep":[[{"n":null}]]},
		"metadata":{"id":9007199254740991,"price":1.50,"ratio":1e-7,"κλειδί":"τιμή",
		"Upper":1,"upper":2,"empty":{},"null":null}}`
	unusualTools = `{"toolChoice":{"mode":"none"},"tools":[{"name":"look","title":"Look it up","x-unknown":{},
		"annotations":{"title":"Looks","readOnlyHint":false,"openWorldHint":true},"_meta":{"example.com/tool":1},
		"icons":[{"src":"data:image/png;base64,iVBORw0KGgo=","sizes":["48x48"]}],
		"inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
			"properties":{"where":{"$ref":"#/$defs/place"}},"$defs":{"place":{"type":["string","null"],"examples":["ü"]}}},
		"outputSchema":{"type":"object","properties":{"n":{"const":9007199254740991}}}}]}`
	unusualMessage   = `{"messages":[{"role":"user","_meta":{"example.com/m":1},"content":%s}]}`
	unusualArguments = `{"n":9007199254740991,"none":null,"flag":false,"Nested":{"a":[1,"1",1.0]},
		"text":"\u2028 \ud83d\uddfc"}`
	unusualBlock = `{"type":"text","text":"done","annotations":{"priority":1},"_meta":{"example.com/b":true}}`
)

// sayUnusual plays the session in each revision, and returns the traces.
func (s *Suite) sayUnusual(ctx context.Context, revisions []string) ([]*trace.Trace, error) {
	var traces []*trace.Trace
	for _, revision := range revisions {
		through, ok := s.Client.Through(runUnusual)
		if !ok {
			return nil, nil
		}
		one := harness.Case{ID: gatewayScenario + "/" + gatewayUnusual, Handler: newUnusualServer().handle,
			Declare: json.RawMessage(`{"sampling":{"tools":{},"context":{}}}`)}
		t, err := s.playAlone(ctx, through, server.Revision(revision), []harness.Case{one})
		if err != nil || t == nil {
			return traces, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}

// runUnusual is the client: it gives its answers in turns. It calls the tool twice: what a gateway keeps of the first
// call is not the answer to the second. Then it calls it twice at once. The last call gets an error.
func runUnusual(ctx context.Context, env harness.Env) error {
	var asked atomic.Int32
	answer := func(context.Context, map[string]any) (map[string]any, error) {
		results := resultsIn(env.Revision)
		n := int(asked.Add(1)-1) % turnsIn(env.Revision)
		if n < len(results) {
			return jsonvalue.ReadObject([]byte(results[n]))
		}
		return nil, unusualErrors[n-len(results)]
	}
	c, err := client.Connect(ctx, client.Options{URL: env.URL, HTTP: env.HTTP, Launch: env.Launch, Revision: env.Revision,
		Capabilities: env.Declare, Sampling: answer, Meta: unusualMeta})
	if err != nil {
		return err
	}
	defer c.Close()
	tool, err := ownTool(ctx, c, gatewayUnusual)
	if err != nil {
		return err
	}
	arguments, err := jsonvalue.ReadObject([]byte(unusualArguments))
	if err != nil {
		return err
	}
	for range 2 {
		if _, err = c.CallTool(ctx, tool, arguments); err != nil {
			return err
		}
	}
	var calling sync.WaitGroup
	for n := range 2 {
		calling.Go(func() { _, _ = c.CallTool(ctx, tool, map[string]any{beside: n}) })
	}
	calling.Wait()
	_, err = c.CallTool(ctx, tool, map[string]any{failing: true})
	if fault := new(client.Error); errors.As(err, &fault) {
		return nil
	}
	return err
}

// turnsIn is how many answers there are in a revision. A modern client that refuses sends nothing.
func turnsIn(r server.Revision) int {
	if r.Modern() {
		return len(resultsIn(r))
	}
	return len(resultsIn(r)) + len(unusualErrors)
}

func resultsIn(r server.Revision) []string {
	if r < server.V20251125 {
		return unusualResults[:2]
	}
	return unusualResults
}

// unusualServer is the server of the session.
type unusualServer struct {
	calls atomic.Int32  // that are made at once
	both  chan struct{} // closed when they have arrived
}

func newUnusualServer() *unusualServer { return &unusualServer{both: make(chan struct{})} }

func (u *unusualServer) handle(s *server.Session) (any, error) {
	switch arguments := s.Call().Arguments; {
	case bytes.Contains(arguments, []byte(failing)):
		return unusualFailure, nil
	case !s.Declares("sampling"):
		return "nothing to ask", nil
	case bytes.Contains(arguments, []byte(beside)):
		return u.asksBeside(s)
	}
	return asksAll(s)
}

// asksBeside reports progress and asks while another call is open. A gateway may pass on one call after the other.
func (u *unusualServer) asksBeside(s *server.Session) (any, error) {
	if u.calls.Add(1) == 2 {
		close(u.both)
	}
	limit := time.NewTimer(longestWait)
	defer limit.Stop()
	select {
	case <-u.both:
	case <-limit.C:
	case <-s.Context().Done():
	}
	_ = s.Progress(1, 0)
	return s.Sample(s.Ask("Which call is this? It is that with " + string(s.Call().Arguments) + "."))
}

// asksAll asks for each of the answers.
func asksAll(s *server.Session) (any, error) {
	for n := range turnsIn(s.Revision()) {
		question := fmt.Sprintf("Unusual question %d: “ü” 🗼?", n+1)
		params, err := jsonvalue.ReadObject(jsonvalue.Marshal(s.Ask(question)))
		if err != nil {
			return nil, err
		}
		for _, text := range unusualAdditions(s, n, question) {
			more, err := jsonvalue.ReadObject([]byte(text))
			if err != nil {
				return nil, err
			}
			maps.Copy(params, more)
		}
		// They and what comes back are in the trace.
		_ = s.Progress(float64(n)+0.5, float64(turnsIn(s.Revision())), "half “done” 🗼")
		_, _ = s.Sample(params)
	}
	return server.CallToolResult{Content: []any{json.RawMessage(unusualBlock), server.Text("")},
		StructuredContent: json.RawMessage(unusualArguments),
		Meta:              map[string]any{"example.com/result": 1}}, nil
}

// unusualAdditions returns what is added to the params of the nth request.
func unusualAdditions(s *server.Session, n int, question string) []string {
	added, tools := []string{unusualParams}, unusualTools
	if n%2 == 1 {
		content := string(jsonvalue.Marshal(server.Text(question)))
		if s.Revision() >= server.V20251125 {
			content = `[{"type":"text","text":""},` + content + `]`
		}
		added, tools = append(added, fmt.Sprintf(unusualMessage, content)), `{"tools":[]}`
	}
	if s.Declares("sampling", "tools") {
		added = append(added, tools)
	}
	return added
}

package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// backLegs are traces of the correct client and the server, without a gateway.
var backLegs = sync.OnceValue(func() []*trace.Trace {
	suite := conformance.Suite{Client: harness.InProcess(reference.Client(reference.Config{})), Seed: 1, Parallel: 2,
		Only: []string{"basic/extras", "basic/question", "basic/context", "parallel/two-cities",
			"cancel/in-flight", "mrtr/several", "mrtr/states", "provider-errors/server-error"}}
	_, traces, err := suite.Run(context.Background())
	if err != nil {
		panic(err)
	}
	return traces
})

// passing is a message on its way through a gateway, as a decoded value. It goes from one leg to the other.
type passing struct {
	m     map[string]any
	up    bool   // from the client to the server
	n     int    // of its kind (request, result or notification, in its direction) in this session
	kind  string // the method of the message, or of the request that it responds to
	again bool   // deliver it twice
}

// gateway makes the front leg of a trace: that of a gateway with ids of its own, and with a bug or a habit. A bug
// returns false for a message that does not get through.
func throughGateway(t *trace.Trace, change func(*passing) bool) *trace.Trace {
	g := &madeGateway{change: change, ids: map[string]string{}, methods: map[string]string{}, counts: map[string]int{}}
	made := &trace.Trace{Header: t.Header, Whole: true}
	for _, e := range t.Events {
		f := e.Frame
		if f == nil || len(f.Raw) == 0 || f.Hostile || f.Lost || f.Resent {
			made.Events = append(made.Events, e)
			continue
		}
		front, back := g.pass(f)
		events := []trace.Event{{At: e.At, Front: front}, {At: e.At, Case: e.Case, Call: e.Call, Seq: e.Seq, Frame: back}}
		if f.Dir == trace.ToClient {
			slices.Reverse(events)
		}
		for _, one := range events {
			if one.Front != nil || one.Frame != nil {
				made.Events = append(made.Events, one)
			}
		}
		if g.twice {
			copied := *front
			copied.Raw = []byte(strings.Replace(string(front.Raw), `"id":"`, `"id":"again-`, 1))
			made.Events = append(made.Events, trace.Event{At: e.At, Front: &copied})
		}
	}
	return made
}

type madeGateway struct {
	change  func(*passing) bool
	ids     map[string]string // of the server's requests, by those on the front leg
	methods map[string]string // of open requests, by sender and id
	counts  map[string]int
	twice   bool
}

// pass returns a message on both legs; the one that a bug loses is nil.
func (g *madeGateway) pass(f *trace.Frame) (front, back *trace.Frame) {
	copied := *f
	copied.Session = "front of " + f.Session
	front, back = &copied, f
	g.twice = false
	m, err := jsonvalue.ReadObject(f.Raw)
	if err != nil || m == nil {
		return front, back
	}
	up := f.Dir == trace.FromClient
	p := &passing{m: m, up: up, kind: g.kindOf(m, up)}
	count := fmt.Sprint(p.kind, up, m["method"] == nil)
	g.counts[count]++
	p.n = g.counts[count]
	original := jsonvalue.Marshal(m)
	passes := g.change == nil || g.change(p)
	g.twice = p.again
	if up { // what the bug makes is on the back leg
		copied.Raw = g.own(original)
		changed := *f
		changed.Raw = jsonvalue.Marshal(p.m)
		if back = &changed; !passes {
			back = nil
		}
		return front, back
	}
	copied.Raw = g.own(jsonvalue.Marshal(p.m))
	if !passes {
		front = nil
	}
	return front, back
}

func (g *madeGateway) kindOf(m map[string]any, up bool) string {
	key := func(up bool) string { return fmt.Sprint(up, jsonvalue.Canonical(m["id"])) }
	if method, ok := m["method"].(string); ok {
		if m["id"] != nil {
			g.methods[key(up)] = method
		}
		return method
	}
	return g.methods[key(!up)]
}

// own gives a message the ids of the front leg: those of the server's requests become texts.
func (g *madeGateway) own(raw []byte) []byte {
	m, _ := jsonvalue.ReadObject(raw)
	front := func(id any) any { return "gw-" + strings.Trim(jsonvalue.Canonical(id), `"`) }
	method, _ := m["method"].(string)
	params, _ := m["params"].(map[string]any)
	switch {
	case method == "sampling/createMessage":
		m["id"] = front(m["id"])
		g.ids[jsonvalue.Canonical(m["id"])] = "known"
	case method == "" && g.ids[jsonvalue.Canonical(front(m["id"]))] != "":
		m["id"] = front(m["id"])
	case method == "notifications/cancelled" && g.ids[jsonvalue.Canonical(front(params["requestId"]))] != "":
		params["requestId"] = front(params["requestId"])
	}
	return jsonvalue.Marshal(m)
}

// judgedLegs returns the messages of the gateway checks that fail.
func judgedLegs(t *testing.T, change func(*passing) bool) map[string]string {
	t.Helper()
	var traces []*trace.Trace
	for _, back := range backLegs() {
		traces = append(traces, throughGateway(back, change))
	}
	results := &report.Results{}
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		results.Results = append(
			results.Results,
			report.Result{Scenario: "basic", Check: "x", Revision: revision, Verdict: report.Pass},
		)
	}
	failed := map[string]string{}
	for _, r := range conformance.JudgeGateway(results, results, traces).Results {
		if r.Verdict == report.Fail && r.Check != "capabilities" {
			failed[r.Check] += r.Revision + ": " + r.Message + "\n"
		}
	}
	return failed
}

func TestACorrectGatewayPasses(t *testing.T) {
	for name, habit := range map[string]func(*passing) bool{
		"only ids of its own": nil,
		"its own name and revision in _meta": func(p *passing) bool {
			for _, of := range []string{"params", "result"} {
				if o, ok := p.m[of].(map[string]any); ok {
					meta, _ := o["_meta"].(map[string]any)
					meta = maps.Clone(meta)
					if meta == nil {
						meta = map[string]any{}
					}
					meta["io.modelcontextprotocol/serverInfo"] = map[string]any{"name": "gateway", "version": "1"}
					o["_meta"] = meta
				}
			}
			return true
		},
		"a state of its own, and defaults written out": func(p *passing) bool {
			if state, ok := member(p.m, "result", "requestState").(string); ok && !p.up {
				set(p.m, "result", "requestState", "mine:"+state)
			}
			if p.kind == "tools/call" && p.m["result"] != nil && member(p.m, "result", "isError") == nil {
				set(p.m, "result", "isError", false)
			}
			return true
		},
		"no notifications of its own session": func(p *passing) bool { return p.kind != "notifications/initialized" },
		"pings answered by itself":            func(p *passing) bool { return p.kind != "ping" },
		"tools listed by itself":              func(p *passing) bool { return p.kind != "tools/list" },
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, judgedLegs(t, habit)) })
	}
	t.Run("a prefix of the tools, and another server's tool", func(t *testing.T) {
		traces := []*trace.Trace{}
		for _, back := range backLegs() {
			made := throughGateway(back, nil)
			for i := range made.Events {
				if f := made.Events[i].Front; f != nil && f.Dir == trace.FromClient &&
					strings.Contains(string(f.Raw), `"tools/call"`) {
					f.Raw = []byte(strings.Replace(string(f.Raw), `"name":"`, `"name":"server1__`, 1))
				}
			}
			for _, f := range []trace.Frame{{Dir: trace.FromClient,
				Raw: trace.Bytes(`{"jsonrpc":"2.0","id":"o","method":"tools/call","params":{"name":"server2__other"}}`),
			}, {Dir: trace.ToClient, Raw: trace.Bytes(`{"jsonrpc":"2.0","id":"o","result":{"content":[]}}`)}} {
				made.Events = append(made.Events, trace.Event{Front: &f})
			}
			traces = append(traces, made)
		}
		results := &report.Results{
			Results: []report.Result{{Scenario: "basic", Check: "x", Revision: "2025-11-25", Verdict: report.Pass}},
		}
		for _, r := range conformance.JudgeGateway(results, results, traces).Results {
			require.NotEqual(t, report.Fail, r.Verdict, "%s: %s", r.ID(), r.Message)
		}
	})
}

// member returns a member of a member; nil if there is none.
func member(m map[string]any, of, name string) any {
	o, _ := m[of].(map[string]any)
	return o[name]
}

func set(m map[string]any, of, name string, value any) {
	o, ok := m[of].(map[string]any)
	if !ok {
		return
	}
	if o[name] = value; value == nil {
		delete(o, name)
	}
}

const samplingMethod = "sampling/createMessage"

func isRequest(p *passing) bool { return p.m["method"] == samplingMethod }
func isAnswer(p *passing) bool  { return p.up && p.kind == samplingMethod && p.m["method"] == nil }

// losesOne loses the nth request of a method in each session, so that nobody responds to it.
func losesOne(method string, nth int) func(*passing) bool {
	lost := map[string]bool{}
	return func(p *passing) bool {
		if p.kind != method {
			return true
		}
		id := jsonvalue.Canonical(p.m["id"])
		if p.m["method"] != nil {
			lost[id] = p.n == nth
		}
		return !lost[id]
	}
}

func TestEachBugOfAGatewayIsNamed(t *testing.T) {
	for _, bug := range []struct {
		name, check, message string
		change               func(*passing) bool
	}{
		{"loses a sampling request", "requests", "is lost on the way down", losesOne(samplingMethod, 2)},
		{"answers by itself", "requests", "no client was asked", func(p *passing) bool { return !isRequest(p) || p.n != 2 }},
		{"drops the tools", "requests", "params.tools", func(p *passing) bool {
			if isRequest(p) {
				set(p.m, "params", "tools", nil)
			}
			return true
		}},
		{"drops unknown members and _meta", "requests", "_meta", func(p *passing) bool {
			if isRequest(p) {
				set(p.m, "params", "_meta", nil)
			}
			return true
		}},
		{"lowers maxTokens", "requests", "params.maxTokens", func(p *passing) bool {
			if isRequest(p) {
				set(p.m, "params", "maxTokens", json.Number("1"))
			}
			return true
		}},
		{"drops includeContext", "requests", "includeContext", func(p *passing) bool {
			if isRequest(p) && p.m["params"] != nil {
				set(p.m, "params", "includeContext", nil)
			}
			return true
		}},
		{"writes its own messages", "requests", "params.messages", func(p *passing) bool {
			if isRequest(p) && p.m["params"] != nil {
				set(p.m, "params", "messages", []any{})
			}
			return true
		}},
		{"delivers a request twice", "delivered-once", "found it twice", func(p *passing) bool {
			p.again = isRequest(p) && p.n == 3
			return true
		}},
		{"loses an answer", "answers", "is lost on the way up", func(p *passing) bool { return !isAnswer(p) || p.n != 2 }},
		{"names another model", "answers", "result.model", func(p *passing) bool {
			if isAnswer(p) {
				set(p.m, "result", "model", "gateway")
			}
			return true
		}},
		{"drops the stop reason", "answers", "result.stopReason", func(p *passing) bool {
			if isAnswer(p) {
				set(p.m, "result", "stopReason", nil)
			}
			return true
		}},
		{"has an error code of its own", "answers", "error.code", func(p *passing) bool {
			if isAnswer(p) {
				set(p.m, "error", "code", json.Number("-32000"))
			}
			return true
		}},
		{"makes a result of an error", "answers", "expected response", func(p *passing) bool {
			if isAnswer(p) && p.m["error"] != nil {
				delete(p.m, "error")
				p.m["result"] = map[string]any{"role": "assistant"}
			}
			return true
		}},
		{"changes the result of a call", "calls", "result.content", func(p *passing) bool {
			if !p.up && p.kind == "tools/call" {
				set(p.m, "result", "content", []any{})
			}
			return true
		}},
		{"loses a call", "calls", "is lost on the way up", losesOne("tools/call", 1)},
		{"answers a call by itself", "calls", "the server was not asked", func(p *passing) bool {
			return !p.up || p.m["method"] != "tools/call" || p.n != 2
		}},
		{"changes arguments", "calls", "params.arguments", func(p *passing) bool {
			if p.up && p.m["method"] == "tools/call" {
				set(p.m, "params", "arguments", map[string]any{"a": "b"})
			}
			return true
		}},
		{"renames input keys", "calls", "inputRequests", func(p *passing) bool {
			if inputs, ok := member(p.m, "result", "inputRequests").(map[string]any); ok && !p.up {
				renamed := map[string]any{}
				for name, one := range inputs {
					renamed["x-"+name] = one
				}
				set(p.m, "result", "inputRequests", renamed)
			}
			return true
		}},
		{"drops a retry's responses", "calls", "inputResponses", func(p *passing) bool {
			if p.up && p.m["method"] == "tools/call" {
				set(p.m, "params", "inputResponses", nil)
			}
			return true
		}},
		{"loses cancels", "cancels", "is lost on the way down", func(p *passing) bool {
			return p.up || p.m["method"] != "notifications/cancelled"
		}},
		{"drops progress tokens", "progress", "tools/call basic-question is lost on the way up", func(p *passing) bool {
			if meta, ok := member(p.m, "params", "_meta").(map[string]any); ok && p.up {
				delete(meta, "progressToken")
			}
			return true
		}},
		{"keeps the server's id in cancels", "cancels", "names", func(p *passing) bool {
			if !p.up && p.m["method"] == "notifications/cancelled" {
				set(p.m, "params", "requestId", "server-7")
			}
			return true
		}},
	} {
		t.Run(bug.name, func(t *testing.T) {
			failed := judgedLegs(t, bug.change)
			require.Contains(t, failed[bug.check], bug.message, "%v", failed)
			if bug.name != "answers by itself" {
				require.NotContains(t, failed["requests"], "no client was asked")
			}
		})
	}
}

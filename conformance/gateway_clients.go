package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// gatewayClients: several clients at once have their own capabilities, requests and answers.
const gatewayClients = "clients"

// mute is the client without sampling; the others answer with their names.
const mute = "mute"

// orders are the orders in which the clients connect: a gateway may take the first one's capabilities for all. Ten at
// once exhaust a small pool of connections or threads.
var orders = [][]string{{mute, "one", "two"}, {"one", "two", mute},
	{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}}

// atOnce is a session in which several clients use a gateway at once.
type atOnce struct {
	order []string
	wait  time.Duration // of the first call for those of the others

	mu      sync.Mutex
	seen    map[string]*seen // by client
	arrived chan struct{}    // closed by release
	release func()           // when every client's call has reached the server, or at the end of the wait for them
	failed  map[string]error // by client, why its call did not succeed
}

// seen is what the server sees of a client in its call.
type seen struct {
	declares bool // sampling
	answer   string
	err      error
}

// longestWait is how long the calls wait for each other. A gateway may serve them one after the other.
const longestWait = 2 * time.Second

// together plays several clients at once through a gateway that listens, in each order of connecting. Nil for a gateway
// that each client launches for itself.
func (s *Suite) together(ctx context.Context, revision server.Revision) (*report.Result, []*trace.Trace, error) {
	var sessions []*atOnce
	var traces []*trace.Trace
	samples := 0
	for _, order := range orders {
		o := newAtOnce(order, longestWait)
		through, ok := s.Client.Through(o.run)
		if !ok || !strings.HasPrefix(s.Client.Pair(), "HTTP") {
			return nil, nil, nil
		}
		var cases []harness.Case
		for _, name := range order {
			cases = append(cases, harness.Case{ID: gatewayScenario + "/" + name, Handler: o.handler(name)})
		}
		t, err := s.playAlone(ctx, through, revision, cases)
		if err != nil {
			return nil, traces, err
		}
		traces = append(traces, t)
		sessions = append(sessions, o)
		samples += o.samples()
	}
	return judgeTogether(revision, sessions, samples), traces, nil
}

// judgeTogether says what went wrong in the first of the sessions. Samples is how many clients the server could ask.
func judgeTogether(revision server.Revision, sessions []*atOnce, samples int) *report.Result {
	for _, o := range sessions {
		if r := o.judge(revision, samples); r.Verdict != report.Pass {
			return r
		}
	}
	return gatewayResult(gatewayClients, revision, report.Pass,
		"three and ten clients at once have their own capabilities, requests and answers")
}

func newAtOnce(order []string, wait time.Duration) *atOnce {
	arrived := make(chan struct{})
	return &atOnce{
		order:   order,
		wait:    wait,
		seen:    map[string]*seen{},
		failed:  map[string]error{},
		arrived: arrived,
		release: sync.OnceFunc(func() { close(arrived) }),
	}
}

// run connects the clients, one after the other, and lets each call its own tool, all at once.
func (o *atOnce) run(ctx context.Context, env harness.Env) error {
	var calls []func()
	for _, name := range o.order {
		options := client.Options{URL: env.URL, HTTP: env.HTTP, Revision: env.Revision,
			Capabilities: json.RawMessage(`{}`)}
		if name != mute {
			options.Capabilities = json.RawMessage(`{"sampling":{}}`)
			options.Sampling = func(context.Context, map[string]any) (map[string]any, error) {
				return map[string]any{"role": "assistant", "model": name, "stopReason": "endTurn",
					"content": map[string]any{"type": "text", "text": name}}, nil
			}
		}
		c, err := client.Connect(ctx, options)
		if err != nil {
			o.fail(name, fmt.Errorf("connecting: %w", err))
			continue
		}
		tool, err := ownTool(ctx, c, name)
		if err != nil {
			o.fail(name, errors.Join(err, c.Close()))
			continue
		}
		calls = append(calls, func() {
			_, err := c.CallTool(ctx, tool, nil)
			o.fail(name, errors.Join(err, c.Close()))
		})
	}
	var calling sync.WaitGroup
	for _, call := range calls {
		calling.Go(call)
	}
	calling.Wait()
	return nil
}

// ownTool returns the client's tool, which may have a prefix of the gateway.
func ownTool(ctx context.Context, c *client.Client, name string) (string, error) {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return "", err
	}
	for _, tool := range tools {
		if strings.HasSuffix(tool.Name, gatewayScenario+"-"+name) {
			return tool.Name, nil
		}
	}
	return "", errors.New("its tool is not in the list")
}

func (o *atOnce) fail(name string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.failed[name] = err
	}
}

// handler serves the call of a client: it asks the client who it is, while the calls of the others are open.
func (o *atOnce) handler(name string) server.Handler {
	return func(s *server.Session) (any, error) {
		mine := &seen{declares: s.Declares("sampling")}
		o.mu.Lock()
		if len(o.seen) == 0 {
			time.AfterFunc(o.wait, o.release)
		}
		if o.seen[name] = mine; len(o.seen) == len(o.order) {
			o.release()
		}
		o.mu.Unlock()
		select {
		case <-o.arrived:
		case <-s.Context().Done():
		}
		if !mine.declares || name == mute {
			return "done", nil
		}
		answer, err := server.As[server.Answer](s.Sample(s.Ask("Which client are you?")))
		o.mu.Lock()
		defer o.mu.Unlock()
		if mine.err = err; err == nil {
			mine.answer = answer.Text()
		}
		return "done", nil
	}
}

// samples is how many clients the server can ask.
func (o *atOnce) samples() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for name, s := range o.seen {
		if name != mute && s.declares {
			n++
		}
	}
	return n
}

// judge says what went wrong in the session. Samples is how many clients the server could ask in all of them.
func (o *atOnce) judge(revision server.Revision, samples int) *report.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	connected := strings.Join(o.order, ", ")
	name := ""
	fail := func(verdict report.Verdict, format string, args ...any) *report.Result {
		r := gatewayResult(gatewayClients, revision, verdict,
			fmt.Sprintf(format, args...)+"; the clients connected in the order "+connected)
		r.Case = gatewayScenario + "/" + name
		return r
	}
	for _, name = range o.order {
		s := o.seen[name]
		switch {
		case s == nil:
			return fail(report.Warn, "expected the calls of %d clients at the server, found none of %s: %v", len(o.order),
				name, o.failed[name])
		case name == mute && s.declares:
			return fail(report.Fail, "expected no sampling in the capabilities of a client that declares none, found sampling")
		case name == mute:
		case samples == 0:
			return gatewayResult(gatewayClients, revision, report.NotApplicable,
				"no client's sampling reaches the server: see gateway/capabilities")
		case !s.declares:
			return fail(report.Fail, "expected sampling in the capabilities of the client %s, found none", name)
		case s.err != nil:
			return fail(report.Fail, "expected an answer of the client %s beside other clients, found none: %v", name, s.err)
		case s.answer != name:
			return fail(report.Fail, "expected the answer of the client %s, found that of %s", name, s.answer)
		}
	}
	return gatewayResult(gatewayClients, revision, report.Pass, "")
}

// gatewayResult is a result of a session of its own. It rests on what both sides saw, not on messages.
func gatewayResult(check string, revision server.Revision, verdict report.Verdict, message string) *report.Result {
	return &report.Result{Scenario: gatewayScenario, Check: check, Revision: string(revision),
		Level: report.Robust, Verdict: verdict, Message: message, Evidence: []report.Evidence{}}
}

// playAlone plays cases with a client through the gateway, in a session of its own. The trace is nil if the context has
// ended.
func (s *Suite) playAlone(
	ctx context.Context, through harness.Client, revision server.Revision, cases []harness.Case,
) (*trace.Trace, error) {
	runner := s.runner(revision, nil)
	runner.Client, runner.Contained, runner.Progress = through, nil, nil
	return runner.One(ctx, cases)
}

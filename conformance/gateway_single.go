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

// gatewayLarge: messages of 5 MB pass, or are refused with an error. gatewaySlow: so does an answer that takes time.
const (
	gatewayLarge = "large"
	gatewaySlow  = "slow"
)

// largeText and largeAnswer are texts of 5 MB, for each direction.
var (
	largeText   = sync.OnceValue(func() string { return strings.Repeat("a long question ", 5<<20/16) })
	largeAnswer = sync.OnceValue(func() string { return strings.Repeat("a longer answer ", 5<<20/16) })
)

// methodNotFound is the error of a gateway that passes no sampling request at all.
const methodNotFound = -32601

// largeLimit is how long a message of 5 MB may take: on a busy machine some gateways need seconds. slowAnswer is how
// long a person or a model takes for an answer.
const (
	largeLimit = 30 * time.Second
	slowAnswer = 15 * time.Second
)

// single is a session with one sample that asks much of a gateway.
type single struct {
	name     string // of the check
	what     string // of the request and its result
	question func() string
	reply    func() string
	takes    time.Duration // until the client answers
	limit    time.Duration // of the call

	mu      sync.Mutex
	asked   string // what reached the client; "" for nothing
	said    string // what reached the server
	refused error  // what the server got in place of an answer
	failed  error  // what the client got in place of the call's result
	late    bool   // the client got nothing in time
	mute    bool   // the server sees no sampling

	called, answered bool // the call reached the server, and an answer
}

// run calls the tool that samples.
func (l *single) run(ctx context.Context, env harness.Env) error {
	c, err := client.Connect(ctx, client.Options{URL: env.URL, HTTP: env.HTTP, Launch: env.Launch, Revision: env.Revision,
		Capabilities: json.RawMessage(`{"sampling":{}}`), Sampling: l.answer})
	if err != nil {
		return l.fail(err)
	}
	defer c.Close()
	tool, err := ownTool(ctx, c, l.name)
	if err != nil {
		return l.fail(err)
	}
	limited, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()
	_, err = c.CallTool(limited, tool, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed, l.late = err, limited.Err() != nil
	return nil
}

// fail notes why the tool was not called.
func (l *single) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	return nil
}

func (l *single) answer(ctx context.Context, params map[string]any) (map[string]any, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(l.takes):
	}
	text := ""
	if messages, _ := params["messages"].([]any); len(messages) == 1 {
		message, _ := messages[0].(map[string]any)
		content, _ := message["content"].(map[string]any)
		text, _ = content["text"].(string)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = text
	return map[string]any{"role": "assistant", "model": "large", "stopReason": "endTurn",
		"content": map[string]any{"type": "text", "text": l.reply()}}, nil
}

func (l *single) handle(s *server.Session) (any, error) {
	l.mu.Lock()
	l.called = true
	l.mu.Unlock()
	if !s.Declares("sampling") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.mute = true
		return "done", nil
	}
	answer, err := server.As[server.Answer](s.Sample(s.Ask(l.question())))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused = err; err == nil {
		l.answered, l.said = true, answer.Text()
	}
	return "done", nil
}

// judge says what became of the messages.
func (l *single) judge(revision server.Revision) *report.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	verdict, message := report.Pass, "a sampling request and a result "+l.what+" pass"
	var refused *server.RPCError
	switch {
	case l.mute, errors.As(l.refused, &refused) && refused.Code == methodNotFound:
		verdict, message = report.NotApplicable, "no client's sampling reaches the server, whatever its size"
	case l.asked != "" && !strings.HasPrefix(l.asked, l.question()): // a mark follows
		verdict, message = report.Fail, "expected a sampling request "+l.what+" unchanged at the client, found another: "+
			"changed on the way down"
	case l.said == l.reply():
	case l.answered:
		verdict, message = report.Fail, "expected a result "+l.what+" unchanged at the server, found another: changed on "+
			"the way up"
	case l.late:
		verdict, message = report.Fail, "expected a sampling request or a result "+l.what+" to pass, or an error in its "+
			"place, found neither within "+l.limit.String()
	case l.refused != nil:
		message = "a message " + l.what + " is refused with an error for the server: " + l.refused.Error()
	case l.called && errors.Is(l.failed, client.ErrNoResponse):
		verdict, message = report.Fail, "expected a sampling request or a result "+l.what+" to pass, or an error in its "+
			"place: "+l.failed.Error()
	case l.called && l.failed != nil:
		message = "a message " + l.what + " is refused with an error for the client: " + l.failed.Error()
	default:
		verdict, message = report.Warn, "expected the call of a tool that asks for a result "+l.what+" at the server, "+
			"found none: "+fmt.Sprint(l.failed)
	}
	return gatewayResult(l.name, revision, verdict, message)
}

// ofFiveMegabytes is a sample of 5 MB in both directions.
func ofFiveMegabytes(limit time.Duration) *single {
	return &single{name: gatewayLarge, what: "of 5 MB", question: largeText, reply: largeAnswer, limit: limit}
}

// thatTakes is a sample that takes some time.
func thatTakes(d, limit time.Duration) *single {
	return &single{name: gatewaySlow, what: "that takes " + d.String(), takes: d, limit: d + limit,
		question: func() string { return "What do you think, after some thought?" },
		reply:    func() string { return "It can wait." }}
}

// session returns the name of the session and how long its call may take.
func (l *single) session() (name string, limit time.Duration) { return l.name, l.limit }

// loneCall is a session with one call.
type loneCall interface {
	session() (name string, limit time.Duration)
	run(context.Context, harness.Env) error
	handle(*server.Session) (any, error)
	judge(server.Revision) *report.Result
}

// alone plays the call through the gateway. Nil for a client that is not a gateway.
func (s *Suite) alone(
	ctx context.Context, l loneCall, revision server.Revision,
) (*report.Result, *trace.Trace, error) {
	through, ok := s.Client.Through(l.run)
	if !ok {
		return nil, nil, nil
	}
	name, limit := l.session()
	one := harness.Case{ID: gatewayScenario + "/" + name, Handler: l.handle, Wait: limit}
	t, err := s.playAlone(ctx, through, revision, []harness.Case{one})
	if err != nil {
		return nil, nil, err
	}
	r := l.judge(revision)
	r.Case = one.ID
	return r, t, nil
}

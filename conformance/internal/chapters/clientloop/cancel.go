package clientloop

import (
	"context"
	"sync"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// The server cancels a sampling request while the client waits for a tool, and while it waits for the model after a
// tool has answered. Only the older era has such cancels.
var (
	cancelTool  = cancelling("cancel-tool", false)
	cancelModel = cancelling("cancel-model", true)
)

// holding is what the tool, the model and the handler of such a case share in a session.
type holding struct {
	gate    llm.Gate
	started chan struct{} // closed when the tool runs
	stopped chan struct{} // closed when its call was cancelled
	release chan struct{} // closed to let it answer
}

const word = "slackwater" // the gate knows the request to the model by it

// cancelling is not inlined: its closures would be in the binary once for each case.
//
//go:noinline
func cancelling(id string, model bool) harness.Case {
	return harness.Case{ID: "client-loop/" + id, Revisions: check.NewestLegacy, Barrier: true, ClientLoop: true,
		Make: func(harness.Limits) harness.Stage {
			h := &holding{started: make(chan struct{}), stopped: make(chan struct{}), release: make(chan struct{})}
			started, stopped := sync.OnceFunc(func() { close(h.started) }), sync.OnceFunc(func() { close(h.stopped) })
			tool := story.Gauge("loop_"+map[bool]string{false: "ebb", true: "drift"}[model], "The current at a place", nil)
			tool.Handler = func(s *server.Session) (any, error) {
				started()
				defer context.AfterFunc(s.Context(), stopped)()
				if !model {
					story.WaitFor(2*story.Reaction, h.release, s.Context().Done())
				}
				return "The current is weak.", nil
			}
			last := llm.When(llm.Turn(2)).Reply(llm.Text("It is weak.")).Optional()
			if model {
				h.gate.Close(word)
				last = last.Hold(&h.gate)
			}
			return harness.Stage{Tools: []server.Tool{tool}, Settled: func(ctx context.Context) { h.gate.Idle(ctx) },
				Handler: func(s *server.Session) (any, error) { return h.play(s, tool, model) },
				Rules: []*llm.Rule{llm.When(llm.LastUser("fish")).Reply(llm.Text("A herring.")).Optional(),
					llm.When(llm.Turn(1)).ReplyFunc(offering([]server.Tool{tool}, func(*llm.Request) []llm.Block {
						return []llm.Block{at(tool.Name, "Hull")}
					})), last}}
		}}
}

func (h *holding) play(s *server.Session, tool server.Tool, model bool) (any, error) {
	release := sync.OnceFunc(func() {
		close(h.release)
		h.gate.Open(word)
	})
	defer release()
	asked, err := s.Start(asking(s, "How strong is the current ("+word+")?", nil, tool))
	if err != nil {
		return nil, err
	}
	busy, over := h.started, h.stopped
	if model {
		busy = nil
	}
	select {
	case <-busy:
	case <-h.held(model):
	case <-asked.Done():
		return asked.Wait() // there is nothing left to cancel
	}
	if err := asked.Cancel("the answer is not needed any more"); err != nil {
		return nil, err
	}
	later, err := s.Start(s.Ask("Name a fish."))
	if err != nil {
		return nil, err
	}
	story.WaitFor(story.CancelIgnoredAfter, later.Done(), nil)
	ended := (<-chan struct{})(over)
	if model {
		ended = h.gate.Ended(word)
	}
	noticed := story.WaitFor(story.Reaction, ended, nil)
	release()
	if !noticed { // let the client show that it goes on
		story.WaitFor(story.Reaction, asked.Done(), nil)
	}
	return later.Wait()
}

// held is closed when the model holds back its second answer; nil if it does not.
func (h *holding) held(model bool) <-chan struct{} {
	if !model {
		return nil
	}
	return h.gate.Held(word)
}

var cancelStopsLoop = func() check.Check {
	c := rule(check.Check{
		ID:    "cancel-stops-loop",
		Rule:  "A client that runs the tool loop ends its tool call and its model request when the server cancels",
		Cause: "the cancel reaches the sampling handler, and not what the handler waits for",
		Fix: "Pass the context or abort signal of the sampling request to tools/call and to the model request. Begin " +
			"neither after it.",
		Judge: stopsLoop,
	}, "cancel-tool", "cancel-model")
	c.Levels = check.InNewestLegacy(report.Robust)
	return c
}()

func stopsLoop(e *evidence.Case) check.Verdict {
	r, s := round(e), e.Session
	cancel := e.Cancelled(r)
	if cancel == nil {
		return check.NotObserved("the client responded before the server could cancel%s", e.WhyNoResult(1))
	}
	at := s.Order[cancel.Ref]
	calls, rounds := e.ToolCalls()
	open := 0
	for i, call := range calls {
		switch {
		case rounds[i] != r || call.Ended < at:
		case call.Began > at:
			return check.Fail("expected no tool call after the cancel, found one").At(*cancel, call.Place)
		case call.Cancelled == nil:
			return check.Fail("expected the client to cancel its tool call after the cancel of the request, found no cancel").
				At(*cancel, call.Place)
		default:
			open++
		}
	}
	for _, x := range r.Model {
		switch {
		case x.Began > at:
			return check.Fail("expected no model request after the cancel, found one").At(*cancel, x.Place)
		case x.Behind > at && !x.End.HungUp && !x.End.Closed:
			return check.Fail("expected the client to hang up on the model after the cancel, found that it waited").
				At(*cancel, x.Place)
		case x.Behind > at:
			open++
		}
	}
	if open == 0 {
		return check.NotObserved("neither a tool call nor a model request was open when the cancel came").At(*cancel)
	}
	return check.UnsettledSince(e, *cancel).Or(check.Pass("the client ended what it waited for"))
}

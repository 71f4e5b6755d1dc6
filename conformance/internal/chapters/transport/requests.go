package transport

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The server asks on the stream of the call.
var postStream = story.Delivered(harness.Case{ID: "transport/post-stream", Revisions: check.NewestLegacy},
	askOnce())

var onPostStream = check.Check{
	ID: "on-post-stream", Rule: "The client MUST respond to a request that comes on the stream of a call", Levels: must,
	Cases: []string{"post-stream"}, Statements: []string{"streamable-http/07"},
	Needs: []check.Need{overHTTP, asked},
	Cause: "the client reads only the response from the stream of a POST",
	Fix:   "Pass every message of the stream to the handler of all messages, and only the response to the caller.",
	Judge: func(e *evidence.Case) check.Verdict { return served(e, e.Rounds[0], "on the stream of the call") },
}

// The server says between two questions that its tools changed, as one does whose tools depend on its state.
var toolsChanged = story.Delivered(harness.Case{ID: "transport/tools-changed", Revisions: check.NewestLegacy},
	func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("Does this come through before?")); err != nil {
			return nil, err
		}
		err := s.Transport().Send([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		if err != nil {
			return nil, err
		}
		return askOnce()(s)
	})

var afterNotice = check.Check{
	ID: "after-notice", Rule: "The client serves a sampling request after a notice that the tools have changed",
	Levels: robust, Cases: []string{"tools-changed"}, Requests: 2,
	Cause: "the handler of the notification lists the tools again and waits for them, and no message is read meanwhile",
	Fix:   "List the tools again in a task of its own, and read on.",
	Judge: func(e *evidence.Case) check.Verdict {
		const how = "after a notice that the tools have changed"
		s, before, r := e.Session, e.Rounds[0], e.Rounds[1]
		hangs := s.Ended != nil && s.Ended.Deadline && !s.ServedLater(s.Order[r.Asked.Ref])
		if len(r.Answers) == 0 && before.Result() != nil && hangs {
			return check.Fail("expected a response to a sampling request %s, found none: %s", how, s.Ending()).
				At(r.Asked).ShowOutput(s)
		}
		return served(e, r, how)
	},
}

// The server asks on the stream that the client opened with GET, if it did.
var getStream = story.Delivered(harness.Case{ID: "transport/get-stream", Revisions: check.NewestLegacy},
	func(s *server.Session) (any, error) {
		ctx, cancel := context.WithTimeout(s.Context(), story.ListenPatience)
		defer cancel()
		if !s.Transport().WaitForGETStream(ctx) {
			return "no stream to ask on", nil
		}
		return askOnce(server.OnGETStream())(s)
	})

var onGETStream = check.Check{
	ID: "on-get-stream", Rule: "The client MUST respond to a request that comes on the stream that it opened with GET",
	Levels: must, Cases: []string{"get-stream"}, Statements: []string{"transports/15"},
	Needs: []check.Need{overHTTP},
	Cause: "the client opens the stream for notifications, and has no handler for requests on it, or drops events " +
		"without a field event, whose type is message",
	Fix: "Pass every message of the stream to the handler of all messages.",
	Judge: func(e *evidence.Case) check.Verdict {
		if len(e.Rounds) == 0 {
			return check.NotApplicable("the client opened no stream with GET, as it may")
		}
		return served(e, e.Rounds[0], "on the stream that the client opened with GET")
	},
}

// The server responds to the call with plain JSON. In 2025-11-25 it then has no stream to ask on.
var plain = story.Delivered(harness.Case{ID: "transport/plain", ResponseMode: server.JSON, Revisions: check.WithTools},
	func(s *server.Session) (any, error) {
		if !s.Revision().Modern() {
			return "a plain response", nil
		}
		return askOnce()(s)
	})

var acceptsJSON = check.Check{
	ID: "accepts-json", Rule: "The client MUST accept a plain JSON response", Levels: mustBoth, Cases: []string{"plain"},
	Statements: []string{"streamable-http/07"},
	Needs:      []check.Need{overHTTP, plainResponseSent, notRefused},
	Cause:      "the client reads every body as an event stream, whatever its Content-Type",
	Fix:        "Read the Content-Type of each response: application/json is one message, text/event-stream a stream.",
	Judge: func(e *evidence.Case) check.Verdict {
		response := *plainResponse(e)
		var why evidence.Why
		failed := e.ReportedOutcome() == harness.Failed
		if e.Revision.Modern() && len(e.Rounds) > 0 && len(e.Rounds[0].Answers) == 0 {
			if why = e.WhyNoResult(1); !failed {
				return check.UnsettledSince(e, response).
					Or(check.Missing("expected a retry after a plain JSON result that asks for input, found none%s", why).At(response))
			}
		}
		if failed {
			return check.Fail("expected the client to accept plain JSON, found that it reports a failed call%s",
				why).At(response)
		}
		return check.Survived(e, response, "the client did not go on after a plain JSON response").
			Or(check.Pass("the client accepted a plain JSON response"))
	},
}

// plainResponse returns the place of the first result that came without a stream; nil for none.
func plainResponse(e *evidence.Case) *evidence.Place {
	var plain *evidence.Place
	e.EachFrame(func(ev *trace.Event, m *evidence.Message) {
		if f := ev.Frame; plain == nil && f.Dir == trace.ToClient && m.Result != nil && f.Stream == "" {
			plain = &evidence.Place{Ref: ev.Ref(), Path: "result", Label: "plain response"}
		}
	})
	return plain
}

var plainResponseSent = check.Observed(plainResponse, "the server sent no plain JSON response")

func notRefused(e *evidence.Case) *check.Verdict {
	return check.Unless(e.TurnedDown == "",
		check.NotObserved("the server refused a request with %s", e.TurnedDown).At(e.TurnedDownAt))
}

// The server's request has the id of the client's pending call.
var sameID = story.Delivered(harness.Case{ID: "transport/same-id", Revisions: check.NewestLegacy},
	askOnce(server.WithCallID()))

var idCollision = check.Check{
	ID: "id-collision", Rule: "The client responds to a request whose id equals the id of its own pending request",
	Levels: robust, Requests: 1, Cases: []string{"same-id"},
	Cause: "the client takes every message with the id of a pending request as its response, even a request",
	Fix:   "Test for method first. A message with one is a request of the server, which has its own ids.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if v := served(e, r, "with the id of the client's own pending call"); v.Kind != report.Pass {
			return v
		}
		if e.ReportedOutcome() == harness.Failed {
			return check.Fail("expected a completed call, found that the client reports a failed call").At(r.Asked)
		}
		return check.Pass("the client responded to the request, and the call ended")
	},
}

// readPatience is how long a client may take to respond to a ping while it samples.
const readPatience = 2 * time.Second

// The server sends a request twice while the model thinks, and then another one. A client that responds to the ping has
// read both; a client that handles one request at a time does not respond to it.
var repeated = story.Gated(harness.Case{ID: "transport/repeated", Revisions: check.NewestLegacy},
	func(gate *story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			asked, word, err := story.AskHeld(s, gate)
			defer gate.Open(word)
			if err == nil {
				err = asked.Resend()
			}
			if err != nil {
				return nil, err
			}
			if ping, err := s.Start(nil, server.Ping); err == nil {
				story.WaitFor(readPatience, ping.Done(), s.Context().Done())
			}
			gate.Open(word)
			story.Wait(s, asked)
			return "done", askAndWait(s, s.Ask("Name a fish."))
		}
	})

// duplicateRequest only warns about two results: the server is at fault, and each request has a response.
var duplicateRequest = check.Check{
	ID: "duplicate-request", Rule: "The client sends at most one result for a request that comes twice, and goes on",
	Levels: robust, Requests: 2, Cases: []string{"repeated"},
	Cause: "the client does not remember request ids, so it samples twice",
	Fix:   "Remember the ids of pending and answered requests. Ignore a second request, or respond with an error.",
	Judge: func(e *evidence.Case) check.Verdict {
		first, second, last := e.Rounds[0], e.Rounds[1], e.Rounds[len(e.Rounds)-1]
		twice := func(v check.Verdict) check.Verdict {
			return v.At(first.Asked).Show(second.Asked, "the same again")
		}
		responses := slices.Concat(first.Answers, second.Answers)
		results := slices.DeleteFunc(slices.Clone(responses), func(a evidence.Answer) bool { return a.Result == nil })
		another := len(e.Rounds) > 2
		switch {
		case len(results) > 1:
			return twice(check.Warn("expected at most 1 result for one id, found %d", len(results))).
				At(results[0].Place, results[1].Place)
		case len(responses) == 0 && !e.Session.AnswersAny():
			return answersNothing(e)
		case len(responses) == 0:
			return afterRepeat(e, second, twice(check.Missing("expected a response to a request that came twice, found none")))
		case another && len(last.Answers) == 0:
			return afterRepeat(e, last, check.Missing("expected a response to the request after the repeated one, found none").
				At(second.Asked, last.Asked))
		}
		if v := check.UnsettledSince(e, second.Asked); v != nil {
			return *v
		}
		// If the end of the call cut off a second result, the model still received more requests than for the last one.
		prompts, most := slices.Concat(first.Model, second.Model), len(last.Model)
		if another && most > 0 && len(prompts) > most {
			return twice(check.Warn("expected at most %d requests to the model for one id, found %d", most, len(prompts))).
				At(prompts[0].Place, prompts[len(prompts)-1].Place)
		}
		return check.Pass("no second result came")
	},
}

// afterRepeat returns the failure, or the verdict for a client that did not go on after the round.
func afterRepeat(e *evidence.Case, r *evidence.Round, failure check.Verdict) check.Verdict {
	return check.Survived(e, r.Asked, "the client did not go on after a request that came twice").Or(failure)
}

var withBatches = check.With(server.Revision.HasBatches)

// The server sends three sampling requests in one batch. The case is isolated: a client that cannot read a batch may
// lose its connection.
var together = story.Gated(
	harness.Case{ID: "transport/together", Revisions: withBatches, Isolated: true},
	func(*story.Gate) server.Handler {
		return func(s *server.Session) (any, error) {
			asked, err := s.Transport().StartBatch(s.Ask("Name a bird."), s.Ask("Name a fish."), s.Ask("Name a tree."))
			if err != nil {
				return nil, err
			}
			for _, one := range asked {
				story.WaitFor(story.Reaction, one.Done(), s.Context().Done())
			}
			return "done", nil
		}
	})

var batch = check.Check{
	ID: "batch", Rule: "The client MUST respond to each request of a batch",
	Levels: check.In(withBatches, report.Must), Cases: []string{"together"},
	Statements: []string{"basic/batching"}, Needs: []check.Need{batchSent},
	Cause: "the client expects one message, and ignores an array, or ends the stream with an error",
	Fix:   "Split an array, and respond to each request in it, in a batch or separately. Only 2025-03-26 has batches.",
	Judge: func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if v := inBatch(e, r); v != nil {
				return *v
			}
		}
		return check.Pass("the client responded to each request of the batch")
	},
}

func batchMark(e *evidence.Case) *trace.Event { return mark(e, trace.MarkBatch) }

var batchSent = check.Observed(batchMark, "the server did not send the batch")

// inBatch returns nil for a request with a refusal or its own result.
func inBatch(e *evidence.Case, r *evidence.Round) *check.Verdict {
	if r.CassetteMiss() != "" {
		return check.Instead(check.NoResult(e, r))
	}
	if len(r.Answers) == 0 {
		if v := check.Survived(e, r.Asked, "the client did not go on after a batch"); v != nil {
			return v
		}
		sent := batchMark(e)
		v := check.Missing("expected a response to request %d of a batch, found none%s", r.N, e.WhySilent(e.FirstCall))
		v = v.Show(at(sent, "a batch"), "%s", sent.Mark.Text).At(r.Asked)
		return check.Instead(v.ShowOutput(e.Session))
	}
	a := r.Result()
	if a == nil {
		return nil
	}
	if other := story.ForeignAnswer(a, r); other != "" {
		return check.Instead(check.Fail("expected the answer to request %d of a batch, found another: %q", r.N, other).
			At(r.Asked).Show(a.At("content"), "%s", strings.TrimSpace(dialect.PlainText(a.Blocks()))))
	}
	return nil
}

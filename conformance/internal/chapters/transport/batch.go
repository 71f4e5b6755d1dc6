package transport

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The server sends three sampling requests in one batch. The case is isolated: a client that cannot read a batch may
// lose its connection.
var together = story.Pondered(
	harness.Case{ID: "transport/together", Revisions: []server.Revision{server.V20250326}, Isolated: true},
	func(*story.Stage) server.Handler {
		return func(s *server.Session) (any, error) {
			asked, err := s.StartBatch(s.Ask("Name a bird."), s.Ask("Name a fish."), s.Ask("Name a tree."))
			if err != nil {
				return nil, err
			}
			for _, one := range asked {
				story.Either(story.Reaction, one.Done(), s.Context().Done())
			}
			return "done", nil
		}
	})

var batch = check.Check{
	ID: "batch", Rule: "The client MUST respond to each request of a batch",
	Levels: map[server.Revision]report.Level{server.V20250326: report.Must}, Cases: []string{"together"},
	Statements: []string{"2025-03-26/basic/batching"}, Needs: []check.Need{batchSent},
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
		return instead(check.NotObserved("no result for sampling request %d%s", r.N, e.WhyNoResult(r.N)))
	}
	if len(r.Answers) == 0 {
		if v := check.Survived(e, r.Asked, "the client did not go on after a batch"); v != nil {
			return v
		}
		sent := batchMark(e)
		v := check.Fail("expected a response to request %d of a batch, found none%s", r.N, e.Died())
		v = v.Show(at(sent, "a batch"), "%s", sent.Mark.Text).Show(r.Asked, "")
		return instead(check.ShowOutput(e.Session, v))
	}
	a := r.Result()
	if a == nil {
		return nil
	}
	if other := story.Others(a, r); other != "" {
		return instead(check.Fail("expected the answer to request %d of a batch, found that to another: %q", r.N, other).
			Show(r.Asked, "").Show(a.At("content"), "%s", strings.TrimSpace(dialect.PlainText(a.Blocks()))))
	}
	return nil
}

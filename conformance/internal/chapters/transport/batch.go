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

// A client that cannot read a batch may lose its connection over it, and with that whatever else is asked of it: so it is asked nothing else.
var batchCases = []harness.Case{
	story.Pondered(harness.Case{ID: "transport/together", Revisions: []server.Revision{server.V20250326}, Isolated: true}, sampleTogether),
}

var batchChecks = []check.Check{batch}

// sampleTogether asks three samples in one batch, and waits for each as long as a client may take for one.
func sampleTogether(*story.Stage) server.Handler {
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
}

var batch = check.Check{
	ID: "batch", Rule: "each request of a batch is answered", Levels: map[server.Revision]report.Level{server.V20250326: report.Must},
	Statements: []string{"2025-03-26/basic/batching"}, Cases: []string{"together"},
	Cause: "what comes is read as one message, so that an array is nothing, or an error that ends the stream",
	Fix:   "take an array apart, and answer each request in it, in a batch or by itself: 2025-03-26 has batches, which later revisions have not",
	Judge: func(e *evidence.Case) check.Verdict {
		sent := find(e, func(ev *trace.Event) bool { return ev.Mark != nil && ev.Mark.Name == trace.MarkBatch }, "a batch")
		if sent == nil {
			return check.NotObserved("the server did not get as far as the batch%s", e.Died())
		}
		for _, r := range e.Rounds {
			a := r.Result()
			switch {
			case r.CassetteMiss() != "":
				return check.NotObserved("no result for sampling request %d%s", r.N, e.WhyNoResult(r.N))
			case len(r.Answers) == 0:
				if v := check.Survived(e, r.Asked, "the client did not go on after a batch"); v != nil {
					return *v
				}
				return check.ShowOutput(e.Session, check.Fail("request %d of a batch was not answered%s", r.N, e.Died()).Show(*sent, "%s", e.Session.Trace.Find(sent.Ref).Mark.Text).Show(r.Asked, ""))
			case a == nil: // a client may refuse what it likes, one by one
			default:
				if of := story.Others(a, r); of != "" {
					return check.Fail("the answer is that of another request of the batch: it says %q", of).Show(r.Asked, "").Show(a.At("content"), "%s", strings.TrimSpace(dialect.PlainText(a.Blocks())))
				}
			}
		}
		return check.Pass("the client answered each request of the batch")
	},
}

package basic

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// longText returns a text of a little more than size bytes, in characters of one to four bytes.
func longText(size int) string {
	const line = "Many bytes: “a”, é, 答え, 🗼, \\ and \"quotes\" in one line.\n"
	return strings.Repeat(line, size/len(line)+1)
}

// First the model speaks at length: a megabyte. Then the user, with a prompt that overflows the buffers of careless
// readers and that every model accepts.
var long, shorter = atLength(1 << 20), atLength(100 << 10)

// atLength is the case long with an answer of so many bytes.
func atLength(answer int) harness.Case {
	return harness.Case{
		ID: "basic/long",
		Handler: func(s *server.Session) (any, error) {
			if _, err := s.Sample(s.Ask("Speak at length.")); err != nil {
				return nil, err
			}
			return s.Sample(s.Ask(longText(100 << 10)))
		},
		Script: func(string) []*llm.Rule {
			return []*llm.Rule{
				llm.When(llm.LastUser("at length")).Reply(llm.Text(longText(answer))),
				llm.When().Reply(llm.Text("That was long.")),
			}
		},
	}
}

var systemPrompt = check.Check{
	ID: "system-prompt", Cases: []string{"question", "tuned"},
	Rule:   "Reports whether the system prompt is passed on",
	Levels: check.May, Requests: 1, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "the client may change or omit the system prompt",
	Fix:   nothingToFix,
	Judge: func(e *evidence.Case) check.Verdict {
		r, x := e.Rounds[0], e.Rounds[0].LastExchange()
		asked, got := r.Params.System, x.Request.System
		what := "changed or replaced"
		switch {
		case got == asked:
			what = "passed on unchanged"
		case strings.Contains(got, asked):
			what = "passed on, with more text around it"
		case x.Says(asked):
			what = "passed on as a message"
		case got == "":
			what = omitted
		}
		v := check.Info("the system prompt is %s", partly(what, e, evidence.SystemPrompt))
		return both(v, r.Asked.At("systemPrompt"), evidence.Quote(asked), x.Place, evidence.Quote(got))
	},
}

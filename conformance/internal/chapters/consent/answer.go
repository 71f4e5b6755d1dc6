package consent

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// The model's answer, in words that occur nowhere else.
const (
	answerBegins   = "It is the Nile"
	answerEnds     = "says heron 4471."
	DeclinedAnswer = answerBegins + ", " + answerEnds
)

// The user declines the model's answer.
var answer = harness.Case{
	ID: "consent/answer", Decision: harness.DeclineAnswer, Barrier: true,
	Expect:  refusal("a request whose answer the user declined"),
	Handler: func(s *server.Session) (any, error) { return s.Sample(s.Ask("Which river flows through Cairo?")) },
	Script:  story.Says(DeclinedAnswer),
}

var declinedAfter = check.Check{
	ID: "declined-after", Cases: []string{"answer"},
	Statements: []string{"sampling/03", "sampling/02"},
	Rule:       "An answer that the user declines does not reach the server",
	Levels:     check.Should, Requests: 1, Needs: []check.Need{userDecides},
	Cause: "the client returns the answer before the user has seen it, or quotes it in the error",
	Fix: "Show the answer first. If the user declines it, return an error that does not quote it. " +
		"Since 2026-07-28 do not retry the call.",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if len(r.CompletedCalls()) == 0 && len(e.Session.Unmarked) == 0 {
			return check.Unsupported("the user had no answer to decline: the client must call the model and then ask " +
				"the user about the answer").At(r.Asked)
		}
		for _, message := range e.Session.Sendings(func(string) bool { return true }) {
			if hit, where, text := message.Find(declinedText); text != "" {
				return check.Fail("expected nothing of the declined answer in what the client sends, found %s%s",
					hit.Name, evidence.DescribeForm(hit)).
					ShowAs("server asked", r.Asked, "← the model answered %q", DeclinedAnswer).Show(where, "%s", text)
			}
		}
		return check.Refused(e)
	},
}

// declinedText finds the declined answer, and what a shortened error contains of it.
var declinedText = leak.New(
	leak.Secret{Name: "all of it", Value: DeclinedAnswer},
	leak.Secret{Name: "its beginning", Value: answerBegins},
	leak.Secret{Name: "its end", Value: answerEnds},
)

package basic

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// Long texts, in characters of one to four bytes: an answer of a megabyte, and a prompt that overflows the buffers of
// careless readers and that every model accepts.
var (
	longLine   = "Many bytes: “a”, é, 答え, 🗼, \\ and \"quotes\" in one line.\n"
	longText   = strings.Repeat(longLine, 1<<20/len(longLine)+1)
	longPrompt = strings.Repeat(longLine, 100<<10/len(longLine)+1)
)

// First the model speaks at length, then the user.
var long = harness.Case{
	ID: "basic/long",
	Handler: func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("Speak at length.")); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask(longPrompt))
	},
	Script: func(string) []*llm.Rule {
		return llm.Script(
			llm.When(llm.LastUser("at length")).Reply(llm.Text(longText)),
			llm.When().Reply(llm.Text("That was long.")),
		)
	},
	Expect: expected{text: longText, prompt: 2, refusable: true},
}

var textIntact = check.Check{
	ID: "text-intact", Cases: []string{"question", "long"},
	Rule:   "The model's text reaches the server byte for byte, even a megabyte",
	Levels: check.Robust, Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the text is trimmed, cut or re-encoded, or the pieces of a stream are decoded one by one",
	Fix:   "Pass the text on unchanged, as bytes.",
	Judge: func(e *evidence.Case) check.Verdict {
		want, a := check.Expected[expected](e).text, e.Rounds[0].Result()
		at, got := a.At("content"), evidence.Joined(a.Blocks())
		if got == want {
			return check.Pass("the text is unchanged").Show(at, "%s", evidence.Quote(want))
		}
		return check.Fail("expected the model's text in the result, found another one").
			Show(evidence.Place{Label: "model said"}, "%s", evidence.Quote(want)).
			Show(at, "%s", evidence.Quote(got)).Show(at, "%s", difference(want, got))
	},
}

// difference shows where two texts differ.
func difference(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	expected, found := evidence.Around(want, at), evidence.Around(got, at)
	return fmt.Sprintf("from byte %d: expected %q, found %q", at, expected, found)
}

var promptReachesModel = check.Check{
	ID: "prompt-reaches-model", Cases: []string{"question", "truncated", "long"},
	Rule:   "The user's text reaches the model byte for byte, even a hundred kilobytes",
	Levels: check.Robust, Requests: 1,
	Cause: "the text is trimmed, put into a template, or cut at quotes or markup",
	Fix:   "Pass the text on unchanged, as bytes. Put what the client adds beside it.",
	Judge: func(e *evidence.Case) check.Verdict {
		want := check.Expected[expected](e)
		if len(e.Rounds) < want.prompt {
			why := e.WhyNoResult(want.prompt - 1)
			return check.NotObserved("the server did not send sampling request %d%s", want.prompt, why)
		}
		r := e.Rounds[want.prompt-1]
		if how := check.Refusal(e, r); want.refusable && how != "" {
			return check.Pass("the client refuses a text of this length: %s", how)
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		asked := dialect.PlainText(r.Params.LastUserTurn()[0].Content)
		for _, m := range x.Request.Messages {
			if m.Role == dialect.User && evidence.Holds(m.Content, asked) {
				return check.Pass("the model received the text unchanged").Show(x.At(m.Path), "%s", evidence.Quote(asked))
			}
		}
		v := check.Fail("expected the user's text in the model request, found it changed or missing").
			ShowAs("server sent", r.Asked.At("messages[0]"), "%s", evidence.Quote(asked))
		for _, m := range x.Request.Messages {
			v = v.ShowAs("model received", x.At(m.Path), "%s", evidence.Quote(dialect.PlainText(m.Content)))
		}
		return v
	},
}

var systemPrompt = check.Check{
	ID: "system-prompt", Cases: []string{"question"},
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
			what = "omitted"
		}
		v := check.Info("the system prompt is %s", what)
		return both(v, r.Asked.At("systemPrompt"), evidence.Quote(asked), x.Place, evidence.Quote(got))
	},
}

var systemPromptNotEchoed = check.Check{
	ID: "system-prompt-not-echoed", Cases: plain,
	Rule:   "The result does not contain the system prompt",
	Levels: check.Robust, Results: 1, Needs: []check.Need{check.ReadableContent(1)},
	Cause: "the whole conversation is returned, or the prompt is put before the model's text",
	Fix:   "Return what the model said, and nothing else.",
	Judge: func(e *evidence.Case) check.Verdict {
		r, a := e.Rounds[0], e.Rounds[0].Result()
		if r.Params == nil || r.Params.System == "" {
			return check.NotObserved("the server sent no system prompt")
		}
		for _, b := range evidence.Only(a.Blocks(), dialect.Text) {
			if strings.Contains(b.Text, r.Params.System) {
				return check.Fail("expected a result without the system prompt, found it in a text block").
					Show(a.At(b.Path), "%q", b.Text)
			}
		}
		return check.Pass("the result does not contain the system prompt")
	},
}

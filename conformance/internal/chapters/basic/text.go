package basic

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

var textIntact = check.Check{
	ID: "text-intact", Rule: "the model's text reaches the server byte for byte, also a megabyte of it", Levels: check.Everywhere(report.Robust), Results: 1,
	Cases: []string{"question", "long"},
	Cause: "the text is trimmed, cut, re-encoded, or put together from a stream's pieces without regard to what they end in",
	Fix:   "pass the text on as the bytes that it is",
	Judge: func(e *evidence.Case) check.Verdict {
		said := story.Answer
		if strings.HasSuffix(e.Case.ID, "/long") {
			said = longText
		}
		a := e.Rounds[0].Result()
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		got := evidence.Joined(a.Blocks())
		if got != said {
			return check.Fail("the text that the model said is not the text that the server got").
				Show(evidence.Place{Label: "model said"}, "%s", evidence.Quoted(said)).Show(a.At("content"), "%s", evidence.Quoted(got)).Show(a.At("content"), "%s", difference(said, got))
		}
		return check.Pass("the text came through unchanged").Show(a.At("content"), "%s", evidence.Quoted(said))
	},
}

var promptReachesModel = check.Check{
	ID: "prompt-reaches-model", Rule: "the user's text reaches the model byte for byte, also a hundred kilobytes of it", Levels: check.Everywhere(report.Robust), Requests: 1,
	Cases: []string{"question", "truncated", "long"},
	Cause: "the text is trimmed, put into a template, or cut where it holds quotes or markup",
	Fix:   "give the model the text as the bytes that it is; what the client adds goes beside it",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		if strings.HasSuffix(e.Case.ID, "/long") {
			if len(e.Rounds) < 2 {
				return check.NotObserved("the play did not get as far as sampling request 2%s", e.WhyNoResult(1))
			}
			r = e.Rounds[1]
			if how := check.Refusal(e, r); how != "" {
				return check.Pass("the client takes no text as long as this, and says so: %s", how)
			}
		}
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		asked := dialect.PlainText(r.Params.LastUserTurn()[0].Content)
		for _, m := range x.Request.Messages {
			if m.Role == dialect.User && evidence.Holds(m.Content, asked) {
				return check.Pass("the model got the text unchanged").Show(x.At(m.Path), "%s", evidence.Quoted(asked))
			}
		}
		v := check.Fail("the text that the server sent is not what the model was given").ShowAs("server sent", r.Asked.At("messages[0]"), "%s", evidence.Quoted(asked))
		for _, m := range x.Request.Messages {
			v = v.ShowAs("model was given", x.At(m.Path), "%s", evidence.Quoted(dialect.PlainText(m.Content)))
		}
		return v
	},
}

var systemPrompt = check.Check{
	ID: "system-prompt", Rule: "what becomes of the system prompt", Levels: check.Everywhere(report.May), Requests: 1, Cases: []string{"question"},
	Cause: "the system prompt is the client's to change or leave out",
	Fix:   "nothing: the client may do as it likes",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		asked, got := r.Params.System, x.Request.System
		tell := func(what string) check.Verdict {
			return check.Info("the system prompt %s", what).ShowAs("server sent", r.Asked.At("systemPrompt"), "%q", asked).ShowAs("model was given", x.Place, "%q", got)
		}
		switch {
		case got == asked:
			return tell("is passed on as it is")
		case strings.Contains(got, asked):
			return tell("is passed on, with more around it")
		case x.Says(asked):
			return tell("is passed on as a message")
		case got == "":
			return tell("is left out")
		}
		return tell("is altered, or another one stands in its place")
	},
}

var systemPromptNotEchoed = check.Check{
	ID: "system-prompt-not-echoed", Rule: "the system prompt does not stand in the answer", Levels: check.Everywhere(report.Robust), Results: 1, Cases: plainly,
	Cause: "the whole conversation is given back, or the prompt that was sent is put before the model's text",
	Fix:   "answer with what the model said, and nothing else",
	Judge: func(e *evidence.Case) check.Verdict {
		a := e.Rounds[0].Result()
		if v := check.UnreadableContent(a); v != nil {
			return *v
		}
		if e.Rounds[0].Params == nil || e.Rounds[0].Params.System == "" {
			return check.NotObserved("the server sent no system prompt")
		}
		for _, b := range evidence.Only(a.Blocks(), dialect.Text) {
			if strings.Contains(b.Text, e.Rounds[0].Params.System) {
				return check.Fail("the system prompt stands in the answer").Show(a.At(b.Path), "%q", b.Text)
			}
		}
		return check.Pass("the system prompt does not stand in the answer")
	},
}

var modelNamed = check.Check{
	ID: "model-named", Rule: "the model that the result names is the one that was asked", Levels: check.Everywhere(report.Advice), Results: 1, Cases: plainly,
	Cause: "the name is empty, a constant, or that of the client",
	Fix:   "set model to the name under which the provider was asked, or to the one that it reported",
	Judge: func(e *evidence.Case) check.Verdict {
		r := e.Rounds[0]
		x, missing := check.ModelRequest(r)
		if missing != nil {
			return *missing
		}
		a := r.Result()
		got, named := a.Text("model")
		switch {
		case !named:
			return check.NotObserved("the result names no model (see basic/has-model)").Show(a.At("model"), "%s", check.OrMissing(a.Member("model")))
		case alias(got, x.Request.Model):
			return check.Pass("the result names the model that was asked").Show(a.At("model"), "%q", got)
		}
		return check.Fail("the result names the model %q, and %q was asked", got, x.Request.Model).
			ShowAs("model asked", x.Place, "%q", x.Request.Model).Show(a.At("model"), "%q", got)
	},
}

// alias reports whether one name is the other, or a longer or shorter form of it: with a date, a provider or a folder, spelled for people.
func alias(a, b string) bool {
	a, b = letters(a), letters(b)
	return a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
}

// letters are the letters and digits of a name, in lower case.
func letters(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > utf8.RuneSelf {
			return c
		}
		return -1
	}, strings.ToLower(name))
}

// difference shows two texts where they part.
func difference(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	return fmt.Sprintf("from byte %d on: %q, where %q is due", at, evidence.Surrounding(got, at), evidence.Surrounding(want, at))
}

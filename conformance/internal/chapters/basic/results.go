package basic

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// The checks in this file judge the form of a result. Their cases are in question.go and endings.go.

// judge is the type of [check.Check.Judge].
type judge = func(*evidence.Case) check.Verdict

// eachResult returns a judge that passes, with the message, unless fault returns a verdict for one of the results.
func eachResult(pass string, fault func(*evidence.Case, *evidence.Answer) *check.Verdict) judge {
	return func(e *evidence.Case) check.Verdict {
		for _, r := range e.Rounds {
			if a := r.Result(); a != nil {
				if v := fault(e, a); v != nil {
					return *v
				}
			}
		}
		return check.Pass("%s", pass)
	}
}

// eachMember returns a judge that passes, with the message, if a member of every result is right.
func eachMember(pass, name, want string, right func(*evidence.Answer) bool) judge {
	return eachResult(pass, func(_ *evidence.Case, a *evidence.Answer) *check.Verdict {
		if right(a) {
			return nil
		}
		raw := a.Member(name)
		return check.Instead(check.Fail("expected %s in the result, found %s", want, found(raw)).ShowJSON(a.At(name), raw))
	})
}

var hasContent = check.Check{
	ID: "has-content", Cases: plain,
	Rule:   "A result MUST have content: a block, or an array of blocks",
	Levels: check.Must, Statements: check.ResultSchema, Results: 1,
	Cause: "an empty completion becomes null, or a value without content is sent unchecked",
	Fix:   "Send a content block; for an empty completion, a text block with an empty text.",
	Judge: eachMember("every result has content", "content", "a content block or an array of blocks",
		func(a *evidence.Answer) bool {
			content := a.Member("content")
			return content != nil && (content[0] == '{' || content[0] == '[')
		}),
}

var hasModel = check.Check{
	ID: "has-model", Cases: plain,
	Rule:   "A result MUST name the model, as a string",
	Levels: check.Must, Statements: check.ResultSchema, Results: 1,
	Cause: "the name is omitted because the client has only one model",
	Fix:   "Set model to the name of the model that answered.",
	Judge: eachMember("every result names its model", "model", "a model name", func(a *evidence.Answer) bool {
		_, ok := a.Text("model")
		return ok
	}),
}

var roleAssistant = check.Check{
	ID: "role-assistant", Cases: plain,
	Rule:   "A result has the role assistant",
	Levels: check.Robust, Results: 1,
	Cause: "the role of the request's last message is copied into the result",
	Fix:   `Set role to "assistant".`,
	Judge: eachMember("every result has the role", "role", `the role "assistant"`, func(a *evidence.Answer) bool {
		role, _ := a.Text("role")
		return role == "assistant"
	}),
}

var validResult = check.Check{
	ID: "valid-result", Cases: plain,
	Rule:   "A result MUST be valid against the revision's schema",
	Levels: check.Must, Results: 1,
	Statements: append(check.ResultSchema, "2025-11-25/basic/06"),
	Cause:      "a block in the provider's own format is passed on, or a required field is missing",
	Fix:        "Build the result from the types of the revision.",
	Judge: eachResult("every result is valid by the schema", func(e *evidence.Case, a *evidence.Answer) *check.Verdict {
		err := schema.Validate(string(e.Revision), schema.CreateMessageResult, a.Result)
		if err == nil {
			return nil
		}
		at, why := a.Place, err.Error()
		var invalid *schema.Error
		if errors.As(err, &invalid) {
			at, why = a.At(invalid.Path), invalid.Message
		}
		return check.Instead(check.Fail("expected a CreateMessageResult of %s, found an invalid one: %s", e.Revision, why).
			Show(at, "%s", why).ShowResult(a))
	}),
}

var noArray = check.Check{
	ID: "no-array-before-a", Cases: plain,
	Rule:   "Before 2025-11-25, the content of a result MUST be a single block",
	Levels: check.BeforeTools(report.Must), Statements: check.ResultSchema, Results: 1,
	Cause: "the client sends the result of a newer revision than the negotiated one",
	Fix:   "Send content as one block up to 2025-06-18.",
	Judge: eachMember("content is a single block", "content", "a single block", func(a *evidence.Answer) bool {
		content := a.Member("content")
		return content == nil || content[0] != '['
	}),
}

var modelNamed = check.Check{
	ID: "model-named", Cases: plain,
	Rule:   "A result names the model that was called",
	Levels: check.Advice, Results: 1, Needs: []check.Need{check.ModelReadsRequest(1)},
	Cause: "the name is empty, a constant, or that of the client",
	Fix:   "Set model to the name in the provider's request, or to the one in its response.",
	Judge: func(e *evidence.Case) check.Verdict {
		x, a := e.Rounds[0].LastExchange(), e.Rounds[0].Result()
		got, named := a.Text("model")
		switch {
		case !named:
			return check.NotObserved("the result names no model (see basic/has-model)").
				ShowMembers(a, "model")
		case alias(got, x.Request.Model):
			return check.Pass("the result names the model that was called").Show(a.At("model"), "%q", got)
		}
		return check.Fail("expected the model %q in the result, found %q", x.Request.Model, got).
			ShowAs("model called", x.Place, "%q", x.Request.Model).Show(a.At("model"), "%q", got)
	},
}

// alias reports whether one name is a longer or shorter form of the other: with a date, a provider or a folder, or as
// people write it.
func alias(a, b string) bool {
	a, b = letters(a), letters(b)
	return a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
}

// letters returns the letters and digits of a name, in lower case.
func letters(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > utf8.RuneSelf {
			return c
		}
		return -1
	}, strings.ToLower(name))
}

package always

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

var noSecret = check.Check{
	ID:         "no-secret",
	Statements: []string{"sampling/25"},
	Rule:       "The client MUST NOT send the provider's key, its cookies or the account's ID to the server",
	Levels:     check.Must,
	Cause: "the client forwards the text of an error that quotes the key, the account or a URL with the key; " +
		"or one HTTP client sends the model's headers to the server, too",
	Fix: "Write an error message of your own, and log the provider's text and headers. " +
		"Use separate HTTP clients for the provider and the server. (The values shown were planted for the run.)",
	JudgeSession: func(s *evidence.Session) check.Verdict {
		if s.Trace.Header.Key == "" {
			return check.Unsupported("the trace names no planted key")
		}
		planted := leak.Planted(s.Trace.Header.Key)
		all := s.Sendings(func(string) bool { return true })
		for _, message := range all {
			if hit, where, text := message.Find(planted); text != "" {
				return check.Fail("expected no secret of the provider in what the client sends, found %s%s",
					hit.Name, evidence.DescribeForm(hit)).Show(where, "%s", text)
			}
		}
		if len(all) == 0 {
			return check.NotObserved("the client sent nothing")
		}
		return check.Pass("the client sent no planted secret")
	},
}

var noInternals = check.Check{
	ID:     "no-internals",
	Rule:   "An error does not reveal the provider's URL, stack traces or local paths",
	Levels: check.InLegacy(report.Advice),
	Cause:  "the text of an exception becomes the message of the error",
	Fix:    "Write a message of your own, such as \"the model is not available\", and log the rest.",
	Judge: func(e *evidence.Case) check.Verdict {
		errors := 0
		for _, r := range e.Rounds {
			for _, a := range r.Answers {
				if a.Err == nil {
					continue
				}
				errors++
				if v := revealed(e, r, &a); v != nil {
					return *v
				}
			}
		}
		if errors == 0 {
			return check.NotApplicable("the client returned no error")
		}
		return check.Pass("no error reveals internals of the client")
	},
}

// internals are what no server needs, by the name that reports give it.
var internals = []struct {
	name string
	form *regexp.Regexp
}{
	{"a stack trace", regexp.MustCompile(`goroutine \d+ \[|Traceback \(most recent call last\)|` +
		`File "[^"\n]+", line \d+|\n\s+at [^\n]+[:(]`)},
	{"a chain of exceptions", regexp.MustCompile(`\bCaused by: [\w.$]*(Exception|Error)\b`)},
	{"a local path", regexp.MustCompile(`(^|[\s"'(=\[])(/(home|Users|root|opt|usr|var|srv|tmp|private)/[^\s"']+|` +
		`file://[^\s"']*|[A-Za-z]:\\[^\s"']+)`)},
	{"a list of issues of the client's parser", regexp.MustCompile(
		`"code":\s*"(invalid_|too_|unrecognized_|custom)[a-z_]*"|` +
			`\[type=[a-z_]+, input_value=|errors\.pydantic\.dev`)},
	{"an address of this machine", regexp.MustCompile(`(127\.0\.0\.1|localhost|\[::1\]):\d+`)},
}

// revealed returns the verdict for an error that has internals; nil for any other. A client may quote the request.
func revealed(e *evidence.Case, r *evidence.Round, a *evidence.Answer) *check.Verdict {
	var v *check.Verdict
	asked := r.Sent.Value()
	isOwn := func(found string) bool { return !jsonvalue.Contains(asked, strings.Trim(found, " \n\"'(=[].,;:)")) }
	ofModel := func(found string) bool {
		return slices.ContainsFunc(r.Model, func(x *evidence.Exchange) bool {
			return jsonvalue.Contains(string(x.Answer), strings.TrimSpace(found))
		})
	}
	fail := func(path, name, text string) {
		v = check.Instead(check.Fail("expected an error message of the client's own, found %s", name).
			Show(a.Place.At(path), "%s", text))
	}
	jsonvalue.EachString(jsonvalue.Decode(a.RawErr), "", func(path, text string) bool {
		if endpoint := endpointIn(e, text); endpoint != "" {
			fail(path, "the provider's URL "+endpoint, text)
		}
		for _, one := range internals {
			found := slices.DeleteFunc(one.form.FindAllString(text, -1), func(found string) bool { return !isOwn(found) })
			if v != nil || len(found) == 0 {
				continue
			}
			name := one.name
			if !slices.ContainsFunc(found, func(found string) bool { return !ofModel(found) }) {
				name += " of the provider, from its error"
			}
			fail(path, name, text)
		}
		return v == nil
	})
	return v
}

var address = regexp.MustCompile(`https?://[^\s"'<>)]+`)

// endpointIn returns the address in a text that has the path of a request to the model; "" for none.
func endpointIn(e *evidence.Case, text string) string {
	for _, found := range address.FindAllString(text, -1) {
		for _, x := range e.Session.Exchanges[e.Case.ID] {
			path, _, _ := strings.Cut(e.Session.Trace.Find(x.Ref).Request.Path, "?")
			if len(path) > 1 && strings.Contains(found, path) {
				return found
			}
		}
	}
	return ""
}

package always

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
)

var modelNamed = check.Check{
	ID:         "model-named",
	Rule:       "Every result names the model that was called",
	Levels:     check.Advice,
	ServerLoop: true, // a client may write the last answer of its loop itself
	Cause:      "the name is empty, a constant, or that of the client",
	Fix:        "Set model to the name in the provider's request, or to the one in its response.",
	Judge: func(e *evidence.Case) check.Verdict {
		named := 0
		for _, r := range e.Rounds {
			x := r.LastExchange()
			for i := range r.Answers {
				a := &r.Answers[i]
				got, isText := a.Text("model")
				if !isText || x == nil || x.Request == nil || len(r.CompletedCalls()) == 0 {
					continue
				}
				if named++; !slices.ContainsFunc(modelsOf(e, r), func(name string) bool { return alias(got, name) }) {
					return check.Fail("expected the model %q in the result, found %q", x.Request.Model, got).
						ShowAs("model called", x.Place, "%q", x.Request.Model).Show(a.At("model"), "%q", got)
				}
			}
		}
		if named == 0 {
			return check.NotApplicable("no result of a model call names a model (see always/has-model)")
		}
		return check.Pass("every result names a model that was called")
	},
}

// modelsOf returns the names of the models that a round asked, and those that they gave themselves. Where the wire does
// not tell the rounds apart, they are those of the case.
func modelsOf(e *evidence.Case, r *evidence.Round) []string {
	var names []string
	exchanges := r.Model
	if slices.ContainsFunc(exchanges, func(x *evidence.Exchange) bool { return !belongs(e, r, x) }) {
		exchanges = e.Session.Exchanges[e.Case.ID]
	}
	for _, x := range exchanges {
		if x.Request != nil {
			names = append(names, x.Request.Model)
		}
		if reply := x.Reply(); reply != nil {
			names = append(names, reply.Model)
		}
	}
	return names
}

// alias reports whether one name is a longer or shorter form of the other: with a date, a provider or a folder, or as
// people write it.
func alias(a, b string) bool { return within(a, b) || within(b, a) }

// within reports whether some neighbouring words of a name are another one.
func within(short, long string) bool {
	short, words := strings.Join(wordsOf(short), ""), wordsOf(long)
	for i := range words {
		for n := i + 1; n <= len(words) && short != ""; n++ {
			if strings.Join(words[i:n], "") == short {
				return true
			}
		}
	}
	return false
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

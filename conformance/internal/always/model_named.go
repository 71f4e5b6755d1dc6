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
func alias(a, b string) bool { return shortFor(a, b) || shortFor(b, a) }

// shortFor reports whether a name is another one without the words before it, and without the version, tag or remark
// behind it: gpt-4o stands for openai/gpt-4o-2024-08-06 and gpt-4o:free, but not for gpt-4o-mini.
func shortFor(short, long string) bool {
	if i := strings.LastIndexAny(long, ":@("); i > 0 && shortFor(short, long[:i]) {
		return true
	}
	short, words := strings.Join(wordsOf(short), ""), wordsOf(long)
	if short == "" {
		return false
	}
	for {
		for i := range words {
			if strings.Join(words[i:], "") == short {
				return true
			}
		}
		last := len(words) - 1
		if last < 1 || !versionWord(words[last]) {
			return false
		}
		words = words[:last]
	}
}

// versionWord reports whether a word at the end of a model's name says which version it is: a part of a date, a
// number of three digits, or a word for one that moves.
func versionWord(word string) bool {
	digits := strings.TrimLeft(word, "0123456789") == ""
	return digits && len(word) > 1 || slices.Contains([]string{"latest", "preview", "exp", "experimental"}, word)
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
}

package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Matcher decides whether a rule applies to a request. It must be safe for concurrent use and must not change the
// request. Messages name it by its String method if it has one.
type Matcher interface {
	// Match returns nil if the request matches, else an error that describes the difference. A miss shows that error.
	Match(*Request) error
}

// MatcherFunc is a function as a [Matcher].
type MatcherFunc func(*Request) error

// Match calls the function.
func (f MatcherFunc) Match(r *Request) error { return f(r) }

type namedMatcher struct {
	MatcherFunc
	name string
}

func (n namedMatcher) String() string { return n.name }

func matcher(match MatcherFunc, format string, args ...any) Matcher {
	return namedMatcher{match, fmt.Sprintf(format, args...)}
}

// Any matches every request.
func Any() Matcher {
	return matcher(func(*Request) error { return nil }, "Any()")
}

// LastUser matches if the last user turn contains the text: everything since the model's last message, tool results
// included.
func LastUser(text string) Matcher {
	return matcher(func(r *Request) error {
		return contains("the last user turn", r.LastText(), text)
	}, "LastUser(%q)", text)
}

// System matches if the system prompt contains the text.
func System(text string) Matcher {
	return matcher(func(r *Request) error { return contains("the system prompt", r.System, text) }, "System(%q)", text)
}

// ToolResults matches if the last user turn has n tool results.
func ToolResults(n int) Matcher {
	return matcher(func(r *Request) error {
		return same("the number of tool results in the last user turn",
			len(r.ToolResults()), n)
	}, "ToolResults(%d)", n)
}

// Turn matches the model's nth turn: 1, plus one for each run of assistant messages in the history.
func Turn(n int) Matcher {
	return matcher(func(r *Request) error { return same("the turn", r.Turn(), n) }, "Turn(%d)", n)
}

// Offers matches if the request offers the tool.
func Offers(tool string) Matcher {
	return matcher(func(r *Request) error {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		switch {
		case slices.Contains(names, tool):
			return nil
		case len(names) == 0:
			return fmt.Errorf("no tools are offered, want %q", tool)
		}
		return fmt.Errorf("the tools offered are %s, want %q among them", short(strings.Join(names, ", ")), tool)
	}, "Offers(%q)", tool)
}

// Choice matches the tool choice: auto, required, none, "tool:" and a name, or "" if not given.
func Choice(mode string) Matcher {
	return matcher(func(r *Request) error { return same("the tool choice", r.ToolChoice, mode) }, "Choice(%q)", mode)
}

// Model matches a request for the model.
func Model(name string) Matcher {
	return matcher(func(r *Request) error { return same("the model", r.Model, name) }, "Model(%q)", name)
}

// Dialect matches the dialect, such as "openai-chat".
func Dialect(name string) Matcher {
	return matcher(func(r *Request) error { return same("the dialect", r.Dialect, name) }, "Dialect(%q)", name)
}

func contains(what, got, want string) error {
	if strings.Contains(got, want) {
		return nil
	}
	return fmt.Errorf("%s is %s, want it to contain %q", what, short(got), want)
}

func same[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %#v, want %#v", what, got, want)
}

// short quotes at most 160 characters of a text.
func short(text string) string {
	const limit = 160
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return strconv.Quote(text)
}

package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Matcher decides whether a rule is meant for a request. Matchers are called from several goroutines at once, and
// must not change the request. One that is a [fmt.Stringer] is named so in messages.
type Matcher interface {
	// Match returns nil for a request that matches, and otherwise an error that says what differs: it is shown to whoever
	// looks for the reason why no rule matched.
	Match(*Request) error
}

// MatcherFunc makes a function a [Matcher].
type MatcherFunc func(*Request) error

// Match calls the function.
func (f MatcherFunc) Match(r *Request) error { return f(r) }

// named is a matcher that calls itself by the call that made it.
type named struct {
	MatcherFunc
	name string
}

func (n named) String() string { return n.name }

func matcher(match MatcherFunc, format string, args ...any) Matcher {
	return named{match, fmt.Sprintf(format, args...)}
}

// Any matches every request.
func Any() Matcher {
	return matcher(func(*Request) error { return nil }, "Any()")
}

// LastUser matches a request whose last user turn contains the text: what the user said since the model last spoke,
// tool results included.
func LastUser(text string) Matcher {
	return matcher(func(r *Request) error {
		turn := r.LastUserTurn()
		if len(turn) == 1 {
			return contains("the last user turn", dialect.PlainText(turn[0].Content), text)
		}
		said := make([]string, len(turn))
		for i := range turn {
			said[i] = dialect.PlainText(turn[i].Content)
		}
		return contains("the last user turn", strings.Join(said, "\n"), text)
	}, "LastUser(%q)", text)
}

// System matches a request whose system prompt contains the text.
func System(text string) Matcher {
	return matcher(func(r *Request) error { return contains("the system prompt", r.System, text) }, "System(%q)", text)
}

// ToolResults matches a request with n tool results in its last user turn.
func ToolResults(n int) Matcher {
	return matcher(func(r *Request) error {
		return same("the number of tool results in the last user turn", len(dialect.Blocks(r.LastUserTurn(), dialect.ToolResult)), n)
	}, "ToolResults(%d)", n)
}

// Turn matches the model's n-th turn: 1 is a fresh question, and each assistant message in the history adds one.
func Turn(n int) Matcher {
	return matcher(func(r *Request) error { return same("the turn", r.Turn(), n) }, "Turn(%d)", n)
}

// Offers matches a request that offers the tool.
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

// Choice matches a request with the tool choice: auto, required, none, "tool:" and a name, or "" for none given.
func Choice(mode string) Matcher {
	return matcher(func(r *Request) error { return same("the tool choice", r.ToolChoice, mode) }, "Choice(%q)", mode)
}

// Model matches a request for the model.
func Model(name string) Matcher {
	return matcher(func(r *Request) error { return same("the model", r.Model, name) }, "Model(%q)", name)
}

// Dialect matches a request in the dialect, such as "openai-chat".
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

// short quotes a text, cut to what fits a message.
func short(text string) string {
	const limit = 160
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return strconv.Quote(text)
}

package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/words"
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
	name    string
	mistake string // why it matches every request or none; "" for none
}

func (n namedMatcher) String() string { return n.name }

func matcher(match MatcherFunc, format string, args ...any) Matcher {
	return namedMatcher{MatcherFunc: match, name: fmt.Sprintf(format, args...)}
}

// unless returns a matcher with a mistake that makes a rule invalid, if it has one.
func unless(m Matcher, wrong bool, format string, args ...any) Matcher {
	named := m.(namedMatcher)
	if wrong {
		named.mistake = fmt.Sprintf(format, args...)
	}
	return named
}

// LastUser matches if the last user turn contains the text: everything since the model's last message, tool results
// included. The text must not be empty.
func LastUser(text string) Matcher {
	return unless(matcher(func(r *Request) error {
		return contains("the last user turn", r.LastText(), text)
	}, "LastUser(%q)", text), text == "", "matches every request: give it a text, or leave it out")
}

// System matches if the system prompt contains the text. The text must not be empty.
func System(text string) Matcher {
	return unless(matcher(func(r *Request) error { return contains("the system prompt", r.System, text) }, "System(%q)",
		text), text == "", "matches every request: give it a text, or leave it out")
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
	return unless(matcher(func(r *Request) error { return same("the turn", r.Turn(), n) }, "Turn(%d)", n),
		n < 1, "matches no request: turns count from 1")
}

// Offers matches if the request offers the tool.
func Offers(tool string) Matcher {
	return unless(matcher(func(r *Request) error {
		var names []string
		for _, t := range r.Tools {
			names = append(names, t.Name)
		}
		switch {
		case slices.Contains(names, tool):
			return nil
		case len(names) == 0:
			return fmt.Errorf("no tools are offered, expected %q", tool)
		}
		return fmt.Errorf("the tools offered are %s, expected %q among them", short(strings.Join(names, ", ")), tool)
	}, "Offers(%q)", tool), tool == "", "matches no request: give it the name of a tool")
}

// Choice matches the tool choice: auto, required, none, "tool:" and a name, or "" if not given.
func Choice(mode string) Matcher {
	modes := []string{dialect.ChoiceAuto, dialect.ChoiceRequired, dialect.ChoiceNone}
	tool, isTool := strings.CutPrefix(mode, "tool:")
	known := mode == "" || isTool && tool != "" || slices.Contains(modes, mode)
	return unless(matcher(func(r *Request) error { return same("the tool choice", r.ToolChoice, mode) }, "Choice(%q)",
		mode), !known, "matches no request: expected auto, required, none, tool:NAME, or an empty text%s",
		nearest(mode, map[string]string{"any": dialect.ChoiceRequired}, modes))
}

// Model matches a request for the model.
func Model(name string) Matcher {
	return unless(matcher(func(r *Request) error { return same("the model", r.Model, name) }, "Model(%q)", name),
		name == "", "matches no request: give it the name of a model")
}

// Dialect matches the dialect, such as "openai-chat". Those of compatible servers are openai-chat and openai-responses.
func Dialect(name string) Matcher {
	known := []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic, dialect.Gemini, dialect.Ollama,
		dialect.CohereChat, dialect.Native}
	return unless(matcher(func(r *Request) error { return same("the dialect", r.Dialect, name) }, "Dialect(%q)", name),
		!slices.Contains(known, name), "matches no request: expected one of %s%s", strings.Join(known, ", "),
		nearest(name, map[string]string{"openai": dialect.OpenAIChat, "cohere": dialect.CohereChat}, known))
}

// nearest suggests a word in place of an unknown one: a known synonym, or the nearest of the words; "" for none.
func nearest(typed string, synonyms map[string]string, all []string) string {
	near := synonyms[typed]
	if found := words.Near(typed, all); near == "" && len(found) > 0 {
		near = found[0]
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

func contains(what, got, want string) error {
	if strings.Contains(got, want) {
		return nil
	}
	return fmt.Errorf("%s is %s, expected it to contain %q", what, short(got), want)
}

func same[T comparable](what string, got, want T) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%s is %#v, expected %#v", what, got, want)
}

// short quotes at most 160 characters of a text.
func short(text string) string {
	const limit = 160
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "…"
	}
	return strconv.Quote(text)
}

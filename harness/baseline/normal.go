package baseline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

var (
	quoted = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	word   = regexp.MustCompile(`^"[A-Za-z_/-]{0,24}"$`)
	token  = regexp.MustCompile(`[A-Za-z0-9_-]{10,}`)
	given  = regexp.MustCompile(`\b(?:call|toolu|fc|msg|req|resp|chatcmpl)[_-][A-Za-z0-9_-]+`)
	number = regexp.MustCompile(`\d+(?:\.\d+)?`)
	spaces = regexp.MustCompile(`\s+`)
	// A client that ends on its own does so in the middle of a case, or after it: that depends on who is faster.
	moment = regexp.MustCompile(`, (?:in the middle of|after) ([a-z-]+/[a-z-]+)`)
)

// longest is how many characters of a message count. A stack trace may follow.
const longest = 300

// Normal returns a message without what differs between runs with one fault: numbers become N, generated ids ID, and
// quoted text "…" unless it is a word, and it does not matter whether a client ended in a case or after it. It is
// idempotent.
func Normal(message string) string {
	text := message
	for range mostSteps { // A number that becomes N may end a word that is no id then.
		next := normalStep(text)
		if next == text {
			break
		}
		text = next
	}
	return text
}

// mostSteps is more than any message needs.
const mostSteps = 100

func normalStep(message string) string {
	text := quoted.ReplaceAllStringFunc(message, func(q string) string {
		if word.MatchString(q) && !given.MatchString(q) {
			return q
		}
		return `"…"`
	})
	text = given.ReplaceAllString(text, "ID")
	text = token.ReplaceAllStringFunc(text, func(t string) string {
		if strings.ContainsFunc(t, unicode.IsDigit) && strings.ContainsFunc(t, unicode.IsLetter) {
			return "ID"
		}
		return t
	})
	text = number.ReplaceAllString(text, "N")
	text = moment.ReplaceAllString(text, ", at $1")
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	if runes := []rune(text); len(runes) > longest {
		text = strings.TrimRight(strings.TrimRight(string(runes[:longest]), " "), "…") + "…"
	}
	return text
}

// forms returns the normal forms of the messages of all cases that fail like the result, in order and each once.
func forms(r *report.Result) []string {
	all := []string{Normal(r.Message)}
	for _, c := range r.Cases {
		if c.Verdict == r.Verdict {
			all = append(all, Normal(c.Message))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (e *Entry) missing(found []string) []string {
	var known, missing []string
	for _, m := range e.Messages {
		known = append(known, Normal(m))
	}
	for _, form := range found {
		if !slices.Contains(known, form) {
			missing = append(missing, form)
		}
	}
	return missing
}

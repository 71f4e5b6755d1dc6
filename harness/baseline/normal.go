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
	// Codes of errors, and statuses of HTTP and of processes, are no mere numbers.
	numberOrCode = regexp.MustCompile(`\b(?:HTTP|status|code|error) -?\d+|(?:^|[ (])-\d{3,5}\b|` + number.String())
	spaces       = regexp.MustCompile(`\s+`)
	// A client that ends on its own does so in the middle of a case, or after it: that depends on who is faster.
	// What the client reports of its call may arrive after the verdict rests on other events.
	reported = regexp.MustCompile(`; the client reports: .*`)
	moment   = regexp.MustCompile(`, (?:in the middle of|after) ([a-z-]+/[a-z-]+)`)
)

// longest is how many characters of a message count. A stack trace may follow.
const longest = 300

// Normal returns a message without what differs between runs with one fault: numbers except codes become N, ids ID, and
// quoted text "…" unless it is a word. It does not matter whether a client ended in a case or after it, or what it
// reports of its call. It is idempotent.
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
	text := reported.ReplaceAllString(message, "")
	text = quoted.ReplaceAllStringFunc(text, func(q string) string {
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
	text = numberOrCode.ReplaceAllStringFunc(text, func(n string) string {
		if number.FindString(n) == n {
			return "N"
		}
		return n
	})
	text = moment.ReplaceAllString(text, ", at $1")
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	if runes := []rune(text); len(runes) > longest {
		text = strings.TrimRight(strings.TrimRight(string(runes[:longest]), " "), "…") + "…"
	}
	return text
}

// forms returns the normal forms of the messages of all cases that fail like the result, in order and each once. Those
// that fail by chance do not count.
func forms(r *report.Result) []string {
	all := []string{Normal(r.Message)}
	for _, c := range r.Cases {
		if needsEntry(r, c) && !c.Chance {
			all = append(all, Normal(c.Message))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// missing returns the forms that are none of the entry's messages. Older files, without cases, have N for codes, too.
func (e *Entry) missing(found []string) []string {
	same := func(message string) string {
		form := Normal(message)
		if !e.pinned() {
			form = number.ReplaceAllString(form, "N")
		}
		return form
	}
	var known, missing []string
	for _, m := range e.Messages {
		known = append(known, same(m))
	}
	for _, form := range found {
		if !slices.Contains(known, same(form)) {
			missing = append(missing, form)
		}
	}
	return missing
}

// gone returns the messages of the entry that none of the forms is.
func (e *Entry) gone(found []string) []string {
	return slices.DeleteFunc(slices.Clone(e.Messages), func(m string) bool { return slices.Contains(found, Normal(m)) })
}

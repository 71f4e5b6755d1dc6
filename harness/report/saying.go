package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// saying is a message, the cases of which a verdict says it, and what to write in front.
type saying struct {
	message string
	cases   []string
	prefix  string
}

func (s saying) String() string {
	if len(s.cases) == 0 {
		return s.prefix + s.message
	}
	return s.prefix + s.message + "   (" + listed(s.cases) + ")"
}

// sayings are the result's message, and those of other cases with its verdict that say something else.
func (r *Result) sayings() []saying {
	all := []saying{{message: r.Message}}
	for _, c := range r.Cases {
		if c.Verdict != r.Verdict {
			continue
		}
		at := slices.IndexFunc(all, func(s saying) bool { return alike(s.message, c.Message) })
		if at < 0 {
			at = len(all)
			all = append(all, saying{message: c.Message})
		}
		all[at].cases = include(all[at].cases, strings.TrimPrefix(c.Case, r.Scenario+"/"))
	}
	return all
}

// others are messages, a line each. After the most, the rest is counted; 0 shows all of them.
func others(all []saying, most int) []string {
	var lines []string
	for i, s := range all {
		if left := len(all) - i; most > 0 && i == most && left > 1 {
			return append(lines, fmt.Sprintf("and %d other messages, which -v shows", left))
		}
		lines = append(lines, s.String())
	}
	return lines
}

// incidental matches what differs between messages about one bug: the request, the place, quotes and numbers.
var incidental = regexp.MustCompile(`^sampling request \d+: | \([^() ]*\)$|"(?:[^"\\]|\\.)*"|\d+`)

// alike reports whether messages differ in one word at most, such as the name of a tool.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	left := strings.Fields(incidental.ReplaceAllString(a, ""))
	right := strings.Fields(incidental.ReplaceAllString(b, ""))
	if len(left) != len(right) {
		return false
	}
	differ := 0
	for i, word := range left {
		if word != right[i] {
			differ++
		}
	}
	return differ <= 1
}

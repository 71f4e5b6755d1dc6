package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// location is the way from a message to a value in it.
type location []step

// step goes into an object or, where item is true, into an array.
type step struct {
	name  string
	index int
	item  bool
}

// locate turns the tokens that the validator reports, all of them strings, into steps, and returns the value there.
func locate(message any, tokens []string) (location, any) {
	at := make(location, 0, len(tokens))
	for _, token := range tokens {
		switch inside := message.(type) {
		case map[string]any:
			at = append(at, step{name: token})
			message = inside[token]
		case []any:
			i, _ := strconv.Atoi(token) // the validator counted it
			at = append(at, step{index: i, item: true})
			message = inside[i]
		}
	}
	return at, message
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// String writes a location as in JavaScript: content[1].input, and _meta["a/b"] where a name needs it.
func (at location) String() string {
	var b strings.Builder
	for _, s := range at {
		switch {
		case s.item:
			fmt.Fprintf(&b, "[%d]", s.index)
		case !plainName.MatchString(s.name):
			fmt.Fprintf(&b, "[%q]", s.name)
		case b.Len() == 0:
			b.WriteString(s.name)
		default:
			b.WriteString("." + s.name)
		}
	}
	return b.String()
}

// compare sorts an object before what is in it, items by number and properties by name.
func (at location) compare(other location) int {
	return slices.CompareFunc(at, other, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name))
	})
}

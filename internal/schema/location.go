package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// location is the path from a message to a value.
type location []step

// step is a property or, if item is true, an index.
type step struct {
	name  string
	index int
	item  bool
}

// locate turns the validator's string tokens into a location, and returns the value there.
func locate(message any, tokens []string) (location, any) {
	at := make(location, 0, len(tokens))
	for _, token := range tokens {
		switch inside := message.(type) {
		case map[string]any:
			at = append(at, step{name: token})
			message = inside[token]
		case []any:
			i, _ := strconv.Atoi(token) // a valid index
			at = append(at, step{index: i, item: true})
			message = inside[i]
		}
	}
	return at, message
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// String returns a location as in JavaScript: content[1].input, _meta["a/b"].
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

// compare orders an object before its contents, items by index and properties by name.
func (at location) compare(other location) int {
	return slices.CompareFunc(at, other, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.name, b.name))
	})
}

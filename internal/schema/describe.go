package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// describe returns the expected and the actual value of a violation.
func describe(v violation) string {
	switch k := v.kind.(type) {
	case *kind.Type:
		if number, ok := v.value.(json.Number); ok && slices.Contains(k.Want, "integer") {
			return fmt.Sprintf("expected %s, found %s", or(k.Want), shorten(string(number)))
		}
		return fmt.Sprintf("expected %s, found %s", or(k.Want), k.Got)
	case *kind.Required:
		return missing(k.Missing, allOf)
	case *kind.Const:
		return fmt.Sprintf("expected %s, found %s", show(k.Want), show(v.value))
	case *kind.Enum:
		return fmt.Sprintf("expected %s, found %s", or(shown(k.Want)), show(v.value))
	case *kind.Format:
		return fmt.Sprintf("expected a %s, found %s: %v", k.Want, show(v.value), k.Err)
	case *kind.Minimum:
		return fmt.Sprintf("expected at least %s, found %s", k.Want.RatString(), show(v.value))
	case *kind.Maximum:
		return fmt.Sprintf("expected at most %s, found %s", k.Want.RatString(), show(v.value))
	}
	return fmt.Sprintf("breaks the schema's %s", strings.Join(v.kind.KeywordPath(), " "))
}

// wantTypes describes a value that has the type of no branch.
func wantTypes(v violation, branches []branch) string {
	var want []string
	got := ""
	for _, b := range branches {
		k := b.typeError(v)
		got = k.Got
		for _, name := range k.Want {
			if !slices.Contains(want, name) {
				want = append(want, name)
			}
		}
	}
	return fmt.Sprintf("expected %s, found %s", or(want), got)
}

// wantTags describes a value that has the tag of no branch.
func wantTags(v violation, got any, branches []branch) string {
	var want []string
	for _, b := range branches {
		switch k := b.otherTag(v).kind.(type) {
		case *kind.Const:
			want = append(want, show(k.Want))
		case *kind.Enum:
			want = append(want, shown(k.Want)...)
		}
	}
	slices.Sort(want)
	return fmt.Sprintf("expected %s, found %s", or(slices.Compact(want)), show(got))
}

// wantProperties describes a value with missing properties: those that all branches require, or else any of them.
func wantProperties(v violation, branches []branch) string {
	var all []string
	common := branches[0].missing(v)
	for _, b := range branches {
		names := b.missing(v)
		common = slices.DeleteFunc(common, func(name string) bool { return !slices.Contains(names, name) })
		all = append(all, names...)
	}
	if len(common) > 0 {
		return missing(common, allOf)
	}
	return missing(all, anyOf)
}

// The last conjunction of a list.
const (
	allOf = " and "
	anyOf = " or "
)

func missing(names []string, conjunction string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = quote(name)
	}
	if len(names) == 1 || conjunction == anyOf {
		return "missing property " + join(names, conjunction)
	}
	return "missing properties " + join(names, conjunction)
}

func or(words []string) string { return join(words, anyOf) }

// join returns "a, b or c".
func join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + last + words[end]
}

func shown(values []any) []string {
	var texts []string
	for _, value := range values {
		texts = append(texts, show(value))
	}
	return texts
}

// show returns a value, or the type of an object or array.
func show(value any) string {
	switch value := value.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return strconv.Quote(shorten(value))
	case nil:
		return "null"
	}
	return shorten(fmt.Sprint(value))
}

func quote(name string) string { return "'" + shorten(name) + "'" }

// shorten limits a quotation from a peer to 60 characters.
func shorten(text string) string {
	const most = 60
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

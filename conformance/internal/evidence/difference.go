package evidence

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// whole is the length up to which a difference shows both texts whole.
const whole = 80

// Difference quotes two texts that differ, long ones around their first difference.
func Difference(want, got string) (wanted, found string) {
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	quote := func(text string) string {
		if len(text) <= whole {
			return strconv.Quote(text)
		}
		return fmt.Sprintf("%q at byte %d of %d", Around(text, at), at, len(text))
	}
	return quote(want), quote(got)
}

// JSONDifference shows two JSON values that differ: short ones whole, long ones at the path of their first difference.
// An invalid value is shown as a text.
func JSONDifference(want, got []byte) (wanted, found string) {
	a, b := DecodeJSON(want), DecodeJSON(got)
	if a == nil || b == nil {
		return Difference(string(want), string(got))
	}
	wanted, found = string(jsonvalue.Marshal(a)), string(jsonvalue.Marshal(b))
	if len(wanted) <= whole && len(found) <= whole {
		return wanted, found
	}
	path, first, second := firstDifference("", a, b)
	show := func(v, other any) string {
		text, isText := v.(string)
		otherText, _ := other.(string)
		switch {
		case v == missing:
			return "none"
		case isText:
			text, _ = Difference(text, otherText)
			return text
		}
		return Clip(string(jsonvalue.Marshal(v)))
	}
	return at(path, show(first, second)), at(path, show(second, first))
}

func at(path, value string) string {
	if path == "" {
		return value
	}
	return path + ": " + value
}

// missing stands for a member or an item that is not there.
var missing any = &struct{ _ int }{}

// firstDifference returns the path of the first difference between two decoded values, and the values there.
func firstDifference(path string, a, b any) (where string, first, second any) {
	switch a := a.(type) {
	case map[string]any:
		if other, ok := b.(map[string]any); ok {
			names := slices.Sorted(maps.Keys(a))
			for _, name := range slices.Sorted(maps.Keys(other)) {
				if _, both := a[name]; !both {
					names = append(names, name)
				}
			}
			for _, name := range names {
				inner := (Place{Path: path}).At(name).Path
				if where, first, second, differ := inside(inner, memberOf(a, name), memberOf(other, name)); differ {
					return where, first, second
				}
			}
		}
	case []any:
		if other, ok := b.([]any); ok {
			for i := range max(len(a), len(other)) {
				inner := fmt.Sprintf("%s[%d]", path, i)
				if where, first, second, differ := inside(inner, item(a, i), item(other, i)); differ {
					return where, first, second
				}
			}
		}
	}
	return path, a, b
}

func inside(path string, a, b any) (where string, first, second any, differ bool) {
	if a != missing && b != missing && Equal(a, b) {
		return "", nil, nil, false
	}
	where, first, second = firstDifference(path, a, b)
	return where, first, second, true
}

func memberOf(o map[string]any, name string) any {
	if v, ok := o[name]; ok {
		return v
	}
	return missing
}

func item(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return missing
}

// ValueAt returns the value at a path of a JSON document, compact; the whole document if nothing is there.
func ValueAt(doc json.RawMessage, path string) json.RawMessage {
	compact := jsonvalue.Marshal(doc)
	if start, end, found := Locate(compact, path); found {
		return compact[start:end]
	}
	return doc
}

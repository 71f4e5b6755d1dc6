package evidence

import (
	"encoding/json"
	"fmt"
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
	a, b := jsonvalue.Decode(want), jsonvalue.Decode(got)
	if a == nil || b == nil {
		return Difference(string(want), string(got))
	}
	wanted, found = string(jsonvalue.Marshal(a)), string(jsonvalue.Marshal(b))
	if len(wanted) <= whole && len(found) <= whole {
		return wanted, found
	}
	path, first, second := jsonvalue.Difference("", a, b)
	show := func(v, other any) string {
		text, isText := v.(string)
		otherText, _ := other.(string)
		switch {
		case v == jsonvalue.Missing:
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

// ValueAt returns the value at a path of a JSON document, compact; the whole document if nothing is there.
func ValueAt(doc json.RawMessage, path string) json.RawMessage {
	compact := jsonvalue.Marshal(doc)
	if start, end, found := jsonvalue.Locate(compact, path); found {
		return compact[start:end]
	}
	return doc
}

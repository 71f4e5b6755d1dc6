package evidence

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// excerptWidth is the width of an excerpt in characters, without the ellipses.
const excerptWidth = 100

// Excerpt returns the part of a JSON document around a path, on one line, with the value marked. If the value is
// missing, the mark is on the end of its parent. It reports false for invalid JSON, and for a value longer than an
// excerpt.
func Excerpt(raw []byte, path string) (report.Excerpt, bool) {
	var line bytes.Buffer
	if json.Compact(&line, raw) != nil {
		return report.Excerpt{}, false
	}
	start, end, found := Locate(line.Bytes(), path)
	if !found {
		start = end - 1
	}
	if start < 0 || utf8.RuneCount(line.Bytes()[start:end]) > excerptWidth {
		return report.Excerpt{}, false
	}
	before, place := []rune(line.String()[:start]), []rune(line.String()[start:end])
	after := []rune(line.String()[end:])
	side := (excerptWidth - len(place)) / 2
	x := report.Excerpt{Path: path, Length: len(place), Missing: !found}
	if cut := len(before) - max(side, excerptWidth-len(place)-len(after)); cut > 0 {
		x.Text, before = "…", before[cut:]
	}
	x.Text += string(before)
	x.Start = utf8.RuneCountInString(x.Text)
	x.Text += string(place)
	if rest := max(0, excerptWidth-x.Start-len(place)); len(after) > rest {
		x.Text += string(after[:rest]) + "…"
	} else {
		x.Text += string(after)
	}
	return x, true
}

// Locate returns the offsets of the value at a path of compact JSON. If only its parent exists, it returns those of
// the parent and false; if neither exists, -1 and false.
func Locate(doc []byte, path string) (start, end int, found bool) {
	start, end = 0, len(doc)
	names := steps(path)
	for i, name := range names {
		s, e, ok := member(doc[start:end], name)
		switch {
		case ok:
			start, end = start+s, start+e
		case i == len(names)-1:
			return start, end, false
		default:
			return -1, -1, false
		}
	}
	return start, end, true
}

// steps splits a path such as params.messages[2] or result.inputRequests["a.b"].params into names and indexes.
func steps(path string) []string {
	var found []string
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return found
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return found
			}
			found = append(found, name)
			path = strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			found, path = append(found, index), rest
		default:
			n := strings.IndexAny(path, ".[")
			if n < 0 {
				n = len(path)
			}
			found, path = append(found, path[:n]), path[n:]
		}
	}
	return found
}

// member returns the offsets of a member of a compact object, or of an item of an array.
func member(doc []byte, name string) (start, end int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return 0, 0, false
	}
	for i := 0; dec.More(); i++ {
		at := strconv.Itoa(i)
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return 0, 0, false
			}
			at, _ = key.(string)
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return 0, 0, false
		}
		if at == name {
			end = int(dec.InputOffset())
			return end - len(value), end, true
		}
	}
	return 0, 0, false
}

package evidence

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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
	start, end, found := jsonvalue.Locate(line.Bytes(), path)
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

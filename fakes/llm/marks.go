package llm

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// markForm describes valid marks: words that are valid in tool and file names, and unlikely by chance.
var markForm = regexp.MustCompile(`^[a-z0-9]{6,}$`)

// checkMark compares a new mark with the existing ones.
func checkMark(mark string, taken map[string]*script) error {
	if !markForm.MatchString(mark) {
		return fmt.Errorf("mark %q: expected at least 6 of a-z and 0-9", mark)
	}
	for other := range taken {
		switch {
		case other == "": // the server's own rules
		case other == mark:
			return fmt.Errorf("mark %q has a script already", mark)
		case strings.Contains(other, mark) || strings.Contains(mark, other):
			return fmt.Errorf("mark %q: it contains the mark %q, or is contained in it: expected words that differ",
				mark, other)
		}
	}
	return nil
}

// firstSerial separates the serials of scripts, so that ids do not depend on the order in which scripts are used.
func firstSerial(mark string) int64 {
	if mark == "" {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(mark))
	return int64(h.Sum32())<<24 | 1<<56
}

// owner returns the mark that owns the request: the last mark in the last user turn, else the only one in the messages,
// else the only one in the whole request. all are the request's marks, sorted.
func owner(req *Request, marks []string) (mark string, all []string) {
	conversation := markText(req.Messages)
	texts := []string{conversation, req.System}
	for _, t := range req.Tools {
		texts = append(texts, t.Name, t.Description)
	}
	all = marksIn(marks, texts...)
	turn, last := markText(req.LastUserTurn()), -1
	for _, m := range all {
		if at := strings.LastIndex(turn, m); at > last {
			mark, last = m, at
		}
	}
	return cmp.Or(mark, single(marksIn(all, conversation)), single(all)), all
}

// marksIn returns the marks that any text contains, sorted.
func marksIn(marks []string, texts ...string) []string {
	var all []string
	for _, m := range marks {
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, m) }) {
			all = append(all, m)
		}
	}
	slices.Sort(all)
	return all
}

func single(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// markText returns all parts of the messages that may contain a mark, in order.
func markText(messages []Message) string {
	var out strings.Builder
	var speak func([]Block)
	speak = func(blocks []Block) {
		for _, b := range blocks {
			for _, s := range []string{b.Text, b.Name, string(b.Input)} {
				if s != "" {
					out.WriteString(s)
					out.WriteByte('\n')
				}
			}
			if b.Type == dialect.Other {
				out.Write(b.Raw)
			}
			speak(b.Content)
		}
	}
	for _, m := range messages {
		speak(m.Content)
	}
	return out.String()
}

package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

func DescribeForm(h leak.Hit) string {
	if h.Form == "" {
		return ""
	}
	return ", " + h.Form
}

// sending is something that the client sent: a frame, with the headers of it.
type Sending struct {
	Event *trace.Event
}

func (s *Session) Sendings(in func(caseID string) bool) []Sending {
	var all []Sending
	for e := range s.FromClient() {
		if !e.Frame.Lost && in(e.Case) {
			all = append(all, Sending{e})
		}
	}
	return all
}

// find returns where in it a secret stands, and the text that holds it; "" where none does.
func (s Sending) Find(finder *leak.Finder) (hit leak.Hit, where Place, text string) {
	f := s.Event.Frame
	where = Place{Ref: s.Event.Ref(), Label: "the client sent"}
	if f.HTTP != nil {
		for _, name := range slices.Sorted(maps.Keys(f.HTTP.Header)) {
			if hit, found := finder.Find([]byte(f.HTTP.Header[name])); found {
				where.Label = "header " + name
				return hit, where, f.HTTP.Header[name]
			}
		}
		if hit, found := finder.Find([]byte(f.HTTP.Address)); found {
			where.Label = "address"
			return hit, where, f.HTTP.Address
		}
	}
	hit, found := finder.Find(f.Raw)
	if !found {
		eachList(Decoded(f.Raw), "", func(path string, list []any) bool {
			joined := inOne(list)
			if h, found := finder.Find([]byte(joined)); found {
				h.Form = "in pieces"
				hit, where.Path, text = h, path, joined
			}
			return text == ""
		})
		return hit, where, text
	}
	text = Compact(f.Raw)
	EachString(Decoded(f.Raw), "", func(path, value string) bool {
		if h, found := finder.Find([]byte(value)); found {
			hit, where.Path, text = h, path, value
			return false
		}
		return true
	})
	return hit, where, text
}

// eachString calls f with each string of a document and its path, the keys of objects among them, in order, until f returns false.
func EachString(value any, path string, f func(path, value string) bool) bool {
	switch v := value.(type) {
	case string:
		return f(path, v)
	case []any:
		for i, item := range v {
			if !EachString(item, fmt.Sprintf("%s[%d]", path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if at := (Place{Path: path}).At(name).Path; !f(at, name) || !EachString(v[name], at, f) {
				return false
			}
		}
	}
	return true
}

// eachList calls f with each list of a document and its path, in order, until f returns false.
func eachList(value any, path string, f func(path string, list []any) bool) bool {
	switch v := value.(type) {
	case []any:
		if !f(path, v) {
			return false
		}
		for i, item := range v {
			if !eachList(item, fmt.Sprintf("%s[%d]", path, i), f) {
				return false
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !eachList(v[name], (Place{Path: path}).At(name).Path, f) {
				return false
			}
		}
	}
	return true
}

// inOne is what the items of a list say, one behind the other: texts, and the text of content.
func inOne(list []any) string {
	var all strings.Builder
	for _, item := range list {
		switch v := item.(type) {
		case string:
			all.WriteString(v)
		case map[string]any:
			text, _ := v["text"].(string)
			all.WriteString(text)
		}
	}
	return all.String()
}

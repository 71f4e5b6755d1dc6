package evidence

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// Sending is a frame that the client sent, with its headers.
type Sending struct {
	Event *trace.Event
	// JSON is its message.
	JSON *Document
}

// Sendings returns the client's frames for which in holds of their case ID ("" for none).
func (s *Session) Sendings(in func(caseID string) bool) []Sending {
	var all []Sending
	for e, m := range s.FromClient() {
		if !e.Frame.Lost && in(e.Case) {
			all = append(all, Sending{e, m.JSON})
		}
	}
	return all
}

// DescribeForm returns ", " and the form in which a secret was found, such as base64; "" for plain text.
func DescribeForm(h leak.Hit) string {
	if h.Form == "" {
		return ""
	}
	return ", " + h.Form
}

// Find returns the first secret in the headers, the address and the body, its place, and the text that contains it; ""
// for none.
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
		jsonvalue.Walk(s.JSON.Value(), "", func(path string, v any) bool {
			list, _ := v.([]any)
			joined := joinTexts(list)
			if h, found := finder.Find([]byte(joined)); found {
				h.Form = "in pieces"
				hit, where.Path, text = h, path, joined
			}
			return text == ""
		})
		return hit, where, text
	}
	text = Compact(f.Raw)
	jsonvalue.EachString(s.JSON.Value(), "", func(path, value string) bool {
		if h, found := finder.Find([]byte(value)); found {
			hit, where.Path, text = h, path, value
			return false
		}
		return true
	})
	return hit, where, text
}

// joinTexts joins the strings of a list, and the member text of its objects.
func joinTexts(list []any) string {
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

package evidence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestExcerptMarksTheValue(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ name, doc, path, text, marked string }{
		{"a member", `{"role": "user", "model": "m"}`, "role", `{"role":"user","model":"m"}`, `"user"`},
		{"an item", `{"messages":[{"a":1},{"b":2}]}`, "messages[1]", `{"messages":[{"a":1},{"b":2}]}`, `{"b":2}`},
		{"inside an item", `{"messages":[{"a":1},{"b":2}]}`, "messages[1].b", `{"messages":[{"a":1},{"b":2}]}`, `2`},
		{"under a name that has to be quoted", `{"in":{"a.b":{"role":"user"}}}`, `in["a.b"].role`,
			`{"in":{"a.b":{"role":"user"}}}`, `"user"`},
		{"what is missing", `{"result":{"role":"user"},"id":1}`, "result.model", `{"result":{"role":"user"},"id":1}`, `}`},
		{"an item that is missing", `{"messages":[1,2],"id":1}`, "messages[2]", `{"messages":[1,2],"id":1}`, `]`},
		{"the whole", `{"a":1}`, "", `{"a":1}`, `{"a":1}`},
		{"far from both ends", `{"x":"` + long + `","role":"user","y":"` + long + `"}`, "role", "", `"user"`},
		{"at the end", `{"x":"` + long + `","role":"user"}`, "role", "", `"user"`},
		{"at the beginning", `{"role":"user","x":"` + long + `"}`, "role", "", `"user"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, ok := Excerpt([]byte(c.doc), c.path)
			require.True(t, ok)
			require.Equal(t, c.marked, string([]rune(x.Text)[x.Start:x.Start+x.Length]))
			require.LessOrEqual(t, utf8.RuneCountInString(x.Text), excerptWidth+2, "and an ellipsis at either end")
			require.Equal(t, strings.Contains(c.name, "missing"), x.Missing)
			if c.text != "" {
				require.Equal(t, c.text, x.Text)
			}
		})
	}
}

func TestExcerptNeedsAShortValueInValidJSON(t *testing.T) {
	for name, c := range map[string]struct{ doc, path string }{
		"no JSON":                    {`{"a":`, "a"},
		"nothing":                    {``, "a"},
		"too long a place":           {`{"a":"` + strings.Repeat("x", 200) + `"}`, "a"},
		"on a way that is not there": {`{"a":1}`, "b.c"},
		"a path that is no path":     {`{"a":1}`, `["a`},
	} {
		t.Run(name, func(t *testing.T) {
			x, ok := Excerpt([]byte(c.doc), c.path)
			if c.path == `["a` { // names nothing, which is the whole
				require.Equal(t, c.doc, x.Text)
				return
			}
			require.False(t, ok, "%+v", x)
		})
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add(`{"a":{"b":["é",2]}}`, "a.b[1]")
	f.Add(`[[],{}]`, `[1]["x"]`)
	f.Add(`"é"`, "a")
	f.Fuzz(func(t *testing.T, doc, path string) {
		x, ok := Excerpt([]byte(doc), path)
		if ok && (x.Start < 0 || x.Length < 0 || x.Start+x.Length > utf8.RuneCountInString(x.Text)) {
			t.Fatalf("the mark is outside of the text: %+v", x)
		}
	})
}

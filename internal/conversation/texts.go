package conversation

import (
	"math/rand/v2"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// random is a source of random choices.
type random struct{ *rand.Rand }

// in reports true n times of a hundred.
func (r *random) in(n int) bool { return r.IntN(100) < n }

func oneOf[T any](r *random, choices ...T) T { return choices[r.IntN(len(choices))] }

// object is a JSON object.
type object = map[string]any

// phrases are pieces of texts with all that careless code changes.
var phrases = []string{
	"Which city is the capital of France?", "Summarise this.", "It rains.", "18°C", "No.", "naïve café",
	"cafe\u0301 nai\u0308ve",
	"東京タワー", "مرحبا", "👩‍👩‍👧‍👦🏳️‍🌈", "🗼",
	"\u00a0no-break\u00a0", "zero\u200bwidth", "line\u2028separator",
	"one\ntwo\n\n\tthree", "one\r\ntwo\r\n", "a\u0007bell", "unit\u001fseparator", "\u007f",
	"say \"why\"", `C:\temp\new`, `\n \u0041`,
	"<b>&amp;</b>", "# Title\n\n- item\n\n```go\nx := 1\n```", `{"json": [1, null]}`, "%s %d ${x} {{y}}", "'; --",
	"ﬁ ﬂ Ⅳ ½",
	"İ ı ſ ß", "null", "0", "true", "--", "data: [DONE]", "</s>", "event: stop",
}

// text is some phrases, often with blanks around them. It is never blank.
func (r *random) text() string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = oneOf(r, phrases...)
	}
	text := strings.Join(parts, oneOf(r, " ", " ", "\n", "", "  "))
	if r.in(20) {
		text = oneOf(r, " ", "\n", "\t", "\r\n", "   ") + text
	}
	if r.in(25) {
		text += oneOf(r, " ", "\n", "\n\n", "\r\n", "  ")
	}
	if r.in(3) {
		text = strings.Repeat(text+" ", 1+4000/len(text))
	}
	return text
}

// value is any JSON value.
func (r *random) value(depth int) any {
	kinds := 10
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return r.in(50)
	case 2, 3:
		return r.number()
	case 4:
		return oneOf(r, "", " ", "0", "null")
	case 5:
		return oneOf[any](r, []any{}, object{})
	case 6:
		return r.text()
	case 7:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = r.value(depth - 1)
		}
		return list
	default:
		o := object{}
		for range r.IntN(4) {
			o[oneOf(r, "a", "b", "city", "naïve key", "with space", "$ref", "type", "0")] = r.value(depth - 1)
		}
		return o
	}
}

// number is a number that every language can hold.
func (r *random) number() any {
	return oneOf[any](r, 0, 1, -1, 0.5, -2.75, 0.1, 1e-7, 2147483648, int64(1)<<53-1, -(int64(1)<<53 - 1), r.IntN(1000))
}

// parameter is a property of an input schema, and a value for it.
type parameter struct {
	schema object
	value  func(*random) any
}

var parameters = []parameter{
	{object{"type": "string"}, func(r *random) any { return oneOf(r, r.text(), "", " ") }},
	{object{"type": "string", "description": "a city, \"quoted\" <or not>", "minLength": 1},
		func(r *random) any { return r.text() }},
	{object{"type": "integer"}, func(r *random) any { return oneOf(r, 0, -1, 7, int64(1)<<53-1) }},
	{object{"type": "number", "minimum": -1000.5}, func(r *random) any { return oneOf[any](r, 0, 0.5, 1e-7, 3) }},
	{object{"type": "boolean"}, func(r *random) any { return r.in(30) }},
	{object{"type": []string{"string", "null"}}, func(r *random) any { return oneOf[any](r, nil, "x") }},
	{object{"type": "string", "enum": []string{"celsius", "fahrenheit", ""}}, func(r *random) any {
		return oneOf(r, "celsius", "")
	}},
	{object{"type": "array", "items": object{"type": "string"}}, func(r *random) any {
		return oneOf[any](r, []any{}, []any{r.text()}, []any{"a", "", "b"})
	}},
	{object{"type": "object", "properties": object{"deep": object{"type": "array", "items": object{
		"type": "object", "properties": object{"n": object{"type": "number"}}}}}}, func(r *random) any {
		return oneOf[any](r, object{}, object{"deep": []any{}}, object{"deep": []any{object{"n": r.number()}, object{}}})
	}},
	{object{"anyOf": []any{object{"type": "string"}, object{"type": "integer"}}}, func(r *random) any {
		return oneOf[any](r, "x", 5)
	}},
	{object{"description": "anything"}, func(r *random) any { return r.value(3) }},
}

// tool is an offered tool, and what its parameters are.
type tool struct {
	wire   object
	name   string
	inputs map[string]parameter
	order  []string // of the inputs, since maps have none
}

// toolNames are accepted by every provider.
var toolNames = []string{"get_weather", "read-file", "Search", "a", "x_1-Y", "list_airports", "zip7", "_private",
	strings.Repeat("long_name_", 6) + "1234"}

// tools returns tools with names of their own.
func (r *random) tools() []tool {
	names := r.Perm(len(toolNames))[:1+r.IntN(4)]
	all := make([]tool, len(names))
	for i, n := range names {
		t := tool{name: toolNames[n], inputs: map[string]parameter{}}
		properties, required := object{}, []string{}
		for _, name := range []string{"city", "n", "options"}[:r.IntN(4)] {
			p := oneOf(r, parameters...)
			t.inputs[name], t.order = p, append(t.order, name)
			properties[name] = p.schema
			if r.in(50) {
				required = append(required, name)
			}
		}
		schema := object{"type": "object", "properties": properties}
		if len(required) > 0 {
			schema["required"] = required
		}
		if r.in(30) {
			schema["additionalProperties"] = false
		}
		t.wire = object{"name": t.name, "inputSchema": schema}
		if r.in(75) {
			t.wire["description"] = r.text()
		}
		if r.in(15) {
			t.wire["title"] = "Tool " + t.name
			t.wire["annotations"] = object{"readOnlyHint": true}
		}
		all[i] = t
	}
	return all
}

// use returns an input for the tool.
func (t *tool) use(r *random) object {
	input := object{}
	for _, name := range t.order {
		if p := t.inputs[name]; r.in(85) || t.requires(name) {
			input[name] = p.value(r)
		}
	}
	return input
}

func (t *tool) requires(name string) bool {
	schema, _ := t.wire["inputSchema"].(object)
	required, _ := schema["required"].([]string)
	for _, other := range required {
		if other == name {
			return true
		}
	}
	return false
}

// Small media: a grey PNG of 4 by 4, a GIF of one point, and a WAV of eight samples.
const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAAAAACMmsGiAAAAFklEQVR4nGJiYGBggBInGCAAEAAA//8GrgDPhcP6owAAAABJRU5ErkJggg=="
	gif = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs="
	wav = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACA/wDAQKBggA=="
)

func (r *random) image() object {
	if r.in(50) {
		return object{"type": "image", "data": png, "mimeType": "image/png"}
	}
	return object{"type": "image", "data": gif, "mimeType": "image/gif"}
}

func said(text string) object { return object{"type": "text", "text": text} }

func raw(v any) []byte { return jsonvalue.Marshal(v) }

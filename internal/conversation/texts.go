package conversation

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

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
func (c *choices) text(name string) string {
	text := "a"
	c.part(name, func() {
		var parts []string
		c.list("phrases", c.among(1, 2, 3), func(int) {
			parts = append(parts, oneOf(c, "phrase", "a", phrases...))
		})
		joined := strings.Join(parts, oneOf(c, "between", " ", " ", " ", "\n", "", "  "))
		if len(parts) > 0 {
			text = joined
		}
		c.maybe("before", 20, func() { text = oneOf(c, "blank", " ", " ", "\n", "\t", "\r\n", "   ") + text })
		c.maybe("after", 25, func() { text += oneOf(c, "blank", " ", " ", "\n", "\n\n", "\r\n", "  ") })
		if c.chance("long", 3) {
			text = strings.Repeat(text+" ", 1+4000/len(text))
		}
	})
	return text
}

// value is any JSON value.
func (c *choices) value(name string, depth int) (v any) {
	c.part(name, func() {
		kinds := 10
		if depth == 0 {
			kinds = 7
		}
		switch c.number("kind", kinds) {
		case -1, 0:
		case 1:
			v = c.chance("true", 50)
		case 2, 3:
			v = c.anyNumber("number")
		case 4:
			v = oneOf(c, "text", "", "", " ", "0", "null")
		case 5:
			v = oneOf[any](c, "empty", []any{}, []any{}, object{})
		case 6:
			v = c.text("text")
		case 7:
			list := []any{}
			c.list("items", c.among(0, 1, 2, 3), func(int) {
				list = append(list, c.value("item", depth-1))
			})
			v = list
		default:
			o := object{}
			c.list("members", c.among(0, 1, 2, 3), func(int) {
				member := oneOf(c, "name", "a", "a", "b", "city", "naïve key", "with space", "$ref", "type", "0")
				o[member] = c.value("value", depth-1)
			})
			v = o
		}
	})
	return v
}

func (c *choices) anyNumber(name string) any {
	small := max(c.number(name+" below 1000", 1000), 0)
	return oneOf[any](c, name, 0, 0, 1, -1, 0.5, -2.75, 0.1, 1e-7, 2147483648, int64(1)<<53-1, -(int64(1)<<53 - 1), small)
}

// parameter is a property of an input schema, and a value for it.
type parameter struct {
	schema object
	value  func(*choices) any
}

var parameters = []parameter{
	{object{"type": "string"}, func(c *choices) any { return oneOf(c, "value", "", c.text("text"), "", " ") }},
	{object{"type": "string", "description": "a city, \"quoted\" <or not>", "minLength": 1},
		func(c *choices) any { return c.text("text") }},
	{object{"type": "integer"}, func(c *choices) any { return oneOf(c, "value", 0, 0, -1, 7, int64(1)<<53-1) }},
	{object{"type": "number", "minimum": -1000.5},
		func(c *choices) any { return oneOf[any](c, "value", 0, 0, 0.5, 1e-7, 3) }},
	{object{"type": "boolean"}, func(c *choices) any { return c.chance("value", 30) }},
	{object{"type": []string{"string", "null"}}, func(c *choices) any { return oneOf[any](c, "value", nil, nil, "x") }},
	{object{"type": "string", "enum": []string{"celsius", "fahrenheit", ""}}, func(c *choices) any {
		return oneOf(c, "value", "", "celsius", "")
	}},
	{object{"type": "array", "items": object{"type": "string"}}, func(c *choices) any {
		return oneOf[any](c, "value", []any{}, []any{}, []any{c.text("text")}, []any{"a", "", "b"})
	}},
	{object{"type": "object", "properties": object{"deep": object{"type": "array", "items": object{
		"type": "object", "properties": object{"n": object{"type": "number"}}}}}}, func(c *choices) any {
		return oneOf[any](c, "value", object{}, object{}, object{"deep": []any{}},
			object{"deep": []any{object{"n": c.anyNumber("number")}, object{}}})
	}},
	{object{"anyOf": []any{object{"type": "string"}, object{"type": "integer"}}}, func(c *choices) any {
		return oneOf[any](c, "value", 5, "x", 5)
	}},
	{object{"description": "anything"}, func(c *choices) any { return c.value("value", 3) }},
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

// inputNames are the names of inputs of tools.
var inputNames = []string{"city", "n", "options"}

// tools returns tools with names of their own; at least one.
func (c *choices) tools() []tool {
	names := slices.Clone(toolNames)
	c.shuffle("name", len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var all []tool
	c.list("tools", c.among(1, 2, 3, 4), func(i int) {
		if i >= len(names) {
			return
		}
		name := string(rune('b' + i))
		if c.chance("named", 100) {
			name = names[i]
		}
		all = append(all, c.tool(name))
	})
	if all == nil {
		all = []tool{c.tool("b")}
	}
	return all
}

func (c *choices) tool(name string) tool {
	t := tool{name: name, inputs: map[string]parameter{}}
	properties, required := object{}, []string{}
	c.list("properties", c.among(0, 1, 2, 3), func(i int) {
		if i >= len(inputNames) {
			return
		}
		name := inputNames[i]
		p := parameters[c.index("form", len(parameters))]
		t.inputs[name], t.order = p, append(t.order, name)
		properties[name] = p.schema
		if c.chance("required", 50) {
			required = append(required, name)
		}
	})
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	if c.chance("closed", 30) {
		schema["additionalProperties"] = false
	}
	t.wire = object{"name": t.name, "inputSchema": schema}
	c.maybe("described", 75, func() { t.wire["description"] = c.text("text") })
	if c.chance("annotated", 15) {
		t.wire["title"] = "Tool " + t.name
		t.wire["annotations"] = object{"readOnlyHint": true}
	}
	return t
}

func (c *choices) use(t *tool) object {
	input := object{}
	for _, name := range t.order {
		with := c.maybe(name, 85, func() { input[name] = t.inputs[name].value(c) })
		if !with && t.requires(name) {
			c.part(name+" required", func() { input[name] = t.inputs[name].value(c) })
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

func (c *choices) image() object {
	if c.chance("png", 50) {
		return object{"type": "image", "data": png, "mimeType": "image/png"}
	}
	return object{"type": "image", "data": gif, "mimeType": "image/gif"}
}

func said(text string) object { return object{"type": "text", "text": text} }

func raw(v any) []byte { return jsonvalue.Marshal(v) }

package variations

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

// object is a JSON object, and text its string member.
type object = map[string]any

var (
	text   = jsonvalue.TextIn
	ofType = jsonvalue.OfType
)

// Edits of one thing alone.
func result(f func(result object)) mutants.Edit   { return mutants.Edit{Result: f} }
func out(f func(m *mutants.Message)) mutants.Edit { return mutants.Edit{Out: f} }

// replyAndRequest edits a whole reply of the model, and the requests to it.
func replyAndRequest(reply, request func(body object)) mutants.Edit {
	return mutants.Edit{ModelRequest: request, ModelReply: func(whole []object) []object {
		for _, body := range whole {
			reply(body)
		}
		return whole
	}}
}

// objects returns the objects in an array.
func objects(array any) []object {
	var found []object
	items, _ := array.([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			found = append(found, o)
		}
	}
	return found
}

// array returns an array, or nil for anything else.
func array(v any) []any {
	items, _ := v.([]any)
	return items
}

func each(name string, edit func(item object)) func(object) {
	return func(body object) {
		for _, item := range objects(body[name]) {
			edit(item)
		}
	}
}

func eachRole(role string, edit func(m object)) func(object) {
	return each("messages", func(m object) {
		if m["role"] == role {
			edit(m)
		}
	})
}

// own turns an id of the model or the server into one of the client, and given turns it back.
func own(id string) string   { return "own-" + id }
func given(id string) string { return strings.TrimPrefix(id, "own-") }

// rename changes a string member, if there is one.
func rename(o object, member string, change func(string) string) {
	if s, ok := o[member].(string); ok {
		o[member] = change(s)
	}
}

func textBlock(text string) object { return object{"type": "text", "text": text} }

func user(content any) object { return object{"role": "user", "content": content} }

// afterResults takes the media out of results and puts them in a message behind each run of results.
func afterResults(
	items []any, take func(item object) (media []any, isResult bool), message func(media []any) object,
) []any {
	var all, media []any
	show := func() {
		if media != nil {
			all, media = append(all, message(media)), nil
		}
	}
	for _, item := range items {
		taken, isResult := take(item.(object))
		if media = append(media, taken...); !isResult {
			show()
		}
		all = append(all, item)
	}
	show()
	return all
}

func split(text string) (string, string) {
	i := strings.IndexByte(text, ' ') + 1
	return text[:i], text[i:]
}

// inlined returns a schema without references into its own $defs.
func inlined(schema object) object {
	properties, _ := schema["properties"].(object)
	definitions, _ := schema["$defs"].(object)
	for name, property := range properties {
		if to := text(property.(object), "$ref"); to != "" {
			properties[name] = definitions[strings.TrimPrefix(to, "#/$defs/")]
		}
	}
	delete(schema, "$defs")
	return schema
}

package variations

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// Where variations of requests to a model matter.
const (
	prompts = "basic tool-use/one-tool parallel/two-cities loop/two-questions mrtr/several time/slow"
	tools   = "tool-use parallel/two-cities"
	results = "tool-use/two-turns parallel loop/three-cities"
	minted  = "tool-use parallel/two-cities parallel/thirty-three loop/three-cities"
)

func chatIDs(change func(string) string) func(object) {
	return each("messages", func(m object) {
		each("tool_calls", func(call object) { rename(call, "id", change) })(m)
		rename(m, "tool_call_id", change)
	})
}

// editText edits the text of a chat message, which may be a string or parts.
func editText(m object, edit func(string) string) {
	rename(m, "content", edit)
	each("content", func(part object) { rename(part, "text", edit) })(m)
}

func eachFunction(edit func(function object)) func(object) {
	return each("tools", func(tool object) { edit(tool["function"].(object)) })
}

func prompted(edit func(body object)) func(body object) {
	return func(body object) {
		if objects(body["messages"])[0]["role"] == "system" {
			edit(body)
		}
	}
}

// parameters returns the input schema of a function, and its properties.
func parameters(function object) (schema, properties object) {
	schema = function["parameters"].(object)
	return schema, schema["properties"].(object)
}

var chatVariations = of(reference.Config{}, "chat-",
	v("own-ids-to-model", "gives the model its own ids", "own-ids", results, chatIDs(own)),
	edited("own-ids-to-server", "gives the server its own ids", "answer-ids", minted,
		replyAndRequest(each("choices", func(choice object) {
			message, _ := choice["message"].(object)
			each("tool_calls", func(call object) { rename(call, "id", own) })(message)
		}), chatIDs(given)), with(reference.Config{Dialect: "openai-chat", Plain: true})),
	v("prompt-in-user-message", "puts the system prompt into the first user message", "system-prompt", prompts,
		prompted(func(body object) {
			messages := objects(body["messages"])
			first := slices.IndexFunc(messages, func(m object) bool { return m["role"] == "user" })
			editText(messages[first], func(s string) string { return text(messages[0], "content") + "\n\n" + s })
			body["messages"] = array(body["messages"])[1:]
		})),
	v("no-system-prompt", "drops the system prompt", "system-prompt", prompts,
		prompted(func(body object) { body["messages"] = array(body["messages"])[1:] })),
	v("own-words", "puts its own words and the date around the system prompt", "system-prompt", prompts,
		prompted(func(body object) {
			editText(objects(body["messages"])[0], func(prompt string) string {
				return "You are Acme's assistant. Today is 22 November 2026.\n\n" + prompt + "\n\nAnswer in the user's language."
			})
		})),
	v("detail", "says how closely the model looks at an image", "own-settings", "basic parallel",
		each("messages", each("content", func(part object) {
			if image, ok := part["image_url"].(object); ok {
				image["detail"] = "high"
			}
		}))),
	v("images-anew", "decodes each image and encodes it anew", "images-anew", "basic parallel",
		each("messages", each("content", func(part object) {
			if image, ok := part["image_url"].(object); ok {
				rename(image, "url", encodedAnew)
			}
		}))),
	v("types-as-variants", "offers a parameter of several types with a variant for each",
		"same-schema", "tool-use/two-turns", eachFunction(func(function object) {
			_, properties := parameters(function)
			for _, property := range properties {
				p := property.(object)
				if types, ok := p["type"].([]any); ok {
					delete(p, "type")
					var variants []any
					for _, name := range types {
						variants = append(variants, object{"type": name})
					}
					p["anyOf"] = variants
				}
			}
		})),
	v("developer-role", "sends the system prompt with the role developer", "provider-forms", prompts,
		eachRole("system", func(m object) { m["role"] = "developer" })),
	v("wrapped-prompt", "adds tags around the user's text", "wrapped-texts",
		prompts, eachRole("user", func(m object) {
			editText(m, func(text string) string { return "<request>\n" + text + "\n</request>" })
		})),
	v("text-as-parts", "sends every text as a part", "provider-forms", "basic tool-use/one-tool parallel",
		each("messages", func(m object) {
			if text, ok := m["content"].(string); ok {
				m["content"] = []any{textBlock(text)}
			}
		})),
	v("text-in-two-parts", "sends the user's text in two parts", "split-texts", prompts,
		eachRole("user", func(m object) {
			if text, ok := m["content"].(string); ok {
				one, other := split(text)
				m["content"] = []any{textBlock(one), textBlock(other)}
			}
		})),
	v("own-first-message", "puts its own user message before the conversation", "own-messages", prompts,
		prompted(func(body object) {
			hello := user("You speak for a server of mine.")
			body["messages"] = slices.Insert(array(body["messages"]), 1, any(hello))
		})),
	v("framed-results", "puts a frame around each tool result", "labelled-results", results,
		eachRole("tool", func(m object) {
			editText(m, func(text string) string { return "<untrusted>\n" + text + "\n</untrusted>" })
		})),
	v("reminder", "puts a reminder of its own behind the conversation", "own-reminder", prompts,
		func(body object) {
			if messages := array(body["messages"]); messages[len(messages)-1].(object)["role"] == "user" {
				body["messages"] = append(messages, user("Reminder: answer in the language of the user."))
			}
		}),
	v("texts-first", "puts the texts of a message before its image", "images-before-text", "basic parallel",
		eachRole("user", func(m object) {
			isText := func(part any) bool { return text(part.(object), "type") == "text" }
			parts := array(m["content"])
			if media := slices.DeleteFunc(slices.Clone(parts), isText); len(media) == 1 {
				texts := slices.DeleteFunc(parts, func(part any) bool { return !isText(part) })
				m["content"] = append(texts, media...)
			}
		})),
	v("no-examples", "leaves examples out of schemas", "annotations", tools,
		eachFunction(func(function object) {
			_, properties := parameters(function)
			for _, property := range properties {
				delete(property.(object), "examples")
			}
		})),
	v("results-in-json", "wraps each tool result in JSON", "results-in-json", results,
		eachRole("tool", func(m object) {
			editText(m, func(text string) string { return string(jsonvalue.Marshal(object{"result": text})) })
		})),
	v("says-auto", "sends the tool choice auto and parallel_tool_calls, which are defaults", "provider-forms", tools,
		func(body object) {
			if body["tools"] != nil && body["tool_choice"] == nil {
				body["tool_choice"], body["parallel_tool_calls"] = "auto", true
			}
		}),
	v("no-tools-for-none", "offers no tools if the tool choice is none", "no-tools-for-none", tools,
		func(body object) {
			if body["tool_choice"] == "none" {
				delete(body, "tools")
				delete(body, "tool_choice")
			}
		}),
	v("omits-auto", "omits the tool choice auto", "auto-left-out", tools, func(body object) {
		if body["tool_choice"] == "auto" {
			delete(body, "tool_choice")
		}
	}),
	v("tools-reordered", "offers the tools in reverse order", "tool-order", tools,
		func(body object) { slices.Reverse(array(body["tools"])) }),
	v("schemas-inlined", "replaces each reference in a tool's schema with what it refers to",
		"same-schema", tools,
		eachFunction(func(function object) { inlined(function["parameters"].(object)) })),
	v("says-required", "says in the system prompt too that a tool is required", "system-prompt", tools,
		prompted(func(body object) {
			if body["tool_choice"] == "required" {
				rename(objects(body["messages"])[0], "content", func(s string) string { return s + " You have to use a tool." })
			}
		})),
	v("own-settings", "sets the temperature and others if the server does not", "own-settings", "basic tool-use/one-tool",
		func(body object) {
			body["temperature"], body["top_p"], body["user"], body["store"] = 0.7, 0.9, "host", false
		}),
	v("newer-limit", "sends the limit as max_completion_tokens", "provider-forms",
		"basic tool-use/one-tool", func(body object) {
			body["max_completion_tokens"] = body["max_tokens"]
			delete(body, "max_tokens")
		}),
	v("strict-schemas", "makes the tools' schemas strict", "nullable-properties", tools,
		eachFunction(func(function object) {
			schema, _ := parameters(function)
			function["strict"] = true
			closed(schema)
		})),
	v("names-the-server", "adds the server to each tool's description", "longer-descriptions", tools,
		eachFunction(func(function object) {
			rename(function, "description", func(s string) string { return "[a server's] " + s })
		})),
)

// closed makes a schema strict at every level: objects have exactly their properties, and formats are left out.
func closed(schema object) {
	properties, _ := schema["properties"].(object)
	if schema["type"] == "object" {
		schema["additionalProperties"] = false
		schema["required"] = slices.Sorted(maps.Keys(properties))
	}
	delete(schema, "format")
	definitions, _ := schema["$defs"].(object)
	for _, inner := range slices.Concat(slices.Collect(maps.Values(properties)), slices.Collect(maps.Values(definitions)),
		array(schema["anyOf"]), []any{schema["items"]}) {
		if s, isSchema := inner.(object); isSchema {
			closed(s)
		}
	}
}

// encodedAnew encodes a PNG image in a data URL anew. It leaves others.
func encodedAnew(url string) string {
	const prefix = "data:image/png;base64,"
	data, isPNG := strings.CutPrefix(url, prefix)
	decoded, err := png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data)))
	if !isPNG || err != nil {
		return url
	}
	var anew bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&anew, decoded); err != nil {
		return url
	}
	return prefix + base64.StdEncoding.EncodeToString(anew.Bytes())
}

package malformed

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/malformed"
)

// Malformation is one thing that is wrong with a request.
type Malformation struct {
	ID string
	// base is the valid request.
	base base
	// at is the path of the wrong part in the params, and says completes "a request in which …".
	at, Says string
	class    class
	// edit makes the valid params wrong, at the path.
	edit func(params story.Object, at string)
}

// class says what a malformation requires of the client.
type class int

const (
	due           class = iota // an error
	wrongType                  // an error, for a required field of a wrong type
	ignorable                  // an error, or nothing: the client may ignore the field
	valid                      // nothing: the schema allows it
	invalidSchema              // an error, although the protocol's schema allows it
)

// base is a valid request.
type base int

const (
	question    base = iota
	image            // an image, then a question
	withTool         // a question, and a tool
	withHistory      // a question, a tool, a use of it and its result
)

func (b base) hasTools() bool { return b >= withTool }

// extend adds to a plain question what the base has beside it.
func (b base) extend(p story.Object) {
	if b == image {
		content := story.Object{"type": "image", "data": story.Base64(story.WeatherMap), "mimeType": "image/png"}
		p["messages"] = append([]any{story.Object{"role": "user", "content": content}}, p["messages"].([]any)...)
	}
	if b.hasTools() {
		p["tools"] = asJSON([]server.Tool{story.GetWeather})
	}
	if b == withHistory {
		use := story.Object{"type": "tool_use", "id": "use-one", "name": "get_weather", "input": story.Object{"city": "Oslo"}}
		windy := []any{story.Object{"type": "text", "text": "windy"}}
		result := story.Object{"type": "tool_result", "toolUseId": "use-one", "content": windy}
		p["messages"] = append(p["messages"].([]any), story.Object{"role": "assistant", "content": []any{use}},
			story.Object{"role": "user", "content": []any{result}})
	}
}

func asJSON(value any) (decoded any) {
	if err := json.Unmarshal(story.JSON(value), &decoded); err != nil {
		panic(err)
	}
	return decoded
}

// params makes the wrong request out of a plain question.
func (m Malformation) params(question *server.CreateMessageParams) json.RawMessage {
	params := asJSON(question).(story.Object)
	m.base.extend(params)
	m.edit(params, m.at)
	return story.JSON(params)
}

// steps splits a path such as "messages[0].content".
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
}

// part returns the part of the params at the steps of a path. The path must exist.
func part(params any, steps []string) any {
	for _, step := range steps {
		if list, ok := params.([]any); ok {
			params = list[index(step)]
		} else {
			params = params.(story.Object)[step]
		}
	}
	return params
}

func index(step string) int {
	i, err := strconv.Atoi(step)
	if err != nil {
		panic(err)
	}
	return i
}

func set(value any) func(story.Object, string) {
	return func(p story.Object, at string) {
		path := steps(at)
		last := path[len(path)-1]
		switch parent := part(p, path[:len(path)-1]).(type) {
		case []any:
			parent[index(last)] = value
		case story.Object:
			parent[last] = value
		}
	}
}

// remove removes a member of the object at the path.
func remove(name string) func(story.Object, string) {
	return func(p story.Object, at string) { delete(part(p, steps(at)).(story.Object), name) }
}

func textAsContent(p story.Object, at string) { set(part(p, steps(at+".text")))(p, at) }
func perhaps(p story.Object, _ string)        { p["toolChoice"] = story.Object{"mode": "perhaps"} }

func toolTwice(p story.Object, _ string) {
	tools := p["tools"].([]any)
	p["tools"] = append(tools, tools[0])
}

func misspelledType(p story.Object, at string) {
	set("strin")(p, at)
	remove("required")(p, "tools[0].inputSchema")
}

func longText(p story.Object, at string) {
	set(strings.Repeat("0123456789abcdef", longest/16)+" "+part(p, steps(at)).(string))(p, at)
}

// longString is the case of a text of longest bytes.
const (
	longString = "long-string"
	longest    = 6 << 20 // more than the limits of 1, 4 and 5 MB that servers and parsers have
)

// deepest is the number of levels of deep-nesting.
const deepest = 1000

func nested(levels int) any {
	var value any = "deep"
	for range levels {
		value = []any{value}
	}
	return value
}

// Malformations are in the order of the catalogue.
var Malformations = slices.Concat([]Malformation{
	{"unknown-role", question, "messages[0].role", `the role is "robot"`, due, set("robot")},
	{"system-role", question, "messages[0].role", `the role is "system"`, due, set("system")},
	{"missing-role", question, "messages[0]", "the message has no role", due, remove("role")},
	{"missing-messages", question, "", "messages is missing", due, remove("messages")},
	{"null-message", question, "messages[0]", "the message is null", due, set(nil)},
	{"null-content", question, "messages[0].content", "the content is null", due, set(nil)},
	{"unknown-content-type", question, "messages[0].content.type", `the content type is "hologram"`, due, set("hologram")},
	{"content-string", question, "messages[0].content", "the content is a string, not blocks", due, textAsContent},
	{"bad-base64", image, "messages[0].content.data", "the image data is invalid base64", due, set("this is no base64!")},
	{"missing-max-tokens", question, "", "maxTokens is missing", due, remove("maxTokens")},
	{"unknown-tool-choice", withTool, "toolChoice.mode", `the tool choice is "perhaps"`, due, perhaps},
	{"null-tool", withTool, "tools[0]", "the tool is null", due, set(nil)},
	{"tool-without-schema", withTool, "tools[0]", "the tool has no inputSchema", due, remove("inputSchema")},
}, ofWrongType(wrongType,
	field{"messages", question, "messages", "array"},
	field{"max-tokens", question, "maxTokens", "number"},
	field{"role", question, "messages[0].role", "string"},
	field{"content", question, "messages[0].content", "object array string"},
	field{"type", question, "messages[0].content.type", "string"},
	field{"text", question, "messages[0].content.text", "string"},
	field{"data", image, "messages[0].content.data", "string"},
	field{"mime-type", image, "messages[0].content.mimeType", "string"},
	field{"tool-name", withTool, "tools[0].name", "string"},
	field{"input-schema", withTool, "tools[0].inputSchema", "object"},
	field{"use-id", withHistory, "messages[1].content[0].id", "string"},
	field{"use-name", withHistory, "messages[1].content[0].name", "string"},
	field{"use-input", withHistory, "messages[1].content[0].input", "object"},
	field{"result-id", withHistory, "messages[2].content[0].toolUseId", "string"},
	field{"result-content", withHistory, "messages[2].content[0].content", "array"},
), ofWrongType(ignorable,
	field{"system-prompt", question, "systemPrompt", "string"},
	field{"temperature", question, "temperature", "number"},
	field{"stop-sequences", question, "stopSequences", "array"},
	field{"preferences", question, "modelPreferences", "object"},
	field{"include-context", question, "includeContext", "string"},
	field{"metadata", question, "metadata", "object"},
	field{"meta", question, "_meta", "object"},
	field{"tools", withTool, "tools", "array"},
	field{"tool-choice", withTool, "toolChoice", "object"},
), []Malformation{
	{"empty-messages", question, "messages", "messages is empty", valid, set([]any{})},
	{"zero-max-tokens", question, "maxTokens", "maxTokens is 0", valid, set(0)},
	{"negative-max-tokens", question, "maxTokens", "maxTokens is -1", valid, set(-1)},
	{"huge-max-tokens", question, "maxTokens", "maxTokens is 2^53-1", valid, set(1<<53 - 1)},
	{"fractional-max-tokens", question, "maxTokens", "maxTokens is 99.5", valid, set(99.5)},
	{"duplicate-tool-names", withTool, "tools[1].name", "two tools have the same name", valid, toolTwice},
	{"tool-bad-schema", withTool, "tools[0].inputSchema.properties.city.type", `the tool's schema has the type "strin"`,
		invalidSchema, misspelledType},
	{"deep-nesting", question, "metadata", fmt.Sprintf("metadata has %d levels of nesting", deepest), valid,
		set(story.Object{"deep": nested(deepest)})},
	{longString, question, "messages[0].content.text", "the text has 6 MiB", valid, longText},
})

// field can have a wrong type. It has a name, a base, a path, and the types that are right or another malformation.
type field struct {
	name  string
	base  base
	at    string
	types string
}

// wrongSeed is the seed of the wrong types.
const wrongSeed = 1

func ofWrongType(class class, fields ...field) []Malformation {
	var all []Malformation
	for i, f := range fields {
		random := rand.New(rand.NewPCG(wrongSeed, uint64(class)<<32|uint64(i)))
		raw := malformed.WrongType(random, strings.Fields(f.types)...)
		says := fmt.Sprintf("%s is %s", f.at, raw)
		all = append(all, Malformation{"wrong-" + f.name, f.base, f.at, says, class, set(json.RawMessage(raw))})
	}
	return all
}

func casesOf(classes ...class) []string {
	var ids []string
	for _, m := range Malformations {
		if slices.Contains(classes, m.class) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Package validity says what is wrong with the params of a sampling request: by the schema of the revision, by the
// rules of tool uses and results, which a schema cannot express, and by what no model accepts. A client refuses such
// requests, a check requires no answer to them, and a generator avoids or wants them.
package validity

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Fault is one thing that is wrong with a request.
type Fault struct {
	Kind Kind
	// Path locates the wrong part in the params, such as "messages[2].content[0]"; "" for the params.
	Path string
	// Message says what was expected and what was found.
	Message string
}

// Error returns the path and the message.
func (f *Fault) Error() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Kind says which rule a request breaks.
type Kind string

// The rules of the schema, of capabilities, and of models: no model has a limit below one token, or answers nothing.
const (
	BadSchema          Kind = "schema"
	UndeclaredSampling Kind = "undeclared-sampling"
	UndeclaredTools    Kind = "undeclared-tools"
	TokenLimit         Kind = "token-limit"
	NoMessages         Kind = "no-messages"
	BadMedia           Kind = "media"
	ToolName           Kind = "tool-name"
	ToolSchema         Kind = "tool-schema"
)

// The rules of histories: each tool use of the assistant has one result in the next message, which has nothing else.
const (
	UseInUser         Kind = "use-in-user"
	ResultInAssistant Kind = "result-in-assistant"
	DuplicateUseID    Kind = "duplicate-use-id"
	DuplicateResult   Kind = "duplicate-result"
	OrphanResult      Kind = "orphan-result"
	MixedContent      Kind = "mixed-content"
	MissingResult     Kind = "missing-result"
	NoResult          Kind = "no-result"
	LateResult        Kind = "late-result"
	TrailingUse       Kind = "trailing-use"
)

// Statement returns the statement of the specification that forbids a request (package requirements), without its
// revision; "" if only models do.
func (k Kind) Statement() string { return statements[k] }

var statements = map[Kind]string{
	BadSchema: "sampling/22", BadMedia: "sampling/22", UndeclaredSampling: "sampling/06", UndeclaredTools: "schema/01",
	UseInUser: "sampling/22", ResultInAssistant: "sampling/22", DuplicateUseID: "sampling/22",
	DuplicateResult: "sampling/22", OrphanResult: "schema/07", MixedContent: "sampling/08",
	MissingResult: "sampling/09", NoResult: "sampling/09", LateResult: "sampling/09", TrailingUse: "sampling/09",
}

// OfHistory reports whether the rule is one of histories.
func (k Kind) OfHistory() bool {
	return statements[k] != "" && !slices.Contains([]Kind{BadSchema, BadMedia, UndeclaredSampling, UndeclaredTools}, k)
}

// needed are the members that a client cannot ignore, by the member that has them: "" is the params. What a tool result
// says, and the properties of a tool's input, are for the model.
var needed = map[string][]string{
	"":            {"maxTokens", "messages", "tools", "toolChoice"},
	"messages":    {"role", "content"},
	"content":     {"type", "text", "data", "mimeType", "id", "name", "input", "toolUseId", "content"},
	"tools":       {"name", "inputSchema"},
	"inputSchema": {"type"},
	"toolChoice":  {"mode"},
}

// withoutIgnorable returns a member with only those members that a client cannot ignore.
func withoutIgnorable(name string, value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withoutIgnorable(name, item)
		}
		return list
	case map[string]any:
		if needed[name] == nil {
			return v
		}
		kept := map[string]any{}
		for _, inner := range needed[name] {
			part, there := v[inner]
			_, several := part.([]any)
			switch {
			case !there, part == nil && slices.Contains([]string{"tools", "toolChoice", "mode"}, inner):
			case name == "content" && inner == "content" && several:
				kept[inner] = []any{}
			default:
				kept[inner] = withoutIgnorable(inner, part)
			}
		}
		return kept
	}
	return value
}

// Check returns what is wrong with the params of a sampling request in a revision, in the order of the members; nil if
// the client may serve it. Of several violations of the schema it returns one, and then nothing else. Members that a
// client may ignore are not checked.
func Check(revision string, params map[string]any) []Fault {
	raw := jsonvalue.Marshal(withoutIgnorable("", params))
	if err := schema.Validate(revision, schema.CreateMessageRequestParams, raw); err != nil {
		f := Fault{Kind: BadSchema, Message: err.Error()}
		var at *schema.Error
		if errors.As(err, &at) {
			f.Path, f.Message = at.Path, at.Message
		}
		return []Fault{f}
	}
	return Rules(params)
}

// Rules is [Check] for params that are valid by the schema.
func Rules(params map[string]any) []Fault {
	var found []Fault
	limit, _ := params["maxTokens"].(json.Number)
	if n, err := limit.Int64(); err != nil || n < 1 {
		found = append(found, Fault{TokenLimit, "maxTokens",
			fmt.Sprintf("expected a whole number above 0, found %s", params["maxTokens"])})
	}
	messages := jsonvalue.Messages(params)
	if len(messages) == 0 {
		found = append(found, Fault{NoMessages, "messages", "expected at least one message, found none"})
	}
	return slices.Concat(found, checkMedia(messages), checkTools(params["tools"]), checkHistory(messages))
}

// Undeclared returns the fault of a request that takes a capability which the client does not declare; nil if it
// declares all (2025-11-25, client/sampling#capabilities, schema#createmessagerequestparams).
func Undeclared(params map[string]any, declares func(path ...string) bool) *Fault {
	switch {
	case !declares("sampling"):
		return &Fault{UndeclaredSampling, "", "sampling is not declared"}
	case declares("sampling", "tools"):
		return nil
	}
	for _, name := range []string{"tools", "toolChoice"} {
		if params[name] != nil {
			return &Fault{UndeclaredTools, name, "sampling.tools is not declared"}
		}
	}
	return nil
}

// checkMedia checks the data of images and sounds.
func checkMedia(messages []map[string]any) []Fault {
	var found []Fault
	for i, m := range messages {
		for path, b := range blocksOf(m["content"], at(i)) {
			if b["type"] != "image" && b["type"] != "audio" {
				continue
			}
			if _, err := base64.StdEncoding.DecodeString(jsonvalue.TextIn(b, "data")); err != nil {
				found = append(found, Fault{BadMedia, path + ".data", fmt.Sprintf("expected base64, found %v", err)})
			}
		}
	}
	return found
}

// checkTools checks what the schema leaves open: it allows tools with an empty name, and types that do not exist.
func checkTools(value any) []Fault {
	tools, _ := value.([]any)
	var found []Fault
	for i, item := range tools {
		tool, _ := item.(map[string]any)
		at := fmt.Sprintf("tools[%d]", i)
		if jsonvalue.TextIn(tool, "name") == "" {
			found = append(found, Fault{ToolName, at + ".name", "expected a name, found none"})
		}
		found = append(found, checkSchema(tool["inputSchema"], at+".inputSchema")...)
	}
	return found
}

var types = []any{"object", "array", "string", "number", "integer", "boolean", "null"}

func checkSchema(value any, at string) []Fault {
	schema, _ := value.(map[string]any)
	names, several := schema["type"].([]any)
	if !several && schema["type"] != nil {
		names = []any{schema["type"]}
	}
	var found []Fault
	for _, name := range names {
		if !slices.Contains(types, name) {
			found = append(found, Fault{ToolSchema, at + ".type",
				fmt.Sprintf("expected a type of JSON Schema, found %v", name)})
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		found = append(found, checkSchema(properties[name], at+".properties."+name)...)
	}
	return found
}

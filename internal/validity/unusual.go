package validity

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The rules of requests that every provider takes.
const (
	FirstOrLast Kind = "first-or-last"
	NoContent   Kind = "no-content"
	BlankText   Kind = "blank-text"
	UsedID      Kind = "used-id"
	UnknownTool Kind = "unknown-tool"
	Unreadable  Kind = "unreadable"
)

// Unusual returns what is wrong with a valid request for some provider: the specification allows it, and so a client
// need not refuse it. The params are those for which [Check] returns nil.
func Unusual(params map[string]any) []Fault {
	u := unusual{ids: map[string]bool{}}
	tools, _ := params["tools"].([]any)
	for _, tool := range tools {
		o, _ := tool.(map[string]any)
		u.offered = append(u.offered, jsonvalue.TextIn(o, "name"))
	}
	messages := jsonvalue.Messages(params)
	for i, m := range messages {
		if (i == 0 || i == len(messages)-1) && m["role"] != "user" {
			u.add(FirstOrLast, fmt.Sprintf("messages[%d].role", i), "expected the first and the last message to be the user's")
		}
		u.content(m["content"], at(i), true)
	}
	return u.found
}

// UnusualResults is [Unusual] for the content of a message with tool results.
func UnusualResults(content any, path string) []Fault {
	var u unusual
	u.content(content, path, false)
	return u.found
}

// unusual is what the messages so far say about the next one.
type unusual struct {
	offered []string        // names of tools
	ids     map[string]bool // of tool uses
	found   []Fault
}

func (u *unusual) add(kind Kind, path, format string, args ...any) {
	u.found = append(u.found, Fault{kind, path, fmt.Sprintf(format, args...)})
}

// content checks blocks: those of a message, or of a tool result, which may say nothing.
func (u *unusual) content(content any, path string, ofMessage bool) {
	none := true
	for at, b := range blocksOf(content, path) {
		none = false
		switch b["type"] {
		case "text":
			if ofMessage && strings.TrimSpace(jsonvalue.TextIn(b, "text")) == "" {
				u.add(BlankText, at, "expected a text, found only blanks")
			}
		case "tool_use":
			u.use(b, at)
		case "tool_result":
			u.content(b["content"], at+".content", false)
		default:
			u.medium(b, at)
		}
	}
	if none && ofMessage {
		u.add(NoContent, path, "expected at least one block, found none")
	}
}

func (u *unusual) use(b map[string]any, at string) {
	id, name := jsonvalue.TextIn(b, "id"), jsonvalue.TextIn(b, "name")
	switch {
	case id == "" || u.ids[id]:
		u.add(UsedID, at, "expected a new id that is not empty, found %q", id)
	case !slices.Contains(u.offered, name):
		u.add(UnknownTool, at, "expected a tool that is in tools, found %q", name)
	}
	u.ids[id] = true
}

// mediaType is the type of a block and a media type of the same kind.
var mediaType = regexp.MustCompile(`^(image image|audio audio)/[a-z0-9.+-]{3,}$`)

// medium checks that media have content, and resources an address.
func (u *unusual) medium(b map[string]any, at string) {
	switch b["type"] {
	case "image", "audio":
		data, err := base64.StdEncoding.DecodeString(jsonvalue.TextIn(b, "data"))
		if err != nil || len(data) == 0 || !mediaType.MatchString(fmt.Sprint(b["type"], " ", b["mimeType"])) {
			u.add(Unreadable, at, "expected data in base64, and a type such as %v/png", b["type"])
		}
	case "resource", "resource_link":
		resource, ok := b["resource"].(map[string]any)
		if !ok {
			resource = b
		}
		if !strings.Contains(jsonvalue.TextIn(resource, "uri"), ":") {
			u.add(Unreadable, at, "expected a uri, found %q", jsonvalue.TextIn(resource, "uri"))
		}
	}
}

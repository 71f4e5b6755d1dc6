package cohere

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// partKinds are the kinds of content by role.
var partKinds = map[string][]string{
	"system": {"text"}, "user": {"text", "image_url"}, "assistant": {"text", "thinking"}, "tool": {"text", "document"},
}

// Check applies the rules that the API is known to enforce, in the words of its list of errors where they are known.
// The order is our own.
func (chat) Check(req *dialect.Request) *dialect.Error {
	if key, isBearer := cutBearer(req.Header.Get("Authorization")); !isBearer || key == "" {
		return &dialect.Error{Status: http.StatusUnauthorized, Message: "no api key supplied"}
	}
	q, refused := dialect.Parsed(req, api.Read)
	if refused != nil {
		return refused
	}
	return codecs.First(q, checkMembers, checkParameters, checkTools, checkMessages, checkHistory)
}

// cutBearer cuts the scheme, which HTTP compares without case.
func cutBearer(authorization string) (key string, isBearer bool) {
	scheme, key, _ := strings.Cut(authorization, " ")
	return key, strings.EqualFold(scheme, "bearer")
}

func checkMembers(q *node) *dialect.Error {
	if err := api.CheckKnown(q, "request", ""); err != nil {
		return err
	}
	if q.Text("model") != "" && len(q.List("messages")) == 0 {
		return invalid("invalid request: messages must have at least one message")
	}
	return nil
}

// maxStops is the number of stop sequences that the API takes.
const maxStops = 5

func checkParameters(q *node) *dialect.Error {
	if err := api.CheckValues(q, "request", ""); err != nil {
		return err
	}
	given := func(name string) bool { v := q.Number(name); return v != nil && *v != 0 }
	stops := q.Strings("stop_sequences")
	switch {
	case given("presence_penalty") && given("frequency_penalty"):
		return invalid("invalid request: cannot specify both frequency_penalty and presence_penalty.")
	case len(stops) > maxStops:
		return invalid("invalid request: too many stop sequences provided, maximum is %d, received %d.", maxStops,
			len(stops))
	}
	return nil
}

var toolName = regexp.MustCompile(toolNames)

func checkTools(q *node) *dialect.Error {
	tools := q.List("tools")
	for i := range tools {
		t := &tools[i]
		function := t.At("function")
		err := api.CheckKnown(t, "tool", "")
		if err == nil {
			err = api.CheckKnown(function, "function", "")
		}
		switch name := function.Text("name"); {
		case err != nil:
			return err
		case t.Kind != "function":
			return invalid("invalid request: %s: the type of a tool must be function"+dialect.OwnWords, t.Path)
		case !toolName.MatchString(name):
			return invalid("invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin "+
				"with a digit (provided name: '%s').", name)
		case function.Has("parameters") && !jsonvalue.IsKind(function.Raw("parameters"), '{'):
			return invalid("schema must be an object")
		}
	}
	switch choice := q.Text("tool_choice"); {
	case choice != "" && choice != "REQUIRED" && choice != "NONE":
		return invalid("invalid request: tool_choice must be REQUIRED or NONE - received %s"+dialect.OwnWords, choice)
	case choice == "REQUIRED" && len(tools) == 0:
		return invalid("invalid request: tool_choice REQUIRED needs tools" + dialect.OwnWords)
	}
	return nil
}

func checkMessages(q *node) *dialect.Error {
	all := q.List("messages")
	for i := range all {
		m := &all[i]
		if api.Table["message/"+m.Kind] == nil {
			return invalid("invalid request: Invalid role in messages at index %d. Role must be one of the following: user, "+
				"assistant, system, tool", i)
		}
		if err := api.CheckKnown(m, "message/"+m.Kind, ""); err != nil {
			return err
		}
		if m.Kind != "tool" && len(blocks(m)) == 0 {
			return invalid("message must not be empty in a turn")
		}
		for _, p := range m.List("content") {
			if !slices.Contains(partKinds[m.Kind], p.Kind) {
				return unprocessable("invalid request: %s: content of the type '%s' is not valid for the role %s: expected %s"+
					dialect.OwnWords, p.Path, p.Kind, m.Kind, strings.Join(partKinds[m.Kind], " or "))
			}
		}
	}
	return nil
}

// checkHistory matches tool messages with the calls before them.
func checkHistory(q *node) *dialect.Error {
	called := map[string]bool{}
	for _, m := range q.List("messages") {
		own := map[string]bool{}
		for _, c := range m.List("tool_calls") {
			id := c.Text("id")
			switch {
			case c.Kind != "function":
				return invalid("tool call must be of type function")
			case own[id]:
				return invalid("cannot have duplicate tool ids")
			}
			own[id], called[id] = true, true
		}
		switch id := m.Text("tool_call_id"); {
		case m.Kind == "tool" && id == "":
			return invalid("tool call id must be provided with tool message")
		case m.Kind == "tool" && !called[id]:
			return invalid("tool call id not found in previous tool calls")
		}
	}
	return nil
}

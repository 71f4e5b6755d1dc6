package cohere

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The members of a request and of its parts: API reference of 2026.
var (
	requestMembers = jsonvalue.Set(`
		citation_options documents frequency_penalty k logprobs max_tokens messages model p presence_penalty priority
		response_format safety_mode seed stop_sequences stream strict_tools temperature thinking tool_choice tools
	`)
	messageMembers = map[string]map[string]bool{
		"system":    jsonvalue.Set("content role"),
		"user":      jsonvalue.Set("content role"),
		"assistant": jsonvalue.Set("citations content role tool_calls tool_plan"),
		"tool":      jsonvalue.Set("content role tool_call_id"),
	}
	toolMembers     = jsonvalue.Set("function type")
	functionMembers = jsonvalue.Set("description name parameters")
	// partKinds are the kinds of content by role.
	partKinds = map[string][]string{
		"system": {"text"}, "user": {"text", "image_url"}, "assistant": {"text", "thinking"}, "tool": {"text", "document"},
	}
)

// Check applies the rules that the API is known to enforce, in the words of its list of errors where they are known.
// The order is our own.
func (chat) Check(req *dialect.Request) *dialect.Error {
	if key, isBearer := cutBearer(req.Header.Get("Authorization")); !isBearer || key == "" {
		return &dialect.Error{Status: http.StatusUnauthorized, Message: "no api key supplied"}
	}
	q, refused := dialect.Parsed(req, parse)
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

func checkMembers(q *request) *dialect.Error {
	if err := unknown(q.Members, requestMembers); err != nil {
		return err
	}
	switch {
	case q.model == "":
		return invalid("a model parameter is required for this endpoint.")
	case len(q.messages) == 0:
		return invalid("invalid request: messages must have at least one message")
	}
	return nil
}

// unknown refuses unknown members: issues of agno (3503) and of Cohere's notebooks (226).
func unknown(o jsonvalue.Members, known map[string]bool) *dialect.Error {
	for _, name := range o.Unknown(known) {
		return unprocessable("unknown field: parameter '%s' is not a valid field. %s", name, usage)
	}
	return nil
}

// maxStops is the number of stop sequences that the API takes.
const maxStops = 5

func checkParameters(q *request) *dialect.Error {
	switch {
	case q.maxTokens != nil && *q.maxTokens < 0:
		return invalid("invalid request: max_tokens cannot be less than 0.")
	case codecs.Outside(q.temperature, 0, 1):
		return invalid("invalid request: temperature must be between 0 and 1.0 inclusive.")
	case codecs.Outside(q.presence, 0, 1):
		return invalid("invalid request: presence_penalty must be between 0 and 1 inclusive.")
	case codecs.Outside(q.frequent, 0, 1):
		return invalid("invalid request: frequency_penalty must be between 0 and 1 inclusive.")
	case q.presence != nil && *q.presence != 0 && q.frequent != nil && *q.frequent != 0:
		return invalid("invalid request: cannot specify both frequency_penalty and presence_penalty.")
	case len(q.stops) > maxStops:
		return invalid("invalid request: too many stop sequences provided, maximum is %d, received %d.", maxStops,
			len(q.stops))
	}
	return nil
}

var toolName = regexp.MustCompile(toolNames)

func checkTools(q *request) *dialect.Error {
	for _, t := range q.tools {
		if err := cmp.Or(unknown(t.Members, toolMembers), unknown(t.function, functionMembers)); err != nil {
			return err
		}
		switch {
		case t.kind != "function":
			return invalid("invalid request: %s: the type of a tool must be function"+dialect.OwnWords, t.path)
		case !toolName.MatchString(t.name):
			return invalid("invalid request: tool names can only contain certain characters (A-Za-z0-9_) and can't begin "+
				"with a digit (provided name: '%s').", t.name)
		case t.function.Has("parameters") && !jsonvalue.IsKind(t.function.Raw("parameters"), '{'):
			return invalid("schema must be an object")
		}
	}
	switch {
	case q.choice != "" && q.choice != "REQUIRED" && q.choice != "NONE":
		return invalid("invalid request: tool_choice must be REQUIRED or NONE - received %s"+dialect.OwnWords, q.choice)
	case q.choice == "REQUIRED" && len(q.tools) == 0:
		return invalid("invalid request: tool_choice REQUIRED needs tools" + dialect.OwnWords)
	}
	return nil
}

func checkMessages(q *request) *dialect.Error {
	for i := range q.messages {
		m := &q.messages[i]
		known := messageMembers[m.role]
		if known == nil {
			return invalid("invalid request: Invalid role in messages at index %d. Role must be one of the following: user, "+
				"assistant, system, tool", i)
		}
		if err := unknown(m.Members, known); err != nil {
			return err
		}
		if m.role == "system" && i > 0 && q.messages[i-1].role != "system" {
			return invalid("system turn must be the first in the list")
		}
		if len(m.blocks()) == 0 && m.role != "tool" {
			return invalid("message must not be empty in a turn")
		}
		for _, p := range m.parts {
			if !slices.Contains(partKinds[m.role], p.kind) {
				return unprocessable("invalid request: %s: content of the type '%s' is not valid for the role %s: want %s"+
					dialect.OwnWords, p.path, p.kind, m.role, strings.Join(partKinds[m.role], " or "))
			}
		}
	}
	return nil
}

// checkHistory matches tool messages with the calls before them.
func checkHistory(q *request) *dialect.Error {
	called := map[string]bool{}
	for i := range q.messages {
		m := &q.messages[i]
		own := map[string]bool{}
		for _, c := range m.calls {
			switch {
			case c.kind != "function":
				return invalid("tool call must be of type function")
			case own[c.id]:
				return invalid("cannot have duplicate tool ids")
			}
			own[c.id], called[c.id] = true, true
		}
		switch {
		case m.role == "tool" && m.id == "":
			return invalid("tool call id must be provided with tool message")
		case m.role == "tool" && !called[m.id]:
			return invalid("tool call id not found in previous tool calls")
		}
	}
	return nil
}

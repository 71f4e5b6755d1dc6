package cohere

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codecs"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type node = codecs.Node

//go:embed fields.txt
var fields string

// api has the members of requests of the API reference of 2026, in fields.txt. The refusal of unknown members is from
// issues of agno (3503) and of Cohere's notebooks (226).
var api = &codecs.API{
	Table: codecs.NewTable(fields),
	Kind: func(object string, o jsonvalue.Members) string {
		if object == "message" {
			return o.Text("role")
		}
		return o.Text("type")
	},
	Unreadable: func(body []byte, err error) *dialect.Error {
		if why := codecs.NotObject(body); why != "" {
			return invalid("invalid json syntax: %s%s", why, dialect.OwnWords)
		}
		return invalid("invalid json syntax: %v", err)
	},
	WrongType: func(path, expected string, found json.RawMessage) *dialect.Error {
		return unprocessable("invalid type: parameter '%s' is of type %s but should be of type %s. %s",
			index.ReplaceAllString(path, ""), bare(jsonvalue.JSONName(found)), bare(expected), usage)
	},
	Unknown: func(_ string, names []string) *dialect.Error {
		return unprocessable("unknown field: parameter '%s' is not a valid field. %s", names[0], usage)
	},
	Missing: func(_, name string) *dialect.Error {
		return invalid("a %s parameter is required for this endpoint.", name)
	},
	Outside: func(path string, _ any, low, high string) *dialect.Error {
		if high == "" {
			return invalid("invalid request: %s cannot be less than %s.", path, low)
		}
		return invalid("invalid request: %s must be between %s and %s inclusive.", path, low, high)
	},
}

var index = regexp.MustCompile(`\[\d+\]`)

const usage = "For proper usage, please refer to https://docs.cohere.com/reference/chat"

// bare returns the name of a type as Cohere writes it, without the article and the value.
func bare(name string) string {
	for _, article := range []string{"an ", "a ", "the "} {
		name = strings.TrimPrefix(name, article)
	}
	switch {
	case strings.HasPrefix(name, "number"):
		return "number"
	case name == "true or false":
		return "boolean"
	}
	return strings.Replace(name, "object", "Object", 1)
}

func invalid(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func unprocessable(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusUnprocessableEntity, Message: fmt.Sprintf(format, args...)}
}

package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// request is a request body. Like Ollama it is read by encoding/json: names in any case, only the first value of the
// body, null as absent.
type request struct {
	Model       string            `json:"model"`
	Messages    []json.RawMessage `json:"messages"`
	Stream      *bool             `json:"stream"`
	Format      json.RawMessage   `json:"format"`
	KeepAlive   *duration         `json:"keep_alive"`
	Tools       []json.RawMessage `json:"tools"`
	Options     map[string]any    `json:"options"`
	Think       *think            `json:"think"`
	Truncate    *bool             `json:"truncate"`
	Shift       *bool             `json:"shift"`
	Logprobs    bool              `json:"logprobs"`
	TopLogprobs int               `json:"top_logprobs"`

	messages []message
	tools    []tool
}

// message is a message of a request, with decoded images.
type message struct {
	Role       string            `json:"role"`
	Content    string            `json:"content"`
	Thinking   string            `json:"thinking"`
	Images     [][]byte          `json:"images"`
	ToolCalls  []json.RawMessage `json:"tool_calls"`
	ToolName   string            `json:"tool_name"`
	ToolCallID string            `json:"tool_call_id"`

	calls []call
}

type call struct {
	ID       string `json:"id"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// parameters and property are the parts of a tool's schema that Ollama reads.
type parameters struct {
	Type       string              `json:"type"`
	Defs       any                 `json:"$defs"`
	Items      any                 `json:"items"`
	Required   []string            `json:"required"`
	Properties map[string]property `json:"properties"`
}

type property struct {
	AnyOf       []property          `json:"anyOf"`
	Type        types               `json:"type"`
	Items       any                 `json:"items"`
	Description string              `json:"description"`
	Enum        []any               `json:"enum"`
	Properties  map[string]property `json:"properties"`
}

// types is one type name or several.
type types struct{}

func (*types) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, new(string)) == nil {
		return nil
	}
	return json.Unmarshal(raw, new([]string))
}

// think is a boolean or a level. Newer versions have the level max.
type think struct{}

func (*think) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "false", `"high"`, `"medium"`, `"low"`, `"max"`, "null":
		return nil
	}
	if level, isText := jsonvalue.TextOf(raw); isText {
		return fmt.Errorf(`invalid think value: %q (must be "high", "medium", "low", "max", true, or false)`, level)
	}
	return errors.New(`think must be a boolean or string ("high", "medium", "low", "max", true, or false)`)
}

// duration is a number of seconds, or a string such as 5m.
type duration time.Duration

func (d *duration) UnmarshalJSON(raw []byte) error {
	var seconds float64
	var text string
	switch {
	case json.Unmarshal(raw, &seconds) == nil:
		*d = duration(seconds * float64(time.Second))
		return nil
	case json.Unmarshal(raw, &text) == nil:
		parsed, err := time.ParseDuration(text)
		*d = duration(parsed)
		return err
	}
	var v any
	_ = json.Unmarshal(raw, &v) // valid, as encoding/json calls this
	return fmt.Errorf("Unsupported type: '%T'", v)
}

// parse refuses what Ollama's types cannot hold.
func parse(body []byte) (*request, *dialect.Error) {
	var q request
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&q); errors.Is(err, io.EOF) {
		return nil, refuse("missing request body")
	} else if err != nil {
		return nil, unreadable(err, "")
	}
	for i, raw := range q.Messages {
		m, path := message{}, fmt.Sprintf("messages[%d]", i)
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, unreadable(err, "messages")
		}
		m.Role = strings.ToLower(m.Role)
		for j, raw := range m.ToolCalls {
			c := call{}
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, unreadable(err, "messages.tool_calls")
			}
			if c.Function.Arguments = orEmpty(c.Function.Arguments); c.Function.Arguments[0] != '{' {
				return nil, refuse("%s.tool_calls[%d] has arguments that are no object: got %s"+dialect.OwnWords, path, j,
					c.Function.Arguments)
			}
			m.calls = append(m.calls, c)
		}
		q.messages = append(q.messages, m)
	}
	for _, raw := range q.Tools {
		var t tool
		if err := json.Unmarshal(raw, &t); err != nil {
			return nil, unreadable(err, "tools")
		}
		if t.Function.Parameters != nil {
			if err := json.Unmarshal(t.Function.Parameters, new(parameters)); err != nil {
				return nil, unreadable(err, "tools.function.parameters")
			}
		}
		q.tools = append(q.tools, t)
	}
	return &q, nil
}

// apiTypes maps our types to those that Ollama's errors name.
var apiTypes = strings.NewReplacer("ollama.message", "api.Message", "ollama.call", "api.ToolCall",
	"ollama.tool", "api.Tool", "ollama.parameters", "api.ToolFunctionParameters", "ollama.property", "api.ToolProperty",
	"messages of type []json.RawMessage", "messages of type []api.Message",
	"tools of type []json.RawMessage", "tools of type api.Tools")

// unreadable refuses a value below a field, in the words of encoding/json in Ollama: ollama/ollama#10255.
func unreadable(err error, field string) *dialect.Error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		wrong.Struct, wrong.Field = "ChatRequest", strings.Trim(field+"."+wrong.Field, ".")
	}
	return refuse("%s", apiTypes.Replace(err.Error()))
}

func orEmpty(arguments json.RawMessage) json.RawMessage {
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 || string(arguments) == "null" {
		return json.RawMessage("{}")
	}
	return arguments
}

func refuse(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

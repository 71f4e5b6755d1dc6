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

// think is a boolean or a level.
type think struct{}

func (*think) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "true", "false", `"high"`, `"medium"`, `"low"`, "null":
		return nil
	}
	return fmt.Errorf(`think is %s: want true, false, "high", "medium" or "low"`, raw)
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
	return fmt.Errorf("keep_alive is %s: want a number of seconds, or a duration such as \"5m\"", raw)
}

// parse refuses what Ollama's types cannot hold.
func parse(body []byte) (*request, *dialect.Error) {
	var q request
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&q); errors.Is(err, io.EOF) {
		return nil, refuse("the body is missing: want a JSON object")
	} else if err != nil {
		return nil, refuse("the body cannot be read: %v", err)
	}
	for i, raw := range q.Messages {
		m, path := message{}, fmt.Sprintf("messages[%d]", i)
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, refuse("%s cannot be read: %v", path, err)
		}
		m.Role = strings.ToLower(m.Role)
		for j, raw := range m.ToolCalls {
			c := call{}
			if err := json.Unmarshal(raw, &c); err != nil {
				return nil, refuse("%s.tool_calls[%d] cannot be read: %v", path, j, err)
			}
			if c.Function.Arguments = orEmpty(c.Function.Arguments); c.Function.Arguments[0] != '{' {
				return nil, refuse("%s.tool_calls[%d] has arguments that are no object: got %s", path, j, c.Function.Arguments)
			}
			m.calls = append(m.calls, c)
		}
		q.messages = append(q.messages, m)
	}
	for i, raw := range q.Tools {
		var t tool
		err := json.Unmarshal(raw, &t)
		if err == nil && t.Function.Parameters != nil {
			err = json.Unmarshal(t.Function.Parameters, new(parameters))
		}
		if err != nil {
			return nil, refuse("tools[%d] cannot be read: %v", i, err)
		}
		q.tools = append(q.tools, t)
	}
	return &q, nil
}

// orEmpty returns the arguments, or {} if missing.
func orEmpty(arguments json.RawMessage) json.RawMessage {
	if arguments = bytes.TrimSpace(arguments); len(arguments) == 0 || string(arguments) == "null" {
		return json.RawMessage("{}")
	}
	return arguments
}

func refuse(format string, args ...any) *dialect.Error {
	return &dialect.Error{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

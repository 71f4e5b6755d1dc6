package ollama

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Decode refuses what Ollama's types cannot hold. A limit below 1 token means none. Images precede their message's
// text, as for a model.
//
// A call without an id gets its path as id, and so does its result. A result without an id belongs to the first call of
// the turn before with its tool_name and no result yet, else to the first without a result. Remaining results have no
// id.
func (chat) Decode(r *http.Request, body []byte) (*dialect.Request, *dialect.Error) {
	q, refused := parse(body)
	if refused != nil {
		return nil, refused
	}
	req := &dialect.Request{
		Dialect: dialect.Ollama, Model: q.Model, Stream: q.Stream == nil || *q.Stream,
		Temperature: option[float64](q, "temperature"), Body: body, Header: r.Header, Decoded: q,
	}
	if n := option[float64](q, "num_predict"); n != nil && *n >= 1 && *n < 1<<63 {
		limit := int64(*n)
		req.MaxTokens = &limit
	}
	if stops := option[[]any](q, "stop"); stops != nil {
		for _, stop := range *stops {
			req.StopSequences = append(req.StopSequences, fmt.Sprint(stop))
		}
	}
	for i, t := range q.tools {
		req.Tools = append(req.Tools, dialect.Tool{
			Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters,
			Path: fmt.Sprintf("tools[%d]", i),
		})
	}
	req.System, req.Messages = q.conversation()
	return req, nil
}

// option returns an option; nil if it has another type.
func option[T any](q *request, name string) *T {
	if v, ok := q.Options[name].(T); ok {
		return &v
	}
	return nil
}

// conversation returns the system prompt and the turns. Consecutive results are one user turn.
func (q *request) conversation() (prompt string, turns []dialect.Message) {
	var system []string
	var open []dialect.Block // calls without a result
	inResults := false
	for i := range q.messages {
		m, path := &q.messages[i], fmt.Sprintf("messages[%d]", i)
		wasInResults := inResults
		inResults = m.Role == "tool"
		switch {
		case m.Role == "system":
			system = append(system, m.Content)
		case inResults:
			result := dialect.Block{Type: dialect.ToolResult, Name: m.ToolName, Content: m.blocks(path), Raw: q.Messages[i],
				Path: path}
			if !withoutIDs(q.Model) {
				result.ID = m.ToolCallID
			}
			open = matchResult(&result, open)
			if !wasInResults {
				turns = append(turns, dialect.Message{Role: dialect.User, Path: path})
			}
			turn := &turns[len(turns)-1]
			turn.Content = append(turn.Content, result)
		default:
			uses := m.uses(path, withoutIDs(q.Model))
			if m.Role == string(dialect.Assistant) {
				open = uses
			}
			turns = append(turns, dialect.Message{Role: dialect.Role(m.Role), Content: append(m.blocks(path), uses...),
				Path: path})
		}
	}
	return strings.Join(system, "\n\n"), turns
}

// matchResult matches a result with a call in open, and returns the remaining calls.
func matchResult(result *dialect.Block, open []dialect.Block) []dialect.Block {
	same := []func(dialect.Block) bool{func(use dialect.Block) bool { return use.ID == result.ID }}
	if result.ID == "" {
		same = []func(dialect.Block) bool{
			func(use dialect.Block) bool { return use.Name == result.Name },
			func(dialect.Block) bool { return true },
		}
	}
	for _, is := range same {
		for i, use := range open {
			if is(use) {
				result.ID = use.ID
				return append(open[:i:i], open[i+1:]...)
			}
		}
	}
	return open
}

func (m *message) blocks(path string) []dialect.Block {
	var blocks []dialect.Block
	if m.Thinking != "" {
		blocks = append(blocks, dialect.Block{Type: dialect.Thinking, Text: m.Thinking, Path: path + ".thinking"})
	}
	for i, data := range m.Images {
		blocks = append(blocks, dialect.Block{
			Type: dialect.Image, Data: data, MimeType: http.DetectContentType(data), Path: fmt.Sprintf("%s.images[%d]", path, i),
		})
	}
	if m.Content != "" {
		blocks = append(blocks, dialect.Block{Type: dialect.Text, Text: m.Content, Path: path + ".content"})
	}
	return blocks
}

func (m *message) uses(path string, withoutIDs bool) []dialect.Block {
	var uses []dialect.Block
	for i, c := range m.calls {
		use := dialect.Block{
			Type: dialect.ToolUse, ID: c.ID, Name: c.Function.Name, Input: c.Function.Arguments,
			Raw: m.ToolCalls[i], Path: fmt.Sprintf("%s.tool_calls[%d]", path, i),
		}
		if use.ID == "" || withoutIDs {
			use.ID = use.Path
		}
		uses = append(uses, use)
	}
	return uses
}

package ollama

import (
	"cmp"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// replyLine is an answer, or a line of a stream.
type replyLine struct {
	Model   string
	Message struct {
		Content, Thinking string
		ToolCalls         []struct {
			ID       string
			Function struct {
				Name      string
				Arguments json.RawMessage
			}
		} `json:"tool_calls"`
	}
	Done       bool
	DoneReason string `json:"done_reason"`
	Error      json.RawMessage
}

// DecodeReply reads an answer or the lines of a stream.
func (chat) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	reply := &dialect.DecodedReply{}
	reason := ""
	_, err := dialect.EachDocument(body, func(l *replyLine) error {
		if jsonvalue.IsGiven(l.Error) {
			return dialect.ReportedError(l.Error)
		}
		reply.Model = cmp.Or(l.Model, reply.Model)
		reply.Complete = reply.Complete || l.Done
		reason = cmp.Or(l.DoneReason, reason)
		reply.Say(dialect.Thinking, l.Message.Thinking)
		reply.Say(dialect.Text, l.Message.Content)
		for _, c := range l.Message.ToolCalls {
			reply.Content = append(reply.Content, dialect.Block{Type: dialect.ToolUse, ID: c.ID, Name: c.Function.Name,
				Input: c.Function.Arguments})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reply.End(reason, reasons)
	return reply, nil
}

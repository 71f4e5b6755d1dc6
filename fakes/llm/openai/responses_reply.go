package openai

import (
	"cmp"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// responseReply is a response, or an event of its stream.
type responseReply struct {
	Type     string
	Item     json.RawMessage
	Response *responseReply

	Object, Status, Model string
	Output                []json.RawMessage
	Incomplete            struct{ Reason string } `json:"incomplete_details"`
	Error                 json.RawMessage
}

// replyItem is an item of the output.
type replyItem struct {
	Type, Name, Arguments string
	CallID                string `json:"call_id"`
	Encrypted             string `json:"encrypted_content"`
	Summary               []struct{ Text string }
	Content               []struct{ Type, Text, Refusal string }
}

// responseReasons are the words for how a response ended, and why it is incomplete.
var responseReasons = map[dialect.StopReason]string{
	dialect.EndTurn: "completed", dialect.StopMaxTokens: "max_output_tokens", dialect.StopContentFilter: "content_filter",
}

// DecodeReply reads a response, or the finished items of a stream. Items of other types become [dialect.Other]. The
// stop reason of a refusal is [dialect.StopRefusal].
func (responses) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	reply := &dialect.DecodedReply{}
	var items []json.RawMessage
	var end responseReply
	_, err := dialect.EachDocument(body, func(e *responseReply) error {
		if e.Object == "response" {
			end = *e
			return nil
		}
		switch {
		case e.Type == "error", jsonvalue.IsGiven(e.Error):
			return dialect.ReportedError(e.Error)
		case e.Type == "response.output_item.done":
			items = append(items, e.Item)
		case e.Response != nil:
			end = *e.Response
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case jsonvalue.IsGiven(end.Error):
		return nil, dialect.ReportedError(end.Error)
	case end.Output != nil && len(end.Output) >= len(items):
		items = end.Output
	}
	refuses := false
	for _, raw := range items {
		refused, err := addItem(reply, raw)
		if err != nil {
			return nil, err
		}
		refuses = refuses || refused
	}
	reply.Model = end.Model
	reply.Complete = end.Status == "completed" || end.Status == "incomplete"
	reply.End(cmp.Or(end.Incomplete.Reason, end.Status), responseReasons)
	if refuses && reply.StopReason == dialect.EndTurn {
		reply.StopReason = dialect.StopRefusal
	}
	return reply, nil
}

// addItem adds the blocks of an item, and reports whether it is a refusal.
func addItem(reply *dialect.DecodedReply, raw json.RawMessage) (refuses bool, err error) {
	var it replyItem
	if err := json.Unmarshal(raw, &it); err != nil {
		return false, err
	}
	switch it.Type {
	case "message":
		for _, p := range it.Content {
			refuses = refuses || p.Type == "refusal"
			reply.Content = append(reply.Content, dialect.Block{Type: dialect.Text, Text: p.Text + p.Refusal})
		}
	case "function_call":
		reply.Content = append(reply.Content, dialect.Block{Type: dialect.ToolUse, ID: it.CallID, Name: it.Name,
			Input: json.RawMessage(it.Arguments)})
	case "reasoning":
		thought := dialect.Block{Type: dialect.Thinking, Signature: it.Encrypted}
		for _, s := range it.Summary {
			thought.Text += s.Text
		}
		reply.Content = append(reply.Content, thought)
	default:
		reply.Content = append(reply.Content, dialect.Block{Type: dialect.Other, Raw: raw})
	}
	return refuses, nil
}

package gemini

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// replyChunk is an answer, or a chunk of one.
type replyChunk struct {
	Candidates []struct {
		Index        int
		Content      struct{ Parts []json.RawMessage }
		FinishReason finishWord
	}
	PromptFeedback struct{ BlockReason string }
	ModelVersion   string
	Error          json.RawMessage
}

type replyPart struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name     string
		Args         json.RawMessage
		PartialArgs  json.RawMessage
		WillContinue bool
	}
	InlineData *struct {
		MimeType string
		Data     []byte
	}
}

// finishWord is a finish reason. Vertex writes it as a number if the request has alt=json;enum-encoding=int, which
// Google's SDKs send over REST.
type finishWord string

// UnmarshalJSON reads a word or a number.
func (w *finishWord) UnmarshalJSON(raw []byte) error {
	numbered := []string{"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER", "BLOCKLIST",
		"PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL"}
	if n, err := strconv.Atoi(string(raw)); err == nil && n >= 0 && n < len(numbered) {
		*w = finishWord(numbered[n])
		return nil
	}
	return json.Unmarshal(raw, (*string)(w))
}

// DecodeReply reads an answer, or a stream of events or of array elements. Chunks after the finish reason count. The
// finish reason of a blocked prompt is the reason of the block.
func (codec) DecodeReply(body []byte) (*dialect.DecodedReply, error) {
	reply := &dialect.DecodedReply{}
	var finish, blocked string
	_, err := dialect.EachDocument(body, func(c *replyChunk) error {
		if jsonvalue.IsGiven(c.Error) {
			return dialect.ReportedError(c.Error)
		}
		reply.Model = cmp.Or(c.ModelVersion, reply.Model)
		blocked = cmp.Or(c.PromptFeedback.BlockReason, blocked)
		for _, candidate := range c.Candidates {
			if candidate.Index != 0 {
				continue // an alternative
			}
			finish = cmp.Or(string(candidate.FinishReason), finish)
			for i, raw := range candidate.Content.Parts {
				if err := addPart(reply, raw, i == 0); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reply.End(cmp.Or(finish, blocked), finishReasons)
	if blocked != "" {
		reply.StopReason = dialect.StopContentFilter
	}
	reply.Complete = reply.FinishReason != ""
	return reply, nil
}

// addPart adds a part. The first one of a chunk continues the text before it, unless a signature ended that.
func addPart(reply *dialect.DecodedReply, raw json.RawMessage, continues bool) error {
	var p replyPart
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	b := dialect.Block{Type: dialect.Other, Signature: p.ThoughtSignature, Raw: raw}
	switch {
	case p.FunctionCall != nil && (p.FunctionCall.PartialArgs != nil || p.FunctionCall.WillContinue):
		return errors.New("arguments in pieces, which only a request with streamFunctionCallArguments gets")
	case p.FunctionCall != nil:
		b.Type, b.Raw = dialect.ToolUse, nil
		b.ID, b.Name, b.Input = p.FunctionCall.ID, p.FunctionCall.Name, p.FunctionCall.Args
	case p.InlineData != nil:
		b.Data, b.MimeType = p.InlineData.Data, p.InlineData.MimeType
		if kind, _, _ := strings.Cut(b.MimeType, "/"); kind == "image" || kind == "audio" {
			b.Type, b.Raw = dialect.BlockType(kind), nil
		}
	case p.Text != nil:
		b.Type, b.Raw, b.Text = dialect.Text, nil, *p.Text
		if p.Thought {
			b.Type = dialect.Thinking
		}
		if continues && continued(reply, &b) || b.Text == "" && b.Signature == "" {
			return nil
		}
	}
	reply.Content = append(reply.Content, b)
	return nil
}

// continued adds a text to the block before it, if that has the same type and no signature.
func continued(reply *dialect.DecodedReply, b *dialect.Block) bool {
	if len(reply.Content) == 0 {
		return false
	}
	last := &reply.Content[len(reply.Content)-1]
	if last.Type != b.Type || last.Signature != "" {
		return false
	}
	last.Text, last.Signature = last.Text+b.Text, b.Signature
	return true
}

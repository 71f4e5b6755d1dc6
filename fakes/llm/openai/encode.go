package openai

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text and tool uses; the model has no other blocks to answer with, and others are left out. Several texts
// are one, as the wire has room for one only.
func (chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	c := newCompletion(req, reply)
	if req.Stream {
		return dialect.Answer{
			Status: http.StatusOK,
			Header: header("text/event-stream; charset=utf-8", c.requestID),
			Chunks: c.stream(includeUsage(req), reply.LateUse),
			Stream: true,
		}
	}
	return dialect.Answer{
		Status: http.StatusOK,
		Header: header("application/json", c.requestID),
		Chunks: [][]byte{c.plain()},
	}
}

// completion is an answer before it is put on the wire, plain or streamed.
type completion struct {
	id, requestID, model, finish string
	text                         string
	calls                        []call
	created                      int64
	usage                        usage
	reasoning                    bool
}

func newCompletion(req *dialect.Request, reply *dialect.Reply) *completion {
	c := &completion{
		id:        dialect.MintID("chatcmpl-", 29, reply.Serial, 0),
		requestID: dialect.MintID("req_", 32, reply.Serial, 0),
		model:     reply.Model,
		finish:    finishReason(reply.Reason()),
		created:   time.Now().Unix(),
	}
	if c.model == "" {
		c.model = req.Model
	}
	c.reasoning = reasoning(c.model)
	spoken := 0
	for i, b := range reply.Content {
		switch b.Type {
		case dialect.Text:
			c.text += b.Text
		case dialect.ToolUse:
			id := b.ID
			if id == "" {
				id = dialect.MintID("call_", 24, reply.Serial, i)
			}
			c.calls = append(c.calls, call{ID: id, Type: "function", Function: function{b.Name, string(b.Input)}})
		}
		spoken += len(b.Text) + len(b.Name) + len(b.Input)
	}
	// A token is some four bytes; nobody can hold the fake to more.
	c.usage.Prompt, c.usage.Completion = 8+len(req.Body)/4, 1+spoken/4
	c.usage.Total = c.usage.Prompt + c.usage.Completion
	return c
}

type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
		Accepted  int `json:"accepted_prediction_tokens"`
		Rejected  int `json:"rejected_prediction_tokens"`
	} `json:"completion_tokens_details"`
}

// null is a member that is there, and null. A nil json.RawMessage with omitempty is one that is not there.
var null = json.RawMessage("null")

func (c *completion) logprobs() json.RawMessage {
	if c.reasoning {
		return nil
	}
	return null
}

func (c *completion) fingerprint() *string {
	if c.reasoning {
		return nil
	}
	f := "fp_5c0f8d2e1b"
	return &f
}

// content is null beside tool calls where there is no text.
func (c *completion) content(text string) json.RawMessage {
	if text == "" && c.text == "" && len(c.calls) > 0 {
		return null
	}
	return dialect.Marshal(text)
}

func (c *completion) plain() []byte {
	type message struct {
		Role        dialect.Role    `json:"role"`
		Content     json.RawMessage `json:"content"`
		ToolCalls   []call          `json:"tool_calls,omitempty"`
		Refusal     *string         `json:"refusal"`
		Annotations []string        `json:"annotations"`
	}
	type choice struct {
		Index        int             `json:"index"`
		Message      message         `json:"message"`
		Logprobs     json.RawMessage `json:"logprobs,omitempty"`
		FinishReason string          `json:"finish_reason"`
	}
	return indented(struct {
		ID                string   `json:"id"`
		Object            string   `json:"object"`
		Created           int64    `json:"created"`
		Model             string   `json:"model"`
		Choices           []choice `json:"choices"`
		Usage             usage    `json:"usage"`
		ServiceTier       string   `json:"service_tier"`
		SystemFingerprint *string  `json:"system_fingerprint"`
	}{
		ID: c.id, Object: "chat.completion", Created: c.created, Model: c.model,
		Choices: []choice{{
			Message:      message{Role: dialect.Assistant, Content: c.content(c.text), ToolCalls: c.calls, Annotations: []string{}},
			Logprobs:     c.logprobs(),
			FinishReason: c.finish,
		}},
		Usage: c.usage, ServiceTier: "default", SystemFingerprint: c.fingerprint(),
	})
}

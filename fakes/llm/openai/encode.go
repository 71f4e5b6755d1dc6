package openai

import (
	"cmp"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text and tool uses, and drops other blocks: the model has none. It joins texts, because the format has
// one content string. The text of a [dialect.StopRefusal] is OpenAI's refusal.
func (c chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	answer := c.completion(req, reply)
	memory := new(scratch)
	if q, ok := req.Decoded.(*request); ok {
		memory = &q.answered
	}
	h := c.fill(memory.takeHeader(), answer.requestID)
	if req.Stream {
		h["Content-Type"] = eventStream
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: answer.stream(c.includeUsage(req), reply.LateUse),
			Stream: true}
	}
	h["Content-Type"] = jsonType
	body := memory.takeBody(1200 + len(answer.text) + len(answer.refusal))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{answer.plain(body)}}
}

type completion struct {
	style                        *style
	id, requestID, model, finish string
	text, refusal                string
	calls                        []call
	created                      int64
	usage                        usage
	reasoning, refuses           bool
}

func (c *chat) completion(req *dialect.Request, reply *dialect.Reply) *completion {
	answer := &completion{
		style:     c.style,
		id:        dialect.GenerateID("chatcmpl-", 29, reply.Serial, 0),
		requestID: dialect.GenerateID("req_", 32, reply.Serial, 0),
		model:     cmp.Or(reply.Model, req.Model),
		finish:    reply.Word(reasons),
		created:   time.Now().Unix(),
		refuses:   c.isOpenAI && reply.Reason() == dialect.StopRefusal,
	}
	answer.reasoning = c.isOpenAI && reasoning(answer.model)
	size := 0
	for i, b := range reply.Content {
		switch {
		case b.Type == dialect.Text && answer.refuses:
			answer.refusal += b.Text
		case b.Type == dialect.Text:
			answer.text += b.Text
		case b.Type == dialect.ToolUse:
			id := b.ID
			if id == "" {
				id = c.callID(reply.Serial, i)
			}
			answer.calls = append(answer.calls, call{id, b.Name, string(b.Input)})
		}
		size += len(b.Text) + len(b.Name) + len(b.Input)
	}
	// Roughly four bytes a token; clients cannot rely on more.
	answer.usage = usage{8 + len(req.Body)/4, 1 + size/4}
	return answer
}

type call struct{ id, name, arguments string }

type usage struct{ prompt, completion int }

// silent reports whether content is null: in a refusal, and beside calls without text.
func (c *completion) silent() bool { return c.refuses || c.text == "" && len(c.calls) > 0 }

// plain writes the answer into an empty body, indented by two spaces with a final newline, like OpenAI outside streams.
func (c *completion) plain(body []byte) []byte {
	b, s := builder(body), c.style
	if s.comments {
		b.raw("\n         \n")
	}
	b.raw(`{
  "id": `).text(c.id).raw(`,
  "object": "chat.completion",
  "created": `).number(c.created).raw(`,
  "model": `).text(c.model).raw(`,
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": `).textOr(c.silent(), c.text)
	for i, call := range c.calls {
		b.raw(",\n")
		if i == 0 {
			b.raw("        \"tool_calls\": [\n")
		}
		b.raw(`          {
            "id": `).text(call.id).raw(`,
            "type": "function",
            "function": {
              "name": `).text(call.name).raw(`,
              "arguments": `).text(call.arguments).raw(`
            }
          }`)
		if i == len(c.calls)-1 {
			b.raw("\n        ]")
		}
	}
	if s.isOpenAI {
		b.raw(",\n        \"refusal\": ").textOr(!c.refuses, c.refusal).raw(",\n        \"annotations\": []")
	}
	b.raw("\n      }")
	if s.logprobs && !c.reasoning {
		b.raw(",\n      \"logprobs\": null")
	}
	b.raw(`,
      "finish_reason": `).text(c.finish).raw(`
    }
  ],
  "usage": {
    "prompt_tokens": `).number(int64(c.usage.prompt)).raw(`,
    "completion_tokens": `).number(int64(c.usage.completion)).raw(`,
    "total_tokens": `).number(int64(c.usage.prompt + c.usage.completion)).raw(`,
    "prompt_tokens_details": {
      "cached_tokens": 0,
      "audio_tokens": 0
    },
    "completion_tokens_details": {
      "reasoning_tokens": 0,
      "audio_tokens": 0,
      "accepted_prediction_tokens": 0,
      "rejected_prediction_tokens": 0
    }
  }`)
	if s.isOpenAI {
		b.raw(",\n  \"service_tier\": \"default\"")
	}
	if s.fingerprint != "" {
		b.raw(",\n  \"system_fingerprint\": ").textOr(c.reasoning, s.fingerprint)
	}
	b.raw("\n}\n")
	return b
}

// builder is JSON under construction.
type builder []byte

// raw appends JSON, text a string, number a number, textOr null or a string.
func (b *builder) raw(json string) *builder { *b = append(*b, json...); return b }
func (b *builder) text(s string) *builder   { *b = dialect.AppendText(*b, s); return b }
func (b *builder) number(n int64) *builder  { *b = strconv.AppendInt(*b, n, 10); return b }
func (b *builder) textOr(null bool, s string) *builder {
	if null {
		return b.raw("null")
	}
	return b.text(s)
}

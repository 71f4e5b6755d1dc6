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
	said := c.completion(req, reply)
	memory := new(scratch)
	if q, ok := req.Decoded.(*request); ok {
		memory = &q.answered
	}
	h := c.fill(memory.takeHeader(), said.requestID)
	if req.Stream {
		h["Content-Type"] = eventStream
		return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: said.stream(c.includeUsage(req), reply.LateUse),
			Stream: true}
	}
	h["Content-Type"] = jsonType
	body := memory.takeBody(1200 + len(said.text) + len(said.refusal))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{said.plain(body)}}
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
	said := &completion{
		style:     c.style,
		id:        dialect.GenerateID("chatcmpl-", 29, reply.Serial, 0),
		requestID: dialect.GenerateID("req_", 32, reply.Serial, 0),
		model:     cmp.Or(reply.Model, req.Model),
		finish:    finishReason(reply.Reason()),
		created:   time.Now().Unix(),
		refuses:   c.isOpenAI && reply.Reason() == dialect.StopRefusal,
	}
	said.reasoning = c.isOpenAI && reasoning(said.model)
	spoken := 0
	for i, b := range reply.Content {
		switch {
		case b.Type == dialect.Text && said.refuses:
			said.refusal += b.Text
		case b.Type == dialect.Text:
			said.text += b.Text
		case b.Type == dialect.ToolUse:
			id := b.ID
			if id == "" {
				id = c.callID(reply.Serial, i)
			}
			said.calls = append(said.calls, call{id, b.Name, string(b.Input)})
		}
		spoken += len(b.Text) + len(b.Name) + len(b.Input)
	}
	// Roughly four bytes a token; clients cannot rely on more.
	said.usage = usage{8 + len(req.Body)/4, 1 + spoken/4}
	return said
}

type call struct{ id, name, arguments string }

type usage struct{ prompt, completion int }

// silent reports whether content is null: in a refusal, and beside calls without text.
func (c *completion) silent() bool { return c.refuses || c.text == "" && len(c.calls) > 0 }

// plain writes the answer into an empty body, indented by two spaces with a final newline, like OpenAI outside streams.
func (c *completion) plain(body []byte) []byte {
	b, s := builder(body), c.style
	if s.comments {
		b.say("\n         \n")
	}
	b.say(`{
  "id": `).text(c.id).say(`,
  "object": "chat.completion",
  "created": `).number(c.created).say(`,
  "model": `).text(c.model).say(`,
  "choices": [
    {
      "index": 0,
      "message": {
        "role": "assistant",
        "content": `).textOr(c.silent(), c.text)
	for i, call := range c.calls {
		b.say(",\n")
		if i == 0 {
			b.say("        \"tool_calls\": [\n")
		}
		b.say(`          {
            "id": `).text(call.id).say(`,
            "type": "function",
            "function": {
              "name": `).text(call.name).say(`,
              "arguments": `).text(call.arguments).say(`
            }
          }`)
		if i == len(c.calls)-1 {
			b.say("\n        ]")
		}
	}
	if s.isOpenAI {
		b.say(",\n        \"refusal\": ").textOr(!c.refuses, c.refusal).say(",\n        \"annotations\": []")
	}
	b.say("\n      }")
	if s.logprobs && !c.reasoning {
		b.say(",\n      \"logprobs\": null")
	}
	b.say(`,
      "finish_reason": `).text(c.finish).say(`
    }
  ],
  "usage": {
    "prompt_tokens": `).number(int64(c.usage.prompt)).say(`,
    "completion_tokens": `).number(int64(c.usage.completion)).say(`,
    "total_tokens": `).number(int64(c.usage.prompt + c.usage.completion)).say(`,
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
		b.say(",\n  \"service_tier\": \"default\"")
	}
	if s.fingerprint != "" {
		b.say(",\n  \"system_fingerprint\": ").textOr(c.reasoning, s.fingerprint)
	}
	b.say("\n}\n")
	return b
}

// builder is JSON under construction.
type builder []byte

// say appends JSON, text a string, number a number, textOr null or a string.
func (b *builder) say(json string) *builder { *b = append(*b, json...); return b }
func (b *builder) text(s string) *builder   { *b = dialect.AppendText(*b, s); return b }
func (b *builder) number(n int64) *builder  { *b = strconv.AppendInt(*b, n, 10); return b }
func (b *builder) textOr(null bool, s string) *builder {
	if null {
		return b.say("null")
	}
	return b.text(s)
}

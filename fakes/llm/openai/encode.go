package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text and tool uses, thinking if the server shows it, and drops other blocks: the model has none. It
// joins texts, because the format has one content string. The text of a [dialect.StopRefusal] is OpenAI's refusal. The
// answer to a request with the legacy functions has one function_call at most.
func (c chat) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	answer := c.completion(req, reply)
	if req.Stream {
		return dialect.Answer{Status: http.StatusOK, Header: c.header("text/event-stream; charset=utf-8", answer.requestID),
			Chunks: answer.stream(c.includeUsage(req), reply.LateUse), Stream: true}
	}
	return dialect.Answer{Status: http.StatusOK, Header: c.header("application/json", answer.requestID),
		Chunks: [][]byte{answer.plain()}}
}

type completion struct {
	style                        *style
	id, requestID, model, finish string
	thought, text, refusal       string
	calls                        []call
	created                      int64
	usage                        usage
	reasoning, refuses, legacy   bool
	form                         dialect.StreamForm
}

func (c *chat) completion(req *dialect.Request, reply *dialect.Reply) *completion {
	created := time.Now().Unix()
	answer := &completion{
		style:     c.style,
		id:        c.id(created, reply.Serial),
		requestID: dialect.GenerateID("req_", 32, reply.Serial, 0),
		model:     cmp.Or(reply.Model, req.Model),
		finish:    reply.Word(reasons),
		created:   created,
		form:      reply.Stream,
		refuses:   c.isOpenAI && reply.Reason() == dialect.StopRefusal,
		legacy:    isLegacy(req),
	}
	answer.reasoning = c.isOpenAI && reasoning(answer.model)
	for i, b := range reply.Content {
		switch {
		case b.Type == dialect.Thinking && c.reasoningIn != "":
			answer.thought += b.Text
		case b.Type == dialect.Text && answer.refuses:
			answer.refusal += b.Text
		case b.Type == dialect.Text:
			answer.text += b.Text
		case b.Type == dialect.ToolUse && !(answer.legacy && answer.calls != nil):
			answer.calls = append(answer.calls, call{cmp.Or(b.ID, c.callID(reply.Serial, i)), b.Name, string(b.Input)})
		}
	}
	if answer.legacy && answer.finish == reasons[dialect.StopToolUse] {
		answer.finish = "function_call"
	}
	answer.usage = usageOf(req, reply)
	return answer
}

type call struct{ id, name, arguments string }

// usage counts tokens. The prompt includes what was cached, the completion includes the reasoning.
type usage struct{ prompt, cached, completion, reasoning int }

// usageOf returns the scripted usage, or an estimate: roughly four bytes a token. Clients cannot rely on more.
func usageOf(req *dialect.Request, reply *dialect.Reply) usage {
	u := usage{prompt: 8 + len(req.Body)/4, completion: 1}
	for _, b := range reply.Content {
		n := (len(b.Text) + len(b.Name) + len(b.Input)) / 4
		u.completion += n
		if b.Type == dialect.Thinking {
			u.reasoning += n
		}
	}
	if given := reply.Usage; given != nil {
		u.prompt, u.cached, u.completion = given.Input, given.Cached, given.Output
		u.reasoning = min(u.reasoning, u.completion)
	}
	return u
}

// object writes the usage with the server's members.
func (u usage) object(s *style) dialect.Pairs {
	pairs := dialect.Pairs{"prompt_tokens", u.prompt, "completion_tokens", u.completion,
		"total_tokens", u.prompt + u.completion}
	if s.usage != nil {
		return append(pairs, s.usage(u)...)
	}
	return append(pairs,
		"prompt_tokens_details", dialect.Pairs{"cached_tokens", u.cached, "audio_tokens", 0},
		"completion_tokens_details", u.completionDetails())
}

func (u usage) completionDetails() dialect.Pairs {
	return dialect.Pairs{"reasoning_tokens", u.reasoning, "audio_tokens", 0, "accepted_prediction_tokens", 0,
		"rejected_prediction_tokens", 0}
}

// silent reports whether content is null: in a refusal, and beside calls without text.
func (c *completion) silent() bool { return c.refuses || c.text == "" && len(c.calls) > 0 }

// content returns the text or null; with Mistral's thinking, an array.
func (c *completion) content() any {
	switch {
	case c.thought != "" && c.style.reasoningIn == inContent:
		return []json.RawMessage{thinkingPart(c.thought, true), dialect.Ordered("type", "text", "text", c.text)}
	case c.silent():
		return nil
	}
	return c.text
}

// inContent is the name of the style in which thinking is a part of the content.
const inContent = "content"

func thinkingPart(text string, closed bool) json.RawMessage {
	texts := []json.RawMessage{dialect.Ordered("type", "text", "text", text)}
	return dialect.Ordered("type", "thinking", "thinking", texts, "closed", dialect.OrAbsent(closed))
}

// thinking returns the members of a message or delta with thinking in members of its own.
func (c *completion) thinking(text string) []any {
	switch in := c.style.reasoningIn; {
	case in == "" || in == inContent || text == "" && !c.style.isRouter:
		return nil
	case text == "":
		return []any{in, nil}
	case c.style.isRouter:
		detail := dialect.Ordered("type", "reasoning.text", "text", text, "format", "unknown", "index", 0)
		return []any{in, text, "reasoning_details", []json.RawMessage{detail}}
	default:
		return []any{in, text}
	}
}

// plain writes the answer: OpenAI's indented by two spaces with a final newline, others on one line.
func (c *completion) plain() []byte {
	s := c.style
	var fingerprint, tier, provider, groq any = dialect.Absent, dialect.Absent, dialect.Absent, dialect.Absent
	switch {
	case s.isOpenAI:
		tier = "default"
	case s.isRouter:
		provider, tier, fingerprint = providerName, nil, nil
	case s.isGroq:
		groq, tier = dialect.Ordered("id", c.requestID), "on_demand"
	}
	if s.fingerprint != "" {
		fingerprint = orNull(s.fingerprint)
		if c.reasoning {
			fingerprint = nil
		}
	}
	choice := append(dialect.Pairs{"index", 0, "message", c.message()}, c.ending(true)...)
	body := dialect.Pairs{"id", c.id, "object", "chat.completion", "created", c.created, "model", c.model,
		"provider", provider, "choices", []dialect.Pairs{choice}, "usage", c.usage.object(s),
		"service_tier", tier, "system_fingerprint", fingerprint, "x_groq", groq}
	switch {
	case s.isOpenAI:
		return indented(body)
	case s.isRouter:
		return dialect.Append([]byte("\n         \n"), body...)
	}
	return dialect.Ordered(body...)
}

func (c *completion) message() dialect.Pairs {
	s := c.style
	message := append(dialect.Pairs{"role", "assistant", "content", c.content()}, c.thinking(c.thought)...)
	if c.legacy && len(c.calls) > 0 {
		message = append(message, "function_call", dialect.Pairs{"name", c.calls[0].name,
			"arguments", c.calls[0].arguments})
	} else if len(c.calls) > 0 {
		calls := make([]dialect.Pairs, len(c.calls))
		for i, call := range c.calls {
			calls[i] = dialect.Pairs{"id", call.id, "type", "function",
				"function", dialect.Pairs{"name", call.name, "arguments", call.arguments}}
		}
		message = append(message, "tool_calls", calls)
	}
	if s.isOpenAI || s.isRouter {
		var refusal any
		if c.refuses {
			refusal = c.refusal
		}
		message = append(message, "refusal", refusal)
	}
	if s.isOpenAI {
		message = append(message, "annotations", []dialect.Pairs{})
	}
	return message
}

// ending returns the members of a choice after its message or delta.
func (c *completion) ending(finishes bool) (pairs []any) {
	s := c.style
	if s.logprobs && !c.reasoning {
		pairs = append(pairs, "logprobs", nil)
	}
	var finish any
	if finishes {
		finish = c.finish
	}
	if finishes || !s.noNullFinish {
		pairs = append(pairs, "finish_reason", finish)
		if s.isRouter {
			pairs = append(pairs, "native_finish_reason", finish)
		}
	}
	return pairs
}

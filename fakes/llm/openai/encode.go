package openai

import (
	"cmp"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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
	usage                        *usageBody
	reasoning, refuses, legacy   bool
	form                         dialect.StreamForm
}

func (c *chat) completion(req *dialect.Request, reply *dialect.Reply) *completion {
	created := dialect.Created.Unix()
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
			answer.calls = append(answer.calls, call{ID: cmp.Or(b.ID, c.callID(reply.Serial, i)), Type: "function",
				Function: called{&b.Name, string(b.Input)}})
		}
	}
	if answer.legacy && answer.finish == reasons[dialect.StopToolUse] {
		answer.finish = "function_call"
	}
	answer.usage = usageOf(req, reply).body(c.style)
	return answer
}

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

func (u usage) body(s *style) *usageBody {
	b := &usageBody{Prompt: u.prompt, Completion: u.completion, Total: u.prompt + u.completion}
	if s.usage != nil {
		s.usage(u, b)
		return b
	}
	b.PromptDetails, b.CompletionDetails = promptDetails{Cached: u.cached}, completionDetails{Reasoning: u.reasoning}
	return b
}

// silent reports whether content is null: in a refusal, and beside calls without text.
func (c *completion) silent() bool { return c.refuses || c.text == "" && len(c.calls) > 0 }

// content returns the text or null; with Mistral's thinking, an array.
func (c *completion) content() any {
	switch {
	case c.thought != "" && c.style.reasoningIn == inContent:
		return []any{mistralThinking(c.thought, true), textPart{"text", c.text}}
	case c.silent():
		return null
	}
	return c.text
}

// The members with the thinking: of their own, or inside the content.
const (
	inReasoning        = "reasoning"
	inReasoningContent = "reasoning_content"
	inContent          = "content"
)

func mistralThinking(text string, closed bool) thinkingPart {
	return thinkingPart{"thinking", []textPart{{"text", text}}, closed}
}

// think adds thinking to a message or delta, if it has a member of its own.
func (c *completion) think(m *said, text string) {
	switch in := c.style.reasoningIn; {
	case text == "" && c.style.isRouter:
		m.Reasoning = null
	case text == "":
	case in == inReasoningContent:
		m.ReasoningContent = text
	case in == inReasoning:
		m.Reasoning = text
		if c.style.isRouter {
			m.ReasoningDetails = []detail{{Type: "reasoning.text", Text: text, Format: "unknown"}}
		}
	}
}

// plain writes the answer: OpenAI's indented by two spaces with a final newline, others on one line.
func (c *completion) plain() []byte {
	s := c.style
	body := completionBody{ID: c.id, Object: "chat.completion", Created: c.created, Model: c.model,
		Choices: []choice{c.choice(c.message(), nil, true)}, Usage: c.usage, Fingerprint: c.fingerprint()}
	switch {
	case s.isOpenAI:
		body.Tier = "default"
		return indented(body)
	case s.isRouter:
		body.Provider, body.Tier, body.Fingerprint = providerName, null, null
		return append([]byte("\n         \n"), jsonvalue.Marshal(body)...)
	case s.isGroq:
		body.Groq, body.Tier = &groq{ID: c.requestID}, "on_demand"
	}
	return jsonvalue.Marshal(body)
}

// fingerprint returns the system fingerprint: nil if the server has none, null if the model has none.
func (c *completion) fingerprint() any {
	switch {
	case c.style.fingerprint == "":
		return nil
	case c.reasoning:
		return null
	}
	return c.style.fingerprint
}

func (c *completion) message() *said {
	s := c.style
	m := &said{Role: "assistant", Content: c.content()}
	c.think(m, c.thought)
	if c.legacy && len(c.calls) > 0 {
		m.FunctionCall = &c.calls[0].Function
	} else {
		m.ToolCalls = c.calls
	}
	if s.isOpenAI || s.isRouter {
		m.Refusal = null
		if c.refuses {
			m.Refusal = c.refusal
		}
	}
	if s.isOpenAI {
		m.Annotations = []string{}
	}
	return m
}

// choice returns the only choice, with a message or a delta.
func (c *completion) choice(m *said, delta any, finishes bool) choice {
	s, answer := c.style, choice{Message: m, Delta: delta}
	if s.logprobs && !c.reasoning {
		answer.Logprobs = null
	}
	switch {
	case finishes:
		answer.Finish = c.finish
	case !s.noNullFinish:
		answer.Finish = null
	}
	if s.isRouter {
		answer.NativeFinish = answer.Finish
	}
	return answer
}

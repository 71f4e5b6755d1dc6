package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Encode writes text, thoughts and tool uses, in order, and drops other blocks. It writes thoughts even if the request
// does not ask for them: the script decides. The format cannot carry input that is not a JSON object. As with the real
// API, the answer then ends with MALFORMED_FUNCTION_CALL, and finishMessage holds the model's output.
func (codec) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	c := newCompletion(req, reply)
	if !req.Stream {
		return plainAnswer(http.StatusOK, c.plain())
	}
	chunks := c.stream(reply.LateUse)
	a := dialect.Answer{Status: http.StatusOK, Stream: true}
	if targetOf(req.URL).events {
		a.Header = header("text/event-stream")
		for i := range chunks {
			a.Chunks = append(a.Chunks, event(chunks[i]))
		}
		return a
	}
	a.Header = header("application/json; charset=UTF-8")
	before := "["
	for i := range chunks {
		a.Chunks = append(a.Chunks, append(append([]byte(before), jsonvalue.Indented(chunks[i])...), '\n'))
		before = ",\r\n"
	}
	last := len(a.Chunks) - 1
	a.Chunks[last] = append(a.Chunks[last], ']')
	return a
}

// finishReasons maps stop reasons to the API's words. Tool use and stop sequences have none of their own.
var finishReasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "STOP",
	dialect.StopToolUse:       "STOP",
	dialect.StopMaxTokens:     "MAX_TOKENS",
	dialect.StopStopSequence:  "STOP",
	dialect.StopRefusal:       "PROHIBITED_CONTENT",
	dialect.StopContentFilter: "SAFETY",
}

// completion is an answer before encoding, plain or streamed.
type completion struct {
	id, model string
	parts     []part
	finish    string
	message   string // finishMessage
	blocked   bool   // the prompt is blocked: no candidate
	usage     usage  // of the prompt
}

type part struct {
	text      string
	thought   bool
	call      *functionCall
	signature string // thoughtSignature
}

type functionCall struct {
	name, id string
	args     json.RawMessage
}

func (p part) MarshalJSON() ([]byte, error) {
	if p.call == nil {
		return jsonvalue.Ordered("text", p.text, "thought", jsonvalue.OrAbsent(p.thought),
			"thoughtSignature", jsonvalue.OrAbsent(p.signature)), nil
	}
	return jsonvalue.Ordered(
		"functionCall", jsonvalue.Ordered("name", p.call.name, "args", p.call.args, "id", jsonvalue.OrAbsent(p.call.id)),
		"thoughtSignature", jsonvalue.OrAbsent(p.signature)), nil
}

func newCompletion(req *dialect.Request, reply *dialect.Reply) *completion {
	c := &completion{id: generateID("response", 23, reply.Serial, 0), model: cmp.Or(reply.Model, req.Model),
		finish: reply.Word(finishReasons)}
	for i, b := range reply.Content {
		switch b.Type {
		case dialect.Text, dialect.Thinking:
			c.parts = append(c.parts, part{text: b.Text, thought: b.Type == dialect.Thinking, signature: b.Signature})
		case dialect.ToolUse:
			c.add(&b, reply.Serial, i)
		}
	}
	c.blocked = reply.Reason() == dialect.StopContentFilter && len(c.parts) == 0
	c.usage.prompt = 8 + len(req.Body)/4
	if reply.Usage != nil {
		c.usage = usage{prompt: reply.Usage.Input, cached: reply.Usage.Cached, scripted: &reply.Usage.Output}
	}
	return c
}

func (c *completion) add(b *dialect.Block, serial int64, position int) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(b.Input, &args); len(b.Input) > 0 && (err != nil || args == nil) {
		c.finish, c.message = "MALFORMED_FUNCTION_CALL", fmt.Sprintf("Malformed function call: %s(%s)", b.Name, b.Input)
		return
	}
	p := part{call: &functionCall{name: b.Name, id: b.ID, args: json.RawMessage("{}")}, signature: b.Signature}
	if len(args) > 0 {
		p.call.args = b.Input
	}
	if b.ID == "" && generation(c.model) > 2 {
		p.call.id = strings.ToLower(generateID("call", 8, serial, position))
	}
	hasCall := slices.ContainsFunc(c.parts, func(p part) bool { return p.call != nil })
	if p.signature == "" && thinks(c.model) && !hasCall {
		p.signature = generateID("signature", 32, serial, position) // looks like base64
	}
	c.parts = append(c.parts, p)
	if c.message == "" {
		c.message = "Model generated function call(s)."
	}
}

// generateID returns an id of n letters and digits. Each kind has its own ids.
func generateID(kind string, n int, serial int64, position int) string {
	return strings.TrimPrefix(dialect.GenerateID(kind, n, serial, position), kind)
}

type usage struct {
	prompt, cached, candidates, thoughts int

	scripted *int // candidates at the end; nil: an estimate
}

// add estimates the tokens of a part, roughly four bytes each; clients cannot rely on more.
func (u *usage) add(p part) {
	switch {
	case p.thought:
		u.thoughts += 1 + len(p.text)/4
	case p.call == nil:
		u.candidates += 1 + len(p.text)/4
	default:
		u.candidates += 1 + (len(p.call.name)+len(p.call.args))/4
		if p.signature != "" {
			u.thoughts += 16 // the signed thought
		}
	}
}

func (u usage) object() json.RawMessage {
	if u.scripted != nil {
		u.candidates, u.thoughts = *u.scripted, 0
	}
	return jsonvalue.Ordered("promptTokenCount", u.prompt, "candidatesTokenCount", jsonvalue.OrAbsent(u.candidates),
		"totalTokenCount", u.prompt+u.candidates+u.thoughts, "promptTokensDetails", textTokens(u.prompt),
		"cachedContentTokenCount", jsonvalue.OrAbsent(u.cached),
		"thoughtsTokenCount", jsonvalue.OrAbsent(u.thoughts))
}

func textTokens(n int) []json.RawMessage {
	return []json.RawMessage{jsonvalue.Ordered("modality", "TEXT", "tokenCount", n)}
}

func (c *completion) plain() json.RawMessage {
	if c.blocked {
		return c.refused()
	}
	u := c.usage
	for _, p := range c.parts {
		u.add(p)
	}
	return c.response(c.candidate(c.parts, c.finish, c.message), u)
}

// candidate is the only candidate of an answer or of a chunk.
func (c *completion) candidate(parts []part, finish, message string) json.RawMessage {
	var content, ratings any = jsonvalue.Ordered("role", "model"), jsonvalue.Absent
	if len(parts) > 0 {
		content = jsonvalue.Ordered("parts", parts, "role", "model")
	}
	if finish == "SAFETY" {
		ratings = []json.RawMessage{jsonvalue.Ordered(
			"category", "HARM_CATEGORY_DANGEROUS_CONTENT", "probability", "HIGH", "blocked", true)}
	}
	return jsonvalue.Ordered("content", content, "finishReason", jsonvalue.OrAbsent(finish), "index", 0,
		"safetyRatings", ratings, "finishMessage", jsonvalue.OrAbsent(message))
}

func (c *completion) response(candidate json.RawMessage, u usage) json.RawMessage {
	return jsonvalue.Ordered("candidates", []json.RawMessage{candidate}, "usageMetadata", u.object(),
		"modelVersion", c.model, "responseId", c.id)
}

// refused returns the answer to a blocked prompt, which has no candidates.
func (c *completion) refused() json.RawMessage {
	return jsonvalue.Ordered("promptFeedback", jsonvalue.Ordered("blockReason", "PROHIBITED_CONTENT"),
		"usageMetadata", c.usage.object(), "modelVersion", c.model, "responseId", c.id)
}

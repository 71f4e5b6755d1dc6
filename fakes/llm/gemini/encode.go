package gemini

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Encode writes text, thoughts and tool uses, in order, and drops other blocks. It writes thoughts even if the request
// does not ask for them: the script decides. The format cannot carry input that is not a JSON object. As with the real
// API, the answer then ends with MALFORMED_FUNCTION_CALL, and finishMessage holds the model's output.
func (codec) Encode(req *dialect.Request, reply *dialect.Reply) dialect.Answer {
	c := newCompletion(req, reply)
	if !req.Stream {
		return dialect.Answer{Status: http.StatusOK, Header: header(jsonType), Chunks: [][]byte{append(indented(c.plain()), '\n')}}
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
	a.Header = header(jsonType)
	before := "["
	for i := range chunks {
		a.Chunks = append(a.Chunks, append(append([]byte(before), indented(chunks[i])...), '\n'))
		before = ",\r\n"
	}
	last := len(a.Chunks) - 1
	a.Chunks[last] = append(a.Chunks[last], ']')
	return a
}

// finishReasons maps stop reasons to the API's words. Tool use and stop sequences have none of their own.
var finishReasons = map[dialect.StopReason]string{
	dialect.EndTurn:           "STOP",
	dialect.StopForTool:       "STOP",
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
	usage     usage
}

type part struct {
	Text             *string       `json:"text,omitempty"`
	Thought          bool          `json:"thought,omitempty"`
	FunctionCall     *functionCall `json:"functionCall,omitempty"`
	ThoughtSignature string        `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
	ID   string          `json:"id,omitempty"`
}

func newCompletion(req *dialect.Request, reply *dialect.Reply) *completion {
	c := &completion{id: mint("response", 23, reply.Serial, 0), model: reply.Model, finish: finishReasons[reply.Reason()]}
	if c.model == "" {
		c.model = req.Model
	}
	if c.finish == "" {
		c.finish = string(reply.Reason())
	}
	for i, b := range reply.Content {
		switch b.Type {
		case dialect.Text, dialect.Thinking:
			c.parts = append(c.parts, part{Text: &b.Text, Thought: b.Type == dialect.Thinking, ThoughtSignature: b.Signature})
		case dialect.ToolUse:
			c.add(&b, reply.Serial, i)
		}
	}
	c.blocked = reply.Reason() == dialect.StopContentFilter && len(c.parts) == 0
	c.count(req)
	return c
}

// add adds a call.
func (c *completion) add(b *dialect.Block, serial int64, position int) {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(b.Input, &args); len(b.Input) > 0 && (err != nil || args == nil) {
		c.finish, c.message = "MALFORMED_FUNCTION_CALL", fmt.Sprintf("Malformed function call: %s(%s)", b.Name, b.Input)
		return
	}
	call := &functionCall{Name: b.Name, ID: b.ID}
	if len(args) > 0 {
		call.Args = b.Input
	}
	if call.ID == "" && generation(c.model) > 2 {
		call.ID = strings.ToLower(mint("call", 8, serial, position))
	}
	p := part{FunctionCall: call, ThoughtSignature: b.Signature}
	if p.ThoughtSignature == "" && thinks(c.model) && !slices.ContainsFunc(c.parts, part.isCall) {
		p.ThoughtSignature = mint("signature", 32, serial, position) // looks like base64
	}
	c.parts = append(c.parts, p)
	if c.message == "" {
		c.message = "Model generated function call(s)."
	}
}

// mint generates an id of n letters and digits. Each kind has its own ids.
func mint(kind string, n int, serial int64, position int) string {
	return strings.TrimPrefix(dialect.GenerateID(kind, n, serial, position), kind)
}

func (p part) isCall() bool { return p.FunctionCall != nil }

type usage struct {
	Prompt     int        `json:"promptTokenCount"`
	Candidates int        `json:"candidatesTokenCount,omitempty"`
	Total      int        `json:"totalTokenCount"`
	Details    []modality `json:"promptTokensDetails"`
	Thoughts   int        `json:"thoughtsTokenCount,omitempty"`
}

type modality struct {
	Modality string `json:"modality"`
	Tokens   int    `json:"tokenCount"`
}

// count estimates tokens, roughly four bytes each; clients cannot rely on more.
func (c *completion) count(req *dialect.Request) {
	c.usage.Prompt = 8 + len(req.Body)/4
	c.usage.Total = c.usage.Prompt
	c.usage.Details = []modality{{"TEXT", c.usage.Prompt}}
	for _, p := range c.parts {
		c.usage.add(p)
	}
}

func (u *usage) add(p part) {
	switch {
	case p.Thought:
		u.Thoughts += 1 + len(*p.Text)/4
	case p.Text != nil:
		u.Candidates += 1 + len(*p.Text)/4
	default:
		u.Candidates += 1 + (len(p.FunctionCall.Name)+len(p.FunctionCall.Args))/4
	}
	if p.isCall() && p.ThoughtSignature != "" {
		u.Thoughts += 16 // the signed thought
	}
	u.Total = u.Prompt + u.Candidates + u.Thoughts
}

// generateResponse is a GenerateContentResponse.
type generateResponse struct {
	Candidates     []candidate     `json:"candidates,omitempty"`
	PromptFeedback *promptFeedback `json:"promptFeedback,omitempty"`
	UsageMetadata  usage           `json:"usageMetadata"`
	ModelVersion   string          `json:"modelVersion"`
	ResponseID     string          `json:"responseId"`
}

type promptFeedback struct {
	BlockReason string `json:"blockReason"`
}

type candidate struct {
	Content       content        `json:"content"`
	FinishReason  string         `json:"finishReason,omitempty"`
	Index         int            `json:"index"`
	SafetyRatings []safetyRating `json:"safetyRatings,omitempty"`
	FinishMessage string         `json:"finishMessage,omitempty"`
}

type content struct {
	Parts []part `json:"parts,omitempty"`
	Role  string `json:"role"`
}

type safetyRating struct {
	Category    string `json:"category"`
	Probability string `json:"probability"`
	Blocked     bool   `json:"blocked"`
}

// plain returns the whole answer.
func (c *completion) plain() generateResponse {
	if c.blocked {
		return c.refused()
	}
	return c.response(candidate{Content: content{c.parts, "model"}, FinishReason: c.finish, SafetyRatings: c.ratings(), FinishMessage: c.message}, c.usage)
}

func (c *completion) response(only candidate, u usage) generateResponse {
	return generateResponse{Candidates: []candidate{only}, UsageMetadata: u, ModelVersion: c.model, ResponseID: c.id}
}

// refused returns the answer to a blocked prompt, which has no candidates.
func (c *completion) refused() generateResponse {
	return generateResponse{PromptFeedback: &promptFeedback{"PROHIBITED_CONTENT"}, UsageMetadata: c.usage, ModelVersion: c.model, ResponseID: c.id}
}

func (c *completion) ratings() []safetyRating {
	if c.finish != "SAFETY" {
		return nil
	}
	return []safetyRating{{"HARM_CATEGORY_DANGEROUS_CONTENT", "HIGH", true}}
}

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// CreateMessageParams are the parameters of a sampling/createMessage request in the making. [Session.Sample] takes
// anything that marshals to them; this type is for plays that build them step by step.
type CreateMessageParams struct {
	Messages         []SamplingMessage `json:"messages"`
	ModelPreferences any               `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	IncludeContext   string            `json:"includeContext,omitempty"`
	Temperature      *float64          `json:"temperature,omitempty"`
	MaxTokens        int               `json:"maxTokens"`
	StopSequences    []string          `json:"stopSequences,omitempty"`
	Metadata         any               `json:"metadata,omitempty"`
	Tools            []Tool            `json:"tools,omitempty"`
	ToolChoice       *ToolChoice       `json:"toolChoice,omitempty"`
	Task             *TaskMetadata     `json:"task,omitempty"`
	Meta             map[string]any    `json:"_meta,omitempty"`

	err    error // why the request cannot be made; Sample returns it
	quotes bool  // the history holds what the client said, which may be wrong without being our fault
}

// SamplingMessage is one turn of the history. Content is one block or a slice of them.
type SamplingMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// ToolChoice says whether the model may, must or must not use a tool: Mode is "auto", "required", "none", or "" for auto.
type ToolChoice struct {
	Mode string `json:"mode,omitempty"`
}

// TextContent is a text block.
type TextContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Text returns a text block.
func Text(text string) TextContent { return TextContent{"text", text} }

// ImageContent is an image block.
type ImageContent struct {
	Type     string `json:"type"`
	Data     []byte `json:"data"`
	MimeType string `json:"mimeType"`
}

// Image returns an image block; data is the image itself, which the wire carries in base64.
func Image(mimeType string, data []byte) ImageContent {
	if data == nil {
		data = []byte{} // which JSON has as "", and nil as null
	}
	return ImageContent{"image", data, mimeType}
}

// AudioContent is an audio block.
type AudioContent struct {
	Type     string `json:"type"`
	Data     []byte `json:"data"`
	MimeType string `json:"mimeType"`
}

// Audio returns an audio block; data is the sound itself, which the wire carries in base64.
func Audio(mimeType string, data []byte) AudioContent {
	if data == nil {
		data = []byte{} // as in Image
	}
	return AudioContent{"audio", data, mimeType}
}

// ToolUseContent is a tool use of the model, as the client gave it.
type ToolUseContent struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResultContent answers a tool use.
type ToolResultContent struct {
	Type              string `json:"type"`
	ToolUseID         string `json:"toolUseId"`
	Content           []any  `json:"content"`
	StructuredContent any    `json:"structuredContent,omitempty"`
	IsError           bool   `json:"isError,omitempty"`
}

// Result returns the result of the tool use; no content is an empty array.
func (u ToolUseContent) Result(content ...any) ToolResultContent {
	if content == nil {
		content = []any{}
	}
	return ToolResultContent{Type: "tool_result", ToolUseID: u.ID, Content: content}
}

// Ask returns a request with one user message, up to 1,000 tokens, and the tools. The tool's mark, where it has one, is woven
// into the system prompt and the message, with the number of the conversation within the play, so that the model's side knows
// whose conversation it is.
func (s *Session) Ask(text string, tools ...Tool) *CreateMessageParams {
	p := &CreateMessageParams{MaxTokens: 1000, Tools: tools}
	if s.tool.Mark != "" {
		s.mu.Lock()
		s.asks++
		mark := fmt.Sprintf("%sn%d", s.tool.Mark, s.asks)
		s.mu.Unlock()
		p.SystemPrompt = fmt.Sprintf("You are a helpful assistant. (conversation %s)", mark)
		text = fmt.Sprintf("%s (conversation %s)", text, mark)
	}
	p.Messages = []SamplingMessage{{"user", Text(text)}}
	return p
}

// After returns the request that follows: the history so far, the client's answer, and the results that answer gives for the
// tool uses in it. Where the answer has no tool use there is nothing to follow, and sampling the request returns an error that
// says so.
func (p *CreateMessageParams) After(result json.RawMessage, answer func([]ToolUseContent) []ToolResultContent) *CreateMessageParams {
	next := *p
	turn := objectOf(result)
	if turn == nil {
		next.err = fmt.Errorf("the client's answer cannot be read: want an object, got %s", show(result))
		return &next
	}
	uses := ToolUses(result)
	if len(uses) == 0 {
		next.err = errors.New("the client's answer has no tool use to go on from")
		return &next
	}
	results := answer(uses)
	if results == nil {
		results = []ToolResultContent{}
	}
	next.quotes = true
	next.Messages = append(slices.Clone(p.Messages),
		SamplingMessage{"assistant", turn["content"]}, // whatever role the client gave it
		SamplingMessage{"user", results})
	return &next
}

// ToolUses returns the tool uses in a CreateMessageResult, in order; none where there are none or they cannot be read.
func ToolUses(result json.RawMessage) []ToolUseContent {
	content := objectOf(result)["content"]
	var blocks []json.RawMessage
	if json.Unmarshal(content, &blocks) != nil {
		blocks = []json.RawMessage{content}
	}
	var uses []ToolUseContent
	for _, raw := range blocks {
		block := objectOf(raw)
		kind, _ := block.text("type")
		id, hasID := block.text("id")
		name, hasName := block.text("name")
		if kind == "tool_use" && (hasID || block["id"] == nil) && (hasName || block["name"] == nil) {
			uses = append(uses, ToolUseContent{kind, id, name, block["input"]})
		}
	}
	return uses
}

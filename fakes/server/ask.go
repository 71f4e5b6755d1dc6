package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// CreateMessageParams are the parameters of a sampling/createMessage request. [Session.Sample] takes anything that
// marshals to them; this type is for handlers that build them step by step.
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

	err    error // why the request cannot be built; Sample returns it
	quotes bool  // the messages hold a result of the client, which may be invalid through no fault of ours
}

// SamplingMessage is one message of the history. Content is a block or a slice of blocks.
type SamplingMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// ToolChoice controls tool use. Mode is "auto", "required", "none", or "" for auto.
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

// MediaContent is an image or audio block. JSON encodes its Data in base64.
type MediaContent struct {
	Type     string `json:"type"`
	Data     []byte `json:"data"`
	MimeType string `json:"mimeType"`
}

// Image returns an image block. Data is the image itself; nil is an empty one.
func Image(mimeType string, data []byte) MediaContent { return media("image", mimeType, data) }

// Audio returns an audio block. Data is the sound itself; nil is an empty one.
func Audio(mimeType string, data []byte) MediaContent { return media("audio", mimeType, data) }

func media(kind, mimeType string, data []byte) MediaContent {
	return MediaContent{kind, append([]byte{}, data...), mimeType} // nil would be null
}

// ToolUseContent is a tool use of the model, as the client sent it.
type ToolUseContent struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResultContent is the result of a tool use.
type ToolResultContent struct {
	Type              string `json:"type"`
	ToolUseID         string `json:"toolUseId"`
	Content           []any  `json:"content"`
	StructuredContent any    `json:"structuredContent,omitempty"`
	IsError           bool   `json:"isError,omitempty"`
}

// Result returns the result of the tool use. Without content it has an empty array.
func (u ToolUseContent) Result(content ...any) ToolResultContent {
	if content == nil {
		content = []any{}
	}
	return ToolResultContent{Type: "tool_result", ToolUseID: u.ID, Content: content}
}

// Ask returns a request with one user message, 1,000 tokens at most, and the tools. If the tool has a Mark, the system
// prompt and the message contain it, with the number of the conversation in this call, so that the model's side can
// identify the conversation.
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
	s.mu.Lock()
	amend := s.amend
	s.mu.Unlock()
	if amend != nil {
		amend(p)
	}
	return p
}

// Amend makes [Session.Ask] change each request that it returns from now on, such as to offer tools.
func (s *Session) Amend(amend func(*CreateMessageParams)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.amend = amend
}

// After returns the next request of a tool loop: the history, the client's result, and the tool results that answer
// returns for its tool uses. Without a tool use in the result, sampling the request returns an error.
func (p *CreateMessageParams) After(
	result json.RawMessage, answer func([]ToolUseContent) []ToolResultContent,
) *CreateMessageParams {
	next := *p
	turn := objectOf(result)
	if turn == nil {
		next.err = fmt.Errorf("the client's result must be an object, found %s", show(result))
		return &next
	}
	uses := ToolUses(result)
	if len(uses) == 0 {
		next.err = errors.New("the client's result has no tool use to continue with")
		return &next
	}
	results := answer(uses)
	if results == nil {
		results = []ToolResultContent{}
	}
	next.quotes = true
	next.Messages = append(slices.Clone(p.Messages),
		SamplingMessage{"assistant", turn["content"]}, // with any role of the client
		SamplingMessage{"user", results})
	return &next
}

// ToolUses returns the tool uses in a CreateMessageResult, in order, without those that are malformed.
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

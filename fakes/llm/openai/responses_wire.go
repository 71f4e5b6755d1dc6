package openai

import "encoding/json"

// The objects of Responses, with their members in the API's order. A member that is nil is null, unless it is omitted.

// responseBody is a response.
type responseBody struct {
	ID                   string             `json:"id"`
	Object               string             `json:"object"`
	CreatedAt            int64              `json:"created_at"`
	Status               string             `json:"status"`
	Background           bool               `json:"background"`
	Billing              *billing           `json:"billing,omitempty"`
	CompletedAt          *int64             `json:"completed_at"`
	Error                json.RawMessage    `json:"error"`
	FrequencyPenalty     json.RawMessage    `json:"frequency_penalty"`
	Incomplete           *incompleteDetails `json:"incomplete_details"`
	Instructions         json.RawMessage    `json:"instructions"`
	MaxOutputTokens      json.RawMessage    `json:"max_output_tokens"`
	MaxToolCalls         json.RawMessage    `json:"max_tool_calls"`
	Model                string             `json:"model"`
	Moderation           any                `json:"moderation"`
	Output               []any              `json:"output"`
	ParallelToolCalls    json.RawMessage    `json:"parallel_tool_calls"`
	PresencePenalty      json.RawMessage    `json:"presence_penalty"`
	PreviousResponse     json.RawMessage    `json:"previous_response_id"`
	PromptCacheKey       json.RawMessage    `json:"prompt_cache_key"`
	PromptCacheRetention json.RawMessage    `json:"prompt_cache_retention"`
	Reasoning            any                `json:"reasoning"`
	SafetyIdentifier     json.RawMessage    `json:"safety_identifier"`
	Tier                 string             `json:"service_tier"`
	Store                json.RawMessage    `json:"store"`
	Temperature          json.RawMessage    `json:"temperature"`
	Text                 any                `json:"text"`
	ToolChoice           json.RawMessage    `json:"tool_choice"`
	Tools                []any              `json:"tools"`
	TopLogprobs          json.RawMessage    `json:"top_logprobs"`
	TopP                 json.RawMessage    `json:"top_p"`
	Truncation           json.RawMessage    `json:"truncation"`
	Usage                *responseUsage     `json:"usage"`
	User                 json.RawMessage    `json:"user"`
	Metadata             json.RawMessage    `json:"metadata"`
}

type billing struct {
	Payer string `json:"payer"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type responseUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		CacheWrite int `json:"cache_write_tokens"`
		Cached     int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// echoedFunction is a function among the tools.
type echoedFunction struct {
	Type        string          `json:"type"`
	Description json.RawMessage `json:"description"`
	Name        string          `json:"name"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      json.RawMessage `json:"strict"`
}

// The items of the output.
type (
	messageItem struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Status  string `json:"status"`
		Content []any  `json:"content"`
		Role    string `json:"role"`
	}
	callItem struct {
		ID        string `json:"id"`
		Type      string `json:"type"`
		Status    string `json:"status"`
		Arguments string `json:"arguments"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
	}
	reasoningItem struct {
		ID        string     `json:"id"`
		Type      string     `json:"type"`
		Encrypted string     `json:"encrypted_content,omitempty"`
		Summary   []textPart `json:"summary"`
	}
)

// The parts of a message.
type (
	outputText struct {
		Type        string   `json:"type"`
		Annotations []string `json:"annotations"`
		Logprobs    []string `json:"logprobs"`
		Text        string   `json:"text"`
	}
	refusalPart struct {
		Type    string `json:"type"`
		Refusal string `json:"refusal"`
	}
)

// responseEvent is an event of a stream. Only the members of its type are set.
type responseEvent struct {
	Type         string          `json:"type"`
	Arguments    *string         `json:"arguments,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	Delta        string          `json:"delta,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
	Item         any             `json:"item,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	Logprobs     []string        `json:"logprobs,omitzero"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	Part         any             `json:"part,omitempty"`
	Refusal      *string         `json:"refusal,omitempty"`
	Response     *responseBody   `json:"response,omitempty"`
	Sequence     int             `json:"sequence_number"`
	SummaryIndex *int            `json:"summary_index,omitempty"`
	Text         *string         `json:"text,omitempty"`
}

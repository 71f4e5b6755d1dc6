package openai

// The objects of chat completions, with the members of all servers in the order in which these send them. A member that
// is nil is omitted; one that is null is null.

var null any = (*int)(nil)

// completionBody is a plain answer.
type completionBody struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Provider    string   `json:"provider,omitempty"`
	Choices     []choice `json:"choices"`
	Usage       any      `json:"usage"`
	Tier        any      `json:"service_tier,omitempty"`
	Fingerprint any      `json:"system_fingerprint,omitempty"`
	Groq        *groq    `json:"x_groq,omitempty"`
}

// chunk is an event of a stream.
type chunk struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Tier        string   `json:"service_tier,omitempty"`
	Provider    string   `json:"provider,omitempty"`
	Fingerprint any      `json:"system_fingerprint,omitempty"`
	Choices     []choice `json:"choices"`
	Groq        *groq    `json:"x_groq,omitempty"`
	Usage       any      `json:"usage,omitempty"`
}

// groq is Groq's own object.
type groq struct {
	ID    string `json:"id"`
	Seed  int    `json:"seed,omitempty"`
	Usage any    `json:"usage,omitempty"`
}

// choice has a message or a delta.
type choice struct {
	Index        int   `json:"index"`
	Message      *said `json:"message,omitempty"`
	Delta        any   `json:"delta,omitempty"`
	Logprobs     any   `json:"logprobs,omitempty"`
	Finish       any   `json:"finish_reason,omitempty"`
	NativeFinish any   `json:"native_finish_reason,omitempty"`
}

// said is a message or a delta.
type said struct {
	Role             string   `json:"role,omitempty"`
	Content          any      `json:"content,omitempty"`
	ReasoningContent any      `json:"reasoning_content,omitempty"`
	Reasoning        any      `json:"reasoning,omitempty"`
	ReasoningDetails []detail `json:"reasoning_details,omitempty"`
	FunctionCall     *called  `json:"function_call,omitempty"`
	ToolCalls        []call   `json:"tool_calls,omitempty"`
	Refusal          any      `json:"refusal,omitempty"`
	Annotations      []string `json:"annotations,omitzero"`
}

// detail is OpenRouter's thinking.
type detail struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Format string `json:"format"`
	Index  int    `json:"index"`
}

// call is a tool call or a piece of one, which has an index.
type call struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id,omitempty"`
	Type     string `json:"type,omitempty"`
	Function called `json:"function"`
}

// called is the function of a call.
type called struct {
	Name      *string `json:"name,omitempty"`
	Arguments string  `json:"arguments"`
}

// textPart is a text in an array, and thinkingPart is Mistral's thinking.
type (
	textPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	thinkingPart struct {
		Type     string     `json:"type"`
		Thinking []textPart `json:"thinking"`
		Closed   bool       `json:"closed,omitempty"`
	}
)

// usageBody is the usage.
type usageBody struct {
	Prompt            int `json:"prompt_tokens"`
	Completion        int `json:"completion_tokens"`
	Total             int `json:"total_tokens"`
	*groqTimes            // nil for other servers
	*routerCost           // nil for other servers
	PromptDetails     any `json:"prompt_tokens_details,omitempty"`
	CostDetails       any `json:"cost_details,omitempty"`
	CompletionDetails any `json:"completion_tokens_details,omitempty"`
	*xaiCost              // nil for other servers
}

type groqTimes struct {
	Queue      float64 `json:"queue_time"`
	Prompt     float64 `json:"prompt_time"`
	Completion float64 `json:"completion_time"`
	Total      float64 `json:"total_time"`
}

type routerCost struct {
	Cost   float64 `json:"cost"`
	OwnKey bool    `json:"is_byok"`
}

type xaiCost struct {
	Sources int `json:"num_sources_used"`
	Ticks   int `json:"cost_in_usd_ticks"`
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
	Audio  int `json:"audio_tokens"`
}

type completionDetails struct {
	Reasoning int `json:"reasoning_tokens"`
	Audio     int `json:"audio_tokens"`
	Accepted  int `json:"accepted_prediction_tokens"`
	Rejected  int `json:"rejected_prediction_tokens"`
}

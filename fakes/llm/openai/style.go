package openai

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Servers compatible with Chat Completions, each with variations that can break a client written for OpenAI: see the
// fields of style. Requests follow OpenAI's rules for messages and calls; its limits, and its rules for members, parts,
// tools and schemas, are its own. Answers and streams follow recordings, OpenRouter's its documentation too. None has a
// form for a refusal: it is a text.
var (
	// Compatible is any other compatible server or gateway, such as DeepSeek, Together, vLLM or GPUStack. Its thinking is
	// in reasoning_content.
	Compatible dialect.Codec = chat{models{compatible}}
	// Mistral sends id, name, arguments and finish reason of all calls in one chunk, and thinking as parts of the content.
	// It accepts only ids of nine letters and digits.
	Mistral dialect.Codec = chat{models{&style{name: "mistral", base: "/mistral/v1", reasoningIn: inContent,
		ids: hexID, callIDs: nineCharacters, wholeCalls: true, joinedFinish: true, untypedCalls: true,
		usage: mistralUsage, headers: mistralLimits, isMistral: true}}}
	// OpenRouter sends comments and white space while the model thinks, and repeats the finish reason beside the usage,
	// which has the cost.
	OpenRouter dialect.Codec = chat{models{&style{name: "openrouter", base: "/openrouter/v1", reasoningIn: inReasoning,
		ids: generationID, logprobs: true, isRouter: true, usage: routerUsage}}}
	// Groq sends each call in one chunk, and its own usage object beside the standard one.
	Groq dialect.Codec = chat{models{&style{name: "groq", base: "/groq/v1", reasoningIn: inReasoning,
		ids: prefixedUUID, fingerprint: "fp_05df423bab", logprobs: true, wholeCalls: true, isGroq: true,
		usage: groqUsage, headers: groqLimits}}}
	// XAI sends each call in one chunk, the role beside the first content, and no finish_reason member before the end.
	XAI dialect.Codec = chat{models{xAI}}
	// IndexFromOne counts tool calls from 1, like a server that keeps Anthropic's block numbers.
	IndexFromOne dialect.Codec = chat{models{&style{name: "index-from-one", base: "/index-from-one/v1",
		firstIndex: 1, bareRole: true, emptyArguments: true}}}

	compatible = &style{name: "compatible", base: "/compatible/v1", reasoningIn: inReasoningContent, usage: plainUsage}

	xAI = &style{name: "xai", base: "/xai/v1", reasoningIn: inReasoningContent, ids: uuid,
		fingerprint: "fp_3d7ed3b779", wholeCalls: true, joinedRole: true, noNullFinish: true, isXAI: true,
		usage: xaiUsage}
)

// style is how a server's format differs from the minimum. The zero value is that minimum.
type style struct {
	name, base     string
	ids            func(created, serial int64) string      // of answers; nil for OpenAI's
	callIDs        func(serial int64, position int) string // nil for OpenAI's
	fingerprint    string                                  // system_fingerprint; "" for none
	reasoningIn    string                                  // the member with the thinking; "" if it is hidden
	isOpenAI       bool                                    // service_tier, refusal, annotations, usage: null, headers
	isMistral      bool                                    // errors
	isRouter       bool                                    // comments, provider, native_finish_reason, usage anyway
	isXAI          bool                                    // errors
	isGroq         bool                                    // x_groq
	logprobs       bool                                    // logprobs: null
	wholeCalls     bool                                    // a call comes in one chunk
	untypedCalls   bool                                    // without a type
	joinedRole     bool                                    // the role comes beside the first content
	bareRole       bool                                    // the role comes without content
	emptyArguments bool                                    // the first fragment of arguments is empty
	joinedFinish   bool                                    // finish reason and usage come beside the last content
	noNullFinish   bool                                    // no finish_reason before the last one
	usage          func(usage, *usageBody)                 // adds members to the usage; nil for OpenAI's
	headers        http.Header                             // in all answers
	firstIndex     int                                     // of the calls
}

var openAI = &style{base: "/v1", name: dialect.OpenAIChat, isOpenAI: true, fingerprint: "fp_5c0f8d2e1b", logprobs: true,
	headers: openAIHeader}

func nineCharacters(serial int64, position int) string {
	return dialect.GenerateID("", 9, serial, position)
}

func (s *style) callID(serial int64, position int) string {
	if s.callIDs != nil {
		return s.callIDs(serial, position)
	}
	return dialect.GenerateID("call_", 24, serial, position)
}

func (s *style) id(created, serial int64) string {
	if s.ids != nil {
		return s.ids(created, serial)
	}
	return dialect.GenerateID("chatcmpl-", 29, serial, 0)
}

func hexID(_, serial int64) string { return dialect.GenerateHex("", 32, serial, 0) }

func uuid(_, serial int64) string {
	h := dialect.GenerateHex("", 32, serial, 0)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

func prefixedUUID(created, serial int64) string { return "chatcmpl-" + uuid(created, serial) }

func generationID(created, serial int64) string {
	return dialect.GenerateID(fmt.Sprintf("gen-%d-", created), 20, serial, 0)
}

func plainUsage(u usage, b *usageBody) {
	if u.cached > 0 {
		b.PromptDetails = jsonvalue.Ordered("cached_tokens", u.cached)
	}
	if u.reasoning > 0 {
		b.CompletionDetails = jsonvalue.Ordered("reasoning_tokens", u.reasoning)
	}
}

func mistralUsage(u usage, b *usageBody) {
	b.PromptDetails = jsonvalue.Ordered("cached_tokens", u.cached)
}

func groqUsage(_ usage, b *usageBody) { b.groqTimes = &groqTimes{0.2, 0.02, 0.17, 0.19} }

func xaiUsage(u usage, b *usageBody) {
	b.PromptDetails = jsonvalue.Ordered("text_tokens", u.prompt, "audio_tokens", 0, "image_tokens", 0,
		"cached_tokens", u.cached)
	b.CompletionDetails, b.xaiCost = completionDetails{Reasoning: u.reasoning}, &xaiCost{}
}

// routerUsage has a price of one and five dollars for a million tokens.
func routerUsage(u usage, b *usageBody) {
	prompt, completion := float64(u.prompt)/1e6, float64(u.completion)*5/1e6
	b.routerCost = &routerCost{Cost: prompt + completion}
	b.PromptDetails = jsonvalue.Ordered("cached_tokens", u.cached, "cache_write_tokens", 0, "audio_tokens", 0,
		"video_tokens", 0)
	b.CostDetails = jsonvalue.Ordered("upstream_inference_cost", prompt+completion,
		"upstream_inference_prompt_cost", prompt, "upstream_inference_completions_cost", completion)
	b.CompletionDetails = jsonvalue.Ordered("reasoning_tokens", u.reasoning, "image_tokens", 0, "audio_tokens", 0)
}

// providerName is the provider that OpenRouter names.
const providerName = "Scripted"

// Headers that are in all answers of a server.
var (
	openAIHeader = http.Header{
		"Openai-Processing-Ms":           {"250"},
		"Openai-Version":                 {"2020-10-01"},
		"X-Ratelimit-Limit-Requests":     {"10000"},
		"X-Ratelimit-Limit-Tokens":       {"2000000"},
		"X-Ratelimit-Remaining-Requests": {"9999"},
		"X-Ratelimit-Remaining-Tokens":   {"1999000"},
		"X-Ratelimit-Reset-Requests":     {"6ms"},
		"X-Ratelimit-Reset-Tokens":       {"30ms"},
	}
	groqLimits = http.Header{
		"X-Ratelimit-Limit-Requests":     {"14400"},
		"X-Ratelimit-Limit-Tokens":       {"18000"},
		"X-Ratelimit-Remaining-Requests": {"14399"},
		"X-Ratelimit-Remaining-Tokens":   {"17900"},
		"X-Ratelimit-Reset-Requests":     {"6s"},
		"X-Ratelimit-Reset-Tokens":       {"333ms"},
	}
	mistralLimits = http.Header{
		"X-Ratelimit-Limit-Tokens-Minute":     {"100000"},
		"X-Ratelimit-Remaining-Tokens-Minute": {"99000"},
		"X-Ratelimit-Tokens-Query-Cost":       {"100"},
		"X-Ratelimit-Limit-Req-Minute":        {"100"},
		"X-Ratelimit-Remaining-Req-Minute":    {"99"},
		"X-Envoy-Upstream-Service-Time":       {"250"},
	}
)

// AccountHeader is OpenAI's own header; compatible servers may send it too.
func (s style) AccountHeader() string { return "Openai-Organization" }

func (s *style) header(contentType, id string) http.Header {
	h := make(http.Header, 12)
	maps.Copy(h, s.headers)
	h["Content-Type"], h["X-Request-Id"] = []string{contentType}, []string{id}
	if s.isMistral {
		h.Set("Mistral-Correlation-Id", id)
	}
	if s.isRouter {
		h.Set("X-Generation-Id", id)
	}
	return h
}

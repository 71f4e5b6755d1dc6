package openai

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Servers compatible with Chat Completions, each with variations that can break a client written for OpenAI: see the
// fields of style. Requests follow OpenAI's rules, but unknown members are accepted. Answers and streams follow
// recordings, OpenRouter's its documentation. None has a form for a refusal: it is a text.
var (
	// Mistral sends id, name, arguments and finish reason of all calls in one chunk. It accepts only ids of nine
	// letters and digits.
	Mistral dialect.Codec = chat{models{&style{name: "mistral", base: "/mistral/v1",
		callIDs: nineCharacters, wholeCalls: true, joinedFinish: true, untypedCalls: true}}}
	// OpenRouter sends comments and white space while the model thinks, and repeats the finish reason beside the usage.
	OpenRouter dialect.Codec = chat{models{&style{name: "openrouter", base: "/openrouter/v1",
		logprobs: true, comments: true, repeatedFinish: true, usageAnyway: true, numericCode: true}}}
	// Groq sends each call in one chunk, and its own usage object beside the standard one.
	Groq dialect.Codec = chat{models{&style{name: "groq", base: "/groq/v1",
		fingerprint: "fp_05df423bab", logprobs: true, wholeCalls: true, groqUsage: true}}}
	// XAI sends each call in one chunk, the role beside the first content, and no finish_reason member before the end.
	XAI dialect.Codec = chat{models{&style{name: "xai", base: "/xai/v1",
		fingerprint: "fp_3d7ed3b779", wholeCalls: true, joinedRole: true, noNullFinish: true}}}
	// IndexFromOne counts tool calls from 1, like a server that keeps Anthropic's block numbers.
	IndexFromOne dialect.Codec = chat{models{&style{name: "index-from-one", base: "/index-from-one/v1",
		firstIndex: 1, bareRole: true, emptyArguments: true}}}
)

// style is how a server's format differs from the minimum. The zero value is that minimum.
type style struct {
	name, base     string
	callIDs        callIDs
	fingerprint    string // system_fingerprint; "" for none
	isOpenAI       bool   // service_tier, refusal, annotations, usage: null in chunks, OpenAI's headers and members
	logprobs       bool   // logprobs: null
	wholeCalls     bool   // a call comes in one chunk
	untypedCalls   bool   // without a type
	joinedRole     bool   // the role comes beside the first content
	bareRole       bool   // the role comes without content
	emptyArguments bool   // the first fragment of arguments is empty
	joinedFinish   bool   // finish reason and usage come beside the last content or all calls
	noNullFinish   bool   // no finish_reason before the last one
	repeatedFinish bool   // the finish reason is repeated beside the usage
	groqUsage      bool   // usage beside the finish reason, and under x_groq
	usageAnyway    bool   // usage without a request for it
	comments       bool   // comments before a stream, white space before a plain body
	numericCode    bool   // an error's code is the HTTP status
	firstIndex     int    // of the calls
}

var openAI = style{base: "/v1", name: dialect.OpenAIChat, isOpenAI: true, fingerprint: "fp_5c0f8d2e1b", logprobs: true}

// callIDs generates the id of a call.
type callIDs func(serial int64, position int) string

func nineCharacters(serial int64, position int) string {
	return dialect.GenerateID("", 9, serial, position)
}

func (s *style) callID(serial int64, position int) string {
	if s.callIDs != nil {
		return s.callIDs(serial, position)
	}
	return dialect.GenerateID("call_", 24, serial, position)
}

// openAIHeader is in all of OpenAI's answers. They share the slices: do not write to them.
var openAIHeader = http.Header{
	"Openai-Processing-Ms":           {"250"},
	"Openai-Version":                 {"2020-10-01"},
	"X-Ratelimit-Limit-Requests":     {"10000"},
	"X-Ratelimit-Limit-Tokens":       {"2000000"},
	"X-Ratelimit-Remaining-Requests": {"9999"},
	"X-Ratelimit-Remaining-Tokens":   {"1999000"},
	"X-Ratelimit-Reset-Requests":     {"6ms"},
	"X-Ratelimit-Reset-Tokens":       {"30ms"},
}

// AccountHeader is OpenAI's own header; compatible servers may send it too.
func (s style) AccountHeader() string { return "Openai-Organization" }

// Content types, shared like openAIHeader.
var (
	eventStream = []string{"text/event-stream; charset=utf-8"}
	jsonType    = []string{"application/json"}
)

func (s *style) header(contentType, id string) http.Header {
	h := s.fill(make(http.Header, headers), id)
	h["Content-Type"] = []string{contentType}
	return h
}

// headers is their number.
var headers = len(openAIHeader) + 2

// fill adds the headers except the content type.
func (s *style) fill(h http.Header, id string) http.Header {
	h["X-Request-Id"] = []string{id}
	if s.isOpenAI {
		for name, values := range openAIHeader {
			h[name] = values
		}
	}
	return h
}

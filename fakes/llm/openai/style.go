package openai

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Servers that are compatible with OpenAI's Chat Completions, each in its own way. A client that knows OpenAI only fails on the one or the other:
// see the members of style for what they do. Requests are held against OpenAI's rules, but for members that it does not know;
// answers and streams are as in recordings, OpenRouter's as it documents them. None of them has a form for a refusal: it is a text.
var (
	// Mistral sends id, name, arguments and finish reason of all calls in one chunk. It takes ids of nine letters and digits only.
	Mistral dialect.Codec = chat{models{&style{name: "mistral", base: "/mistral/v1",
		callIDs: nineCharacters, wholeCalls: true, joinedFinish: true, untypedCalls: true}}}
	// OpenRouter sends comments and white space while the model thinks, and repeats the finish reason beside the usage.
	OpenRouter dialect.Codec = chat{models{&style{name: "openrouter", base: "/openrouter/v1",
		logprobs: true, comments: true, repeatedFinish: true, usageAnyway: true, numericCode: true}}}
	// Groq sends each call in one chunk, and usage of its own beside the usual one.
	Groq dialect.Codec = chat{models{&style{name: "groq", base: "/groq/v1",
		fingerprint: "fp_05df423bab", logprobs: true, wholeCalls: true, groqUsage: true}}}
	// XAI sends each call in one chunk, the role beside the first content, and no finish reason, not even null, until the end.
	XAI dialect.Codec = chat{models{&style{name: "xai", base: "/xai/v1",
		fingerprint: "fp_3d7ed3b779", wholeCalls: true, joinedRole: true, noNullFinish: true}}}
	// IndexFromOne counts tool calls from 1, as a server does that takes over the numbers of Anthropic's blocks.
	IndexFromOne dialect.Codec = chat{models{&style{name: "index-from-one", base: "/index-from-one/v1",
		firstIndex: 1, bareRole: true, emptyArguments: true}}}
)

// style is how one server of the format differs from another. The zero value says as little as the format allows.
type style struct {
	name, base     string
	callIDs        callIDs
	fingerprint    string // system_fingerprint; "" is none
	isOpenAI       bool   // has service_tier, refusal, annotations, usage: null in chunks, and OpenAI's headers and request members
	logprobs       bool   // has logprobs, null
	wholeCalls     bool   // a call comes in one chunk
	untypedCalls   bool   // and has no type there
	joinedRole     bool   // the role comes beside the first content
	bareRole       bool   // the role comes without any content
	emptyArguments bool   // the first fragment of arguments is empty
	joinedFinish   bool   // the finish reason comes beside the last content, or all calls at once, and the usage with it
	noNullFinish   bool   // there is no finish_reason before the last one
	repeatedFinish bool   // the finish reason comes again beside the usage
	groqUsage      bool   // the usage comes beside the finish reason, and under x_groq, too
	usageAnyway    bool   // the usage comes unasked
	comments       bool   // the stream begins with comments, a plain body with white space
	numericCode    bool   // an error's code is the HTTP status
	firstIndex     int    // of the calls
}

var openAI = style{base: "/v1", name: dialect.OpenAIChat, isOpenAI: true, fingerprint: "fp_5c0f8d2e1b", logprobs: true}

// callIDs mint the id of a call.
type callIDs func(serial int64, position int) string

func nineCharacters(serial int64, position int) string {
	return dialect.MintID("", 9, serial, position)
}

func (s *style) callID(serial int64, position int) string {
	if s.callIDs != nil {
		return s.callIDs(serial, position)
	}
	return dialect.MintID("call_", 24, serial, position)
}

// openAIHeader is what OpenAI sends in every header. The slices are shared: nobody may write to them.
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

// AccountHeader is a header of OpenAI's own; a server that is compatible with it leaves it out, or sends it, too.
func (s style) AccountHeader() string { return "Openai-Organization" }

// Content types, shared as openAIHeader is.
var (
	eventStream = []string{"text/event-stream; charset=utf-8"}
	jsonType    = []string{"application/json"}
)

// header returns the headers that the server sends with every answer and that SDKs read; id is the request's id.
func (s *style) header(contentType, id string) http.Header {
	h := s.fill(make(http.Header, headers), id)
	h["Content-Type"] = []string{contentType}
	return h
}

// headers is how many there are.
var headers = len(openAIHeader) + 2

// fill adds them to an empty header, but for the content type.
func (s *style) fill(h http.Header, id string) http.Header {
	h["X-Request-Id"] = []string{id}
	if s.isOpenAI {
		for name, values := range openAIHeader {
			h[name] = values
		}
	}
	return h
}

// Package dialect defines the provider-neutral form of a conversation with a model, and the codec interface. A codec
// translates between that form and one provider's wire format. Codecs import the
// package, and fakes/llm imports the codecs.
package dialect

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Names of the dialects.
const (
	Native          = "native"           // MCP: CreateMessageRequestParams in, CreateMessageResult out
	OpenAIChat      = "openai-chat"      // OpenAI Chat Completions
	OpenAIResponses = "openai-responses" // OpenAI Responses
	Anthropic       = "anthropic"        // Anthropic Messages
	Gemini          = "gemini"           // Gemini generateContent and streamGenerateContent
	Ollama          = "ollama"           // Ollama chat
	CohereChat      = "cohere-chat"      // Cohere chat, version 2
)

// Role is the speaker. Providers with more roles are mapped: as in MCP, a tool result belongs to the user's turn.
type Role string

// The roles of a conversation. System and developer messages are in Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// BlockType is the kind of a block, in MCP's terms.
type BlockType string

// The block types. MCP has no Thinking block: a client hides the model's reasoning from the server, and returns it to
// the provider if required. Other has no neutral form; its Raw is kept.
const (
	Text       BlockType = "text"
	Image      BlockType = "image"
	Audio      BlockType = "audio"
	ToolUse    BlockType = "tool_use"
	ToolResult BlockType = "tool_result"
	Thinking   BlockType = "thinking"
	Other      BlockType = "other"
)

// Block is one piece of a message.
type Block struct {
	Type BlockType
	// Text of a text or thinking block. For media given by address: the address.
	Text string
	// Signature is the provider's opaque signature of a thinking block or a tool use (Gemini's thoughtSignature). A
	// client returns it unchanged.
	Signature string
	// Data is the decoded media of an image or audio block, and MimeType its type.
	Data     []byte
	MimeType string
	// ID is the id of a tool use, or the tool use that a result belongs to.
	ID string
	// Name is the tool's name, on a tool use, and on a result if the provider names it.
	Name string
	// Input is the arguments of a tool use, as written. In a Reply it may be invalid JSON: a codec sends it unchanged
	// if its provider carries arguments as text.
	Input json.RawMessage
	// Content of a tool result.
	Content []Block
	// IsError is true for a tool result that the provider's format marks as an error.
	IsError bool
	// Raw is the block's own JSON on the wire; nil if it has none.
	Raw json.RawMessage
	// Path is the block's place in the request body, such as "messages[3]". Empty in a Reply.
	Path string
}

// Message is one turn.
type Message struct {
	Role    Role
	Content []Block
	// Path is the place in the request body where the message begins.
	Path string
}

// Tool is a tool offered to the model.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Path        string
}

// Modes of Request.ToolChoice. The choice of one tool is "tool:" and its name.
const (
	ChoiceAuto     = "auto"
	ChoiceRequired = "required"
	ChoiceNone     = "none"
)

// Request is a caller's request to the model.
type Request struct {
	Dialect string
	Model   string
	// System is the system prompt. A blank line joins several.
	System   string
	Messages []Message
	Tools    []Tool
	// ToolChoice is the mode, in MCP's terms. Empty: not given.
	ToolChoice string
	// MaxTokens and Temperature are nil if not given.
	MaxTokens     *int64
	Temperature   *float64
	StopSequences []string
	// Stream is true if the caller asks for a stream.
	Stream bool
	// Body and Header are the request's own, unchanged.
	Body   json.RawMessage
	Header http.Header
	// URL has the path and query, which some providers use as parameters. Nil if the codec does not need it.
	URL *url.URL
	// Decoded is the codec's own form of the body, so that Check and Encode need not parse again. Nil: they parse Body.
	Decoded any
}

// Parsed returns the request's Decoded. If it has none, as for a hand-made request, it parses the body.
func Parsed[T any](r *Request, parse func(body []byte) (T, *Error)) (T, *Error) {
	if parsed, ok := r.Decoded.(T); ok {
		return parsed, nil
	}
	return parse(r.Body)
}

// Turn returns the number of the requested model turn: 1, plus one for each run of assistant messages in the history.
func (r *Request) Turn() int {
	turn := 1
	for i, m := range r.Messages {
		if m.Role == Assistant && (i == 0 || r.Messages[i-1].Role != Assistant) {
			turn++
		}
	}
	return turn
}

// LastUserTurn returns the user's messages after the last assistant message.
func (r *Request) LastUserTurn() []Message {
	for i := len(r.Messages); i > 0; i-- {
		if r.Messages[i-1].Role == Assistant {
			return r.Messages[i:]
		}
	}
	return r.Messages
}

// ToolResults returns the tool results of the last user turn, in order.
func (r *Request) ToolResults() []Block { return Blocks(r.LastUserTurn(), ToolResult) }

// ToolUses returns the tool uses of the model's last turn, in order.
func (r *Request) ToolUses() []Block {
	before := r.Messages[:len(r.Messages)-len(r.LastUserTurn())]
	begin := len(before)
	for begin > 0 && before[begin-1].Role == Assistant {
		begin--
	}
	return Blocks(before[begin:], ToolUse)
}

// LastText returns the text of the last user turn, tool results included. Newlines join its messages.
func (r *Request) LastText() string {
	turn := r.LastUserTurn()
	texts := make([]string, len(turn))
	for i := range turn {
		texts[i] = PlainText(turn[i].Content)
	}
	return strings.Join(texts, "\n")
}

// PlainText returns the text of a block; of a tool result, the texts of its content.
func (b *Block) PlainText() string { return PlainText([]Block{*b}) }

// Blocks returns all blocks of the type in order, including those inside tool results.
func Blocks(messages []Message, t BlockType) []Block {
	var found []Block
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Type == t {
				found = append(found, b)
			}
			for _, inner := range b.Content {
				if inner.Type == t {
					found = append(found, inner)
				}
			}
		}
	}
	return found
}

// PlainText joins the texts of the blocks, including those of tool results, by newlines.
func PlainText(blocks []Block) string {
	if len(blocks) == 1 && blocks[0].Type == Text {
		return blocks[0].Text
	}
	var texts []string
	for _, b := range blocks {
		switch b.Type {
		case Text:
			texts = append(texts, b.Text)
		case ToolResult:
			texts = append(texts, PlainText(b.Content))
		}
	}
	return strings.Join(texts, "\n")
}

// StopReason is why the model stopped, in MCP's words, or in the provider's if MCP has none.
type StopReason string

// MCP's standard stop reasons, and two that every codec maps to its provider's word.
const (
	EndTurn          StopReason = "endTurn"
	StopToolUse      StopReason = "toolUse"
	StopMaxTokens    StopReason = "maxTokens"
	StopStopSequence StopReason = "stopSequence"

	StopRefusal       StopReason = "refusal"       // the model declines, in the reply's text
	StopContentFilter StopReason = "contentFilter" // the provider withheld all or the rest of the answer
)

// Reply is the model's scripted answer.
type Reply struct {
	// Content is text and tool uses, in order. A tool use without an ID gets one if the provider has ids.
	Content []Block
	// StopReason defaults to toolUse if the content has a tool use, else to endTurn.
	StopReason StopReason
	// Model is the model's name. Empty: the requested one.
	Model string
	// Serial identifies the reply on its server. Codecs generate ids from it.
	Serial int64
	// LateUse makes a stream deliver the end of the last tool use after the finish reason, as some real servers do.
	// Codecs without such an order ignore it.
	LateUse bool
	// Usage is what the answer reports as used. Nil: an estimate.
	Usage *Usage
	// Stream adds what streams of servers compatible with OpenAI's chat completions may do. Other codecs ignore it.
	Stream StreamForm
}

// StreamForm is a set of forms that a stream of chat completions may have. OpenAI's own has none of them.
type StreamForm uint8

const (
	// Interleaved sends the fragments of several tool calls in turn: their index tells them apart.
	Interleaved StreamForm = 1 << iota
	// RepeatedNames sends the name of the tool with each fragment of a call, as llama.cpp did until May 2025.
	RepeatedNames
	// EndBesideFinish sends the end of the text, or all tool calls at once, beside the finish reason, as Mistral does.
	EndBesideFinish
	// WithoutDone ends the stream without [DONE], as some gateways do.
	WithoutDone
	// KeptAlive has comments between the chunks, as OpenRouter sends while a model thinks. Clients ignore them.
	KeptAlive
	// FilterFirst begins with a chunk without choices, which has the results of a content filter, as Azure does.
	FilterFirst
)

// Usage counts tokens. Input includes Cached, which were read from the provider's cache. Output includes the thinking.
// Each codec writes the provider's form; Anthropic's input_tokens do not include the cached ones.
type Usage struct{ Input, Output, Cached int }

// Reason returns the stop reason or its default.
func (r *Reply) Reason() StopReason {
	if r.StopReason != "" {
		return r.StopReason
	}
	for _, b := range r.Content {
		if b.Type == ToolUse {
			return StopToolUse
		}
	}
	return EndTurn
}

// Word returns a provider's word for the stop reason, or a reason without one unchanged.
func (r *Reply) Word(words map[StopReason]string) string {
	reason := r.Reason()
	return cmp.Or(words[reason], string(reason))
}

// Answer is an HTTP answer. Each chunk of a stream is one event.
type Answer struct {
	Status int
	Header http.Header
	Chunks [][]byte
	Stream bool
}

// Error is an error of the provider. Codecs write it in the provider's own shape.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Kind is the provider's error class, such as "invalid_request_error". Empty: the codec's default for the status.
	Kind string
	// Code and Param are the provider's further words. Empty: none, or the codec's default for the status.
	Code  string
	Param string
	// Message says what is wrong, in the provider's words where they are known: see [OwnWords].
	Message string
	// Extra adds members to the object that has the message, such as Groq's failed_generation; may be nil.
	Extra map[string]any
	// Header adds headers, such as Retry-After; may be nil.
	Header http.Header
	// URL of the failed request, which may decide the error's form. A server sets it.
	URL *url.URL
}

// OwnWords ends a message whose words are not known to be the provider's, so that nobody searches for them.
const OwnWords = " (the fake's own words)"

// At returns a copy of the error for a request to the URL.
func (e *Error) At(u *url.URL) *Error {
	copied := *e
	copied.URL = u
	return &copied
}

// Object returns the object that has the message, as jsonvalue.Ordered does, with the extra members.
func (e *Error) Object(pairs ...any) json.RawMessage {
	for _, name := range slices.Sorted(maps.Keys(e.Extra)) {
		pairs = append(pairs, name, e.Extra[name])
	}
	return jsonvalue.Ordered(pairs...)
}

func (e *Error) Error() string { return e.Message }

// Codec speaks one provider's wire format. Codecs keep no state and are safe for concurrent use.
type Codec interface {
	// Name is the dialect's name.
	Name() string
	// Facts returns what other packages need to know.
	Facts() Facts
	// Patterns returns the provider's routes as patterns of [http.ServeMux], such as "POST /v1/chat/completions".
	Patterns() []string
	// Decode reads a request, or refuses what the provider cannot read at all. The request shares memory with the body:
	// do not change it afterwards.
	Decode(r *http.Request, body []byte) (*Request, *Error)
	// Check applies the provider's rules for history, roles and tools. A lenient fake skips it.
	Check(*Request) *Error
	// EncodeRequest writes a request as a correct client would: the path with its query, and the body. It reads the
	// neutral members, not Body, Header, URL and Decoded. It leaves out what the provider's messages cannot hold: see
	// [Form] and [Rewritten]. Media that do not fit into a tool result follow the results, in the same turn. A tool choice
	// without tools is left out.
	EncodeRequest(*Request) (*url.URL, []byte)
	// Encode writes the reply in the provider's format, as a stream if the request asks for one.
	Encode(*Request, *Reply) Answer
	// EncodeError writes an error in the provider's format. Its headers prevent SDK retries unless the provider invites
	// them.
	EncodeError(*Error) Answer
	// EncodeErrorEvent writes an error inside a stream with status 200, after the first sent events of the reply. Nil:
	// the provider's streams have no error event.
	EncodeErrorEvent(r *Request, reply *Reply, sent int, e *Error) []byte
	// DecodeReply reads the body of an answer with status 200, plain or streamed. It is lenient: only a body that cannot
	// be read, or that reports an error, is an error.
	DecodeReply(body []byte) (*DecodedReply, error)
}

// Rewritten returns a request as a codec reads it after it wrote it: what the dialect can hold of the request.
func Rewritten(c Codec, r *Request) (*Request, *Error) {
	u, body := c.EncodeRequest(r)
	return c.Decode(&http.Request{Method: http.MethodPost, URL: u, Header: r.Header}, body)
}

// Accounts is implemented by the codecs of providers that name the account in a header of every answer.
type Accounts interface {
	// AccountHeader is the header's name, in canonical form.
	AccountHeader() string
}

// Stateful is implemented by codecs of providers that store answers, to which later requests can refer.
type Stateful interface {
	// Complete returns the body with what it refers to; kept has that by id, or nil. It returns a body without references
	// as it is.
	Complete(body []byte, kept func(id string) json.RawMessage) ([]byte, *Error)
	// Keep returns what later requests can refer to after this answer, by id.
	Keep(*Request, Answer) map[string]json.RawMessage
}

// SideRequests is implemented by codecs that also serve requests outside conversations, such as model lists and token
// counts.
type SideRequests interface {
	// SideRequestPatterns returns the routes, like [Codec.Patterns]. Codecs may share one: the first that claims a
	// request gets it.
	SideRequestPatterns() []string
	// Claims reports whether a request to one of the routes is meant for this provider.
	Claims(*http.Request) bool
	// AnswerSideRequest answers a claimed request.
	AnswerSideRequest(r *http.Request, body []byte) Answer
}

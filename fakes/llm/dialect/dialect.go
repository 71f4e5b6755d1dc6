// Package dialect is the provider-neutral form of a conversation with a model, and the interface of the codecs that
// turn each provider's wire format into it and back. It is a leaf: codecs import it, fakes/llm imports the codecs.
package dialect

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// Names of the dialects.
const (
	Native          = "native"           // an MCP CreateMessageRequestParams in, a CreateMessageResult out
	OpenAIChat      = "openai-chat"      // OpenAI Chat Completions
	OpenAIResponses = "openai-responses" // OpenAI Responses
	Anthropic       = "anthropic"        // Anthropic Messages
	Gemini          = "gemini"           // Gemini generateContent and streamGenerateContent
	Ollama          = "ollama"           // Ollama chat
)

// Role is who speaks. Providers that have more roles are mapped: a tool's result is the user's turn, as in MCP.
type Role string

// The roles of a conversation. System and developer prompts are Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// BlockType is what a block holds, in the terms of MCP.
type BlockType string

// The block types. Thinking is a model's reasoning, which MCP has no block for: a client keeps it from the server, and hands it
// back to the provider where that asks for it. Other is something that the neutral form has no word for; its Raw is kept.
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
	// Text of a text or thinking block.
	Text string
	// Signature is the provider's seal on a thinking block, or on a tool use (Gemini's thoughtSignature): opaque, and to be
	// handed back as it came.
	Signature string
	// Data is the media, decoded from base64, and MimeType its type, of an image or audio block. A medium that is given by
	// address has the address in Text.
	Data     []byte
	MimeType string
	// ID is the id of a tool use, or the id of the tool use that a result answers.
	ID string
	// Name is the tool's name, on a tool use (and on a result, where the provider names it).
	Name string
	// Input is a tool use's arguments: JSON as it was written. In a Reply it may be no JSON at all, which a
	// codec whose provider carries arguments as text sends as it is.
	Input json.RawMessage
	// Content is what a tool result holds.
	Content []Block
	// IsError is set on a tool result that the provider's own wire calls an error.
	IsError bool
	// Raw is the block as it stood on the wire, where it stood alone.
	Raw json.RawMessage
	// Path is where in the request's body the block stands, such as "messages[3]". Empty in a Reply.
	Path string
}

// Message is one turn.
type Message struct {
	Role    Role
	Content []Block
	// Path is where in the request's body the message begins.
	Path string
}

// Tool is a tool offered to the model.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Path        string
}

// Modes of Request.ToolChoice. A choice of one particular tool is "tool:" and its name.
const (
	ChoiceAuto     = "auto"
	ChoiceRequired = "required"
	ChoiceNone     = "none"
)

// Request is what a caller asked of the model.
type Request struct {
	Dialect string
	Model   string
	// System is the system prompt; several are joined by a blank line.
	System   string
	Messages []Message
	Tools    []Tool
	// ToolChoice is a mode in the terms of MCP; "" when the request says nothing of it.
	ToolChoice string
	// MaxTokens and Temperature are nil when the request does not give them.
	MaxTokens     *int64
	Temperature   *float64
	StopSequences []string
	// Stream is true when the caller wants the answer as a stream.
	Stream bool
	// Body is the request's body as it came, Header its headers.
	Body   json.RawMessage
	Header http.Header
	// URL is where the request was sent: path and query, of which some providers make a part of it. Nil where the codec
	// has no use for it.
	URL *url.URL
	// Decoded is the codec's own form of the body, which spares its Check and Encode a second reading. nil makes them read Body.
	Decoded any
}

// Turn is the number of the model's turn that is asked for: 1 for a fresh question, one more for each assistant
// message in the history.
func (r *Request) Turn() int {
	turn := 1
	for _, m := range r.Messages {
		if m.Role == Assistant {
			turn++
		}
	}
	return turn
}

// LastUserTurn returns the user's messages after the last assistant message: what the model is to answer now.
func (r *Request) LastUserTurn() []Message {
	for i := len(r.Messages); i > 0; i-- {
		if r.Messages[i-1].Role == Assistant {
			return r.Messages[i:]
		}
	}
	return r.Messages
}

// Blocks returns every block of the type in the messages, in order, also those inside a tool result.
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

// PlainText returns the texts of the blocks, and of the results among them, joined by newlines.
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

// StopReason is why the model stopped, in the terms of MCP, or in the provider's own where MCP has no word.
type StopReason string

// The standard stop reasons of MCP, and two that every codec has a word of its provider for.
const (
	EndTurn          StopReason = "endTurn"
	StopForTool      StopReason = "toolUse"
	StopMaxTokens    StopReason = "maxTokens"
	StopStopSequence StopReason = "stopSequence"

	StopRefusal       StopReason = "refusal"       // the model declines; the reply's text says so
	StopContentFilter StopReason = "contentFilter" // the provider held the answer back, or the rest of it
)

// Reply is what the model says.
type Reply struct {
	// Content is text and tool uses, in order. A tool use without an ID is given one where the provider has ids.
	Content []Block
	// StopReason "" means toolUse where the content has a tool use, endTurn otherwise.
	StopReason StopReason
	// Model is the model's name; "" means the one that was asked for.
	Model string
	// Serial tells the replies of one model server apart; ids are made from it.
	Serial int64
	// LateUse makes a streaming codec send the last tool use's final fragment after the finish reason, a fault seen in the
	// wild; codecs whose stream has no such order ignore it.
	LateUse bool
}

// Reason returns the stop reason, or what it is when none is given.
func (r *Reply) Reason() StopReason {
	if r.StopReason != "" {
		return r.StopReason
	}
	for _, b := range r.Content {
		if b.Type == ToolUse {
			return StopForTool
		}
	}
	return EndTurn
}

// Answer is an HTTP answer, ready to be sent: for a stream each chunk is one event of it, to be flushed by itself.
type Answer struct {
	Status int
	Header http.Header
	Chunks [][]byte
	Stream bool
}

// Error is a request that the provider would refuse. Codecs give it the provider's own shape.
type Error struct {
	// Status is the provider's HTTP status for it.
	Status int
	// Kind is the provider's word for the class of the error, such as "invalid_request_error". "" is the codec's usual word
	// for the status.
	Kind string
	// Code and Param are the provider's further words; empty is none, or the codec's usual one for the status.
	Code  string
	Param string
	// Message says what is wrong, in our own words.
	Message string
	// Header is sent besides the provider's own, such as Retry-After; nil adds nothing.
	Header http.Header
	// URL is where the request was sent that the error answers, on which its form may depend. A server sets it.
	URL *url.URL
}

// At returns the error as one that answers a request to the URL.
func (e *Error) At(u *url.URL) *Error {
	copied := *e
	copied.URL = u
	return &copied
}

func (e *Error) Error() string { return e.Message }

// Codec speaks one provider's wire format. Codecs keep no state and are safe for concurrent use.
type Codec interface {
	// Name is the dialect's name.
	Name() string
	// Patterns are the routes that the provider serves, as patterns of [http.ServeMux] such as "POST /v1/chat/completions".
	Patterns() []string
	// Decode reads a request, parts of which are then parts of the body: do not change that afterwards. It refuses what the provider cannot
	// read at all.
	Decode(r *http.Request, body []byte) (*Request, *Error)
	// Check holds a request against the provider's own rules of history, roles and tools. It is what a
	// lenient fake leaves out.
	Check(*Request) *Error
	// Encode writes the reply as the provider would, as a stream where the request asks for one.
	Encode(*Request, *Reply) Answer
	// EncodeError writes an error as the provider would, with headers that keep SDKs from trying again unless the
	// provider itself would have them try.
	EncodeError(*Error) Answer
	// EncodeErrorEvent writes an error as the provider tells of one in the middle of a stream, under a status of 200, after the first
	// events of the reply, as many as were sent; nil where its stream has no such event.
	EncodeErrorEvent(r *Request, reply *Reply, sent int, e *Error) []byte
}

// Accounts are the codecs of providers that say in a header of every answer whose account it is for. A codec is one by implementing this, too.
type Accounts interface {
	// AccountHeader is the header's name, in canonical form.
	AccountHeader() string
}

// Recycler is a codec that makes new requests and answers in the memory of old ones, as servers of tests are asked the same things all the time.
// A codec is one by implementing this, too.
type Recycler interface {
	// Recycle takes back what the codec alone knows of a request that it decoded, which then has nothing Decoded, and an answer that it
	// encoded, or one made of that: nobody may have a use for the answer, neither for its header nor for its chunks, nor for this copy of the
	// request. What the request points to stays whole, for others may have kept a copy without Decoded.
	Recycle(*Request, Answer)
}

// Asides are what a codec serves besides conversations, such as lists of models and counts of tokens. A codec has them by
// implementing this, too.
type SideRequests interface {
	// SideRequestPatterns are the routes, as [Codec.Patterns] has them. Two codecs may share one: the first that claims a request gets it.
	SideRequestPatterns() []string
	// Claims reports whether a request to one of the routes is meant for this provider.
	Claims(*http.Request) bool
	// AnswerSideRequest answers.
	AnswerSideRequest(r *http.Request, body []byte) Answer
}

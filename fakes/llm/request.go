package llm

import (
	"net/http"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// The neutral form of a conversation, so that a test needs only this import. Their fields, in package dialect:
type (
	// Request is a caller's request to the model, in any dialect.
	//
	//	Dialect, Model, System  string
	//	Messages                []Message
	//	Tools                   []Tool
	//	ToolChoice              string          // auto, required or none; "": not given
	//	MaxTokens               *int64          // nil: not given
	//	Temperature             *float64
	//	StopSequences           []string
	//	Stream                  bool
	//	Body                    json.RawMessage // as sent, as are Header http.Header and URL *url.URL
	//
	// Methods: Turn, LastText, LastUserTurn, ToolUses, ToolResults.
	//
	//	if r := srv.Requests()[0]; r.Turn() != 1 || r.Tools[0].Name != "get_weather" { … }
	Request = dialect.Request

	// Message is one turn of a request.
	//
	//	Role    Role    // User or Assistant; results of tools are the user's
	//	Content []Block
	//	Path    string  // of the message in the body, such as "messages[3]"
	Message = dialect.Message

	// Block is one piece of a message or a reply. Functions make those of replies: [Text], [Call], [CallID], [Thinking].
	//
	//	Type      BlockType       // TypeText, TypeToolUse, …
	//	Text      string          // of a text or thinking; the address of media
	//	Signature string          // of a thinking or a tool use
	//	Data      []byte          // of an image or audio, with MimeType string
	//	ID        string          // of a tool use, also in its result
	//	Name      string          // of the tool
	//	Input     json.RawMessage // the arguments of a tool use
	//	Content   []Block         // of a tool result, with IsError bool
	//	Raw       json.RawMessage // the block on the wire
	//	Path      string          // of the block in the body
	//
	// In a matcher or an assertion:
	//
	//	for _, b := range r.ToolResults() {
	//		fmt.Println(b.ID, b.PlainText(), b.IsError)
	//	}
	Block = dialect.Block

	// BlockType is the kind of a block: a string, such as [TypeText].
	BlockType = dialect.BlockType
	// Role is who sent a message: a string, [User] or [Assistant].
	Role = dialect.Role

	// Usage is the tokens that an answer reports, for [Rule.Usage]. Input includes Cached, which were read from the
	// provider's cache.
	//
	//	Usage(llm.Usage{Input: 120, Output: 7, Cached: 100})
	Usage = dialect.Usage

	// Tool is a tool that a request offers.
	//
	//	Name, Description string
	//	InputSchema       json.RawMessage
	//	Path              string // in the body
	Tool = dialect.Tool

	// Answer is the HTTP answer of a [Source].
	//
	//	Status int
	//	Header http.Header
	//	Chunks [][]byte // of a stream, or one
	//	Stream bool
	Answer = dialect.Answer

	// Error is a provider error, for [Rule.Fail] and [ErrorAfter]. It is written in the shape of the API that is asked.
	//
	//	Status  int         // of HTTP
	//	Message string
	//	Kind    string      // the error class; "": the provider's for the status, such as rate_limit_error
	//	Code    string      // as Kind; with Param string
	//	Extra   map[string]any // more members beside the message, such as Groq's failed_generation
	//	Header  http.Header // added; may be nil
	//	URL     *url.URL    // of the failed request; a server sets it
	//
	// A rate limit that ends after three seconds:
	//
	//	Fail(&llm.Error{Status: 429, Message: "slow down", Header: llm.RetryAfter(3)}).Times(1)
	Error = dialect.Error

	// StopReason is why the model stopped: a string, such as [EndTurn].
	StopReason = dialect.StopReason
)

// The roles of messages, and the types of blocks.
const (
	User      = dialect.User
	Assistant = dialect.Assistant

	TypeText       = dialect.Text
	TypeImage      = dialect.Image
	TypeAudio      = dialect.Audio
	TypeToolUse    = dialect.ToolUse
	TypeToolResult = dialect.ToolResult
	TypeThinking   = dialect.Thinking
	TypeOther      = dialect.Other
)

// MCP's stop reasons. An unknown word reaches the wire unchanged.
const (
	EndTurn          = dialect.EndTurn
	StopToolUse      = dialect.StopToolUse
	StopMaxTokens    = dialect.StopMaxTokens
	StopStopSequence = dialect.StopStopSequence
)

// Two more, which each dialect maps to its provider's form. The text of a [StopRefusal] is the model's refusal; the
// text of a [StopContentFilter] is what the provider let through.
const (
	StopRefusal       = dialect.StopRefusal
	StopContentFilter = dialect.StopContentFilter
)

// Forms of streams, for [Rule.Stream].
const (
	Interleaved     = dialect.Interleaved
	RepeatedNames   = dialect.RepeatedNames
	EndBesideFinish = dialect.EndBesideFinish
	WithoutDone     = dialect.WithoutDone
	KeptAlive       = dialect.KeptAlive
	FilterFirst     = dialect.FilterFirst
)

// Text is a text in a reply.
func Text(s string) Block { return Block{Type: dialect.Text, Text: s} }

// Call is a tool use in a reply; the server generates its id. Invalid JSON arguments reach the client unchanged if the
// provider carries arguments as text: a fault worth testing.
func Call(name, arguments string) Block { return CallID("", name, arguments) }

// CallID is a tool use with a given id.
func CallID(id, name, arguments string) Block {
	return Block{Type: dialect.ToolUse, ID: id, Name: name, Input: []byte(arguments)}
}

// Thinking is the model's reasoning before its answer, with the provider's signature, which a client returns unchanged;
// "" for none. Providers that hide reasoning omit it.
func Thinking(text, signature string) Block {
	return Block{Type: dialect.Thinking, Text: text, Signature: signature}
}

// RetryAfter returns an [Error] header that asks the caller to retry after that many seconds.
func RetryAfter(seconds int) http.Header { return http.Header{"Retry-After": {strconv.Itoa(seconds)}} }

// Dialects returns the names of all dialects, in the order in which a server tries them.
func Dialects() []string { return dialects.Names() }

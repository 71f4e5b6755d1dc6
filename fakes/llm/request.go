package llm

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
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

	// DecodedReply is what a model said, read from the bytes of its answer by [DecodeReply].
	//
	//	Content      []Block
	//	FinishReason string     // in the provider's word
	//	StopReason   StopReason // in MCP's
	//	Model        string
	//	Complete     bool       // the answer was received to its end
	DecodedReply = dialect.DecodedReply

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
	Interleaved      = dialect.Interleaved
	RepeatedNames    = dialect.RepeatedNames
	TextBesideFinish = dialect.TextBesideFinish
	WithoutDone      = dialect.WithoutDone
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
func Dialects() []string {
	names := make([]string, len(codecs))
	for i, d := range codecs {
		names[i] = d.Name()
	}
	return names
}

// APIs returns the names of the dialects without the variants of compatible servers.
func APIs() []string {
	facts := Facts()
	return slices.DeleteFunc(Dialects(), func(name string) bool { return facts[name].Compatible != "" })
}

// Decode reads a recorded request of a dialect; path is the URL path of the request. It does not apply the provider's
// rules. The request owns a copy of the body. The error reports an unknown dialect or an unreadable body.
func Decode(name, path string, body []byte) (*Request, error) {
	req, _, err := decode(name, path, body)
	return req, err
}

// Check applies the provider's rules to a recorded request as [Decode] reads it, with the headers that the provider
// requires. The error says why the provider refuses it.
func Check(name, path string, body []byte) error {
	req, codec, err := decode(name, path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer key")
	maps.Copy(req.Header, codec.Facts().Header)
	if bad := codec.Check(req); bad != nil {
		return bad
	}
	return nil
}

func decode(name, path string, body []byte) (*Request, dialect.Codec, error) {
	codec, err := codecOf(name)
	if err != nil {
		return nil, nil, err
	}
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path},
		Header: http.Header{"Content-Type": {"application/json"}}}
	req, bad := codec.Decode(r, bytes.Clone(body))
	if bad != nil {
		return nil, nil, bad
	}
	return req, codec, nil
}

// EncodeRequest writes a request in a dialect as a correct client would: the URL path with its query, and the body. It
// reads the neutral members of the request, and leaves out what the dialect cannot hold. Media that do not fit into a
// tool result follow the results. The error reports an unknown dialect.
func EncodeRequest(name string, r *Request) (path string, body []byte, err error) {
	codec, err := codecOf(name)
	if err != nil {
		return "", nil, err
	}
	u, body := codec.EncodeRequest(r)
	return u.String(), body, nil
}

// Rewritten returns what a dialect can hold of a request: the request as its codec reads it after it wrote it.
func Rewritten(name string, r *Request) (*Request, error) {
	codec, err := codecOf(name)
	if err != nil {
		return nil, err
	}
	rewritten, bad := dialect.Rewritten(codec, r)
	if bad != nil {
		return nil, bad
	}
	return rewritten, nil
}

// DecodeReply reads what the model said from the recorded body of an answer with status 200, plain or streamed. The
// error reports an unknown dialect, an unreadable body, or an error of the model.
func DecodeReply(name string, body []byte) (*DecodedReply, error) {
	codec, err := codecOf(name)
	if err != nil {
		return nil, err
	}
	return codec.DecodeReply(body)
}

func codecOf(name string) (dialect.Codec, error) {
	for _, d := range codecs {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect %q is unknown: expected one of %s", name, strings.Join(Dialects(), ", "))
}

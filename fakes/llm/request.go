package llm

import (
	"net/http"
	"strconv"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// The neutral form of a conversation under this package's name, so that a test needs one import.
type (
	// Request is what a caller asked of the model, whatever the provider's format. See [dialect.Request].
	Request = dialect.Request
	// Message is one turn of a request.
	Message = dialect.Message
	// Block is one piece of a message or of a reply.
	Block = dialect.Block
	// Tool is a tool that a request offers.
	Tool = dialect.Tool
	// Answer is an HTTP answer, as a [Source] gives it.
	Answer = dialect.Answer
	// Error is an error in the provider's own shape, for [Rule.Fail].
	Error = dialect.Error
	// StopReason is why the model stopped, in the terms of MCP.
	StopReason = dialect.StopReason
)

// The stop reasons that MCP names. A word that no one knows reaches the wire as it is.
const (
	EndTurn          = dialect.EndTurn
	StopForTool      = dialect.StopForTool
	StopMaxTokens    = dialect.StopMaxTokens
	StopStopSequence = dialect.StopStopSequence
)

// Two more, for which each dialect has its provider's own form. With [StopRefusal] the reply's text is what the model says in
// refusing; with [StopContentFilter] it is what the provider let through.
const (
	StopRefusal       = dialect.StopRefusal
	StopContentFilter = dialect.StopContentFilter
)

// Text is a text in a reply.
func Text(s string) Block { return Block{Type: dialect.Text, Text: s} }

// Call is a tool use in a reply, whose id the server mints. The arguments are JSON; what is no JSON reaches the client
// as it is where the provider carries arguments as text, which is a fault worth testing.
func Call(name, arguments string) Block { return CallID("", name, arguments) }

// CallID is a tool use with an id of the test's choosing.
func CallID(id, name, arguments string) Block {
	return Block{Type: dialect.ToolUse, ID: id, Name: name, Input: []byte(arguments)}
}

// Thinking is what the model thought before it answered, with the provider's seal on it, which a client hands back as it came; "" is none. Providers
// that show nothing of it leave it out.
func Thinking(text, signature string) Block {
	return Block{Type: dialect.Thinking, Text: text, Signature: signature}
}

// RetryAfter is the header of an [Error] that asks the caller to try again after so many seconds.
func RetryAfter(seconds int) http.Header { return http.Header{"Retry-After": {strconv.Itoa(seconds)}} }

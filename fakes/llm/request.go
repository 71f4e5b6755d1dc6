package llm

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

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

// The stop reasons that MCP names. Any other word reaches the wire as it is.
const (
	EndTurn          = dialect.EndTurn
	StopForTool      = dialect.StopForTool
	StopMaxTokens    = dialect.StopMaxTokens
	StopStopSequence = dialect.StopStopSequence
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

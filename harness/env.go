package harness

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// Env is what a client under test receives: the addresses of the server and the model, and how to behave.
type Env struct {
	// URL is the server's MCP endpoint; "" for a client that launches the server.
	URL string
	// Server is the command line of the server, for a client over stdio in a process of its own; nil for others. It
	// may run any number of times.
	Server []string
	// Launch starts the server and returns its standard streams; nil for a client that connects to URL. Write writes to
	// the server's input. Close ends that input and waits for the server; the end of ctx does the same with less
	// patience. The method Kill() error of the streams ends the server at once. The server's standard error goes to
	// stderr on a goroutine of its own; if stderr is nil, to ours, or nowhere if the server is not a process.
	Launch func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error)
	// HTTP reaches the server and the model. A client in process must use it for both: a test's bubble has no other
	// network. In a process of its own it is [http.DefaultClient].
	HTTP *http.Client
	// Revision is the server's protocol revision; "" if the client has to negotiate.
	Revision server.Revision
	// Model holds the model's base URL by dialect, as that provider's SDK expects it: "openai-chat" with /v1,
	// "anthropic" without. "native" is a whole URL for a POST of CreateMessageRequestParams.
	Model map[string]string
	// Key is the API key for the model. It is planted: it must never appear on the MCP wire.
	Key string
	// Declare holds the client capabilities to declare, as JSON.
	Declare json.RawMessage
	// Tools are the tools to call, once each, in this order; nil for all that the server lists.
	Tools []string
	// Arguments are the arguments to call tools with, by name; {} for a tool without an entry. A client that cannot pass
	// arguments calls each tool with {}.
	Arguments map[string]json.RawMessage
	// Prompts are prompts to get without arguments, and Resources URIs to read, once each, after the tools. A client
	// without these features ignores them.
	Prompts, Resources []string
	// Prompt is the task for the model of a host ([Client.Agent]); "" for a client that calls the tools by itself.
	Prompt string
	// Decision is the user's decision about every sample: [Approve] (also when ""), [Decline], [DeclineAnswer] or
	// [DeclineTools]. A client that acts on it calls [Env.Announce]; its checks then apply.
	Decision string
	// Timeout is how long the client has to wait for the whole answer of the model to one sample, before it returns a
	// timeout error to the server; 0 leaves that to the client.
	Timeout time.Duration
	// Abandon are the tools whose calls the client has to abandon. A client that can do so sends a progress token, and
	// cancels the call when a progress notification arrives, or the header of the model's answer to a sample of that
	// call. It then reports [Abandoned] and goes on with the next tool. In Go, use [Env.Call].
	Abandon []string
	// Report receives how a call ended, from any goroutine; nil if unused.
	Report func(Outcome)

	port     string               // on which a gateway is to listen; "" for other clients
	tools    []string             // all tools of the session
	calls    *abandonable         // nil if no call is to be abandoned
	announce func(feature string) // see Announce; nil if unused
	done     <-chan struct{}      // closed when the host's model has given its last answer
	front    *tap.Frames          // records what the client and a gateway exchange
	names    []string             // of all tools, before which a gateway may put a prefix; nil for other clients
	settle   func(time.Duration)  // waits, at most so long, for what the client wrote; nil over HTTP
}

// Offered returns the names of all tools of the session, in the order of the server's list, for a client in process.
func (e *Env) Offered() []string { return e.tools }

// Decisions of the user.
const (
	Approve       = "approve"
	Decline       = "decline"        // refuse the request before the model receives it
	DeclineAnswer = "decline-answer" // refuse the model's answer before the server receives it
	// DeclineTools is for a client that runs the tool loop itself: refuse to run each tool whose annotations have
	// destructiveHint, and approve everything else.
	DeclineTools = "decline-tools"
)

// Loop says who runs the tool loop of a sampling request.
type Loop string

// The specification leaves the loop to the server: the client returns tool uses. Some clients run it themselves: they
// call the server's tools and return the final answer.
const (
	ServerLoop Loop = "server"
	ClientLoop Loop = "client"
)

func (e *Env) pass(tool string, arguments json.RawMessage) {
	if e.Arguments == nil {
		e.Arguments = map[string]json.RawMessage{}
	}
	e.Arguments[tool] = arguments
}

func (e *Env) offer(cases []Case) {
	for i := range cases {
		switch c := &cases[i]; c.Carrier {
		case server.PromptsGet:
			e.Prompts = append(e.Prompts, c.Tool())
		case server.ResourcesRead:
			e.Resources = append(e.Resources, server.ResourceURI(c.Tool()))
		}
	}
}

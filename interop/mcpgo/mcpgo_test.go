package mcpgo_test

import (
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/client"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
	"github.com/mcp-conform/mcp-conform/interop/host"
	"github.com/mcp-conform/mcp-conform/interop/mcpgo"
)

var notStreamed = slices.Concat(
	expect.NotApplicable("ours: the native dialect has no streams, gives ids, and signs nothing",
		"parallel/streamed-uses", "parallel/late-delta", "tool-use/id-minted", "tool-use/thought-signature", "basic/thinking-apart"),
	expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are", "basic/hints-over-numbers"))

// undeclaredServed are the SDK's doing.
var undeclaredServed = expect.Fails("the SDK's: it hands tools that were not declared on to the handler, which is not told of it",
	"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call")

// float64s are the SDK's doing.
var float64s = expect.Fails("the SDK's: ToolUseContent.Input is any, read with numbers as float64: 9007199254740993 becomes …992", "tool-use/input-intact")

// oneCode is the SDK's doing.
var oneCode = expect.Warns("the SDK's: whatever error the handler returns, the server gets the code -32603", "consent/declined-code")

// trusting is the handler's doing: it returns whatever the model says.
var trusting = expect.Fails("the handler's: it returns whatever the model says", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use")

// cancelling is the SDK's doing, over HTTP.
var cancelling = slices.Concat(
	expect.Warns("the SDK's: its client does not heed notifications/cancelled", "cancel/stops-work", "cancel/no-answer"),
	expect.Warns("the SDK's: over HTTP it hangs up, which before 2026-07-28 is no cancel, and sends none", "cancel/caller-cancels"),
	expect.In(server.V20251125, expect.Warns("the SDK's: over HTTP it hangs up, which before 2026-07-28 is no cancel, and sends none", "cancel/call-cancelled")),
	expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response")))

func TestClient(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel)}, slices.Concat(undeclaredServed, notStreamed, float64s, oneCode, trusting, cancelling))
}

func TestStrictClient(t *testing.T) {
	strict := mcpgo.Client(func(env harness.Env) client.SamplingHandler { return mcpgo.Handler(host.Host{Env: env, Strict: true}) })
	expect.Verdicts(t, conformance.Suite{Client: strict}, slices.Concat(notStreamed, float64s, oneCode, cancelling))
}

func TestClientOverSockets(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel, harness.Loopback())}, slices.Concat(undeclaredServed, notStreamed, float64s, oneCode, trusting, cancelling))
}

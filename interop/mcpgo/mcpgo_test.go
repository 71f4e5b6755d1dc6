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

var notStreamed = slices.Concat(expect.NoProcess,
	expect.NotApplicable("ours: the native dialect has no streams, gives ids, and signs nothing",
		"parallel/streamed-uses", "parallel/late-delta", "tool-use/id-minted", "tool-use/thought-signature", "basic/thinking-apart"),
	expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are", "basic/hints-over-numbers"),
	expect.NotApplicable("nothing is wrong: the client reports no progress, and asks for it one call at a time", "time/progress-token", "time/progress-rises", "time/progress-ends",
		"time/token-unique"),
	expect.In(server.V20260728, expect.NotApplicable("ours: the calls that are to be given up, with a progress token, are in another session", "time/token-shape")))

// undeclaredServed are the SDK's doing.
var undeclaredServed = expect.Fails("the SDK's: it hands tools that were not declared on to the handler, which is not told of it",
	"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call")

// halfAMinute is the SDK's doing, and shows where the model is waited for longer than that: in virtual time.
var halfAMinute = expect.In(server.V20251125, expect.Fails("the SDK's: over HTTP it gives a request of the server 30 seconds, and after these it sends no answer at all, "+
	"not even its error, so that server and client wait for one another (v1.2.1)", "time/model-stalls", "time/stream-stalls", "time/total-limit", "client/ends-cleanly"))

// float64s are the SDK's doing.
var float64s = expect.Fails("the SDK's: ToolUseContent.Input is any, read with numbers as float64: 9007199254740993 becomes …992", "tool-use/input-intact")

// oneCode is the SDK's doing.
var oneCode = expect.Warns("the SDK's: whatever error the handler returns, the server gets the code -32603", "consent/declined-code")

// inRounds are the SDK's doing where a result asks for input.
var inRounds = expect.In(server.V20260728, slices.Concat(
	expect.Fails("the SDK's: the state is a string with omitempty", "mrtr/state-empty"),
	expect.Fails("the SDK's: the handlers of the older era still answer requests of the server's", "mrtr/direct-request-unanswered", "mrtr/no-responses"),
	expect.Fails("the SDK's: every type but input_required is complete to it", "mrtr/unknown-result-type")))

// trusting is the handler's doing: it returns whatever the model says.
var trusting = expect.Fails("the handler's: it returns whatever the model says", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use")

// handedOn is the handler's doing: it hands on every history.
var handedOn = expect.Warns("the handler's: it hands every history on to the model, and the native dialect's model takes each", "balance/*-*")

// codeless are the SDK's doing.
var codeless = expect.In(server.V20251125, expect.Warns("the SDK's: a handler's error has no code, and goes out as -32603",
	"balance/missing-result", "balance/no-result", "balance/late-result", "balance/trailing-use", "balance/mixed-content", "balance/orphan-result",
	"balance/duplicate-*", "balance/use-in-user", "balance/result-in-assistant"))

// undropped stands above it: what the model is given is whole.
var undropped = expect.Passes("nothing is dropped on the way to the model", "balance/not-dropped")

// cancelling is the SDK's doing, over HTTP.
var cancelling = slices.Concat(
	expect.OrPasses(expect.Warns("the SDK's: its client does not heed notifications/cancelled", "cancel/stops-work", "cancel/no-answer")),
	expect.Warns("the SDK's: over HTTP it hangs up, which before 2026-07-28 is no cancel, and sends none", "cancel/caller-cancels"),
	expect.In(server.V20251125, expect.Warns("the SDK's: over HTTP it hangs up, which before 2026-07-28 is no cancel, and sends none", "cancel/call-cancelled")),
	expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response")))

// overStreams are the SDK's doing, over HTTP.
var overStreams = slices.Concat(
	expect.In(server.V20251125, slices.Concat(
		expect.NotApplicable("nothing is wrong: the client opens no stream with GET", "transport/on-get-stream"),
		expect.OrPasses(expect.Warns("the SDK's: it remembers no requests, so that one which comes twice is answered twice", "transport/duplicate-request")),
		expect.Fails("the SDK's: it leaves another session to its user, who makes none", "transport/session-lost"),
		expect.NotApplicable("the same: there is no other session", "transport/handlers-survive"))),
	expect.Warns("the SDK's: it takes a byte order mark for a part of the field's name", "transport/sse-rare"))

func TestClient(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel), Skip: expect.Apart}, slices.Concat(halfAMinute, undeclaredServed, notStreamed, float64s, oneCode, trusting, inRounds, undropped, handedOn, cancelling, overStreams))
}

func TestStrictClient(t *testing.T) {
	strict := mcpgo.Client(func(env harness.Env) client.SamplingHandler { return mcpgo.Handler(host.Host{Env: env, Strict: true}) })
	expect.Verdicts(t, conformance.Suite{Client: strict, Skip: expect.Apart}, slices.Concat(halfAMinute, notStreamed, float64s, oneCode, inRounds, codeless, cancelling, overStreams))
}

func TestClientOverSockets(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel, harness.Loopback()), Skip: expect.Apart}, slices.Concat(undeclaredServed, notStreamed, float64s, oneCode, trusting, inRounds, undropped, handedOn, cancelling, overStreams))
}

func TestWhatIsMalformed(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel), Only: expect.Apart, Skip: expect.Slow}, malformed)
}

var malformed = slices.Concat(
	expect.In(server.V20251125, expect.Fails("the SDK's: it reads requests into float64, and drops one with a number that fits into none, such as 1e400, with the call that it came for", "malformed/answered")),
	expect.Warns("the SDK's: it reads requests into its types, in which all that is missing is empty, and hands them on", "malformed/error-due", "malformed/wrong-types", "malformed/no-model-call"),
	expect.Warns("the SDK's: what it cannot read is an internal error", "malformed/error-code"),
	expect.Warns("the SDK's and the handler's: nobody reads the schemas of the tools", "malformed/bad-schema"))

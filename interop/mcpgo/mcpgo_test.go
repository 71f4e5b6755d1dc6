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

// common is in every table.
var common = slices.Concat(expect.NoProcess, expect.Native, expect.NoProgress, inRounds,
	cancelling, overStreams,
	expect.Warns("SDK: ToolUseContent.Input decodes numbers as float64: 9007199254740993 becomes …992",
		"always/server-was-given"),
	expect.Warns("SDK: every error of the handler has the code -32603", "consent/declined-code"),
	expect.In(server.V20260728, expect.Warns("SDK: it ignores the versions that server/discover lists (v1.2.1)",
		"transport/version-listed")))

var undeclaredServed = expect.Fails("SDK: it passes undeclared tools to the handler without saying so",
	"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call")

// halfAMinute shows in virtual time only, where the model is slower than that.
var halfAMinute = expect.In(server.V20251125,
	expect.Fails("SDK: over HTTP it sends no response to a request of the server "+
		"after 30 seconds, so that both sides wait (v1.2.1)",
		"time/model-stalls", "time/stream-stalls", "time/total-limit", "client/ends-cleanly"))

// inRounds is about results that require input.
var inRounds = expect.In(server.V20260728, slices.Concat(
	expect.Fails("SDK: the state is a string with omitempty", "always/state-echoed"),
	expect.Fails("SDK: it still answers requests of the server", "mrtr/direct-request-unanswered", "mrtr/no-responses"),
	expect.Fails("SDK: it treats every type but input_required as complete", "mrtr/unknown-result-type")))

var trusting = expect.Fails("adapter: it returns every answer of the model",
	"tool-use/choice-none-filtered")

var codeless = expect.In(server.V20251125, expect.Warns("SDK: every error of the handler has the code -32603",
	"balance/missing-result", "balance/no-result", "balance/late-result", "balance/trailing-use", "balance/mixed-content",
	"balance/orphan-result", "balance/duplicate-*", "balance/use-in-user", "balance/result-in-assistant"))

const hangsUp = "SDK: over HTTP it closes the stream, which before 2026-07-28 is not a cancel, and sends none"

var cancelling = slices.Concat(expect.ClosedStream,
	expect.OrPasses(expect.Warns("SDK: it ignores notifications/cancelled", "cancel/stops-work", "cancel/no-answer")),
	expect.Warns(hangsUp, "cancel/caller-cancels"),
	expect.In(server.V20251125, expect.Warns(hangsUp, "cancel/call-cancelled")))

var overStreams = slices.Concat(
	expect.In(server.V20251125, slices.Concat(
		expect.NotApplicable("fine: the client opens no GET stream", "transport/on-get-stream"),
		expect.OrPasses(expect.Warns("SDK: it answers a duplicate request twice", "transport/duplicate-request")),
		expect.Fails("SDK: it opens no new session, and neither does the adapter", "transport/session-lost"),
		expect.NotApplicable("SDK: there is no new session", "transport/handlers-survive"))),
	expect.Warns("SDK: it does not skip a byte order mark", "transport/sse-rare"))

func TestClient(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel), Skip: expect.SeparateRuns},
		halfAMinute, undeclaredServed, common, trusting, expect.HandedOn)
}

func TestStrictClient(t *testing.T) {
	strict := mcpgo.Client(func(env harness.Env) client.SamplingHandler {
		return mcpgo.Handler(host.Host{Env: env, Strict: true})
	})
	expect.Verdicts(t, conformance.Suite{Client: strict, Skip: expect.SeparateRuns}, halfAMinute, common, codeless)
}

func TestClientOverSockets(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel, harness.Loopback()),
		Skip: expect.SeparateRuns},
		undeclaredServed, common, trusting, expect.HandedOn)
}

func TestMalformedRequests(t *testing.T) {
	expect.Verdicts(t, conformance.Suite{Client: mcpgo.Client(mcpgo.AskModel), Only: expect.SeparateRuns,
		Skip: expect.Slow},
		malformed)
}

var malformed = slices.Concat(
	expect.In(server.V20251125, expect.Fails(
		"SDK: it drops a request with a number that is too large for float64, such as 1e400, and the call with it",
		"malformed/answered")),
	expect.Warns("SDK: it decodes requests into its types, in which missing members are empty",
		"malformed/error-due", "malformed/wrong-types", "malformed/no-model-call"),
	expect.Warns("SDK: what it cannot decode is an internal error", "malformed/error-code"),
	expect.Warns("SDK and adapter: neither checks the schemas of tools", "malformed/bad-schema"))

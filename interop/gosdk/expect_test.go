package gosdk_test

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// judged are the scenarios of clients that are broken on purpose.
var judged = []string{"basic/question", "basic/truncated", "tool-use", "parallel"}

const servesUndeclared = "SDK: it passes undeclared tools to the handler"

var undeclaredServed = slices.Concat(
	expect.Fails(servesUndeclared, "declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"),
	withTools(func() []expect.Row { return expect.Fails(servesUndeclared, "declare/no-model-call") }))

// withTools limits rows to the revisions with tools.
func withTools(rows func() []expect.Row) []expect.Row {
	return slices.Concat(expect.In(server.V20251125, rows()), expect.In(server.V20260728, rows()))
}

// quiet is in every table: the SDK requests progress only for the calls that are abandoned.
var quiet = slices.Concat(expect.NoProgress, noHandler)

// common is in the tables of clients with the newer handler.
var common = slices.Concat(quiet, expect.Native)

// noHandler is for clients that the SDK refuses sampling for.
var noHandler = expect.OrPasses(expect.Warns("SDK: without a handler it refuses with the code -31001",
	"declare/undeclared-sampling-refused"))

// quotesURL is for handlers that return the error of net/http.
var quotesURL = expect.OrPasses(expect.Warns("adapter: it returns the HTTP client's error, which has the model's URL",
	"always/no-internals"))

// patient is for handlers of a few lines.
var patient = expect.Fails("adapter: it waits for the model without a limit",
	"time/model-stalls", "time/stream-stalls", "time/total-limit")

const returnsAll = "adapter: it returns every answer of the model"

// trusting is for clients that do not check the model's answer.
var trusting = slices.Concat(expect.GivenIDs, expect.NoStreams,
	expect.Fails(returnsAll, "tool-use/choice-none-filtered"))

var answersCancelled = expect.OrPasses(expect.Warns(
	"SDK: a cancel ends the handler's context, and the handler's error is sent as a response", "cancel/no-answer"))

// overHTTP is for clients over HTTP.
var overHTTP = slices.Concat(expect.NoProcess, expect.ClosedStream,
	expect.In(server.V20251125, slices.Concat(
		expect.Fails("SDK: it does not open a new session after 404, and neither does the adapter", "transport/session-lost"),
		expect.NotApplicable("SDK: there is no new session", "transport/handlers-survive"))),
	expect.Warns("SDK: it does not skip a byte order mark and does not accept CR as a line end", "transport/sse-rare"),
	expect.In(server.V20260728, expect.Fails("SDK: it does not encode a prompt's name in Mcp-Name",
		"transport/header-value", "always/http-headers")))

// withoutHTTP is for clients over stdio.
var withoutHTTP = slices.Concat(
	expect.In(server.V20260728, expect.NotApplicable("fine: stdio has no headers", "transport/header-value")),
	expect.NotApplicable("fine: stdio has no HTTP requests, streams and sessions", "transport/on-*-stream",
		"transport/accept*",
		"transport/reconnects", "transport/retry-honoured", "transport/answers-once", "transport/session-lost",
		"transport/handlers-survive", "transport/ends-session", "transport/sse-*", "always/accept-header",
		"always/one-message", "always/session-headers"),
	expect.In(server.V20251125, expect.NotApplicable("fine: messages over stdio name no version",
		"transport/version-listed")),
	expect.In(server.V20260728, expect.Warns("SDK and adapter: neither restarts a server", "transport/restarts")))

var unbatched = expect.In(server.V20250326, expect.Fails("SDK: over HTTP a batch in an event ends the connection",
	"transport/batch", "client/ends-cleanly"))

// undecided is for clients whose handler asks no user and announces none.
var undecided = expect.Unsupported("adapter: it asks no user", "consent/declined", "consent/declined-code",
	"consent/no-model-call", "consent/no-made-up-answer", "consent/declined-after", "consent/alive")

// inRounds is about results that require input.
var inRounds = expect.In(server.V20260728, slices.Concat(
	expect.Fails("SDK: it looks for inputRequests and ignores resultType", "mrtr/missing-result-type",
		"mrtr/unknown-result-type"),
	expect.Fails("SDK: RequestState is a string with omitempty", "always/state-echoed"),
	expect.Fails("SDK: it cannot decode a roots/list without params, which are optional", "mrtr/retried"),
	expect.Fails("SDK: it still answers requests of the server", "mrtr/direct-request-unanswered", "mrtr/no-responses"),
	expect.Fails("SDK: it panics at an input request that is null", "mrtr/bad-input"),
	expect.Fails("SDK: it panics at an input request that is null, and ends when its response is refused",
		"client/ends-cleanly")))

// rounded is for clients that return inputs with integers beyond 2^53, and get them again in the history.
var rounded = withTools(func() []expect.Row {
	return expect.Warns("SDK: ToolUseContent.Input decodes the numbers of a history as float64 (v1.8.0)",
		"always/model-was-given")
})

// permissive is for a client that checks nothing, in a full run.
var permissive = slices.Concat(quiet, undeclaredServed, trusting, expect.OneHint, inRounds, expect.HandedOn,
	answersCancelled)

const gone = "SDK: the connection is closed"

var malformed = slices.Concat(
	expect.Fails("SDK: a message deeper than its JSON decoder allows ends the connection", "malformed/survives",
		"client/ends-cleanly"),
	expect.NotSeen(gone, "malformed/answered", "malformed/alive", "malformed/tolerated"),
	expect.Warns("SDK and adapter: they accept what the SDK's types can hold; missing members are empty",
		"malformed/error-due", "malformed/wrong-types", "malformed/no-model-call"),
	expect.Warns("SDK and adapter: neither checks the schemas of tools", "malformed/bad-schema"))

var malformedPlain = slices.Concat(
	expect.Fails("SDK: a null message ends the process with the older handler; a deep one ends the connection with both",
		"malformed/survives", "client/ends-cleanly"),
	expect.NotSeen(gone, "malformed/answered", "malformed/alive", "malformed/error-due",
		"malformed/error-code", "malformed/no-model-call", "malformed/tolerated"),
	expect.NotApplicable("fine: the client does not declare sampling.tools", "malformed/bad-schema"))

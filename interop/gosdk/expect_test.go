package gosdk_test

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// judged are the scenarios for which clients that are broken on purpose have their tables: a new one is no news of them.
var judged = []string{"basic/question", "basic/truncated", "tool-use", "parallel"}

// undeclaredServed are the SDK's doing.
var undeclaredServed = slices.Concat(
	expect.Fails("the SDK's: it hands tools that were not declared on to the handler", "declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused"),
	withTools(func() []expect.Row {
		return expect.Fails("the SDK's: it hands tools that were not declared on to the handler", "declare/no-model-call")
	}))

// withTools are the rows for each revision that has tools, where those that have none differ.
func withTools(rows func() []expect.Row) []expect.Row {
	return slices.Concat(expect.In(server.V20251125, rows()), expect.In(server.V20260728, rows()))
}

// notStreamed is in every table of a client that asks the model in the native dialect.
var notStreamed = expect.NotApplicable("ours: the native dialect has no streams, gives ids, and signs nothing",
	"parallel/streamed-uses", "parallel/late-delta", "tool-use/id-minted", "tool-use/thought-signature")

// numbersUnread is in every table of a client that has the fake read its hints.
var numbersUnread = expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are, and shows no thoughts",
	"basic/hints-over-numbers", "basic/thinking-apart")

// quiet is in every table: the SDK reports progress and asks for it only where its user does, who does so of calls that are to be given up.
var quiet = slices.Concat(
	expect.NotApplicable("nothing is wrong: the client reports no progress, and asks for it one call at a time", "time/progress-token", "time/progress-rises", "time/progress-ends",
		"time/token-unique"),
	expect.In(server.V20260728, expect.NotApplicable("ours: the calls that are to be given up, with a progress token, are in another session", "time/token-shape")))

// patient is in the tables of handlers of a few lines.
var patient = expect.Fails("the handler's: it waits for the model as long as the server does", "time/model-stalls", "time/stream-stalls", "time/total-limit")

// trusting is in the tables of clients that return whatever the model says.
var trusting = slices.Concat(notStreamed, expect.Fails("the handler's: it returns whatever the model says", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use"))

// handedOn is the handler's doing: it hands on every history, and so does the SDK.
var handedOn = slices.Concat(
	expect.Passes("nothing is dropped on the way to the model", "balance/not-dropped"),
	expect.Warns("the handler's: it hands every history on to the model, and the native dialect's model takes each", "balance/*-*"))

// answersCancelled is the SDK's doing.
var answersCancelled = expect.OrPasses(expect.Warns("the SDK's: the handler's context ends with a cancel, and the error that it then returns is sent", "cancel/no-answer"))

// overHTTP is in every table of a client over HTTP.
var overHTTP = slices.Concat(expect.NoProcess,
	expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response")),
	expect.In(server.V20251125, slices.Concat(
		expect.Fails("the SDK's: it ends with the session, and leaves another one to its user, who makes none", "transport/session-lost"),
		expect.NotApplicable("the same: there is no other session", "transport/handlers-survive"))),
	expect.Warns("the SDK's: it takes a byte order mark for a part of the field's name, and knows no line end but LF and CR LF", "transport/sse-rare"),
	expect.In(server.V20260728, expect.Fails("the SDK's: it puts the name of a prompt into Mcp-Name as it is", "transport/header-value")))

// withoutHTTP is in every table of a client over stdio.
var withoutHTTP = slices.Concat(
	expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: there are no headers over stdio", "declare/http-headers", "transport/header-value")),
	expect.NotApplicable("nothing is wrong: over stdio there are no requests, streams and sessions of HTTP", "transport/on-*-stream", "transport/accept*", "transport/reconnects", "transport/retry-honoured",
		"transport/answers-once", "transport/session-lost", "transport/handlers-survive", "transport/ends-session", "transport/response-post", "transport/one-message", "transport/sse-*"),
	expect.In(server.V20251125, expect.NotApplicable("nothing is wrong: messages name no version over stdio", "transport/version-listed")),
	expect.In(server.V20260728, expect.Warns("the SDK's and the adapter's: neither starts a server again that has ended", "transport/restarts")))

// unbatched is the SDK's doing, over HTTP.
var unbatched = expect.In(server.V20250326, expect.Fails("the SDK's: over HTTP it takes an event for one message, and a batch for the end of the connection; over stdio it reads batches",
	"transport/batch", "client/ends-cleanly"))

// undecided is in the tables of clients whose handler asks nobody, and does not say that it does.
var undecided = expect.Unsupported("the handler's: there is no person in it", "consent/declined", "consent/declined-code", "consent/no-model-call",
	"consent/no-made-up-answer", "consent/declined-after", "consent/alive")

// inRounds are the SDK's doing where a result asks for input.
var inRounds = expect.In(server.V20260728, slices.Concat(
	expect.Fails("the SDK's: it looks for inputRequests, whatever the resultType says", "mrtr/missing-result-type", "mrtr/unknown-result-type"),
	expect.Fails("the SDK's: RequestState is a string with omitempty", "mrtr/state-empty"),
	expect.Fails("the SDK's: it cannot read a roots/list without params, which are optional", "mrtr/retried"),
	expect.Fails("the SDK's: the handlers of the older era still answer requests of the server's", "mrtr/direct-request-unanswered", "mrtr/no-responses"),
	expect.Fails("the SDK's: it panics at an input request that is null", "mrtr/bad-input"),
	expect.Fails("the SDK's: it panics at an input request that is null, and takes the refusal of its response for the end", "client/ends-cleanly")))

// permissive is in the table of such a client where everything is judged.
var permissive = slices.Concat(quiet, undeclaredServed, trusting, numbersUnread, inRounds, handedOn, answersCancelled)

var malformed = slices.Concat(
	expect.Fails("the SDK's: a message that is nested deeper than its JSON reader goes ends the whole connection", "malformed/survives", "client/ends-cleanly"),
	expect.NotSeen("the same: there is nobody left", "malformed/answered", "malformed/alive", "malformed/tolerated"),
	expect.Warns("the SDK's and the handler's: they hand on what the SDK's types can hold, in which all that is missing is empty",
		"malformed/error-due", "malformed/wrong-types", "malformed/no-model-call"),
	expect.Warns("the SDK's and the handler's: nobody reads the schemas of the tools", "malformed/bad-schema"))

var malformedPlain = slices.Concat(
	expect.Fails("the SDK's: for the older handler it looks into a message that is null, which ends the process; and the same as with the newer one", "malformed/survives", "client/ends-cleanly"),
	expect.NotSeen("the same: there is nobody left", "malformed/answered", "malformed/alive", "malformed/error-due", "malformed/error-code", "malformed/no-model-call", "malformed/tolerated"),
	expect.NotApplicable("nothing is wrong: the client does not declare sampling.tools", "malformed/bad-schema"))

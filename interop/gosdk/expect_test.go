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

// trusting is in the tables of clients that return whatever the model says.
var trusting = slices.Concat(notStreamed, expect.Fails("the handler's: it returns whatever the model says", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use"))

// answersCancelled is the SDK's doing.
var answersCancelled = expect.Warns("the SDK's: the handler's context ends with a cancel, and the error that it then returns is sent", "cancel/no-answer")

// overHTTP is in every table of a client over HTTP.
var overHTTP = expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response"))

// undecided is in the tables of clients whose handler asks nobody, and does not say that it does.
var undecided = expect.Unsupported("the handler's: there is no person in it", "consent/declined", "consent/declined-code", "consent/no-model-call",
	"consent/no-made-up-answer", "consent/declined-mrtr", "consent/declined-after", "consent/alive")

// permissive is in the table of such a client where everything is judged.
var permissive = slices.Concat(undeclaredServed, trusting, numbersUnread, answersCancelled)

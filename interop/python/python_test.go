// Package python holds a client in Python, with nothing but its standard library, against what is expected of it.
package python

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

var notStreamed = slices.Concat(expect.NoProcess, given,
	expect.NotApplicable("ours: the native dialect has no streams, and signs nothing", "parallel/streamed-uses", "parallel/late-delta", "basic/thinking-apart"),
	expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are", "basic/hints-over-numbers"),
	expect.NotApplicable("nothing is wrong: the client reports no progress, and asks for it one call at a time", "time/progress-token", "time/progress-rises", "time/progress-ends",
		"time/token-unique"),
	expect.In(server.V20260728, expect.NotApplicable("ours: the calls that are to be given up, with a progress token, are in another session", "time/token-shape")))

// given is in every table, too.
var given = expect.NotApplicable("ours: the native dialect gives ids, and signs nothing", "tool-use/id-minted", "tool-use/thought-signature")

// undeclaredServed is what the client does on purpose where it is not strict.
var undeclaredServed = expect.Fails("the client's: it hands on what it is given, whatever it declared",
	"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call")

// trusting is in the table of a client that returns whatever the model says.
var trusting = expect.Fails("its own: it is permissive", "tool-use/choice-none-filtered", "tool-use/no-tools-no-use")

// newest is in every table: left to itself, the client speaks the newest revision, and no other.
var newest = expect.In(server.V20251125, expect.NotApplicable("its own: left to itself it speaks 2026-07-28 alone", "transport/version-listed", "transport/other-version"))

// handedOn is what the client does on purpose where it is not strict.
var handedOn = slices.Concat(
	expect.Passes("nothing is dropped on the way to the model", "balance/not-dropped"),
	expect.Warns("the client's: it hands every history on to the model, and the native dialect's model takes each", "balance/*-*"))

// heedless is in every table: what the library has asked of the model cannot be called off from another thread.
var heedless = slices.Concat(
	expect.OrPasses(expect.Warns("its own: it heeds no cancel", "cancel/stops-work", "cancel/no-answer")),
	expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response")))

// simple is in every table: what the client leaves out of the transport.
var simple = expect.In(server.V20251125, slices.Concat(
	expect.NotApplicable("nothing is wrong: the client opens no stream with GET", "transport/on-get-stream"),
	expect.OrPasses(expect.Warns("its own: it remembers no requests, so that one which comes twice is answered twice", "transport/duplicate-request")),
	expect.Warns("its own: it reads no ids of events, and comes back for no stream", "transport/reconnects"),
	expect.NotApplicable("the same: it does not come back", "transport/retry-honoured", "transport/answers-once"),
	expect.Fails("its own: it makes no other session", "transport/session-lost"),
	expect.NotApplicable("the same: there is no other session", "transport/handlers-survive")))

func TestClients(t *testing.T) {
	expect.Program(t, "python3", "install Python 3.9 or later")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	for _, c := range []struct {
		name  string
		argv  []string
		only  []string
		table []expect.Row
	}{
		{"permissive", []string{"python3", "client.py"}, expect.Trusting, slices.Concat(undeclaredServed, given, trusting, handedOn)},
		{"strict", []string{"python3", "client.py", "--strict"}, nil, slices.Concat(newest, notStreamed, heedless, simple)},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command(c.argv...), Only: c.only, Skip: expect.Apart}, c.table)
		})
	}
}

func TestWhatIsMalformed(t *testing.T) {
	expect.Program(t, "python3", "install Python 3.9 or later")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	expect.Verdicts(t, conformance.Suite{Client: harness.Command("python3", "client.py"), Only: expect.Apart, Skip: expect.Slow}, malformed)
}

var malformed = expect.Warns("the client's: it hands on what it is given", "malformed/error-due", "malformed/wrong-types", "malformed/no-model-call", "malformed/bad-schema")

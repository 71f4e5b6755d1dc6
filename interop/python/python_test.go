// Package python compares a client in Python, with only the standard library, with its expected verdicts.
package python

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

var undeclaredServed = expect.Fails("adapter: it serves undeclared tools",
	"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call")

var trusting = expect.Fails("adapter: it returns every answer of the model",
	"tool-use/choice-none-filtered")

// newest: left to itself, the client speaks the newest revision only.
var newest = expect.In(server.V20251125, expect.NotApplicable(
	"fine: without a given revision it speaks 2026-07-28 only", "transport/version-listed", "transport/other-version"))

// heedless: a request to the model cannot be cancelled from another thread.
var heedless = slices.Concat(expect.ClosedStream,
	expect.OrPasses(expect.Warns("adapter: it ignores a cancel", "cancel/stops-work", "cancel/no-answer")))

// simple is what the client omits of the transport.
var simple = expect.In(server.V20251125, slices.Concat(
	expect.NotApplicable("fine: the client opens no GET stream", "transport/on-get-stream"),
	expect.OrPasses(expect.Warns("adapter: it answers a duplicate request twice", "transport/duplicate-request")),
	expect.Warns("adapter: it ignores event ids and resumes no stream", "transport/reconnects"),
	expect.NotApplicable("adapter: it does not reconnect", "transport/retry-honoured", "transport/answers-once"),
	expect.Fails("adapter: it opens no new session", "transport/session-lost"),
	expect.NotApplicable("adapter: there is no new session", "transport/handlers-survive")))

func TestClients(t *testing.T) {
	permissive, strict := client(t), client(t, "--strict")
	permissive.Only, permissive.Skip = expect.StrictMatters, expect.SeparateRuns
	strict.Skip = expect.SeparateRuns
	t.Run("permissive", func(t *testing.T) {
		expect.Verdicts(t, permissive, undeclaredServed, expect.GivenIDs, trusting, expect.HandedOn)
	})
	t.Run("strict", func(t *testing.T) {
		expect.Verdicts(t, strict, newest, expect.NoProcess, expect.Native, expect.NoProgress, heedless,
			simple)
	})
}

func TestMalformedRequests(t *testing.T) {
	s := client(t)
	s.Only, s.Skip = expect.SeparateRuns, expect.Slow
	expect.Verdicts(t, s, expect.Warns("adapter: it serves what it is given",
		"malformed/error-due", "malformed/wrong-types", "malformed/no-model-call", "malformed/bad-schema"))
}

func client(t *testing.T, flags ...string) conformance.Suite {
	expect.Program(t, "python3", "install Python 3.9 or later")
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return conformance.Suite{Client: harness.Command(append([]string{"python3", "client.py"}, flags...)...)}
}

// Package typescript compares clients on the two TypeScript SDKs with their expected verdicts.
package typescript

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// numbersAndUses is for a run of some scenarios, javaScript for a full run.
var (
	floats = expect.Warns("language: JSON.parse decodes 9007199254740993 as …992, and the SDKs pass on only the "+
		"decoded value",
		"always/server-was-given")
	numbersAndUses = slices.Concat(floats, expect.GivenIDs)
	javaScript     = slices.Concat(floats, expect.Native, expect.NoProgress, overStreams)
)

var overStreams = expect.In(server.V20251125, slices.Concat(
	expect.OrPasses(expect.Warns("SDK: it answers a duplicate request twice", "transport/duplicate-request")),
	expect.Fails("SDK: 404 is an ordinary error to it, and the adapter opens no new session", "transport/session-lost"),
	expect.NotApplicable("SDK: there is no new session", "transport/handlers-survive")))

// onlyLegacy and refusesTasks are for v1.
var (
	onlyLegacy   = expect.In(server.V20260728, expect.NotApplicable("fine: v1 speaks 2025-11-25 and older", "*/*"))
	refusesTasks = expect.Fails("SDK: without tasks it refuses a task request, which it must serve as an ordinary one",
		"tasks/task-ignored")
)

// trusting is for clients that check nothing.
var trusting = slices.Concat(expect.HandedOn,
	expect.Fails("SDK: it passes undeclared tools to the handler",
		"declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call"),
	expect.Fails("adapter: it returns every answer of the model", "tool-use/choice-none-filtered"))

// typed is for v2.
var (
	typed = expect.In(server.V20260728, expect.Reports(
		"fine: it refuses a result without a resultType from a server of 2026-07-28", "mrtr/missing-result-type"))
)

func installed(t testing.TB) {
	t.Helper()
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/typescript")
}

func TestClients(t *testing.T) {
	installed(t)
	for _, c := range []struct {
		name  string
		argv  []string
		only  []string
		table []expect.Row
	}{
		{"v1", []string{"node", "v1.mjs"}, expect.StrictMatters, slices.Concat(onlyLegacy, numbersAndUses, trusting)},
		{"v1, strict", []string{"node", "v1.mjs", "--strict"}, nil, slices.Concat(onlyLegacy, refusesTasks, expect.NoPipe,
			javaScript)},
		{"v2", []string{"node", "v2.mjs"}, expect.StrictMatters, slices.Concat(numbersAndUses, trusting)},
		{"v2, strict", []string{"node", "v2.mjs", "--strict"}, nil, slices.Concat(expect.NoProcess, javaScript, typed,
			expect.ClosedStream)},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command(c.argv...), Only: c.only, Skip: expect.SeparateRuns},
				c.table)
		})
	}
}

func TestMalformedRequests(t *testing.T) {
	installed(t)
	for _, c := range []struct {
		script string
		table  []expect.Row
	}{
		{"v1.mjs", malformedV1},
		{"v2.mjs", malformedV2},
	} {
		t.Run(c.script, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command("node", c.script), Only: expect.SeparateRuns,
				Skip: expect.Slow}, c.table)
		})
	}
}

// unansweredMeta is about 2025-11-25.
var unansweredMeta = expect.In(server.V20251125, slices.Concat(
	expect.Fails("SDK: it does not answer a request whose _meta is not an object", "malformed/answered"),
	expect.NotSeen("SDK: it does not answer one of the optional cases", "malformed/tolerated")))

var unreadSchemas = expect.Warns("SDK and adapter: neither checks the schemas of tools", "malformed/bad-schema")

var malformedV1 = slices.Concat(onlyLegacy, unansweredMeta, unreadSchemas,
	expect.Warns("SDK: what its schema refuses is an internal error", "malformed/error-code"))

var malformedV2 = slices.Concat(unansweredMeta, unreadSchemas)

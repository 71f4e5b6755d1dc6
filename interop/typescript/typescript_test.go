// Package typescript holds clients on the two TypeScript SDKs against what is expected of them.
package typescript

import (
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/expect"
)

// javaScript is in every table: the SDKs read JSON with JSON.parse, whose numbers are float64.
var javaScript = slices.Concat(
	numbersAndUses,
	expect.NotApplicable("ours: the native dialect has no streams, and signs nothing", "parallel/streamed-uses", "parallel/late-delta", "basic/thinking-apart"),
	expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are", "basic/hints-over-numbers"),
	expect.NotApplicable("nothing is wrong: the client reports no progress, and asks for it one call at a time", "time/progress-token", "time/progress-rises", "time/progress-ends",
		"time/token-unique"),
	overStreams,
)

// numbersAndUses is what of javaScript is about tool uses.
var numbersAndUses = slices.Concat(
	expect.Fails("the language's: JSON.parse reads 9007199254740993 as …992, and the SDKs give handlers nothing but what it read", "tool-use/input-intact"),
	expect.NotApplicable("ours: the native dialect gives ids, and signs nothing", "tool-use/id-minted", "tool-use/thought-signature"))

// overStreams is in every table, too.
var overStreams = expect.In(server.V20251125, slices.Concat(
	expect.OrPasses(expect.Warns("the SDKs': they remember no requests, so that one which comes twice is answered twice", "transport/duplicate-request")),
	expect.Fails("the SDKs': they take 404 for a fault like any other, and leave another session to their user, who makes none", "transport/session-lost"),
	expect.NotApplicable("the same: there is no other session", "transport/handlers-survive")))

// onlyLegacy is in the tables of v1.
var onlyLegacy = expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: v1 speaks 2025-11-25 and older", "*/*"))

// trusting is in the tables of clients that ask the model whatever they declared, and return whatever it says.
var trusting = slices.Concat(
	expect.Fails("the SDKs': they hand tools that were not declared on to the handler", "declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call"),
	expect.Fails("the adapter's: it is permissive", "tool-use/choice-none-filtered"),
	expect.Passes("nothing is dropped on the way to the model", "balance/not-dropped"),
	expect.Warns("the adapter's, and the SDKs': it hands every history on to the model, and the native dialect's model takes each", "balance/*-*"),
)

// unchecked is in the tables of v2, which in the first era, as v1, refuses a tool use in the answer to a request without tools.
var unchecked = expect.In(server.V20260728, expect.Fails("the adapter's, and the SDK's: it looks at no answer in the second era", "tool-use/no-tools-no-use"))

// typed is in the tables of v2.
var typed = expect.In(server.V20260728, slices.Concat(
	expect.Warns("the SDK's: it refuses a result without a resultType from a server of 2026-07-28", "mrtr/missing-result-type"),
	expect.NotApplicable("ours: the calls that are to be given up, with a progress token, are in another session", "time/token-shape")))

// refusesTasks is in the tables of v1.
var refusesTasks = expect.Fails("the SDK's: it refuses a request for a task where tasks are not declared, and has to ignore that it is one", "tasks/task-ignored")

// overHTTP is in the tables of clients that speak the second era.
var overHTTP = expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response"))

func TestClients(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/typescript")
	for _, c := range []struct {
		name  string
		argv  []string
		only  []string
		table []expect.Row
	}{
		{"v1", []string{"node", "v1.mjs"}, expect.Trusting, slices.Concat(onlyLegacy, numbersAndUses, trusting)},
		{"v1, strict", []string{"node", "v1.mjs", "--strict"}, nil, slices.Concat(onlyLegacy, refusesTasks, expect.NoPipe, javaScript)},
		{"v2", []string{"node", "v2.mjs"}, expect.Trusting, slices.Concat(numbersAndUses, trusting, unchecked)},
		{"v2, strict", []string{"node", "v2.mjs", "--strict"}, nil, slices.Concat(expect.NoProcess, javaScript, typed, overHTTP)},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command(c.argv...), Only: c.only, Skip: expect.Apart}, c.table)
		})
	}
}

func TestWhatIsMalformed(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/typescript")
	for _, c := range []struct {
		script string
		table  []expect.Row
	}{
		{"v1.mjs", malformedV1},
		{"v2.mjs", malformedV2},
	} {
		t.Run(c.script, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command("node", c.script), Only: expect.Apart, Skip: expect.Slow}, c.table)
		})
	}
}

// unansweredMeta is the SDKs' doing in the first era.
var unansweredMeta = expect.In(server.V20251125, slices.Concat(
	expect.Fails("the SDKs': a request whose _meta is no object is none to them, and is never answered", "malformed/answered"),
	expect.NotSeen("the same: one of the requests that may be refused or not is never answered", "malformed/tolerated")))

var unreadSchemas = expect.Warns("the SDKs' and the adapter's: nobody reads the schemas of the tools", "malformed/bad-schema")

var malformedV1 = slices.Concat(onlyLegacy, unansweredMeta, unreadSchemas,
	expect.Warns("the SDK's: what its own schema refuses is an internal error", "malformed/error-code"))

var malformedV2 = slices.Concat(unansweredMeta, unreadSchemas)

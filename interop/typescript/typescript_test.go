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
	expect.Fails("the language's: JSON.parse reads 9007199254740993 as …992, and the SDKs give handlers nothing but what it read", "tool-use/input-intact"),
	expect.NotApplicable("ours: the native dialect has no streams, gives ids, and signs nothing",
		"parallel/streamed-uses", "parallel/late-delta", "tool-use/id-minted", "tool-use/thought-signature", "basic/thinking-apart"),
	expect.NotApplicable("ours: the native dialect's model is the first hint, whatever the numbers are", "basic/hints-over-numbers"),
)

// onlyLegacy is in the tables of v1.
var onlyLegacy = expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: v1 speaks 2025-11-25 and older", "*/*"))

// trusting is in the tables of clients that ask the model whatever they declared, and return whatever it says.
var trusting = slices.Concat(
	expect.Fails("the SDKs': they hand tools that were not declared on to the handler", "declare/undeclared-tools-refused", "declare/undeclared-toolchoice-refused", "declare/no-model-call"),
	expect.Fails("the adapter's: it is permissive", "tool-use/choice-none-filtered"),
)

// unchecked is in the tables of v2, which in the first era, as v1, refuses a tool use in the answer to a request without tools.
var unchecked = expect.In(server.V20260728, expect.Fails("the adapter's, and the SDK's: it looks at no answer in the second era", "tool-use/no-tools-no-use"))

// overHTTP is in the tables of clients that speak the second era.
var overHTTP = expect.In(server.V20260728, expect.NotApplicable("nothing is wrong: nothing comes on a stream that the client has closed", "cancel/late-response"))

func TestClients(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/typescript")
	for _, c := range []struct {
		name  string
		argv  []string
		table []expect.Row
	}{
		{"v1", []string{"node", "v1.mjs"}, slices.Concat(onlyLegacy, javaScript, trusting)},
		{"v1, strict", []string{"node", "v1.mjs", "--strict"}, slices.Concat(onlyLegacy, javaScript)},
		{"v2", []string{"node", "v2.mjs"}, slices.Concat(javaScript, trusting, unchecked, overHTTP)},
		{"v2, strict", []string{"node", "v2.mjs", "--strict"}, slices.Concat(javaScript, overHTTP)},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect.Verdicts(t, conformance.Suite{Client: harness.Command(c.argv...)}, c.table)
		})
	}
}

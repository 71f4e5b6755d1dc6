package variations

import (
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

const (
	blockOrArray = "schema: content is one block or an array of blocks"
	openResult   = "schema: a result may have further members"
	stopReasons  = "schema: the stop reason is optional and any string; the chapters recommend the known ones"
)

// withTools are the revisions in which content may be an array.
var withTools = in(server.V20251125, server.V20260728)

// meta returns the _meta of an object, which gets one if it has none.
func meta(o object) object {
	m, _ := o["_meta"].(object)
	if m == nil {
		m = object{}
		o["_meta"] = m
	}
	return m
}

// resultVariations differ in what the client sends to the server.
var resultVariations = of(reference.Config{}, "result-",
	edited("no-empty-text", "leaves empty texts out of its results", "an empty text says nothing",
		"basic tool-use parallel", result(func(r object) {
			if blocks, ok := r["content"].([]any); ok {
				r["content"] = slices.DeleteFunc(blocks, func(b any) bool { return b.(object)["text"] == "" })
				meta(r)["com.example/blocks"] = len(blocks)
			}
		}), withTools),
	edited("always-array", "answers with an array of one block", blockOrArray,
		"basic tool-use parallel loop/three-cities mrtr", result(func(r object) {
			if block, ok := r["content"].(object); ok {
				r["content"] = []any{block}
			}
		}), withTools),
	edited("two-text-blocks", "answers with the text in two blocks", blockOrArray,
		"basic tool-use parallel provider-errors", result(func(r object) {
			if block, ok := r["content"].(object); ok {
				one, other := split(text(block, "text"))
				r["content"] = []any{textBlock(one), textBlock(other)}
			}
		}), withTools),
	edited("text-beside-uses", "adds a text before its tool uses", blockOrArray, minted, result(func(r object) {
		if blocks, ok := r["content"].([]any); ok {
			r["content"] = append([]any{textBlock("Let me see.")}, blocks...)
		}
	}), withTools),
	edited("extra-members", "adds members to its results", openResult, "basic tool-use parallel mrtr tasks consent",
		result(func(r object) {
			meta(r)["com.example/trace"] = "1"
			r["usage"] = object{"tokens": 3}
		})),
	edited("no-stop-reason", "gives no stop reasons", stopReasons, "basic tool-use parallel provider-errors",
		result(func(r object) { delete(r, "stopReason") }),
		warns("tool-use/stop-reason-tooluse", "provider-errors/refusal-told")),
	edited("own-stop-reasons", "gives its own stop reasons", stopReasons, "basic tool-use parallel provider-errors",
		result(func(r object) { r["stopReason"] = "done" }), warns("tool-use/stop-reason-tooluse")),
	edited("token-in-call", "sends a progress token and metadata with each call of a tool",
		"progress: a request may have a progress token; _meta is open", "basic parallel time cancel mrtr",
		out(func(m *mutants.Message) {
			if m.Method() == "tools/call" {
				token := meta(m.Params())
				token["com.example/call"], token["progressToken"] = "7", "progress-7"
			}
		})),
	edited("null-error", "writes \"error\": null beside each result",
		"most JSON libraries read null as a missing member", "basic tool-use transport", out(func(m *mutants.Message) {
			if m.Body["result"] != nil {
				m.Body["error"] = nil
			}
		}), in(server.V20251125)),
)

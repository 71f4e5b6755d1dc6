package conformance_test

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// TestClientsThatAreWrongInUnusualWaysAreCaught is about what could slip through between the mutants.
func TestClientsThatAreWrongInUnusualWaysAreCaught(t *testing.T) {
	plain := reference.Config{Plain: true}
	uses := func(edit func(blocks []any) []any) func(map[string]any) {
		return results(func(r map[string]any) {
			if blocks, ok := r["content"].([]any); ok {
				r["content"] = edit(blocks)
			}
		})
	}
	responseID := regexp.MustCompile(`"id":(\d+),"jsonrpc":"2.0","result"`)
	for name, c := range map[string]struct {
		habit
		config    reference.Config
		revisions []server.Revision
		want      looked // what there is to look at: all of it, or, of a client that does little right, some
		some      bool
	}{
		"writes ids with a fraction": {revisions: []server.Revision{server.V20251125}, want: looked{"basic/id-echoed": report.Fail},
			habit: habit{message: func(map[string]any) {}, raw: func(body []byte) []byte {
				return responseID.ReplaceAll(body, []byte(`"id":$1.0,"jsonrpc":"2.0","result"`))
			}}},
		"gives every tool use twice": {revisions: withTools, habit: habit{message: uses(func(blocks []any) []any {
			twice := slices.Clone(blocks)
			for _, b := range usesAmong(blocks) {
				other := map[string]any{"type": b["type"], "name": b["name"], "input": b["input"], "id": b["id"].(string) + "-2"}
				twice = append(twice, other)
			}
			return twice
		})}, want: looked{"tool-use/input-intact": report.Fail, "parallel/all-uses": report.Fail, "parallel/streamed-uses": report.Fail}},
		"prefixes the names of tools in its answer": {revisions: withTools, habit: habit{message: uses(func(blocks []any) []any {
			for _, b := range usesAmong(blocks) {
				b["name"] = "server__" + b["name"].(string)
			}
			return blocks
		})}, want: looked{"tool-use/input-intact": report.Fail, "tool-use/unoffered-tool": report.Warn, "parallel/all-uses": report.Fail, "parallel/streamed-uses": report.Fail}},
		"keeps the text of the first of many results": {habit: habit{request: func(body map[string]any) {
			first := true
			for _, m := range objects(body["messages"]) {
				if m["role"] == "tool" && !first {
					m["content"] = "(see above)"
				}
				first = first && m["role"] != "tool"
			}
		}}, want: looked{"parallel/results-reach-model": report.Fail, "parallel/results-order": report.NotObserved, "parallel/error-result": report.NotObserved,
			"loop/three-rounds": report.Fail}},
		"gives results to the model as the user's words": {habit: habit{request: func(body map[string]any) {
			var messages []any
			for _, m := range objects(body["messages"]) {
				if m["role"] == "tool" {
					m = map[string]any{"role": "user", "content": "The tool said: " + m["content"].(string)}
				}
				delete(m, "tool_calls")
				if m["content"] != nil {
					messages = append(messages, m)
				}
			}
			body["messages"] = messages
		}}, want: looked{"parallel/results-reach-model": report.Fail, "parallel/results-order": report.NotObserved, "parallel/uses-restated": report.Fail,
			"parallel/error-result": report.NotObserved, "parallel/result-content": report.Fail, "loop/three-rounds": report.Fail}},
		"makes answers up": {config: plain, habit: habit{reply: func(body map[string]any) {
			for _, choice := range objects(body["choices"]) {
				choice["message"], choice["finish_reason"] = map[string]any{"role": "assistant", "content": "I am sorry."}, "stop"
			}
		}}, some: true, want: looked{"basic/text-intact": report.Fail, "basic/stop-reason-true": report.Fail, "tool-use/tool-use-block": report.Fail,
			"parallel/all-uses": report.Fail, "parallel/over-32-calls": report.Fail, "parallel/results-reach-model": report.NotObserved}},
		"composes what the model said anew": {habit: habit{message: results(func(r map[string]any) {
			if block, ok := r["content"].(map[string]any); ok {
				block["text"] = strings.ReplaceAll(block["text"].(string), "è", "e\u0300")
			}
		})}, want: looked{"basic/text-intact": report.Fail}},
		"sends answers that nobody can read": {revisions: []server.Revision{server.V20251125}, habit: habit{raw: func(body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"result"`), []byte(`"Result"`))
		}}, some: true, want: looked{"client/sampled": report.Fail, "client/ends-cleanly": report.Fail, "declare/over-declared": report.Fail, "basic/has-content": report.NotObserved}},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Bool
			got := look(t, c.client(c.config, &shown), c.revisions...)
			require.True(t, shown.Load(), "the fault never showed")
			if c.some {
				maps.DeleteFunc(got, func(id string, _ report.Verdict) bool { return c.want[id] == "" })
			}
			require.Equal(t, c.want, got)
		})
	}
}

// usesAmong are the tool uses in a list of blocks.
func usesAmong(blocks []any) []map[string]any {
	return slices.DeleteFunc(objects(blocks), func(b map[string]any) bool { return b["type"] != "tool_use" })
}

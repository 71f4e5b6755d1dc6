package conformance_test

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	plays "github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

type (
	object   = map[string]any
	verdicts = map[string]report.Verdict
)

// unusual is a client with a bug that is in between those of the mutants.
type unusual struct {
	edit      mutants.Edit
	config    reference.Config
	revisions []server.Revision
	cases     string   // in which the bug occurs
	want      verdicts // all that are neither pass nor not applicable
	some      bool     // of a client that does little right, want is only a part
	also      verdicts // besides want, if all cases are played
}

// eachToolMessage edits the messages of a chat completion with the role tool.
func eachToolMessage(body object, edit func(i int, m object)) {
	i := 0
	for _, m := range jsonvalue.Messages(body) {
		if m["role"] == "tool" {
			edit(i, m)
			i++
		}
	}
}

func answersDoNotParse(m *mutants.Message) {
	if result, ok := m.Body["result"]; ok {
		m.Body["Result"] = result
		delete(m.Body, "result")
	}
}

func usesTwice(r object) {
	for _, b := range jsonvalue.OfType(r["content"], "tool_use") {
		other := maps.Clone(b)
		other["id"] = b["id"].(string) + "-2"
		r["content"] = append(r["content"].([]any), other)
	}
}

func prefixedNames(r object) {
	for _, b := range jsonvalue.OfType(r["content"], "tool_use") {
		b["name"] = "server__" + b["name"].(string)
	}
}

func resultsAsUserText(body object) {
	eachToolMessage(body, func(_ int, m object) {
		said := m["content"].(string)
		clear(m)
		m["role"], m["content"] = "user", "The tool said: "+said
	})
	messages := []any{}
	for _, m := range jsonvalue.Messages(body) {
		if delete(m, "tool_calls"); m["content"] != nil {
			messages = append(messages, m)
		}
	}
	body["messages"] = messages
}

func inventedAnswers(replies []object) []object {
	for _, body := range replies {
		choices, _ := body["choices"].([]any)
		for _, choice := range choices {
			choice.(object)["message"] = object{"role": "assistant", "content": "I am sorry."}
			choice.(object)["finish_reason"] = "stop"
		}
	}
	return replies
}

func decomposedText(r object) {
	if block, ok := r["content"].(object); ok {
		block["text"] = strings.ReplaceAll(block["text"].(string), "è", "e\u0300")
	}
}

// Some of them play the cases of their bug; all play the whole catalogue if MCP_CONFORM_MATRIX is "whole".
func TestClientsWithUnusualBugsFail(t *testing.T) {
	legacy := []server.Revision{server.V20251125}
	const fail, unseen = report.Fail, report.NotObserved
	const talk = "basic tool-use parallel loop/three-cities"
	negotiated := verdicts{"transport/negotiated-rules": fail} // which repeats the rule that is broken
	for name, c := range map[string]unusual{
		"every tool use twice": {edit: mutants.Edit{Result: usesTwice}, cases: talk, want: verdicts{
			"always/server-was-given": fail}},
		"prefixed tool names": {edit: mutants.Edit{Result: prefixedNames}, cases: talk, want: verdicts{
			"always/server-was-given": fail, "tool-use/tool-names": fail, "tool-use/unoffered-tool": report.Warn}},
		"only the text of the first result": {edit: mutants.Edit{ModelRequest: func(body object) {
			eachToolMessage(body, func(i int, m object) {
				if i > 0 {
					m["content"] = "(see above)"
				}
			})
		}}, cases: talk, want: verdicts{"always/model-was-given": fail}, also: negotiated},
		"tool results as text of the user": {edit: mutants.Edit{ModelRequest: resultsAsUserText}, cases: talk, want: verdicts{
			"always/model-was-given":       fail,
			"parallel/results-reach-model": fail, "loop/three-rounds": unseen}, also: negotiated},
		"invented answers": {edit: mutants.Edit{ModelReply: inventedAnswers}, config: reference.Config{Plain: true},
			cases: talk, some: true, want: verdicts{"always/server-was-given": fail}},
		"decomposed letters": {edit: mutants.Edit{Result: decomposedText}, cases: talk,
			want: verdicts{"always/server-was-given": fail}},
		"answers that are not JSON-RPC": {edit: mutants.Edit{Out: answersDoNotParse}, revisions: legacy,
			cases: "basic declare", some: true, want: verdicts{"client/sampled": fail,
				"client/ends-cleanly": fail, "declare/over-declared": fail}},
	} {
		if !sharedtest.Whole() && plays.Number(name)%5 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fired atomic.Int64
			client := mutants.Client(c.config, func(*mutants.Wire) mutants.Edit { return c.edit }, mutants.Condition{},
				func(mutants.Change) { fired.Add(1) })
			suite := conformance.Suite{Client: harness.InProcess(client), Revisions: c.revisions, Seed: 1,
				Only: strings.Fields(c.cases), Skip: []string{"basic/long"},
				Bubble: func(f func()) { synctest.Test(t, func(*testing.T) { f() }) }}
			if !sharedtest.Whole() {
				suite.Revisions = legacy
			}
			want := maps.Clone(c.want)
			if sharedtest.Whole() {
				maps.Copy(want, c.also)
				suite.Only, suite.Skip = nil, append(suite.Skip, "malformed", "malformed/*", "loop/sixty-four-rounds")
			}
			rs, _, err := suite.Run(t.Context())
			require.NoError(t, err)
			found := verdicts{}
			for _, r := range rs.Results {
				ok := slices.Contains([]report.Verdict{report.Pass, report.NotApplicable, report.Info}, r.Verdict)
				if _, wanted := want[r.ID()]; !ok && (wanted || !c.some) {
					found[r.ID()] = report.Worst(r.Verdict, found[r.ID()])
				}
			}
			require.Equal(t, want, found)
			require.Positive(t, fired.Load(), "the bug never occurred")
		})
	}
}

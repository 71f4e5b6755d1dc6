package report_test

import (
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

// result is one result without evidence.
func result(id, revision string, level report.Level, verdict report.Verdict, message string) report.Result {
	scenario, check, _ := strings.Cut(id, "/")
	return report.Result{Scenario: scenario, Check: check, Revision: revision, Level: level, Verdict: verdict,
		Message: message, Evidence: []report.Evidence{}}
}

// everything is a run with every verdict in it, in two revisions.
func everything() *report.Results {
	const old, new, story = "2025-11-25", "2026-07-28", "parallel/two-cities"
	const neverCalled = "the client never called the tool\nparallel-two-cities"
	connects := result("client/connects", old, report.Robust, report.Pass, "the client connected")
	connects.DurationMS = 12
	ends := result("client/ends-cleanly", old, report.Robust, report.Fail, "expected exit status 0, found 7")
	ends.Evidence = []report.Evidence{
		{Label: "stderr", Text: "\x1b[31mTypeError\x1b[0m: undefined\r\n\tat loop (client.js:1)"}}
	ends.Cause, ends.Fix = "the client crashes", "exit with 0"

	reach := result("parallel/results-reach-model", old, report.Robust, report.Fail,
		"expected 2 tool results in the model request, found 1")
	reach.Dialects = []string{"openai-chat", "native"}
	reach.Requirement = &report.Requirement{ID: "2025-11-25/sampling/08", Text: "every tool use gets a result",
		URL: "https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance"}
	reach.Evidence = []report.Evidence{
		{Label: "server sent", Event: "sampling request 2", Case: story, Seq: 14, Path: "params",
			Text: "result call_a1\nresult call_b2"},
		{Label: "model received", Event: "model request 2", Case: story, Seq: 15, Path: "messages[3]"},
		{Label: "session", Seq: 3, Path: "error"},
		{Label: "model said", Text: "a note about no event"}}
	reach.Around = []report.Step{
		{Case: story, Seq: 13, From: "client", To: "server", Text: "result of request 1"},
		{Case: story, Seq: 14, From: "server", To: "client", Text: "sampling/createMessage, id 2", Marked: true,
			Excerpts: []report.Excerpt{
				{Path: "params.role", Text: `{"text":"答え 🗼","role":"user"}`, Start: 22, Length: 6},
				{Path: "params.model", Text: `{"role":"user"}`, Start: 14, Length: 1, Missing: true}}},
		{Case: story, Seq: 90, From: "client", Text: "ended by a signal:\nSIGSEGV"}}
	reach.Cause, reach.Fix = "the converter stops after the first <tool_result>", "map every tool_result block"
	reach.Reproduce, reach.DurationMS = "mcp-conform run --scenario "+story, 3
	reach.Cases = []report.CaseResult{{Case: story, Verdict: report.Fail, Message: reach.Message}}

	unseen := result("parallel/results-reach-model", new, report.Robust, report.NotObserved, neverCalled)
	unseen.Reproduce = "mcp-conform run one"
	unseenToo := result("parallel/max-tokens", new, report.Must, report.NotObserved, neverCalled)
	unseenToo.Reproduce = "mcp-conform run another"
	rs := &report.Results{Tool: "v1.2.3", Client: "node client.js", Seed: 42, Results: []report.Result{
		connects, ends, reach,
		result("parallel/max-tokens", old, report.Robust, report.Warn, "expected 100, found 90"),
		result("parallel/stop-reason", old, report.May, report.Info, "length"),
		result("parallel/declined", old, report.Should, report.Unsupported, "the user cannot decline"),
		result("parallel/only-here", old, report.Must, report.NotApplicable, "not declared"),
		result("client/connects", new, report.Robust, report.Pass, "the client connected"),
		unseen, unseenToo,
		result("tool-use/input-intact", new, report.Robust, report.NotObserved, neverCalled),
		result("tool-use/alone-unseen", new, report.Robust, report.NotObserved, "the answer has no tool use"),
		result("tool-use/ours", new, report.Robust, report.HarnessError, "the harness broke the protocol"),
	}}
	rs.Count()
	return rs
}

// calm is a run with one warning.
func calm() *report.Results {
	rs := &report.Results{Tool: "v1.2.3", Client: "reference", Seed: 1, Results: []report.Result{
		result("basic/answered", "2025-11-25", report.Robust, report.Pass, "yes"),
		result("basic/model-named", "2025-11-25", report.Advice, report.Warn, "another name"),
	}}
	rs.Count()
	return rs
}

// known is a run with a known failure, another that waits for it, and a baseline with a problem.
func known() *report.Results {
	rs := calm()
	failed := result("parallel/results-reach-model", "2025-11-25", report.Must, report.Fail, "expected 2 results, found 1")
	failed.Known = &report.Known{Reason: "fixed in 2.0", Issue: "https://example.com/7", Owner: "ann", Until: "2027-01-31",
		Flaky: true}
	waits := result("parallel/order", "2025-11-25", report.Must, report.NotObserved, "no results reached the model")
	waits.Prerequisite = "parallel/results-reach-model"
	waits.Known = &report.Known{Reason: "not judged because of parallel/results-reach-model"}
	rs.Results = append(rs.Results, failed, waits)
	rs.Baseline = &report.Baseline{Entries: 2, Known: 2, Problems: []report.BaselineProblem{{Kind: "stale",
		Check: "basic/role", Place: "known.yaml:7", Message: "expected a failure, found pass: remove the entry"}}}
	rs.Count()
	return rs
}

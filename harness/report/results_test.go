package report_test

import "github.com/mcp-conform/mcp-conform/harness/report"

// everything is a run with every verdict in it, in two revisions.
func everything() *report.Results {
	rs := &report.Results{Tool: "v1.2.3", Client: "node client.js", Seed: 42, Results: []report.Result{
		{Scenario: "client", Revision: "2025-11-25", Check: "connects", Level: report.Robust, Verdict: report.Pass,
			Message: "the client connected and was served", Evidence: []report.Evidence{}, DurationMS: 12},
		{Scenario: "client", Revision: "2025-11-25", Check: "ends-cleanly", Level: report.Robust, Verdict: report.Fail,
			Message: "the client did not end well: it exited with status 7", Evidence: []report.Evidence{
				{Label: "stderr", Text: "\x1b[31mTypeError\x1b[0m: undefined\r\n\tat loop (client.js:1)"}},
			Cause: "the client crashes", Fix: "exit with 0"},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "results-reach-model", Level: report.Robust, Verdict: report.Fail,
			Message: "the server sent 2 tool results, and the model was given 1", Dialects: []string{"openai-chat", "native"},
			Requirement: &report.Requirement{ID: "2025-11-25/sampling/08", Text: "every tool use is answered",
				URL: "https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance"},
			Evidence: []report.Evidence{
				{Label: "server sent", Event: "sampling request 2", Case: "parallel/two-cities", Seq: 14, Path: "params", Text: "result for call_a1\nresult for call_b2"},
				{Label: "model was given", Event: "model request 2", Case: "parallel/two-cities", Seq: 15, Path: "messages[3]"},
				{Label: "session", Seq: 3, Path: "error"},
				{Label: "model said", Text: "a place that is no event"}},
			Around: []report.Step{
				{Case: "parallel/two-cities", Seq: 13, From: "client", To: "server", Says: "result for id 1"},
				{Case: "parallel/two-cities", Seq: 14, From: "server", To: "client", Says: "sampling/createMessage, id 2", Marked: true, Excerpts: []report.Excerpt{
					{Path: "params.role", Text: `{"text":"答え 🗼","role":"user"}`, Start: 22, Length: 6},
					{Path: "params.model", Text: `{"role":"user"}`, Start: 14, Length: 1, Missing: true}}},
				{Case: "parallel/two-cities", Seq: 90, From: "client", Says: "a signal ended it:\nSIGSEGV"}},
			Cause: "the converter stops after the first <tool_result>", Fix: "turn every tool_result block into one",
			Reproduce: "mcp-conform run --scenario parallel/two-cities", DurationMS: 3,
			Cases: []report.CaseResult{{Case: "parallel/two-cities", Verdict: report.Fail, Message: "2 and 1"}}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "max-tokens", Level: report.Robust, Verdict: report.Warn,
			Message: "not as it should be", Evidence: []report.Evidence{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "stop-reason", Level: report.May, Verdict: report.Info, Message: "length", Evidence: []report.Evidence{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "declined", Level: report.Should, Verdict: report.Unsupported,
			Message: "nobody can say no", Evidence: []report.Evidence{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "only-here", Level: report.Must, Verdict: report.NotApplicable, Message: "not declared", Evidence: []report.Evidence{}},
		{Scenario: "client", Revision: "2026-07-28", Check: "connects", Level: report.Robust, Verdict: report.Pass, Message: "served", Evidence: []report.Evidence{}},
		{Scenario: "parallel", Revision: "2026-07-28", Check: "results-reach-model", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Evidence: []report.Evidence{}, Reproduce: "mcp-conform run again"},
		{Scenario: "parallel", Revision: "2026-07-28", Check: "max-tokens", Level: report.Must, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Evidence: []report.Evidence{}, Reproduce: "mcp-conform run another"},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "input-intact", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Evidence: []report.Evidence{}},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "alone-unseen", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the answer has no tool use", Evidence: []report.Evidence{}},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "ours", Level: report.Robust, Verdict: report.HarnessError,
			Message: "the harness broke the protocol itself", Evidence: []report.Evidence{}},
	}}
	rs.Count()
	return rs
}

// calm is a run in which all is well, but for one thing to look at.
func calm() *report.Results {
	rs := &report.Results{Tool: "v1.2.3", Client: "reference", Seed: 1, Results: []report.Result{
		{Scenario: "basic", Revision: "2025-11-25", Check: "answered", Level: report.Robust, Verdict: report.Pass, Message: "yes", Evidence: []report.Evidence{}},
		{Scenario: "basic", Revision: "2025-11-25", Check: "model-named", Level: report.Advice, Verdict: report.Warn, Message: "another name", Evidence: []report.Evidence{}},
	}}
	rs.Count()
	return rs
}

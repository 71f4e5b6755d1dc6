package report_test

import "github.com/mcp-conform/mcp-conform/harness/report"

// everything is a run with every verdict in it, in two revisions.
func everything() *report.Results {
	rs := &report.Results{Tool: "v1.2.3", Client: "node client.js", Seed: 42, Results: []report.Result{
		{Scenario: "client", Revision: "2025-11-25", Check: "connects", Level: report.Robust, Verdict: report.Pass,
			Message: "the client connected and was served", Frames: []report.Frame{}, DurationMS: 12},
		{Scenario: "client", Revision: "2025-11-25", Check: "ends-cleanly", Level: report.Robust, Verdict: report.Fail,
			Message: "the client did not end well: it exited with status 7", Frames: []report.Frame{
				{Label: "stderr", Text: "\x1b[31mTypeError\x1b[0m: undefined\r\n\tat loop (client.js:1)"}},
			Usual: "the client crashes", Mend: "exit with 0"},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "results-reach-model", Level: report.Robust, Verdict: report.Fail,
			Message: "the server sent 2 tool results, and the model was given 1", Dialects: []string{"openai-chat", "native"},
			Requirement: &report.Requirement{ID: "2025-11-25/sampling/08", Says: "every tool use is answered",
				URL: "https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance"},
			Frames: []report.Frame{
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
			Usual: "the converter stops after the first <tool_result>", Mend: "turn every tool_result block into one",
			Again: "mcp-conform run --scenario parallel/two-cities", DurationMS: 3,
			Cases: []report.CaseResult{{Case: "parallel/two-cities", Verdict: report.Fail, Message: "2 and 1"}}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "max-tokens", Level: report.Robust, Verdict: report.Warn,
			Message: "not as it should be", Frames: []report.Frame{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "stop-reason", Level: report.May, Verdict: report.Info, Message: "length", Frames: []report.Frame{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "declined", Level: report.Should, Verdict: report.Unsupported,
			Message: "nobody can say no", Frames: []report.Frame{}},
		{Scenario: "parallel", Revision: "2025-11-25", Check: "only-here", Level: report.Must, Verdict: report.NotApplicable, Message: "not declared", Frames: []report.Frame{}},
		{Scenario: "client", Revision: "2026-07-28", Check: "connects", Level: report.Robust, Verdict: report.Pass, Message: "served", Frames: []report.Frame{}},
		{Scenario: "parallel", Revision: "2026-07-28", Check: "results-reach-model", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Frames: []report.Frame{}, Again: "mcp-conform run again"},
		{Scenario: "parallel", Revision: "2026-07-28", Check: "max-tokens", Level: report.Must, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Frames: []report.Frame{}, Again: "mcp-conform run another"},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "input-intact", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the client never called the tool\nparallel-two-cities", Frames: []report.Frame{}},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "alone-unseen", Level: report.Robust, Verdict: report.NotObserved,
			Message: "the answer has no tool use", Frames: []report.Frame{}},
		{Scenario: "tool-use", Revision: "2026-07-28", Check: "ours", Level: report.Robust, Verdict: report.HarnessError,
			Message: "the harness broke the protocol itself", Frames: []report.Frame{}},
	}}
	rs.Count()
	return rs
}

// calm is a run in which all is well, but for one thing to look at.
func calm() *report.Results {
	rs := &report.Results{Tool: "v1.2.3", Client: "reference", Seed: 1, Results: []report.Result{
		{Scenario: "basic", Revision: "2025-11-25", Check: "answered", Level: report.Robust, Verdict: report.Pass, Message: "yes", Frames: []report.Frame{}},
		{Scenario: "basic", Revision: "2025-11-25", Check: "model-named", Level: report.Advice, Verdict: report.Warn, Message: "another name", Frames: []report.Frame{}},
	}}
	rs.Count()
	return rs
}

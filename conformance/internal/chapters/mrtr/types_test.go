package mrtr

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestWhatAResultIsTakenFor(t *testing.T) {
	look := func(resultType, outcome string, then ...func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			members := `"content":[],` + inputs("a") + state("s")
			results(s, 7, strings.TrimSuffix(members+resultType, ","))
			for _, f := range then {
				f(s)
			}
			if outcome != "" {
				s.Marks(trace.MarkOutcome, `{"mcp-conform":"outcome","tool":"x","outcome":"`+outcome+`"}`)
			}
			s.PassesBarrier()
		}
	}
	again := func(s *tracetest.Story) { again(s, 8, gives(withState("s"), "a")) }
	prompt := func(s *tracetest.Story) { s.Prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 200}) }
	const untyped, unknown = "", `"resultType":"unheard-of"`
	inRoundTrips(t, []tracetest.Test{
		{Name: "complete", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.Pass, Message: "it was taken to be complete", Steps: look(untyped, "completed")},
		{Name: "refused", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.Warn,
			Message: "the client refuses a result without a resultType (failed): the rule is for older servers, which this one is not, so that it may; with an older one it must not",
			Steps:   look(untyped, "failed")},
		{Name: "untold", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.Unsupported,
			Message: "the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)",
			Steps:   look(untyped, "")},
		{Name: "untold, and not settled", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.NotObserved,
			Message: "the client did not make its request again, and it is not settled that it would not have: no later sampling request was answered, so it could still come",
			Steps:   func(s *tracetest.Story) { results(s, 7, `"content":[],`+strings.TrimSuffix(inputs("a"), ",")) }},
		{Name: "fulfilled", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.Fail,
			Message: "a result without a resultType was taken for one that asks for input: the client made its request again", Steps: look(untyped, "completed", again)},
		{Name: "fulfilled in part", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.Fail,
			Message: "a result without a resultType was taken for one that asks for input: the model was asked", Steps: look(untyped, "completed", prompt)},
		{Name: "never sent", Check: "mrtr/missing-result-type", CaseID: "untyped", Verdict: report.NotObserved, Message: "the server did not get as far as such a result",
			Steps: func(*tracetest.Story) {}},

		{Name: "refused", Check: "mrtr/unknown-result-type", CaseID: "unknown-type", Verdict: report.Pass, Message: "the call ended with an error", Steps: look(unknown, "failed")},
		{Name: "complete", Check: "mrtr/unknown-result-type", CaseID: "unknown-type", Verdict: report.Fail, Message: "a result of the type unheard-of was taken to be complete",
			Steps: look(unknown, "completed")},
		{Name: "one that asks", Check: "mrtr/unknown-result-type", CaseID: "unknown-type", Verdict: report.Warn,
			Message: "a result of the type unheard-of was taken for one that asks for input, which was not given", Steps: look(unknown, "input_required")},
		{Name: "fulfilled", Check: "mrtr/unknown-result-type", CaseID: "unknown-type", Verdict: report.Fail,
			Message: "a result of the type unheard-of was taken for one that asks for input: the client made its request again", Steps: look(unknown, "failed", again)},
		{Name: "untold", Check: "mrtr/unknown-result-type", CaseID: "unknown-type", Verdict: report.Unsupported,
			Message: "the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)",
			Steps:   look(unknown, "")},
	})
}

func TestResponsesToWhatTheServerMustNotAsk(t *testing.T) {
	direct := func(id, method string, then func(*tracetest.Story)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Frame(s.CaseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":"`+id+`","method":"`+method+`","params":{}}`)
			results(s, 7, `"content":[],"resultType":"complete"`)
			then(s)
		}
	}
	response := func(id, rest string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
			s.PassesBarrier()
		}
	}
	goesOn := func(s *tracetest.Story) { s.PassesBarrier() }
	const sample = "sampling/createMessage"
	inRoundTrips(t, []tracetest.Test{
		{Name: "nothing", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.Pass, Message: "it got no response", Steps: direct(directSample, sample, goesOn)},
		{Name: "a result", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.Fail,
			Message: "the client answered a sampling request that came as a request: this era has none", Steps: direct(directSample, sample, response(`"direct-sample"`, `"result":{}`))},
		{Name: "an error", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.Fail,
			Message: "the client answered a sampling request that came as a request: this era has none",
			Steps:   direct(directSample, sample, response(`"direct-sample"`, `"error":{"code":-32601,"message":"no"}`))},
		{Name: "a response to something else", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.Pass, Message: "it got no response",
			Steps: direct(directSample, sample, response(`5`, `"result":{}`))},
		{Name: "not settled", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.Unsupported,
			Message: "no response came, and it is not settled that none would have: the client must call the tools in the order of tools/list and answer the last sampling request: no later sampling request was answered, so it could still come",
			Steps:   direct(directSample, sample, func(*tracetest.Story) {})},
		{Name: "never asked", Check: "mrtr/direct-request-unanswered", CaseID: "direct", Verdict: report.NotObserved, Message: "the server did not get as far as such a request",
			Steps: func(*tracetest.Story) {}},

		{Name: "nothing to a ping", Check: "mrtr/no-responses", CaseID: "ping", Verdict: report.Pass, Message: "the client sent no response", Steps: direct(directPing, "ping", goesOn)},
		{Name: "a pong", Check: "mrtr/no-responses", CaseID: "ping", Verdict: report.Fail, Message: "the client sent a JSON-RPC response, which this era does not have",
			Steps: direct(directPing, "ping", response(`"direct-ping"`, `"result":{}`))},
	})
}

func TestInputThatMustNotBeGiven(t *testing.T) {
	const undeclared = `"inputRequests":{"undeclared":{"method":"roots/list"}},"requestState":"s",`
	gives := func(answer string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			again(wishes(s, 7, undeclared), 8, `,"requestState":"s","inputResponses":`+answer)
		}
	}
	inRoundTrips(t, []tracetest.Test{
		{Name: "not given", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.Pass, Message: "the client did not give what it does not declare (roots/list)",
			Steps: func(s *tracetest.Story) { wishes(s, 7, undeclared).PassesBarrier() }},
		{Name: "not given yet", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.NotObserved,
			Message: "the client did not make its request again, and it is not settled that it would not have: no later sampling request was answered, so it could still come",
			Steps:   func(s *tracetest.Story) { wishes(s, 7, undeclared) }},
		{Name: "left out", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.Pass, Message: "the client made its request again without what it does not declare",
			Steps: gives(`{}`)},
		{Name: "an error", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.Warn,
			Message: "the client refuses what it does not declare in a retry, where it need not retry at all", Steps: gives(`{"undeclared":{"error":{"code":-32601}}}`)},
		{Name: "given", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.Fail, Message: "the client gave input that it does not declare: roots/list",
			Steps: gives(`{"undeclared":{"roots":[]}}`)},
		{Name: "all is declared", Check: "mrtr/undeclared-input", CaseID: "undeclared", Verdict: report.NotApplicable, Message: "the client declares all that could be asked for",
			Steps: func(s *tracetest.Story) { s.Marks(trace.MarkHandlerEnded, "") }},

		{Name: "went on", Check: "mrtr/bad-input", CaseID: "null-input", Verdict: report.Pass, Message: "the client went on",
			Steps: func(s *tracetest.Story) { wishes(s, 7, `"inputRequests":{"bad":null},`).PassesBarrier() }},
		{Name: "panicked", Check: "mrtr/bad-input", CaseID: "null-input", Verdict: report.Fail,
			Message: "the client did not go on after an input request that is none: it panicked: nil",
			Steps: func(s *tracetest.Story) {
				wishes(s, 7, `"inputRequests":{"bad":null},`).Ends(trace.Process{Panic: "nil"})
			}},
		{Name: "did not come again", Check: "mrtr/bad-input", CaseID: "null-input", Verdict: report.Unsupported,
			Message: "nothing shows that the client went on: it takes one that calls the tools in the order in which they are listed, and answers the last one's sample",
			Steps:   func(s *tracetest.Story) { wishes(s, 7, `"inputRequests":{"bad":null},`) }},
	})
}

func TestIDsOfRequests(t *testing.T) {
	under := func(id string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list","params":{}}`)
		}
	}
	var tellings []tracetest.Test
	for id, good := range map[string]bool{`"a"`: true, `12`: true, `-1`: true, `1e3`: true, `9007199254740993`: true, `null`: false, `1.5`: false, `[1]`: false, `{}`: false, `true`: false} {
		c := tracetest.Test{Name: id, Check: "mrtr/request-ids", CaseID: "several", Verdict: report.Pass, Message: "the ids are strings or integers", Steps: under(id)}
		if !good {
			c.Verdict, c.Message = report.Fail, "the id of a tools/list is neither a string nor an integer"
		}
		tellings = append(tellings, c)
	}
	inRoundTrips(t, tellings)
}

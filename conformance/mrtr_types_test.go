package conformance

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestWhatAResultIsTakenFor(t *testing.T) {
	look := func(resultType, outcome string, then ...func(*story)) func(*story) {
		return func(s *story) {
			members := `"content":[],` + inputs("a") + state("s")
			s.results(7, strings.TrimSuffix(members+resultType, ","))
			for _, f := range then {
				f(s)
			}
			if outcome != "" {
				s.marks(trace.MarkOutcome, `{"mcp-conform":"outcome","tool":"x","outcome":"`+outcome+`"}`)
			}
			s.passesBarrier()
		}
	}
	again := func(s *story) { s.again(8, gives(withState("s"), "a")) }
	prompt := func(s *story) { s.prompt(`{"messages":[],"maxTokens":1}`, trace.ModelEnd{Status: 200}) }
	const untyped, unknown = "", `"resultType":"unheard-of"`
	inRoundTrips(t, []telling{
		{name: "complete", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.Pass, message: "it was taken to be complete", tell: look(untyped, "completed")},
		{name: "refused", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.Warn,
			message: "the client refuses a result without a resultType (failed): the rule is for older servers, which this one is not, so that it may; with an older one it must not",
			tell:    look(untyped, "failed")},
		{name: "untold", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.Unsupported,
			message: "the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)",
			tell:    look(untyped, "")},
		{name: "untold, and not settled", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.NotObserved,
			message: "the client did not make its request again, and it is not settled that it would not have: no later sample was answered, so that it may only not have come yet",
			tell:    func(s *story) { s.results(7, `"content":[],`+strings.TrimSuffix(inputs("a"), ",")) }},
		{name: "fulfilled", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.Fail,
			message: "a result without a resultType was taken for one that asks for input: the client made its request again", tell: look(untyped, "completed", again)},
		{name: "fulfilled in part", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.Fail,
			message: "a result without a resultType was taken for one that asks for input: the model was asked", tell: look(untyped, "completed", prompt)},
		{name: "never sent", check: "mrtr/missing-result-type", caseID: "untyped", verdict: report.NotObserved, message: "the server did not get as far as such a result",
			tell: func(*story) {}},

		{name: "refused", check: "mrtr/unknown-result-type", caseID: "unknown-type", verdict: report.Pass, message: "the call ended with an error", tell: look(unknown, "failed")},
		{name: "complete", check: "mrtr/unknown-result-type", caseID: "unknown-type", verdict: report.Fail, message: "a result of the type unheard-of was taken to be complete",
			tell: look(unknown, "completed")},
		{name: "one that asks", check: "mrtr/unknown-result-type", caseID: "unknown-type", verdict: report.Warn,
			message: "a result of the type unheard-of was taken for one that asks for input, which was not given", tell: look(unknown, "input_required")},
		{name: "fulfilled", check: "mrtr/unknown-result-type", caseID: "unknown-type", verdict: report.Fail,
			message: "a result of the type unheard-of was taken for one that asks for input: the client made its request again", tell: look(unknown, "failed", again)},
		{name: "untold", check: "mrtr/unknown-result-type", caseID: "unknown-type", verdict: report.Unsupported,
			message: "the result was not taken for one that asks for input; to see what it was taken for takes a client that says how its calls ended (docs/adapters.md)",
			tell:    look(unknown, "")},
	})
}

func TestResponsesToWhatTheServerMustNotAsk(t *testing.T) {
	direct := func(id, method string, then func(*story)) func(*story) {
		return func(s *story) {
			s.frame(s.caseID, trace.ToClient, 200, `{"jsonrpc":"2.0","id":"`+id+`","method":"`+method+`","params":{}}`)
			s.results(7, `"content":[],"resultType":"complete"`)
			then(s)
		}
	}
	response := func(id, rest string) func(*story) {
		return func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,`+rest+`}`)
			s.passesBarrier()
		}
	}
	goesOn := func(s *story) { s.passesBarrier() }
	const sample = "sampling/createMessage"
	inRoundTrips(t, []telling{
		{name: "nothing", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.Pass, message: "it got no response", tell: direct(directSample, sample, goesOn)},
		{name: "a result", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.Fail,
			message: "the client answered a sampling request that came as a request: this era has none", tell: direct(directSample, sample, response(`"direct-sample"`, `"result":{}`))},
		{name: "an error", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.Fail,
			message: "the client answered a sampling request that came as a request: this era has none",
			tell:    direct(directSample, sample, response(`"direct-sample"`, `"error":{"code":-32601,"message":"no"}`))},
		{name: "a response to something else", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.Pass, message: "it got no response",
			tell: direct(directSample, sample, response(`5`, `"result":{}`))},
		{name: "not settled", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.Unsupported,
			message: "no response came, and it is not settled that none would have: it takes a client that calls the tools in the order in which they are listed, and answers the last one's sample: no later sample was answered, so that it may only not have come yet",
			tell:    direct(directSample, sample, func(*story) {})},
		{name: "never asked", check: "mrtr/direct-request-unanswered", caseID: "direct", verdict: report.NotObserved, message: "the server did not get as far as such a request",
			tell: func(*story) {}},

		{name: "nothing to a ping", check: "mrtr/no-responses", caseID: "ping", verdict: report.Pass, message: "the client sent no response", tell: direct(directPing, "ping", goesOn)},
		{name: "a pong", check: "mrtr/no-responses", caseID: "ping", verdict: report.Fail, message: "the client sent a JSON-RPC response, which this era does not have",
			tell: direct(directPing, "ping", response(`"direct-ping"`, `"result":{}`))},
	})
}

func TestInputThatMustNotBeGiven(t *testing.T) {
	const undeclared = `"inputRequests":{"undeclared":{"method":"roots/list"}},"requestState":"s",`
	gives := func(answer string) func(*story) {
		return func(s *story) { s.wishes(7, undeclared).again(8, `,"requestState":"s","inputResponses":`+answer) }
	}
	inRoundTrips(t, []telling{
		{name: "not given", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.Pass, message: "the client did not give what it does not declare (roots/list)",
			tell: func(s *story) { s.wishes(7, undeclared).passesBarrier() }},
		{name: "not given yet", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.NotObserved,
			message: "the client did not make its request again, and it is not settled that it would not have: no later sample was answered, so that it may only not have come yet",
			tell:    func(s *story) { s.wishes(7, undeclared) }},
		{name: "left out", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.Pass, message: "the client made its request again without what it does not declare",
			tell: gives(`{}`)},
		{name: "an error", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.Warn,
			message: "the client refuses what it does not declare in a retry, where it need not retry at all", tell: gives(`{"undeclared":{"error":{"code":-32601}}}`)},
		{name: "given", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.Fail, message: "the client gave input that it does not declare: roots/list",
			tell: gives(`{"undeclared":{"roots":[]}}`)},
		{name: "all is declared", check: "mrtr/undeclared-input", caseID: "undeclared", verdict: report.NotApplicable, message: "the client declares all that could be asked for",
			tell: func(s *story) { s.marks(trace.MarkHandlerEnded, "") }},

		{name: "went on", check: "mrtr/bad-input", caseID: "null-input", verdict: report.Pass, message: "the client went on",
			tell: func(s *story) { s.wishes(7, `"inputRequests":{"bad":null},`).passesBarrier() }},
		{name: "panicked", check: "mrtr/bad-input", caseID: "null-input", verdict: report.Fail,
			message: "the client did not go on after an input request that is none: it panicked: nil",
			tell:    func(s *story) { s.wishes(7, `"inputRequests":{"bad":null},`).ends(trace.Process{Panic: "nil"}) }},
		{name: "did not come again", check: "mrtr/bad-input", caseID: "null-input", verdict: report.Unsupported,
			message: "nothing shows that the client went on: it takes one that calls the tools in the order in which they are listed, and answers the last one's sample",
			tell:    func(s *story) { s.wishes(7, `"inputRequests":{"bad":null},`) }},
	})
}

func TestIDsOfRequests(t *testing.T) {
	under := func(id string) func(*story) {
		return func(s *story) {
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/list","params":{}}`)
		}
	}
	var tellings []telling
	for id, good := range map[string]bool{`"a"`: true, `12`: true, `-1`: true, `1e3`: true, `9007199254740993`: true, `null`: false, `1.5`: false, `[1]`: false, `{}`: false, `true`: false} {
		c := telling{name: id, check: "mrtr/request-ids", caseID: "several", verdict: report.Pass, message: "the ids are strings or integers", tell: under(id)}
		if !good {
			c.verdict, c.message = report.Fail, "the id of a tools/list is neither a string nor an integer"
		}
		tellings = append(tellings, c)
	}
	inRoundTrips(t, tellings)
}

package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestIDsOfAllKinds(t *testing.T) {
	// answered asks under each id and answers under what becomes of it.
	answered := func(becomes func(id string) string) func(*story) {
		return func(s *story) {
			for _, id := range requestIDs {
				s.frame(s.caseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"method":"sampling/createMessage","params":`+string(asJSON(asking("Yes?")))+`}`)
				s.responds(becomes(id), `"result":`+saying("Yes."))
			}
		}
	}
	as := func(id, other string) func(string) string {
		return func(got string) string {
			if got == id {
				return other
			}
			return got
		}
	}
	same := func(id string) string { return id }
	hold(t, catalogue, []telling{
		{name: "as they were", check: "basic/id-echoed", caseID: "ids", in: inA, tell: answered(same), verdict: report.Pass, message: "ids came back as they were"},
		{name: "each answered once", check: "basic/answers-once", caseID: "ids", in: inA, tell: answered(same), verdict: report.Pass, message: "one response came for each request"},
		{name: "a string as a number", check: "basic/id-echoed", caseID: "ids", in: inA, tell: answered(as(`"1"`, `1`)), verdict: report.Fail, message: `the response to request "1" has the id 1`},
		{name: "a string as a number, once", check: "basic/answers-once", caseID: "ids", in: inA, tell: answered(as(`"1"`, `1`)), verdict: report.Pass, message: "one response came for each request"},
		{name: "a number as a string", check: "basic/id-echoed", caseID: "ids", in: inA, tell: answered(as(`1`, `"1"`)), verdict: report.Fail, message: `the response to request 1 has the id "1"`},
		{name: "a large number as a float", check: "basic/id-echoed", caseID: "ids", in: inA, tell: answered(as(`9007199254740991`, `9007199254740991.0`)), verdict: report.Fail,
			message: "the response to request 9007199254740991 has the id 9007199254740991.0"},
	})
}

func TestTheShapeOfAnError(t *testing.T) {
	with := func(error string) func(*story) {
		return func(s *story) {
			s.asks(asking("?")).prompt(`{"messages":[]}`, trace.ModelEnd{Status: 400}).responds(s.id(), `"error":`+error)
		}
	}
	var tellings []telling
	for _, c := range []struct {
		error   string
		verdict report.Verdict
		message string
	}{
		{`{"code":-32603,"message":"failed"}`, report.Pass, "the error has the code -32603 and a message"},
		{`{"code":0,"message":""}`, report.Pass, "the error has the code 0 and a message"},
		{`{"code":-1.0,"message":"no","data":[1]}`, report.Pass, "the error has the code -1.0 and a message"},
		{`{"message":"failed"}`, report.Fail, "the error has no code that is an integer"},
		{`{"code":"E_FAIL","message":"failed"}`, report.Fail, "the error has no code that is an integer"},
		{`{"code":1.5,"message":"failed"}`, report.Fail, "the error has no code that is an integer"},
		{`{"code":1e999999999,"message":"failed"}`, report.Fail, "the error has no code that is an integer"},
		{`{"code":null,"message":"failed"}`, report.Fail, "the error has no code that is an integer"},
		{`"failed"`, report.Fail, "the error has no code that is an integer"},
		{`{"code":-32603}`, report.Fail, "the error has no message that is a string"},
		{`{"code":-32603,"message":{"text":"failed"}}`, report.Fail, "the error has no message that is a string"},
	} {
		tellings = append(tellings, telling{name: c.error, check: "basic/error-shape", caseID: "failing", in: inA, tell: with(c.error), verdict: c.verdict, message: c.message})
	}
	hold(t, catalogue, append(tellings,
		telling{name: "of an answer", check: "basic/error-shape", caseID: "failing", in: inA, tell: func(s *story) { s.asks(asking("?")).answers(saying("Sorry.")) },
			verdict: report.NotApplicable, message: "the client gave no error when the model had failed"},
		telling{name: "of silence", check: "basic/error-shape", caseID: "failing", in: inA, tell: func(s *story) { s.asks(asking("?")) },
			verdict: report.NotObserved, message: "the client did not answer at all when the model had failed"}))
}

func TestContentBeforeThereWereArrays(t *testing.T) {
	block := `{"type":"text","text":"hello"}`
	for _, c := range []struct {
		content string
		verdict report.Verdict
	}{{block, report.Pass}, {"null", report.Pass}, {"[" + block + "]", report.Fail}, {"[]", report.Fail}} {
		for _, revision := range inOld {
			message := "content is a single block"
			if c.verdict == report.Fail {
				message = "content is an array, which " + string(revision) + " does not have"
			}
			hold(t, catalogue, []telling{{name: c.content, check: "basic/no-array-before-a", caseID: "question", in: []server.Revision{revision},
				tell: answersWith(with(saying(answer), "content", c.content)), verdict: c.verdict, message: message}})
		}
	}
}

func TestAnswersThatAreEmpty(t *testing.T) {
	with := func(content string) func(*story) {
		return func(s *story) {
			result := with(saying(""), "content", content)
			s.asks(asking("?")).prompts(asking("?")).answers(result)
		}
	}
	const valid, invalid = "the content is valid", "the model had nothing to say, and the result's content is not valid"
	hold(t, catalogue, []telling{
		{name: "an empty text", check: "basic/empty-answer", caseID: "empty", tell: with(`{"type":"text","text":""}`), verdict: report.Pass, message: valid},
		{name: "a text of the client's own", check: "basic/empty-answer", caseID: "empty", tell: with(`{"type":"text","text":"(nothing)"}`), verdict: report.Pass, message: valid},
		{name: "no blocks", check: "basic/empty-answer", caseID: "empty", tell: with(`[]`), verdict: report.Pass, message: valid},
		{name: "no blocks, where there are no arrays", check: "basic/empty-answer", caseID: "empty", tell: with(`[]`), in: inOld, verdict: report.Fail, message: invalid},
		{name: "null", check: "basic/empty-answer", caseID: "empty", tell: with(`null`), verdict: report.Fail, message: invalid},
		{name: "a text that is null", check: "basic/empty-answer", caseID: "empty", tell: with(`{"type":"text","text":null}`), verdict: report.Fail, message: invalid},
		{name: "a block without its text", check: "basic/empty-answer", caseID: "empty", tell: with(`{"type":"text"}`), verdict: report.Fail, message: invalid},
		{name: "no content", check: "basic/empty-answer", caseID: "empty", tell: with(``), verdict: report.Fail, message: "the model had nothing to say, and the result has no content"},
		{name: "no model, which is judged elsewhere", check: "basic/empty-answer", caseID: "empty", verdict: report.Pass, message: valid,
			tell: func(s *story) { s.asks(asking("?")).prompts(asking("?")).answers(without(saying(""), "model")) }},
		{name: "an error", check: "basic/empty-answer", caseID: "empty", in: inA, tell: func(s *story) { s.asks(asking("?")).prompts(asking("?")).refuses(-32603, "empty").passesBarrier() },
			verdict: report.Pass, message: `the client has nothing to answer, and says so: "empty" (code -32603)`},
		{name: "silence", check: "basic/empty-answer", caseID: "empty", in: inA, tell: func(s *story) { s.asks(asking("?")).prompts(asking("?")) },
			verdict: report.NotObserved, message: "the client did not answer when the model had nothing to say: no answer came for request 1"},
	})
}

func TestLongTexts(t *testing.T) {
	said := func(text string) func(*story) {
		return func(s *story) {
			s.asks(asking("Speak at length.")).prompts(asking("Speak at length.")).answers(saying(text))
		}
	}
	listened := func(text string) func(*story) {
		return func(s *story) {
			said("Long.")(s)
			s.asks(asking(longPrompt)).prompts(asking(text)).answers(saying("That was long."))
		}
	}
	hold(t, catalogue, []telling{
		{name: "whole", check: "basic/text-intact", caseID: "long", tell: said(longText), verdict: report.Pass, message: "the text came through unchanged"},
		{name: "cut", check: "basic/text-intact", caseID: "long", tell: said(strings.ToValidUTF8(longText[:1<<16], "")), verdict: report.Fail, message: "the text that the model said is not the text that the server got"},
		{name: "whole", check: "basic/prompt-reaches-model", caseID: "long", tell: listened(longPrompt), verdict: report.Pass, message: "the model got the text unchanged"},
		{name: "cut", check: "basic/prompt-reaches-model", caseID: "long", tell: listened(strings.ToValidUTF8(longPrompt[:1<<16], "")), verdict: report.Fail, message: "the text that the server sent is not what the model was given"},
		{name: "refused", check: "basic/prompt-reaches-model", caseID: "long", in: inA, tell: func(s *story) {
			said("Long.")(s)
			s.asks(asking(longPrompt)).refuses(-32602, "too long")
		}, verdict: report.Pass, message: `the client takes no text as long as this, and says so: "too long" (code -32602)`},
		{name: "never asked", check: "basic/prompt-reaches-model", caseID: "long", tell: said("Long."), verdict: report.NotObserved, message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
	})
}

func TestTheModelIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		named string
		right bool
	}{
		"as it was asked": {"gpt-4o", true}, "with a date": {"gpt-4o-2024-08-06", true}, "with its provider": {"openai/gpt-4o", true}, "as people write it": {"GPT-4o", true},
		"with blanks": {"GPT 4o (latest)", true}, "not": {"", false}, "by a mere sign": {"-", false}, "as the client": {"my-client", false}, "as another": {"claude-sonnet-4-5", false},
	} {
		one := telling{name: name, check: "basic/model-named", caseID: "question", dialects: openAI, tell: answersWith(with(saying(answer), "model", fmt.Sprintf("%q", c.named))),
			verdict: report.Pass, message: "the result names the model that was asked"}
		if !c.right {
			one.verdict, one.message = report.Warn, fmt.Sprintf("the result names the model %q, and %q was asked", c.named, "gpt-4o")
		}
		hold(t, catalogue, []telling{one})
	}
	hold(t, catalogue, []telling{{name: "by no string", check: "basic/model-named", caseID: "question", tell: answersWith(without(saying(answer), "model")),
		verdict: report.NotObserved, message: "the result names no model (see basic/has-model)"}})
}

func TestWhatBecomesOfTheSystemPrompt(t *testing.T) {
	system := func(prompt string) func(*story) {
		return promptsWith(func(p *server.CreateMessageParams) { p.SystemPrompt = prompt })
	}
	hold(t, catalogue, []telling{
		{name: "the same", check: "basic/system-prompt", caseID: "question", tell: right, verdict: report.Info, message: "the system prompt is passed on as it is"},
		{name: "more", check: "basic/system-prompt", caseID: "question", tell: system("You speak for a host. You are a helpful assistant."), verdict: report.Info,
			message: "the system prompt is passed on, with more around it"},
		{name: "another", check: "basic/system-prompt", caseID: "question", tell: system("You speak for a host."), verdict: report.Info,
			message: "the system prompt is altered, or another one stands in its place"},
		{name: "none", check: "basic/system-prompt", caseID: "question", tell: system(""), verdict: report.Info, message: "the system prompt is left out"},
		{name: "a message", check: "basic/system-prompt", caseID: "question", verdict: report.Info, message: "the system prompt is passed on as a message",
			tell: promptsWith(func(p *server.CreateMessageParams) {
				p.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Text(p.SystemPrompt)}}, p.Messages...)
				p.SystemPrompt = ""
			})},

		{name: "not there", check: "basic/system-prompt-not-echoed", caseID: "question", tell: right, verdict: report.Pass, message: "the system prompt does not stand in the answer"},
		{name: "before the answer", check: "basic/system-prompt-not-echoed", caseID: "question", tell: answersWith(saying("You are a helpful assistant.\n" + answer)), verdict: report.Fail,
			message: "the system prompt stands in the answer"},
		{name: "nowhere that can be read", check: "basic/system-prompt-not-echoed", caseID: "question", tell: answersWith(with(saying(answer), "content", "null")), verdict: report.NotObserved,
			message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestWhatBecomesOfParameters(t *testing.T) {
	// tuned asks as the case does, and has the model asked with what the edits make of it.
	tuned := func(first, second func(*server.CreateMessageParams)) func(*story) {
		return func(s *story) {
			for i, edit := range []func(*server.CreateMessageParams){first, second} {
				ask := func() *server.CreateMessageParams {
					p := asking("Count.")
					warmth := temperature
					if p.Temperature, p.StopSequences = &warmth, []string{stopSequence}; i == 1 {
						p.Temperature, p.StopSequences, p.Metadata = nil, nil, object{"user_id": metadataWord}
					}
					return p
				}
				changed := ask()
				edit(changed)
				s.asks(ask()).prompts(changed).answers(with(saying("One."), "stopReason", `"stopSequence"`))
			}
		}
	}
	kept := func(*server.CreateMessageParams) {}
	dropped := func(p *server.CreateMessageParams) { p.Temperature, p.StopSequences, p.Metadata = nil, nil, nil }
	warmer := func(p *server.CreateMessageParams) { *p.Temperature = 1 }
	refused := func(end trace.ModelEnd) func(*story) {
		return func(s *story) {
			s.asks(asking("Count.")).prompts(asking("Count.")).answers(saying("One."))
			s.asks(asking("Count.")).prompt(`{}`, end).refuses(-32603, "failed")
		}
	}
	hold(t, catalogue, []telling{
		{name: "kept", check: "basic/parameters", caseID: "tuned", tell: tuned(kept, kept), dialects: native, verdict: report.Info,
			message: "temperature is passed on, stop sequences are passed on, metadata are passed on"},
		{name: "kept, but for what the provider does not have", check: "basic/parameters", caseID: "tuned", tell: tuned(kept, kept), dialects: openAI, verdict: report.Info,
			message: "temperature is passed on, stop sequences are passed on, metadata are left out"},
		{name: "dropped", check: "basic/parameters", caseID: "tuned", tell: tuned(dropped, dropped), verdict: report.Info,
			message: "temperature is left out, stop sequences are left out, metadata are left out"},
		{name: "changed", check: "basic/parameters", caseID: "tuned", tell: tuned(warmer, dropped), verdict: report.Info,
			message: "temperature is changed to 1, stop sequences are passed on, metadata are left out"},
		{name: "by no model that we know", check: "basic/parameters", caseID: "tuned", verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark",
			tell:    func(s *story) { s.asks(asking("?")).answers(saying("")).asks(asking("?")).answers(saying("")) }},

		{name: "harmless", check: "basic/parameters-harmless", caseID: "tuned", tell: tuned(kept, dropped), verdict: report.Pass, message: "requests with parameters are answered"},
		{name: "an error", check: "basic/parameters-harmless", caseID: "tuned", in: inA, verdict: report.Fail,
			tell:    refused(trace.ModelEnd{Status: 500}),
			message: `a request with metadata was not answered: request 2 was answered by the error "failed" (code -32603)`},
		{name: "passed on to a provider that does not take metadata", check: "basic/parameters-harmless", caseID: "tuned", in: inA, verdict: report.Pass,
			tell: refused(trace.ModelEnd{Status: 400, Refused: "user_id is unknown"}), message: "metadata are passed on, and the provider does not take them: user_id is unknown"},
		{name: "an error to a client that answers nothing", check: "basic/parameters-harmless", caseID: "tuned", in: inA, verdict: report.NotObserved,
			tell: func(s *story) { s.asks(asking("?")).refuses(-1, "no") }, message: "the client answers no request at all (see basic/answered)"},

		{name: "a stop sequence", check: "basic/stop-reason", caseID: "tuned", tell: tuned(kept, kept), verdict: report.Info, message: `where the model stopped for stopSequence, the result says "stopSequence"`},
		{name: "none", check: "basic/stop-reason", caseID: "question", tell: answersWith(without(saying(answer), "stopReason")), verdict: report.Info,
			message: "where the model stopped for endTurn, the result gives no reason"},
		{name: "one of its own", check: "basic/stop-reason", caseID: "truncated", tell: truncatedWith(with(saying("Once"), "stopReason", `"length"`)), verdict: report.Info,
			message: `where the model stopped for maxTokens, the result says "length"`},
	})
}

func TestDifferencesOfTexts(t *testing.T) {
	for _, c := range []struct{ want, got, says string }{
		{"abc", "abd", `from byte 2 on: "abd", where "abc" is due`},
		{"Paris – Köln", "Paris – Koln", `from byte 11 on: "Paris – Koln", where "Paris – Köln" is due`},
		{"abc", "", `from byte 0 on: "", where "abc" is due`},
		{strings.Repeat("x", 100) + "äb", strings.Repeat("x", 100) + "öb", `from byte 101 on: "xxxxxxxxxxxxxxxxxxxöb", where "xxxxxxxxxxxxxxxxxxxäb" is due`},
	} {
		require.Equal(t, c.says, difference(c.want, c.got))
	}
	require.Equal(t, fmt.Sprintf("%q… (600 bytes)", strings.Repeat("ä", 30)), quoted(strings.Repeat("ä", 300)))
}

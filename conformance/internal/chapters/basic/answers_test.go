package basic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestIDsOfAllKinds(t *testing.T) {
	// answered asks under each id and answers under what becomes of it.
	answered := func(becomes func(id string) string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			for _, id := range requestIDs {
				s.Frame(s.CaseID, trace.ToClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"method":"sampling/createMessage","params":`+string(story.JSON(tracetest.Asking("Yes?")))+`}`)
				s.Responds(becomes(id), `"result":`+tracetest.Saying("Yes."))
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
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "as they were", Check: "basic/id-echoed", CaseID: "ids", In: tracetest.InA, Steps: answered(same), Verdict: report.Pass, Message: "ids came back as they were"},
		{Name: "each answered once", Check: "basic/answers-once", CaseID: "ids", In: tracetest.InA, Steps: answered(same), Verdict: report.Pass, Message: "one response came for each request"},
		{Name: "a string as a number", Check: "basic/id-echoed", CaseID: "ids", In: tracetest.InA, Steps: answered(as(`"1"`, `1`)), Verdict: report.Fail, Message: `the response to request "1" has the id 1`},
		{Name: "a string as a number, once", Check: "basic/answers-once", CaseID: "ids", In: tracetest.InA, Steps: answered(as(`"1"`, `1`)), Verdict: report.Pass, Message: "one response came for each request"},
		{Name: "a number as a string", Check: "basic/id-echoed", CaseID: "ids", In: tracetest.InA, Steps: answered(as(`1`, `"1"`)), Verdict: report.Fail, Message: `the response to request 1 has the id "1"`},
		{Name: "a large number as a float", Check: "basic/id-echoed", CaseID: "ids", In: tracetest.InA, Steps: answered(as(`9007199254740991`, `9007199254740991.0`)), Verdict: report.Fail,
			Message: "the response to request 9007199254740991 has the id 9007199254740991.0"},
	})
}

func TestTheShapeOfAnError(t *testing.T) {
	with := func(error string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("?")).Prompt(`{"messages":[]}`, trace.ModelEnd{Status: 400}).Responds(s.ID(), `"error":`+error)
		}
	}
	var tellings []tracetest.Test
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
		tellings = append(tellings, tracetest.Test{Name: c.error, Check: "basic/error-shape", CaseID: "failing", In: tracetest.InA, Steps: with(c.error), Verdict: c.verdict, Message: c.message})
	}
	tracetest.Run(t, catalogue, append(tellings,
		tracetest.Test{Name: "of an answer", Check: "basic/error-shape", CaseID: "failing", In: tracetest.InA, Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("?")).Answers(tracetest.Saying("Sorry.")) },
			Verdict: report.NotApplicable, Message: "the client gave no error when the model had failed"},
		tracetest.Test{Name: "of silence", Check: "basic/error-shape", CaseID: "failing", In: tracetest.InA, Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("?")) },
			Verdict: report.NotObserved, Message: "the client did not answer at all when the model had failed"}))
}

func TestContentBeforeThereWereArrays(t *testing.T) {
	block := `{"type":"text","text":"hello"}`
	for _, c := range []struct {
		content string
		verdict report.Verdict
	}{{block, report.Pass}, {"null", report.Pass}, {"[" + block + "]", report.Fail}, {"[]", report.Fail}} {
		for _, revision := range tracetest.InOld {
			message := "content is a single block"
			if c.verdict == report.Fail {
				message = "content is an array, which " + string(revision) + " does not have"
			}
			tracetest.Run(t, catalogue, []tracetest.Test{{Name: c.content, Check: "basic/no-array-before-a", CaseID: "question", In: []server.Revision{revision},
				Steps: tracetest.AnswersWith(tracetest.With(tracetest.Saying(story.Answer), "content", c.content)), Verdict: c.verdict, Message: message}})
		}
	}
}

func TestAnswersThatAreEmpty(t *testing.T) {
	with := func(content string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			result := tracetest.With(tracetest.Saying(""), "content", content)
			s.Asks(tracetest.Asking("?")).Prompts(tracetest.Asking("?")).Answers(result)
		}
	}
	const valid, invalid = "the content is valid", "the model had nothing to say, and the result's content is not valid"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "an empty text", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`{"type":"text","text":""}`), Verdict: report.Pass, Message: valid},
		{Name: "a text of the client's own", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`{"type":"text","text":"(nothing)"}`), Verdict: report.Pass, Message: valid},
		{Name: "no blocks", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`[]`), Verdict: report.Pass, Message: valid},
		{Name: "no blocks, where there are no arrays", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`[]`), In: tracetest.InOld, Verdict: report.Fail, Message: invalid},
		{Name: "null", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`null`), Verdict: report.Fail, Message: invalid},
		{Name: "a text that is null", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`{"type":"text","text":null}`), Verdict: report.Fail, Message: invalid},
		{Name: "a block without its text", Check: "basic/empty-answer", CaseID: "empty", Steps: with(`{"type":"text"}`), Verdict: report.Fail, Message: invalid},
		{Name: "no content", Check: "basic/empty-answer", CaseID: "empty", Steps: with(``), Verdict: report.Fail, Message: "the model had nothing to say, and the result has no content"},
		{Name: "no model, which is judged elsewhere", Check: "basic/empty-answer", CaseID: "empty", Verdict: report.Pass, Message: valid,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("?")).Prompts(tracetest.Asking("?")).Answers(tracetest.Without(tracetest.Saying(""), "model"))
			}},
		{Name: "an error", Check: "basic/empty-answer", CaseID: "empty", In: tracetest.InA, Steps: func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("?")).Prompts(tracetest.Asking("?")).Refuses(-32603, "empty").PassesBarrier()
		},
			Verdict: report.Pass, Message: `the client has nothing to answer, and says so: "empty" (code -32603)`},
		{Name: "silence", Check: "basic/empty-answer", CaseID: "empty", In: tracetest.InA, Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("?")).Prompts(tracetest.Asking("?")) },
			Verdict: report.NotObserved, Message: "the client did not answer when the model had nothing to say: no answer came for request 1"},
	})
}

func TestLongTexts(t *testing.T) {
	said := func(text string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("Speak at length.")).Prompts(tracetest.Asking("Speak at length.")).Answers(tracetest.Saying(text))
		}
	}
	listened := func(text string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			said("Long.")(s)
			s.Asks(tracetest.Asking(longPrompt)).Prompts(tracetest.Asking(text)).Answers(tracetest.Saying("That was long."))
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "whole", Check: "basic/text-intact", CaseID: "long", Steps: said(longText), Verdict: report.Pass, Message: "the text came through unchanged"},
		{Name: "cut", Check: "basic/text-intact", CaseID: "long", Steps: said(strings.ToValidUTF8(longText[:1<<16], "")), Verdict: report.Fail, Message: "the text that the model said is not the text that the server got"},
		{Name: "whole", Check: "basic/prompt-reaches-model", CaseID: "long", Steps: listened(longPrompt), Verdict: report.Pass, Message: "the model got the text unchanged"},
		{Name: "cut", Check: "basic/prompt-reaches-model", CaseID: "long", Steps: listened(strings.ToValidUTF8(longPrompt[:1<<16], "")), Verdict: report.Fail, Message: "the text that the server sent is not what the model was given"},
		{Name: "refused", Check: "basic/prompt-reaches-model", CaseID: "long", In: tracetest.InA, Steps: func(s *tracetest.Story) {
			said("Long.")(s)
			s.Asks(tracetest.Asking(longPrompt)).Refuses(-32602, "too long")
		}, Verdict: report.Pass, Message: `the client takes no text as long as this, and says so: "too long" (code -32602)`},
		{Name: "never asked", Check: "basic/prompt-reaches-model", CaseID: "long", Steps: said("Long."), Verdict: report.NotObserved, Message: "the play did not get as far as sampling request 2: the answer to request 1 could not be gone on from"},
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
		one := tracetest.Test{Name: name, Check: "basic/model-named", CaseID: "question", Dialects: tracetest.OpenAI, Steps: tracetest.AnswersWith(tracetest.With(tracetest.Saying(story.Answer), "model", fmt.Sprintf("%q", c.named))),
			Verdict: report.Pass, Message: "the result names the model that was asked"}
		if !c.right {
			one.Verdict, one.Message = report.Warn, fmt.Sprintf("the result names the model %q, and %q was asked", c.named, "gpt-4o")
		}
		tracetest.Run(t, catalogue, []tracetest.Test{one})
	}
	tracetest.Run(t, catalogue, []tracetest.Test{{Name: "by no string", Check: "basic/model-named", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Without(tracetest.Saying(story.Answer), "model")),
		Verdict: report.NotObserved, Message: "the result names no model (see basic/has-model)"}})
}

func TestWhatBecomesOfTheSystemPrompt(t *testing.T) {
	system := func(prompt string) func(*tracetest.Story) {
		return promptsWith(func(p *server.CreateMessageParams) { p.SystemPrompt = prompt })
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "the same", Check: "basic/system-prompt", CaseID: "question", Steps: tracetest.Right, Verdict: report.Info, Message: "the system prompt is passed on as it is"},
		{Name: "more", Check: "basic/system-prompt", CaseID: "question", Steps: system("You speak for a host. You are a helpful assistant."), Verdict: report.Info,
			Message: "the system prompt is passed on, with more around it"},
		{Name: "another", Check: "basic/system-prompt", CaseID: "question", Steps: system("You speak for a host."), Verdict: report.Info,
			Message: "the system prompt is altered, or another one stands in its place"},
		{Name: "none", Check: "basic/system-prompt", CaseID: "question", Steps: system(""), Verdict: report.Info, Message: "the system prompt is left out"},
		{Name: "a message", Check: "basic/system-prompt", CaseID: "question", Verdict: report.Info, Message: "the system prompt is passed on as a message",
			Steps: promptsWith(func(p *server.CreateMessageParams) {
				p.Messages = append([]server.SamplingMessage{{Role: "user", Content: server.Text(p.SystemPrompt)}}, p.Messages...)
				p.SystemPrompt = ""
			})},

		{Name: "not there", Check: "basic/system-prompt-not-echoed", CaseID: "question", Steps: tracetest.Right, Verdict: report.Pass, Message: "the system prompt does not stand in the answer"},
		{Name: "before the answer", Check: "basic/system-prompt-not-echoed", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Saying("You are a helpful assistant.\n" + story.Answer)), Verdict: report.Fail,
			Message: "the system prompt stands in the answer"},
		{Name: "nowhere that can be read", Check: "basic/system-prompt-not-echoed", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.With(tracetest.Saying(story.Answer), "content", "null")), Verdict: report.NotObserved,
			Message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestWhatBecomesOfParameters(t *testing.T) {
	// tuned asks as the case does, and has the model asked with what the edits make of it.
	tuned := func(first, second func(*server.CreateMessageParams)) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			for i, edit := range []func(*server.CreateMessageParams){first, second} {
				ask := func() *server.CreateMessageParams {
					p := tracetest.Asking("Count.")
					warmth := temperature
					if p.Temperature, p.StopSequences = &warmth, []string{stopSequence}; i == 1 {
						p.Temperature, p.StopSequences, p.Metadata = nil, nil, story.Object{"user_id": metadataWord}
					}
					return p
				}
				changed := ask()
				edit(changed)
				s.Asks(ask()).Prompts(changed).Answers(tracetest.With(tracetest.Saying("One."), "stopReason", `"stopSequence"`))
			}
		}
	}
	kept := func(*server.CreateMessageParams) {}
	dropped := func(p *server.CreateMessageParams) { p.Temperature, p.StopSequences, p.Metadata = nil, nil, nil }
	warmer := func(p *server.CreateMessageParams) { *p.Temperature = 1 }
	refused := func(end trace.ModelEnd) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking("Count.")).Prompts(tracetest.Asking("Count.")).Answers(tracetest.Saying("One."))
			s.Asks(tracetest.Asking("Count.")).Prompt(`{}`, end).Refuses(-32603, "failed")
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "kept", Check: "basic/parameters", CaseID: "tuned", Steps: tuned(kept, kept), Dialects: tracetest.Native, Verdict: report.Info,
			Message: "temperature is passed on, stop sequences are passed on, metadata are passed on"},
		{Name: "kept, but for what the provider does not have", Check: "basic/parameters", CaseID: "tuned", Steps: tuned(kept, kept), Dialects: tracetest.OpenAI, Verdict: report.Info,
			Message: "temperature is passed on, stop sequences are passed on, metadata are left out"},
		{Name: "dropped", Check: "basic/parameters", CaseID: "tuned", Steps: tuned(dropped, dropped), Verdict: report.Info,
			Message: "temperature is left out, stop sequences are left out, metadata are left out"},
		{Name: "changed", Check: "basic/parameters", CaseID: "tuned", Steps: tuned(warmer, dropped), Verdict: report.Info,
			Message: "temperature is changed to 1, stop sequences are passed on, metadata are left out"},
		{Name: "by no model that we know", Check: "basic/parameters", CaseID: "tuned", Verdict: report.NotObserved,
			Message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking("?")).Answers(tracetest.Saying("")).Asks(tracetest.Asking("?")).Answers(tracetest.Saying(""))
			}},

		{Name: "harmless", Check: "basic/parameters-harmless", CaseID: "tuned", Steps: tuned(kept, dropped), Verdict: report.Pass, Message: "requests with parameters are answered"},
		{Name: "an error", Check: "basic/parameters-harmless", CaseID: "tuned", In: tracetest.InA, Verdict: report.Fail,
			Steps:   refused(trace.ModelEnd{Status: 500}),
			Message: `a request with metadata was not answered: request 2 was answered by the error "failed" (code -32603)`},
		{Name: "passed on to a provider that does not take metadata", Check: "basic/parameters-harmless", CaseID: "tuned", In: tracetest.InA, Verdict: report.Pass,
			Steps: refused(trace.ModelEnd{Status: 400, Refused: "user_id is unknown"}), Message: "metadata are passed on, and the provider does not take them: user_id is unknown"},
		{Name: "an error to a client that answers nothing", Check: "basic/parameters-harmless", CaseID: "tuned", In: tracetest.InA, Verdict: report.NotObserved,
			Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking("?")).Refuses(-1, "no") }, Message: "the client answers no request at all (see basic/answered)"},

		{Name: "a stop sequence", Check: "basic/stop-reason", CaseID: "tuned", Steps: tuned(kept, kept), Verdict: report.Info, Message: `where the model stopped for stopSequence, the result says "stopSequence"`},
		{Name: "none", Check: "basic/stop-reason", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Without(tracetest.Saying(story.Answer), "stopReason")), Verdict: report.Info,
			Message: "where the model stopped for endTurn, the result gives no reason"},
		{Name: "one of its own", Check: "basic/stop-reason", CaseID: "truncated", Steps: tracetest.TruncatedWith(tracetest.With(tracetest.Saying("Once"), "stopReason", `"length"`)), Verdict: report.Info,
			Message: `where the model stopped for maxTokens, the result says "length"`},
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
	require.Equal(t, fmt.Sprintf("%q… (600 bytes)", strings.Repeat("ä", 30)), evidence.Quoted(strings.Repeat("ä", 300)))
}

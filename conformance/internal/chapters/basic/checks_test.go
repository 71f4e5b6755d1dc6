package basic

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// promptsWith has the model asked what the edit makes of the question.
func promptsWith(edit func(*server.CreateMessageParams)) func(*tracetest.Story) {
	return func(s *tracetest.Story) {
		changed := tracetest.Asking(story.Question)
		edit(changed)
		s.Asks(tracetest.Asking(story.Question)).Prompts(changed).Answers(tracetest.Saying(story.Answer))
	}
}

// userSaid are the texts of the question as it was changed on its way.
func userSaid(messages ...server.SamplingMessage) func(*server.CreateMessageParams) {
	return func(p *server.CreateMessageParams) { p.Messages = messages }
}

func TestWhetherASampleIsAnswered(t *testing.T) {
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "with a result", Check: "basic/answered", CaseID: "question", Steps: tracetest.Right,
			Verdict: report.Pass, Message: "every sampling request was answered with a result"},
		{Name: "not at all", Check: "basic/answered", CaseID: "question", Steps: func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)) },
			Verdict: report.Fail, Message: "the client did not answer a sampling request with a result: no answer came for request 1"},
		{Name: "by an error", Check: "basic/answered", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)).Refuses(-1, "user rejected") },
			Verdict: report.Fail, Message: `the client did not answer a sampling request with a result: request 1 was answered by the error "user rejected" (code -1)`},
		{Name: "by what is no error", Check: "basic/answered", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)).Responds(s.ID(), `"error":"no"`) },
			Verdict: report.Fail, Message: `the client did not answer a sampling request with a result: request 1 was answered by the error "an error that is not well-formed: \"no\"" (code 0)`},
		{Name: "by a result beside an error that is null", Check: "basic/answered", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Responds(s.ID(), `"error":null,"result":`+tracetest.Saying(story.Answer))
			},
			Verdict: report.Pass, Message: "every sampling request was answered with a result"},
		{Name: "after the model refused what it was asked", Check: "basic/answered", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Prompt(`{"maxTokens":1,"messages":[]}`, trace.ModelEnd{Status: 400, Refused: "messages is empty"}).Refuses(-32603, "failed")
			},
			Dialects: []string{dialect.Native}, Verdict: report.Fail,
			Message: `the client did not answer a sampling request with a result: request 1 was answered by the error "failed" (code -32603); the model had refused what it was asked: messages is empty`},
		{Name: "in another case of the members' names", Check: "basic/answered", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Responds(s.ID(), `"Result":`+tracetest.Saying(story.Answer))
			},
			Verdict: report.Fail, Message: "the client did not answer a sampling request with a result: no answer came for request 1"},
	})
}

func TestResponsesAndTheirIDs(t *testing.T) {
	twice := func(s *tracetest.Story) {
		tracetest.Right(s)
		s.Responds(s.ID(), `"result":`+tracetest.Saying(story.Answer))
	}
	withID := func(id string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking(story.Question)).Responds(id, `"result":`+tracetest.Saying(story.Answer))
		}
	}
	stray := func(id string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking(story.Question))
			s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"result":`+tracetest.Saying(story.Answer)+`}`)
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "one", Check: "basic/answers-once", CaseID: "question", Steps: tracetest.Right, In: tracetest.InA,
			Verdict: report.Pass, Message: "one response came for each request"},
		{Name: "two", Check: "basic/answers-once", CaseID: "question", Steps: twice, In: tracetest.InA,
			Verdict: report.Fail, Message: "2 responses came for one request"},
		{Name: "two errors", Check: "basic/answers-once", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)).Refuses(-1, "no").Refuses(-1, "no") },
			Verdict: report.Fail, Message: "2 responses came for one request"},
		{Name: "one error", Check: "basic/answers-once", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)).Refuses(-1, "no") },
			Verdict: report.Pass, Message: "one response came for each request"},
		{Name: "none", Check: "basic/answers-once", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)) },
			Verdict: report.NotObserved, Message: "no response came for request 1 (see basic/answered)"},

		{Name: "as it was", Check: "basic/id-echoed", CaseID: "question", Steps: tracetest.Right, In: tracetest.InA,
			Verdict: report.Pass, Message: "ids came back as they were"},
		{Name: "as a string", Check: "basic/id-echoed", CaseID: "question", Steps: withID(`"1001"`), In: tracetest.InA,
			Verdict: report.Fail, Message: `the response to request 1001 has the id "1001"`},
		{Name: "as another writing of the number", Check: "basic/id-echoed", CaseID: "question", Steps: withID(`1.001e3`), In: tracetest.InA,
			Verdict: report.Fail, Message: `the response to request 1001 has the id 1.001e3`},
		{Name: "as a number that no request has", Check: "basic/id-echoed", CaseID: "question", Steps: stray("1"), In: tracetest.InA,
			Verdict: report.Fail, Message: "no response came for request 1001, and one came with an id that no request has: 1"},
		{Name: "as null", Check: "basic/id-echoed", CaseID: "question", Steps: stray("null"), In: tracetest.InA,
			Verdict: report.Fail, Message: "no response came for request 1001, and one came with an id that no request has: null"},
		{Name: "of an error", Check: "basic/id-echoed", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Responds(`"1001"`, `"error":{"code":-1,"message":"no"}`)
			},
			Verdict: report.Fail, Message: `the response to request 1001 has the id "1001"`},
		{Name: "as it was, and as another one, too", Check: "basic/id-echoed", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				tracetest.Right(s)
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7777,"result":`+tracetest.Saying(story.Answer)+`}`)
			},
			Verdict: report.Fail, Message: "beside the responses that were due, one came with an id that no request has: 7777"},
		{Name: "as it was, and as null for what could not be read", Check: "basic/id-echoed", CaseID: "question", In: tracetest.InA,
			Steps: func(s *tracetest.Story) {
				tracetest.Right(s)
				s.Frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`)
			},
			Verdict: report.Pass, Message: "ids came back as they were"},
		{Name: "of no response", Check: "basic/id-echoed", CaseID: "question", In: tracetest.InA,
			Steps:   func(s *tracetest.Story) { s.Asks(tracetest.Asking(story.Question)) },
			Verdict: report.NotObserved, Message: "no response came for request 1 (see basic/answered)"},
	})
}

func TestEveryMessageIsJSONRPC(t *testing.T) {
	saysVersion := func(member string) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			tracetest.Right(s)
			s.Frame(s.CaseID, trace.FromClient, 0, `{`+member+`"id":8,"method":"ping"}`)
		}
	}
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "all", Check: "basic/json-rpc", CaseID: "question", Steps: tracetest.Right, Verdict: report.Pass, Message: `every message has "jsonrpc": "2.0"`},
		{Name: "one of 1.0", Check: "basic/json-rpc", CaseID: "question", Steps: saysVersion(`"jsonrpc":"1.0",`),
			Verdict: report.Fail, Message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{Name: "one with a number", Check: "basic/json-rpc", CaseID: "question", Steps: saysVersion(`"jsonrpc":2.0,`),
			Verdict: report.Fail, Message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{Name: "one without", Check: "basic/json-rpc", CaseID: "question", Steps: saysVersion(``),
			Verdict: report.Fail, Message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{Name: "one that escapes it", Check: "basic/json-rpc", CaseID: "question", Steps: saysVersion(`"jsonrpc":"\u0032.0",`),
			Verdict: report.Pass, Message: `every message has "jsonrpc": "2.0"`},
		{Name: "what is no message at all", Check: "basic/json-rpc", CaseID: "question",
			Steps: func(s *tracetest.Story) {
				tracetest.Right(s)
				s.Frame(s.CaseID, trace.FromClient, 0, `hello`)
			},
			Verdict: report.Pass, Message: `every message has "jsonrpc": "2.0"`},
	})
}

func TestTheShapeOfAResult(t *testing.T) {
	whole := tracetest.Saying(story.Answer)
	block := `{"type":"text","text":"hello"}`
	var tellings []tracetest.Test
	add := func(check, name, result string, verdict report.Verdict, message string, in ...server.Revision) {
		tellings = append(tellings, tracetest.Test{Name: name, Check: check, CaseID: "question", Steps: tracetest.AnswersWith(result), Verdict: verdict, Message: message, In: in})
	}
	const contentMissing = "the result has no content that is a block or an array of blocks"
	add("basic/has-content", "a block", whole, report.Pass, "every result has content")
	add("basic/has-content", "an array", tracetest.With(whole, "content", "["+block+"]"), report.Pass, "every result has content")
	add("basic/has-content", "missing", tracetest.Without(whole, "content"), report.Fail, contentMissing)
	add("basic/has-content", "null", tracetest.With(whole, "content", "null"), report.Fail, contentMissing)
	add("basic/has-content", "a string", tracetest.With(whole, "content", `"hello"`), report.Fail, contentMissing)
	add("basic/has-content", "a result that is null", "null", report.Fail, contentMissing)

	add("basic/has-model", "named", whole, report.Pass, "every result names its model")
	add("basic/has-model", "missing", tracetest.Without(whole, "model"), report.Fail, "the result does not name the model")
	add("basic/has-model", "null", tracetest.With(whole, "model", "null"), report.Fail, "the result does not name the model")
	add("basic/has-model", "no string", tracetest.With(whole, "model", "4"), report.Fail, "the result does not name the model")

	add("basic/role-assistant", "assistant", whole, report.Pass, "every result has the role assistant")
	add("basic/role-assistant", "user", tracetest.With(whole, "role", `"user"`), report.Fail, "the result's role is not assistant")
	add("basic/role-assistant", "missing", tracetest.Without(whole, "role"), report.Fail, "the result's role is not assistant")

	add("basic/valid-result", "valid", whole, report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "without a stop reason", tracetest.Without(whole, "stopReason"), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "with more than the schema knows", tracetest.With(whole, "usage", `{"tokens":3}`), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "with a stop reason of its own", tracetest.With(whole, "stopReason", `"content_filter"`), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "an array of one block", tracetest.With(whole, "content", "["+block+"]"), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "an array before there were any", tracetest.With(whole, "content", "["+block+"]"), report.Fail,
		"the result is not a valid CreateMessageResult of 2025-06-18", server.V20250618)
	add("basic/valid-result", "a block without a type", tracetest.With(whole, "content", `{"text":"hello"}`), report.Fail,
		"the result is not a valid CreateMessageResult of 2026-07-28", server.V20260728)
	add("basic/valid-result", "a stop reason that is null", tracetest.With(whole, "stopReason", "null"), report.Fail,
		"the result is not a valid CreateMessageResult of 2025-11-25", server.V20251125)
	tracetest.Run(t, catalogue, tellings)
}

func TestTheModelsTextComesThrough(t *testing.T) {
	whole := tracetest.Saying(story.Answer)
	half := len("Paris – ")
	split := `[{"type":"text","text":` + string(dialect.Marshal(story.Answer[:half])) + `},{"type":"text","text":` + string(dialect.Marshal(story.Answer[half:])) + `}]`
	const changed = "the text that the model said is not the text that the server got"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "unchanged", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.Right, Verdict: report.Pass, Message: "the text came through unchanged"},
		{Name: "in an array", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.With(whole, "content", "["+string(dialect.Marshal(server.Text(story.Answer)))+"]")),
			Verdict: report.Pass, Message: "the text came through unchanged"},
		{Name: "in two blocks", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.With(whole, "content", split)),
			Verdict: report.Pass, Message: "the text came through unchanged"},
		{Name: "trimmed", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Saying(strings.ReplaceAll(story.Answer, "\n\n", "\n"))),
			Verdict: report.Fail, Message: changed},
		{Name: "escaped for a web page", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Saying(strings.ReplaceAll(story.Answer, "<", "&lt;"))),
			Verdict: report.Fail, Message: changed},
		{Name: "with the system prompt before it", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Saying("You are a helpful assistant." + story.Answer)),
			Verdict: report.Fail, Message: changed},
		{Name: "cut off", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.Saying(story.Answer[:len(story.Answer)-1])),
			Verdict: report.Fail, Message: changed},
		{Name: "nowhere that can be read", Check: "basic/text-intact", CaseID: "question", Steps: tracetest.AnswersWith(tracetest.With(whole, "content", "null")),
			Verdict: report.NotObserved, Message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestThePromptReachesTheModel(t *testing.T) {
	text := func(role, said string) server.SamplingMessage {
		return server.SamplingMessage{Role: role, Content: server.Text(said)}
	}
	const arrived, changed = "the model got the text unchanged", "the text that the server sent is not what the model was given"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "unchanged", Check: "basic/prompt-reaches-model", CaseID: "question", Steps: tracetest.Right, Verdict: report.Pass, Message: arrived},
		{Name: "with the client's own text around it", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(userSaid(text("user", "The server asks: "+story.Question+" Be brief."))), Verdict: report.Pass, Message: arrived},
		{Name: "with the system prompt before it", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(func(p *server.CreateMessageParams) {
				p.Messages, p.SystemPrompt = []server.SamplingMessage{text("user", p.SystemPrompt+"\n\n"+story.Question)}, ""
			}), Verdict: report.Pass, Message: arrived},
		{Name: "after messages of the client's own", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(userSaid(text("user", "Hello."), text("assistant", "Hello."), text("user", story.Question))), Verdict: report.Pass, Message: arrived},
		{Name: "in pieces", Check: "basic/prompt-reaches-model", CaseID: "question", Dialects: []string{dialect.Native},
			Steps:   promptsWith(userSaid(server.SamplingMessage{Role: "user", Content: []any{server.Text(story.Question[:20]), server.Text(story.Question[20:])}})),
			Verdict: report.Pass, Message: arrived},
		{Name: "folded", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(userSaid(text("user", strings.Join(strings.Fields(story.Question), " ")))), Verdict: report.Fail, Message: changed},
		{Name: "under another role", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(userSaid(text("assistant", story.Question), text("user", "go on"))), Verdict: report.Fail, Message: changed},
		{Name: "not at all", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: promptsWith(userSaid(text("user", "Hello?"))), Verdict: report.Fail, Message: changed},
		{Name: "of no model that we know", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Answers(tracetest.Saying(story.Answer))
			}, Verdict: report.NotObserved,
			Message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
		{Name: "in a form that cannot be read", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Prompt(`{"messages":5}`, trace.ModelEnd{Status: 400, Refused: "messages is a number"}).Answers(tracetest.Saying(story.Answer))
			},
			Verdict: report.Fail, Message: "the model could not read the request: messages is a number"},
		{Name: "after a first try that the model failed", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Prompt(`{}`, trace.ModelEnd{Status: 529}).Prompts(tracetest.Asking(story.Question)).Answers(tracetest.Saying(story.Answer))
			}, Verdict: report.Pass, Message: arrived},
		{Name: "before something else that the model refused", Check: "basic/prompt-reaches-model", CaseID: "question",
			Steps: func(s *tracetest.Story) {
				s.Asks(tracetest.Asking(story.Question)).Prompts(tracetest.Asking(story.Question)).Prompt(`{}`, trace.ModelEnd{Status: 400}).Answers(tracetest.Saying(story.Answer))
			}, Verdict: report.Pass, Message: arrived},
	})
}

func TestStopReasonsAreTrue(t *testing.T) {
	ended := tracetest.Saying(story.Answer)
	const own = `the stop reason is the client's own word `
	for _, c := range []struct {
		reason             string
		whole, cut         report.Verdict
		saidWhole, saidCut string
	}{
		{`"endTurn"`, report.Pass, report.Fail, "the stop reason is endTurn", "the stop reason is endTurn, and the model stopped for maxTokens"},
		{`"maxTokens"`, report.Fail, report.Pass, "the stop reason is maxTokens, and the model stopped for endTurn", "the stop reason is maxTokens"},
		{`"stopSequence"`, report.Fail, report.Fail, "the stop reason is stopSequence, and the model stopped for endTurn", "the stop reason is stopSequence, and the model stopped for maxTokens"},
		{`"toolUse"`, report.Fail, report.Fail, "the stop reason is toolUse, and the model stopped for endTurn", "the stop reason is toolUse, and the model stopped for maxTokens"},
		{`"length"`, report.Pass, report.Pass, own + `"length"`, own + `"length"`},
		{"", report.Pass, report.Pass, "no stop reason is given, which is allowed", "no stop reason is given, which is allowed"},
	} {
		result := tracetest.With(ended, "stopReason", c.reason)
		tracetest.Run(t, catalogue, []tracetest.Test{
			{Name: "whole, " + c.reason, Check: "basic/stop-reason-true", CaseID: "question", Steps: tracetest.AnswersWith(result), Verdict: c.whole, Message: c.saidWhole},
			{Name: "cut off, " + c.reason, Check: "basic/stop-reason-true", CaseID: "truncated", Steps: tracetest.TruncatedWith(result), Verdict: c.cut, Message: c.saidCut},
		})
	}
}

func TestTheModelIsAskedForNoMoreThanTheServerWants(t *testing.T) {
	tokens := func(n int) func(*tracetest.Story) {
		return promptsWith(func(p *server.CreateMessageParams) { p.MaxTokens = n })
	}
	const within = "the model was asked for no more than maxTokens"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "as many", Check: "basic/max-tokens", CaseID: "question", Steps: tokens(1000), Verdict: report.Pass, Message: within},
		{Name: "fewer", Check: "basic/max-tokens", CaseID: "question", Steps: tokens(16), Verdict: report.Pass, Message: within},
		{Name: "more", Check: "basic/max-tokens", CaseID: "question", Steps: tokens(4096), Verdict: report.Fail,
			Message: "the model was asked for 4096 tokens, where the server asked for at most 1000"},
		{Name: "by the newer name", Check: "basic/max-tokens", CaseID: "question", Dialects: tracetest.OpenAI, Verdict: report.Pass, Message: within,
			Steps: func(s *tracetest.Story) {
				body := tracetest.With(string(dialect.Marshal(tracetest.AsChat(tracetest.Asking(story.Question)))), "max_completion_tokens", "1000")
				s.Asks(tracetest.Asking(story.Question)).Prompt(tracetest.Without(body, "max_tokens"), trace.ModelEnd{Status: 200}).Answers(tracetest.Saying(story.Answer))
			}},
		{Name: "without a limit", Check: "basic/max-tokens", CaseID: "question", Dialects: tracetest.OpenAI, Verdict: report.Fail,
			Message: "the model was asked without a limit, where the server asked for at most 1000 tokens",
			Steps: func(s *tracetest.Story) {
				body := string(dialect.Marshal(tracetest.AsChat(tracetest.Asking(story.Question))))
				s.Asks(tracetest.Asking(story.Question)).Prompt(tracetest.Without(body, "max_tokens"), trace.ModelEnd{Status: 200}).Answers(tracetest.Saying(story.Answer))
			}},
	})
}

func TestOneRequestCostsOneModelCall(t *testing.T) {
	body := func(s *tracetest.Story) string {
		if s.Dialect == dialect.Native {
			return string(dialect.Marshal(tracetest.Asking(story.Question)))
		}
		return string(dialect.Marshal(tracetest.AsChat(tracetest.Asking(story.Question))))
	}
	asked := func(ends ...trace.ModelEnd) func(*tracetest.Story) {
		return func(s *tracetest.Story) {
			s.Asks(tracetest.Asking(story.Question))
			for _, end := range ends {
				s.Prompt(body(s), end)
			}
			s.Answers(tracetest.Saying(story.Answer))
		}
	}
	const one = "each request cost one model call"
	tracetest.Run(t, catalogue, []tracetest.Test{
		{Name: "one", Check: "basic/one-model-call", CaseID: "question", Steps: tracetest.Right, Verdict: report.Pass, Message: one},
		{Name: "one, after the model had failed", Check: "basic/one-model-call", CaseID: "question",
			Steps: asked(trace.ModelEnd{Status: 429}, trace.ModelEnd{Status: 529}, trace.ModelEnd{Status: 200}), Verdict: report.Pass, Message: one},
		{Name: "one, given up and made again", Check: "basic/one-model-call", CaseID: "question",
			Steps: asked(trace.ModelEnd{Status: 200, HungUp: true}, trace.ModelEnd{Status: 200}), Verdict: report.Pass, Message: one},
		{Name: "one, not read to its very end", Check: "basic/one-model-call", CaseID: "question",
			Steps: asked(trace.ModelEnd{Status: 200, HungUp: true}), Verdict: report.Pass, Message: one},
		{Name: "two", Check: "basic/one-model-call", CaseID: "question",
			Steps: asked(trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 200}), Verdict: report.Fail, Message: "one sampling request cost 2 completed model calls"},
		{Name: "none", Check: "basic/one-model-call", CaseID: "question", Steps: asked(), Verdict: report.NotObserved,
			Message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

package conformance

import (
	"strings"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// answersWith is the question, asked of the model as it should be, and the client's answer.
func answersWith(result string) func(*story) {
	return func(s *story) { s.asks(asking(question)).prompts(asking(question)).answers(result) }
}

// truncatedWith is the same for the case in which the model had to stop.
func truncatedWith(result string) func(*story) {
	return func(s *story) {
		s.asks(asking("Tell me a long story.")).prompts(asking("Tell me a long story.")).answers(result)
	}
}

// promptsWith has the model asked what the edit makes of the question.
func promptsWith(edit func(*server.CreateMessageParams)) func(*story) {
	return func(s *story) {
		changed := asking(question)
		edit(changed)
		s.asks(asking(question)).prompts(changed).answers(saying(answer))
	}
}

// userSaid are the texts of the question as it was changed on its way.
func userSaid(messages ...server.SamplingMessage) func(*server.CreateMessageParams) {
	return func(p *server.CreateMessageParams) { p.Messages = messages }
}

var right = answersWith(saying(answer))

func TestWhetherASampleIsAnswered(t *testing.T) {
	hold(t, catalogue, []telling{
		{name: "with a result", check: "basic/answered", caseID: "question", tell: right,
			verdict: report.Pass, message: "every sampling request was answered with a result"},
		{name: "not at all", check: "basic/answered", caseID: "question", tell: func(s *story) { s.asks(asking(question)) },
			verdict: report.Fail, message: "the client did not answer a sampling request with a result: no answer came for request 1"},
		{name: "by an error", check: "basic/answered", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).refuses(-1, "user rejected") },
			verdict: report.Fail, message: `the client did not answer a sampling request with a result: request 1 was answered by the error "user rejected" (code -1)`},
		{name: "by what is no error", check: "basic/answered", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).responds(s.id(), `"error":"no"`) },
			verdict: report.Fail, message: `the client did not answer a sampling request with a result: request 1 was answered by the error "an error that is not well-formed: \"no\"" (code 0)`},
		{name: "by a result beside an error that is null", check: "basic/answered", caseID: "question", in: inA,
			tell: func(s *story) {
				s.asks(asking(question)).responds(s.id(), `"error":null,"result":`+saying(answer))
			},
			verdict: report.Pass, message: "every sampling request was answered with a result"},
		{name: "after the model refused what it was asked", check: "basic/answered", caseID: "question", in: inA,
			tell: func(s *story) {
				s.asks(asking(question)).prompt(`{"maxTokens":1,"messages":[]}`, trace.ModelEnd{Status: 400, Refused: "messages is empty"}).refuses(-32603, "failed")
			},
			dialects: []string{dialect.Native}, verdict: report.Fail,
			message: `the client did not answer a sampling request with a result: request 1 was answered by the error "failed" (code -32603); the model had refused what it was asked: messages is empty`},
		{name: "in another case of the members' names", check: "basic/answered", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).responds(s.id(), `"Result":`+saying(answer)) },
			verdict: report.Fail, message: "the client did not answer a sampling request with a result: no answer came for request 1"},
	})
}

func TestResponsesAndTheirIDs(t *testing.T) {
	twice := func(s *story) {
		right(s)
		s.responds(s.id(), `"result":`+saying(answer))
	}
	withID := func(id string) func(*story) {
		return func(s *story) { s.asks(asking(question)).responds(id, `"result":`+saying(answer)) }
	}
	stray := func(id string) func(*story) {
		return func(s *story) {
			s.asks(asking(question))
			s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":`+id+`,"result":`+saying(answer)+`}`)
		}
	}
	hold(t, catalogue, []telling{
		{name: "one", check: "basic/answers-once", caseID: "question", tell: right, in: inA,
			verdict: report.Pass, message: "one response came for each request"},
		{name: "two", check: "basic/answers-once", caseID: "question", tell: twice, in: inA,
			verdict: report.Fail, message: "2 responses came for one request"},
		{name: "two errors", check: "basic/answers-once", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).refuses(-1, "no").refuses(-1, "no") },
			verdict: report.Fail, message: "2 responses came for one request"},
		{name: "one error", check: "basic/answers-once", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).refuses(-1, "no") },
			verdict: report.Pass, message: "one response came for each request"},
		{name: "none", check: "basic/answers-once", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)) },
			verdict: report.NotObserved, message: "no response came for request 1 (see basic/answered)"},

		{name: "as it was", check: "basic/id-echoed", caseID: "question", tell: right, in: inA,
			verdict: report.Pass, message: "ids came back as they were"},
		{name: "as a string", check: "basic/id-echoed", caseID: "question", tell: withID(`"1001"`), in: inA,
			verdict: report.Fail, message: `the response to request 1001 has the id "1001"`},
		{name: "as another writing of the number", check: "basic/id-echoed", caseID: "question", tell: withID(`1.001e3`), in: inA,
			verdict: report.Fail, message: `the response to request 1001 has the id 1.001e3`},
		{name: "as a number that no request has", check: "basic/id-echoed", caseID: "question", tell: stray("1"), in: inA,
			verdict: report.Fail, message: "no response came for request 1001, and one came with an id that no request has: 1"},
		{name: "as null", check: "basic/id-echoed", caseID: "question", tell: stray("null"), in: inA,
			verdict: report.Fail, message: "no response came for request 1001, and one came with an id that no request has: null"},
		{name: "of an error", check: "basic/id-echoed", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)).responds(`"1001"`, `"error":{"code":-1,"message":"no"}`) },
			verdict: report.Fail, message: `the response to request 1001 has the id "1001"`},
		{name: "as it was, and as another one, too", check: "basic/id-echoed", caseID: "question", in: inA,
			tell: func(s *story) {
				right(s)
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":7777,"result":`+saying(answer)+`}`)
			},
			verdict: report.Fail, message: "beside the responses that were due, one came with an id that no request has: 7777"},
		{name: "as it was, and as null for what could not be read", check: "basic/id-echoed", caseID: "question", in: inA,
			tell: func(s *story) {
				right(s)
				s.frame("", trace.FromClient, 0, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`)
			},
			verdict: report.Pass, message: "ids came back as they were"},
		{name: "of no response", check: "basic/id-echoed", caseID: "question", in: inA,
			tell:    func(s *story) { s.asks(asking(question)) },
			verdict: report.NotObserved, message: "no response came for request 1 (see basic/answered)"},
	})
}

func TestEveryMessageIsJSONRPC(t *testing.T) {
	saysVersion := func(member string) func(*story) {
		return func(s *story) {
			right(s)
			s.frame(s.caseID, trace.FromClient, 0, `{`+member+`"id":8,"method":"ping"}`)
		}
	}
	hold(t, catalogue, []telling{
		{name: "all", check: "basic/json-rpc", caseID: "question", tell: right, verdict: report.Pass, message: `every message has "jsonrpc": "2.0"`},
		{name: "one of 1.0", check: "basic/json-rpc", caseID: "question", tell: saysVersion(`"jsonrpc":"1.0",`),
			verdict: report.Fail, message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{name: "one with a number", check: "basic/json-rpc", caseID: "question", tell: saysVersion(`"jsonrpc":2.0,`),
			verdict: report.Fail, message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{name: "one without", check: "basic/json-rpc", caseID: "question", tell: saysVersion(``),
			verdict: report.Fail, message: `1 of the client's messages do not say "jsonrpc": "2.0"`},
		{name: "one that escapes it", check: "basic/json-rpc", caseID: "question", tell: saysVersion(`"jsonrpc":"\u0032.0",`),
			verdict: report.Pass, message: `every message has "jsonrpc": "2.0"`},
		{name: "what is no message at all", check: "basic/json-rpc", caseID: "question",
			tell: func(s *story) {
				right(s)
				s.frame(s.caseID, trace.FromClient, 0, `hello`)
			},
			verdict: report.Pass, message: `every message has "jsonrpc": "2.0"`},
	})
}

func TestTheShapeOfAResult(t *testing.T) {
	whole := saying(answer)
	block := `{"type":"text","text":"hello"}`
	var tellings []telling
	add := func(check, name, result string, verdict report.Verdict, message string, in ...server.Revision) {
		tellings = append(tellings, telling{name: name, check: check, caseID: "question", tell: answersWith(result), verdict: verdict, message: message, in: in})
	}
	const contentMissing = "the result has no content that is a block or an array of blocks"
	add("basic/has-content", "a block", whole, report.Pass, "every result has content")
	add("basic/has-content", "an array", with(whole, "content", "["+block+"]"), report.Pass, "every result has content")
	add("basic/has-content", "missing", without(whole, "content"), report.Fail, contentMissing)
	add("basic/has-content", "null", with(whole, "content", "null"), report.Fail, contentMissing)
	add("basic/has-content", "a string", with(whole, "content", `"hello"`), report.Fail, contentMissing)
	add("basic/has-content", "a result that is null", "null", report.Fail, contentMissing)

	add("basic/has-model", "named", whole, report.Pass, "every result names its model")
	add("basic/has-model", "missing", without(whole, "model"), report.Fail, "the result does not name the model")
	add("basic/has-model", "null", with(whole, "model", "null"), report.Fail, "the result does not name the model")
	add("basic/has-model", "no string", with(whole, "model", "4"), report.Fail, "the result does not name the model")

	add("basic/role-assistant", "assistant", whole, report.Pass, "every result has the role assistant")
	add("basic/role-assistant", "user", with(whole, "role", `"user"`), report.Fail, "the result's role is not assistant")
	add("basic/role-assistant", "missing", without(whole, "role"), report.Fail, "the result's role is not assistant")

	add("basic/valid-result", "valid", whole, report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "without a stop reason", without(whole, "stopReason"), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "with more than the schema knows", with(whole, "usage", `{"tokens":3}`), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "with a stop reason of its own", with(whole, "stopReason", `"content_filter"`), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "an array of one block", with(whole, "content", "["+block+"]"), report.Pass, "every result is valid by the schema")
	add("basic/valid-result", "an array before there were any", with(whole, "content", "["+block+"]"), report.Fail,
		"the result is not a valid CreateMessageResult of 2025-06-18", server.V20250618)
	add("basic/valid-result", "a block without a type", with(whole, "content", `{"text":"hello"}`), report.Fail,
		"the result is not a valid CreateMessageResult of 2026-07-28", server.V20260728)
	add("basic/valid-result", "a stop reason that is null", with(whole, "stopReason", "null"), report.Fail,
		"the result is not a valid CreateMessageResult of 2025-11-25", server.V20251125)
	hold(t, catalogue, tellings)
}

func TestTheModelsTextComesThrough(t *testing.T) {
	whole := saying(answer)
	half := len("Paris – ")
	split := `[{"type":"text","text":` + string(dialect.Marshal(answer[:half])) + `},{"type":"text","text":` + string(dialect.Marshal(answer[half:])) + `}]`
	const changed = "the text that the model said is not the text that the server got"
	hold(t, catalogue, []telling{
		{name: "unchanged", check: "basic/text-intact", caseID: "question", tell: right, verdict: report.Pass, message: "the text came through unchanged"},
		{name: "in an array", check: "basic/text-intact", caseID: "question", tell: answersWith(with(whole, "content", "["+string(dialect.Marshal(server.Text(answer)))+"]")),
			verdict: report.Pass, message: "the text came through unchanged"},
		{name: "in two blocks", check: "basic/text-intact", caseID: "question", tell: answersWith(with(whole, "content", split)),
			verdict: report.Pass, message: "the text came through unchanged"},
		{name: "trimmed", check: "basic/text-intact", caseID: "question", tell: answersWith(saying(strings.ReplaceAll(answer, "\n\n", "\n"))),
			verdict: report.Fail, message: changed},
		{name: "escaped for a web page", check: "basic/text-intact", caseID: "question", tell: answersWith(saying(strings.ReplaceAll(answer, "<", "&lt;"))),
			verdict: report.Fail, message: changed},
		{name: "with the system prompt before it", check: "basic/text-intact", caseID: "question", tell: answersWith(saying("You are a helpful assistant." + answer)),
			verdict: report.Fail, message: changed},
		{name: "cut off", check: "basic/text-intact", caseID: "question", tell: answersWith(saying(answer[:len(answer)-1])),
			verdict: report.Fail, message: changed},
		{name: "nowhere that can be read", check: "basic/text-intact", caseID: "question", tell: answersWith(with(whole, "content", "null")),
			verdict: report.NotObserved, message: "the answer's content cannot be read (see basic/has-content)"},
	})
}

func TestThePromptReachesTheModel(t *testing.T) {
	text := func(role, said string) server.SamplingMessage {
		return server.SamplingMessage{Role: role, Content: server.Text(said)}
	}
	const arrived, changed = "the model got the text unchanged", "the text that the server sent is not what the model was given"
	hold(t, catalogue, []telling{
		{name: "unchanged", check: "basic/prompt-reaches-model", caseID: "question", tell: right, verdict: report.Pass, message: arrived},
		{name: "with the client's own text around it", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(userSaid(text("user", "The server asks: "+question+" Be brief."))), verdict: report.Pass, message: arrived},
		{name: "with the system prompt before it", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(func(p *server.CreateMessageParams) {
				p.Messages, p.SystemPrompt = []server.SamplingMessage{text("user", p.SystemPrompt+"\n\n"+question)}, ""
			}), verdict: report.Pass, message: arrived},
		{name: "after messages of the client's own", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(userSaid(text("user", "Hello."), text("assistant", "Hello."), text("user", question))), verdict: report.Pass, message: arrived},
		{name: "in pieces", check: "basic/prompt-reaches-model", caseID: "question", dialects: []string{dialect.Native},
			tell:    promptsWith(userSaid(server.SamplingMessage{Role: "user", Content: []any{server.Text(question[:20]), server.Text(question[20:])}})),
			verdict: report.Pass, message: arrived},
		{name: "folded", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(userSaid(text("user", strings.Join(strings.Fields(question), " ")))), verdict: report.Fail, message: changed},
		{name: "under another role", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(userSaid(text("assistant", question), text("user", "go on"))), verdict: report.Fail, message: changed},
		{name: "not at all", check: "basic/prompt-reaches-model", caseID: "question",
			tell: promptsWith(userSaid(text("user", "Hello?"))), verdict: report.Fail, message: changed},
		{name: "of no model that we know", check: "basic/prompt-reaches-model", caseID: "question",
			tell: func(s *story) { s.asks(asking(question)).answers(saying(answer)) }, verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
		{name: "in a form that cannot be read", check: "basic/prompt-reaches-model", caseID: "question",
			tell: func(s *story) {
				s.asks(asking(question)).prompt(`{"messages":5}`, trace.ModelEnd{Status: 400, Refused: "messages is a number"}).answers(saying(answer))
			},
			verdict: report.Fail, message: "the model could not read the request: messages is a number"},
		{name: "after a first try that the model failed", check: "basic/prompt-reaches-model", caseID: "question",
			tell: func(s *story) {
				s.asks(asking(question)).prompt(`{}`, trace.ModelEnd{Status: 529}).prompts(asking(question)).answers(saying(answer))
			}, verdict: report.Pass, message: arrived},
		{name: "before something else that the model refused", check: "basic/prompt-reaches-model", caseID: "question",
			tell: func(s *story) {
				s.asks(asking(question)).prompts(asking(question)).prompt(`{}`, trace.ModelEnd{Status: 400}).answers(saying(answer))
			}, verdict: report.Pass, message: arrived},
	})
}

func TestStopReasonsAreTrue(t *testing.T) {
	ended := saying(answer)
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
		result := with(ended, "stopReason", c.reason)
		hold(t, catalogue, []telling{
			{name: "whole, " + c.reason, check: "basic/stop-reason-true", caseID: "question", tell: answersWith(result), verdict: c.whole, message: c.saidWhole},
			{name: "cut off, " + c.reason, check: "basic/stop-reason-true", caseID: "truncated", tell: truncatedWith(result), verdict: c.cut, message: c.saidCut},
		})
	}
}

func TestTheModelIsAskedForNoMoreThanTheServerWants(t *testing.T) {
	tokens := func(n int) func(*story) {
		return promptsWith(func(p *server.CreateMessageParams) { p.MaxTokens = n })
	}
	const within = "the model was asked for no more than maxTokens"
	hold(t, catalogue, []telling{
		{name: "as many", check: "basic/max-tokens", caseID: "question", tell: tokens(1000), verdict: report.Pass, message: within},
		{name: "fewer", check: "basic/max-tokens", caseID: "question", tell: tokens(16), verdict: report.Pass, message: within},
		{name: "more", check: "basic/max-tokens", caseID: "question", tell: tokens(4096), verdict: report.Fail,
			message: "the model was asked for 4096 tokens, where the server asked for at most 1000"},
		{name: "by the newer name", check: "basic/max-tokens", caseID: "question", dialects: openAI, verdict: report.Pass, message: within,
			tell: func(s *story) {
				body := with(string(dialect.Marshal(asChat(asking(question)))), "max_completion_tokens", "1000")
				s.asks(asking(question)).prompt(without(body, "max_tokens"), trace.ModelEnd{Status: 200}).answers(saying(answer))
			}},
		{name: "without a limit", check: "basic/max-tokens", caseID: "question", dialects: openAI, verdict: report.Fail,
			message: "the model was asked without a limit, where the server asked for at most 1000 tokens",
			tell: func(s *story) {
				body := string(dialect.Marshal(asChat(asking(question))))
				s.asks(asking(question)).prompt(without(body, "max_tokens"), trace.ModelEnd{Status: 200}).answers(saying(answer))
			}},
	})
}

func TestOneRequestCostsOneModelCall(t *testing.T) {
	body := func(s *story) string {
		if s.dialect == dialect.Native {
			return string(dialect.Marshal(asking(question)))
		}
		return string(dialect.Marshal(asChat(asking(question))))
	}
	asked := func(ends ...trace.ModelEnd) func(*story) {
		return func(s *story) {
			s.asks(asking(question))
			for _, end := range ends {
				s.prompt(body(s), end)
			}
			s.answers(saying(answer))
		}
	}
	const one = "each request cost one model call"
	hold(t, catalogue, []telling{
		{name: "one", check: "basic/one-model-call", caseID: "question", tell: right, verdict: report.Pass, message: one},
		{name: "one, after the model had failed", check: "basic/one-model-call", caseID: "question",
			tell: asked(trace.ModelEnd{Status: 429}, trace.ModelEnd{Status: 529}, trace.ModelEnd{Status: 200}), verdict: report.Pass, message: one},
		{name: "one, given up and made again", check: "basic/one-model-call", caseID: "question",
			tell: asked(trace.ModelEnd{Status: 200, HungUp: true}, trace.ModelEnd{Status: 200}), verdict: report.Pass, message: one},
		{name: "one, not read to its very end", check: "basic/one-model-call", caseID: "question",
			tell: asked(trace.ModelEnd{Status: 200, HungUp: true}), verdict: report.Pass, message: one},
		{name: "two", check: "basic/one-model-call", caseID: "question",
			tell: asked(trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 200}), verdict: report.Fail, message: "one sampling request cost 2 completed model calls"},
		{name: "none", check: "basic/one-model-call", caseID: "question", tell: asked(), verdict: report.NotObserved,
			message: "the model was never asked for sampling request 1: nothing reached the fake model under the case's mark"},
	})
}

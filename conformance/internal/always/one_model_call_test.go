package always_test

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestOneRequestCostsOneModelCall(t *testing.T) {
	called := func(ends ...trace.ModelEnd) steps {
		return func(s *session) {
			var body any = asked
			if s.Dialect != dialect.Native {
				body = tracetest.AsChat(asked)
			}
			s.Asks(asked)
			for _, end := range ends {
				s.Prompt(string(story.JSON(body)), end)
			}
			s.Answers(answer)
		}
	}
	mistaken := func(arguments string, more int) steps { // no tool was offered
		return func(s *session) {
			s.Asks(asked).Prompts(asked).UsesTool("get_tide", arguments)
			for range more {
				s.Prompts(asked)
			}
			s.Answers(answer)
		}
	}
	again := func(first string) steps {
		return func(s *session) {
			s.Asks(asked).Prompts(asked).Says(tracetest.Saying(first)).Prompts(asked).Says(answer).Answers(answer)
		}
	}
	ok, hungUp := trace.ModelEnd{Status: 200}, trace.ModelEnd{Status: 200, HungUp: true}
	judges(t, "one-model-call", "basic/question",
		passes("one call", called(ok)),
		passes("retries after failures", called(trace.ModelEnd{Status: 429}, trace.ModelEnd{Status: 529}, ok)),
		passes("one call again after the client hung up", called(hungUp, ok)),
		inapplicable("one call that the client did not read to its end", called(hungUp)),
		fails("two calls", called(ok, ok), "found 2"),
		inapplicable("no call", called(), "never called the model"),
		fails("two calls after a mistake of the model", mistaken(`{"town"`, 2), "found 2"),
		passes("a call again after invalid arguments", mistaken(`{"town"`, 1)),
		passes("a call again after a tool that was not offered", mistaken(`{}`, 1)),
		inNative(passes("a call again after an empty answer", again("\n"))),
		inNative(fails("a call again after a text", again("So."), "found 2")),
		passes("a call again after one that broke off", called(trace.ModelEnd{Status: 200, Fault: "cut"}, ok)),
	)
}

func TestAnAnswerFromACacheIsNamed(t *testing.T) {
	other := tracetest.Asking("What else?")
	other.SystemPrompt = "Be another one."
	cached := func(more steps) steps {
		return func(s *session) {
			s.Asks(asked).Prompts(asked).Answers(answer)
			s.Asks(other).Answers(answer)
			more(s)
		}
	}
	judges(t, "one-model-call", "basic/question",
		fails("a result of another request", cached(func(*session) {}), "sampling request 2: expected a model call"),
		fails("also if the tool is called once more later", cached(func(s *session) {
			s.Calls().Asks(asked).Prompts(asked).Answers(answer)
		}), "sampling request 2: expected a model call"),
		legacy(passes("not if another call is open, which may have it", func(s *session) {
			s.Asks(asked).Prompts(asked).Answers(answer)
			s.Asks(other)
			s.Calls().Asks(other).Prompts(other).Answers(answer)
			s.Call, s.Asked = 1, 2
			s.Answers(answer)
		})),
	)
}

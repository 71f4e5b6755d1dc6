package chapters_test

import (
	"fmt"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

func TestUnknownFieldsAreIgnored(t *testing.T) {
	rules(t, "answered", "basic/extras",
		passes("a result", tracetest.Right),
		legacy(fails("an error", func(s *session) { basicRefusing(s); s.PassesBarrier() }, `"no" (code -1)`)),
		legacy(inapplicable("a client that returns only errors", basicRefusing, "no result")),
	)
}

func TestTheMetaOfToolUsesIsPreserved(t *testing.T) {
	sent := func() *server.CreateMessageParams {
		use := story.Object{"type": "tool_use", "id": "u", "name": "get_weather", "input": story.Object{}}
		result := story.Object{"type": "tool_result", "toolUseId": "u", "content": []any{server.Text("windy")}}
		p := tracetest.Asking("What is the weather?", story.GetWeather)
		p.Messages = append(p.Messages, basic.UseWithMeta("assistant", use), basic.UseWithMeta("user", result))
		return p
	}
	// given is a client that changes the _meta in a message.
	given := func(i int, meta any) steps {
		return func(s *session) {
			changed := sent()
			changed.Messages[i].Content.([]any)[0].(story.Object)["_meta"] = meta
			s.Asks(sent()).Prompts(changed).Answers(whole)
		}
	}
	dropped := func(s *session) { s.Asks(sent()).Prompts(tracetest.Asking("?")).Answers(whole) }
	basicJudges(t, "meta-preserved", "meta",
		native(passes("unchanged", given(1, basic.ExtraMeta))),
		native(warns("lost from the use", given(1, nil), "the _meta of the tool_use in the model request, found null")),
		native(warns("lost from the result", given(2, story.Object{}), "tool_result in the model request, found {}")),
		openAI(inapplicable("a provider without _meta", given(1, basic.ExtraMeta))),
		native(unobserved("lost with its block", dropped, "parallel/results-reach-model")),
	)
}

func TestContextOfOtherConversations(t *testing.T) {
	mark := (&harness.Case{ID: "basic/context"}).Mark()
	ask := func(n int, said string) *server.CreateMessageParams {
		p := tracetest.Asking(said)
		p.SystemPrompt = fmt.Sprintf("%s (conversation %sn%d)", system, mark, n)
		return p
	}
	// leaks is a client that adds a text to the second model request.
	leaks := func(more string) steps {
		return func(s *session) {
			s.Asks(ask(1, "The code word is swordfish.")).Prompts(ask(1, "The code word is swordfish.")).Answers(whole)
			s.Asks(ask(2, "What do you know?")).Prompts(ask(2, "What do you know?"+more)).Answers(whole)
		}
	}
	rules(t, "model-was-given", "basic/context",
		passes("nothing", leaks("")),
		passes("the mark of this conversation", leaks(" (conversation "+mark+"n2)")),
		fails("the conversation before", leaks(" (conversation "+mark+"n1)"), `the text "`+mark+`n1" of another`),
		fails("a conversation with a longer number", leaks(" (conversation "+mark+"n21)"),
			`the text "`+mark+`n21" of another`),
	)
}

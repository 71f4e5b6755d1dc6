package always_test

import (
	"encoding/json"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// The client asks the model for two requests of the server, the second time with another system prompt.
func TestTextsOfAnotherRequestDoNotReachTheModel(t *testing.T) {
	const before, short = "Where did you see the keys last?", "Go on."
	second := func(prompt, context string) steps {
		return func(s *session) {
			first := server.CreateMessageParams{MaxTokens: 9, Messages: []server.SamplingMessage{
				{Role: "user", Content: server.Text(before)}, {Role: "assistant", Content: server.Text(short)},
				{Role: "user", Content: server.Text("In the kitchen, under the newspaper.")}}}
			s.Asks(&first).Prompts(&first).Answers(answer)
			asked := server.CreateMessageParams{MaxTokens: 9, SystemPrompt: "Be brief.", IncludeContext: context,
				Messages: []server.SamplingMessage{{Role: "user", Content: server.Text("How far away is the moon tonight?")}}}
			given := asked
			given.SystemPrompt = prompt
			s.Asks(&asked).Prompt(string(story.JSON(given)), trace.ModelEnd{Status: 200})
			s.Says(string(json.RawMessage(answer))).Answers(answer)
		}
	}
	user := func(content any) []server.SamplingMessage {
		return []server.SamplingMessage{{Role: "user", Content: content}}
	}
	// The server's text ends like the first request, and the client sends it in two parts.
	split := func(s *session) {
		const question = "My wife asks me the same every morning. "
		first := server.CreateMessageParams{MaxTokens: 9, Messages: user([]any{server.Text(before)})}
		s.Asks(&first).Prompts(&first).Answers(answer)
		asked := server.CreateMessageParams{MaxTokens: 9, Messages: user([]any{server.Text(question + before)})}
		given := server.CreateMessageParams{MaxTokens: 9, Messages: user([]any{server.Text(question), server.Text(before)})}
		s.Asks(&asked).Prompt(string(story.JSON(given)), trace.ModelEnd{Status: 200})
		s.Says(string(json.RawMessage(answer))).Answers(answer)
	}
	// The client joins two short texts of the server, and another request has the same in one.
	joined := func(s *session) {
		whole := server.CreateMessageParams{MaxTokens: 9, Messages: user(server.Text("Two eggs, please.\nAnd a tea."))}
		s.Asks(&whole).Prompts(&whole).Answers(answer)
		asked := server.CreateMessageParams{MaxTokens: 9,
			Messages: user([]any{server.Text("Two eggs, please."), server.Text("And a tea.")})}
		s.Asks(&asked).Prompt(string(story.JSON(whole)), trace.ModelEnd{Status: 200})
		s.Says(string(json.RawMessage(answer))).Answers(answer)
	}
	in := func(test tracetest.Test) tracetest.Test { return tracetest.InNative(test) }
	judges(t, "model-was-given", "basic/question",
		in(passes("the server's own prompt", second("Be brief.", ""))),
		in(passes("the client's own words and the date", second("You are Acme's. It is 22 November 2026.\nBe brief.", ""))),
		in(passes("the question once more", second("The user asks: How far away is the moon tonight?", "none"))),
		in(passes("words that any client may have", second("Go on.", ""))),
		in(passes("what the server asks for", second("Before, the user said: "+before, "thisServer"))),
		in(passes("two of its own texts that are together like another request", joined)),
		in(passes("a part of its own text that is like another request", split)),
		in(fails("a text of another request", second("Be brief. Before, the user said: "+before, ""), before)),
		in(fails("without context", second("Before, the user said: "+before, "none"), "of another request")),
	)
}

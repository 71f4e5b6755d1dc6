package providers

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/core"
	"github.com/cohere-ai/cohere-go/v2/option"
	client "github.com/cohere-ai/cohere-go/v2/v2"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	fake "github.com/mcp-conform/mcp-conform/fakes/llm/cohere"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func cohereClient(base string) *client.Client {
	return client.NewClient(option.WithBaseURL(base), option.WithToken("co-test"), option.WithMaxAttempts(1))
}

// cohereSaid is what the SDK made of an answer.
type cohereSaid struct {
	text, plan, thinking, reason string
	calls                        []string
}

func cohereQuestion(text string) cohere.ChatMessages {
	return cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{
		Content: &cohere.UserMessageV2Content{String: text}}}}
}

func saidByCohere(t *testing.T, r *cohere.V2ChatResponse) (said cohereSaid, ids []string) {
	t.Helper()
	require.NotEmpty(t, r.Id)
	requireCohereUsage(t, r.Usage)
	said.reason = string(r.FinishReason)
	if r.Message.ToolPlan != nil {
		said.plan = *r.Message.ToolPlan
	}
	for _, item := range r.Message.Content {
		switch item.Type {
		case "text":
			said.text += item.Text.Text
		case "thinking":
			said.thinking += item.Thinking.Thinking
		}
	}
	for _, c := range r.Message.ToolCalls {
		require.Equal(t, "function", *c.Type)
		said.calls = append(said.calls, *c.Function.Name+" "+*c.Function.Arguments)
		ids = append(ids, *c.Id)
	}
	return said, ids
}

func requireCohereUsage(t *testing.T, u *cohere.Usage) {
	t.Helper()
	require.Equal(t, []float64{12, 5, 12, 5}, []float64{*u.Tokens.InputTokens, *u.Tokens.OutputTokens,
		*u.BilledUnits.InputTokens, *u.BilledUnits.OutputTokens})
	cached, _ := u.GetExtraProperties()["cached_tokens"].(float64) // newer than the SDK
	require.InDelta(t, 3.0, cached, 0)
}

// streamedByCohere joins the events. Each part and each call begins and ends, at an index of its own.
func streamedByCohere(t *testing.T, stream *core.Stream[cohere.V2ChatStreamResponse]) (said cohereSaid, ids []string,
	err error,
) {
	t.Helper()
	open := ""
	for n := 0; ; n++ {
		e, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return said, ids, err
		}
		require.Equal(t, n == 0, e.Type == "message-start", e.Type)
		switch e.Type {
		case "message-start":
			require.NotEmpty(t, *e.MessageStart.Id)
			require.Equal(t, "assistant", *e.MessageStart.Delta.Message.Role)
		case "content-start":
			require.Empty(t, open)
			open = string(*e.ContentStart.Delta.Message.Content.Type)
		case "content-delta":
			if c := e.ContentDelta.Delta.Message.Content; open == "thinking" {
				said.thinking += *c.Thinking
			} else {
				said.text += *c.Text
			}
		case "content-end", "tool-call-end":
			require.NotEmpty(t, open)
			open = ""
		case "tool-plan-delta":
			said.plan += *e.ToolPlanDelta.Delta.Message.ToolPlan
		case "tool-call-start":
			require.Empty(t, open)
			require.Equal(t, len(said.calls), *e.ToolCallStart.Index)
			call := e.ToolCallStart.Delta.Message.ToolCalls
			open = *call.Function.Name
			said.calls, ids = append(said.calls, open+" "+*call.Function.Arguments), append(ids, *call.Id)
		case "tool-call-delta":
			require.Equal(t, len(said.calls)-1, *e.ToolCallDelta.Index)
			said.calls[len(said.calls)-1] += *e.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments
		case "message-end":
			said.reason = string(*e.MessageEnd.Delta.FinishReason)
			if e.MessageEnd.Delta.Error != nil {
				return said, ids, errors.New(*e.MessageEnd.Delta.Error)
			}
			requireCohereUsage(t, e.MessageEnd.Delta.Usage)
		default:
			t.Fatalf("an event of the type %q", e.Type)
		}
	}
}

func TestCohereSDKReadsEveryReply(t *testing.T) {
	for name, c := range map[string]struct {
		rule *llm.Rule
		want cohereSaid
	}{
		"text": {llm.When().Reply(llm.Text("sunny – 18°C, <b>\n")),
			cohereSaid{text: "sunny – 18°C, <b>\n", reason: "COMPLETE"}},
		"texts":   {llm.When().Reply(llm.Text("a"), llm.Text("b")), cohereSaid{text: "ab", reason: "COMPLETE"}},
		"nothing": {llm.When().Reply(), cohereSaid{reason: "COMPLETE"}},
		"truncated": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopMaxTokens),
			cohereSaid{text: "once", reason: "MAX_TOKENS"}},
		"a stop sequence": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopStopSequence),
			cohereSaid{text: "once", reason: "STOP_SEQUENCE"}},
		"a tool": {llm.When().Reply(llm.Call("add", `{"s":"Köln","n":9007199254740993}`)),
			cohereSaid{calls: []string{`add {"s":"Köln","n":9007199254740993}`}, reason: "TOOL_CALL"}},
		"tools at once": {llm.When().Reply(llm.Text("I add."), llm.Call("add", `{"a":1}`), llm.Call("add", `{}`)),
			cohereSaid{plan: "I add.", calls: []string{`add {"a":1}`, `add {}`}, reason: "TOOL_CALL"}},
		"junk": {llm.When().Reply(llm.Call("add", `{"a`)), cohereSaid{calls: []string{`add {"a`}, reason: "TOOL_CALL"}},
		"thinking": {llm.When().Reply(llm.Thinking("hm, so it is", ""), llm.Text("so")),
			cohereSaid{thinking: "hm, so it is", text: "so", reason: "COMPLETE"}},
		"thinking before a tool": {llm.When().Reply(llm.Thinking("hm, so it is", ""), llm.Call("add", `{}`)),
			cohereSaid{thinking: "hm, so it is", calls: []string{`add {}`}, reason: "TOOL_CALL"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule.Usage(llm.Usage{Input: 12, Output: 5, Cached: 3}))
			co := cohereClient(srv.BaseURLs()[dialect.CohereChat])
			seen := map[string]bool{}
			unique := func(ids []string) {
				for _, id := range ids {
					require.False(t, seen[id] || id == "", "id %q", id)
					seen[id] = true
				}
			}
			whole, err := co.Chat(t.Context(), &cohere.V2ChatRequest{Model: "command-a-03-2025",
				Messages: cohereQuestion("What is the weather?")})
			require.NoError(t, err)
			said, ids := saidByCohere(t, whole)
			require.Equal(t, c.want, said)
			unique(ids)

			stream, err := co.ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: "command-a-03-2025",
				Messages: cohereQuestion("What is the weather?")})
			require.NoError(t, err)
			defer stream.Close()
			said, ids, err = streamedByCohere(t, stream)
			require.NoError(t, err)
			require.Equal(t, c.want, said)
			unique(ids)
		})
	}
}

func TestCohereSDKsRequestIsRead(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Text("so it is")))
	text := func(s string) *cohere.ToolMessageV2Content { return &cohere.ToolMessageV2Content{String: s} }
	call := func(id, arguments string) *cohere.ToolCallV2 {
		return &cohere.ToolCallV2{Id: &id, Type: cohere.String("function"),
			Function: &cohere.ToolCallV2Function{Name: cohere.String("look"), Arguments: &arguments}}
	}
	choice := cohere.V2ChatRequestToolChoiceRequired
	_, err := cohereClient(srv.BaseURLs()[dialect.CohereChat]).Chat(t.Context(), &cohere.V2ChatRequest{
		Model: "gpt-4o", MaxTokens: cohere.Int(70), Temperature: cohere.Float64(0.5), StopSequences: []string{"END"},
		ToolChoice: &choice,
		Messages: cohere.ChatMessages{
			{Role: "system", System: &cohere.SystemMessageV2{Content: &cohere.SystemMessageV2Content{String: "be brief"}}},
			{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{ContentList: []*cohere.Content{
				{Type: "text", Text: &cohere.ChatTextContent{Text: "What is this?"}},
				{Type: "image_url", ImageUrl: &cohere.ImageContent{
					ImageUrl: &cohere.ImageUrl{Url: "data:image/png;base64,aGk="}}}}}}},
			{Role: "assistant", Assistant: &cohere.AssistantMessage{ToolPlan: cohere.String("so"),
				ToolCalls: []*cohere.ToolCallV2{call("a", `{"n":9007199254740993}`), call("b", `{}`)}}},
			{Role: "tool", Tool: &cohere.ToolMessageV2{ToolCallId: "b", Content: text("two")}},
			{Role: "tool", Tool: &cohere.ToolMessageV2{ToolCallId: "a", Content: &cohere.ToolMessageV2Content{
				ToolContentList: []*cohere.ToolContent{{Type: "document", Document: &cohere.DocumentContent{
					Document: &cohere.Document{Data: map[string]any{"output": "one"}}}}}}}},
			cohereQuestion("And?")[0],
		},
		Tools: []*cohere.ToolV2{{Type: cohere.String("function"), Function: &cohere.ToolV2Function{Name: "look",
			Description: cohere.String("looks"), Parameters: map[string]any{"type": "object",
				"properties": map[string]any{"n": map[string]any{"type": "integer"}}}}}},
	})
	require.NoError(t, err)
	want := openAIConversation(dialect.CohereChat)
	want.StopSequences = []string{"END"}
	want.Messages[2].Content[1].Content[0].Text = `{"output":"one"}`
	require.Equal(t, want, openAINeutral(srv.Requests()[0]))
}

func TestCohereSDKReadsErrors(t *testing.T) {
	failing := func(status int) *llm.Rule {
		return llm.When(llm.LastUser(http.StatusText(status))).Fail(&llm.Error{Status: status, Message: "as <asked>"})
	}
	srv, err := llm.Start(llm.Options{}, failing(401), failing(429), failing(500), failing(503))
	require.NoError(t, err)
	defer srv.Close()
	co := cohereClient(srv.BaseURLs()[dialect.CohereChat])
	// ask returns the error of both kinds of requests, which must be the same, and its message.
	ask := func(model, text string) (message string, failed error) {
		_, failed = co.Chat(t.Context(), &cohere.V2ChatRequest{Model: model, Messages: cohereQuestion(text)})
		_, streamed := co.ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: model,
			Messages: cohereQuestion(text)})
		require.IsType(t, failed, streamed)
		body, err := json.Marshal(failed)
		require.NoError(t, err)
		var told struct{ ID, Message string }
		require.NoError(t, json.Unmarshal(body, &told), "%s", body)
		require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$`, told.ID)
		return told.Message, failed
	}
	for status, want := range map[int]error{401: &cohere.UnauthorizedError{}, 429: &cohere.TooManyRequestsError{},
		500: &cohere.InternalServerError{}, 503: &cohere.ServiceUnavailableError{}} {
		message, failed := ask("command-a-03-2025", http.StatusText(status))
		require.IsType(t, want, failed)
		require.Equal(t, "as <asked>", message)
	}
	message, failed := ask("", "What is the weather?")
	require.IsType(t, &cohere.BadRequestError{}, failed)
	require.Equal(t, "a model parameter is required for this endpoint.", message)
	message, failed = ask("command-a-03-2025", "What is the weather?")
	require.IsType(t, &cohere.NotFoundError{}, failed)
	require.Contains(t, message, "rule")
}

func TestCohereSDKReadsAnErrorInAStream(t *testing.T) {
	base := serveBroken(t, fake.Chat, "sunny", 3, outOfOrder)
	stream, err := cohereClient(base).ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: "command-a-03-2025",
		Messages: cohereQuestion("What is the weather?")})
	require.NoError(t, err)
	defer stream.Close()
	said, _, err := streamedByCohere(t, stream)
	require.EqualError(t, err, "out of order")
	require.Equal(t, cohereSaid{text: "sunn", reason: "ERROR"}, said)
}

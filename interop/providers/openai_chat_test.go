package providers

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	fake "github.com/mcp-conform/mcp-conform/fakes/llm/openai"
)

func openAIClient(url string) openai.Client {
	return openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("sk-test"))
}

// openAISaid is what the SDK made of an answer of either API.
type openAISaid struct {
	text, refusal string
	calls         []openAICall
	finish        string
}

type openAICall struct{ name, arguments string }

// openAIReplies are kinds of replies, their content, and the stop reason of each API.
var openAIReplies = map[string]struct {
	rule           *llm.Rule
	want           openAISaid
	chat, response string
}{
	"text": {llm.When().Reply(llm.Text("sunny – 18°C, <b>\n")), openAISaid{text: "sunny – 18°C, <b>\n"}, "stop",
		"completed"},
	"texts":   {llm.When().Reply(llm.Text("a"), llm.Text("b")), openAISaid{text: "ab"}, "stop", "completed"},
	"nothing": {llm.When().Reply(), openAISaid{}, "stop", "completed"},
	"truncated": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopMaxTokens), openAISaid{text: "once"},
		"length", "max_output_tokens"},
	"a tool": {llm.When().Reply(llm.Call("add", `{"n":9007199254740993,"s":"Köln"}`)),
		openAISaid{calls: []openAICall{{"add", `{"n":9007199254740993,"s":"Köln"}`}}}, "tool_calls", "completed"},
	"tools at once": {llm.When().Reply(llm.Text("so"), llm.Call("add", `{"a":1}`), llm.Call("add", `{}`)),
		openAISaid{text: "so", calls: []openAICall{{"add", `{"a":1}`}, {"add", `{}`}}}, "tool_calls", "completed"},
	"tools at an end": {llm.When().Reply(llm.Call("add", `{"a":1}`)).StopReason(llm.EndTurn),
		openAISaid{calls: []openAICall{{"add", `{"a":1}`}}}, "stop", "completed"},
	"junk": {llm.When().Reply(llm.Call("add", `{"a`)), openAISaid{calls: []openAICall{{"add", `{"a`}}},
		"tool_calls", "completed"},
}

func openAIChatParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "gpt-4o",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is the weather?")}}
}

func saidInChat(t *testing.T, c *openai.ChatCompletion) openAISaid {
	t.Helper()
	require.Len(t, c.Choices, 1)
	m := c.Choices[0].Message
	s := openAISaid{text: m.Content, refusal: m.Refusal, finish: c.Choices[0].FinishReason}
	seen := map[string]bool{}
	for _, call := range m.ToolCalls {
		require.False(t, seen[call.ID] || call.ID == "", "id %q", call.ID)
		seen[call.ID] = true
		s.calls = append(s.calls, openAICall{call.Function.Name, call.Function.Arguments})
	}
	return s
}

func TestOpenAIChatSDKReadsEveryReply(t *testing.T) {
	for name, c := range openAIReplies {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule)
			client := openAIClient(srv.OpenAI())
			want := c.want
			want.finish = c.chat
			plain, err := client.Chat.Completions.New(t.Context(), openAIChatParams())
			require.NoError(t, err)
			require.Equal(t, want, saidInChat(t, plain))
			require.Positive(t, plain.Usage.TotalTokens)

			params := openAIChatParams()
			params.StreamOptions.IncludeUsage = openai.Bool(true)
			stream := client.Chat.Completions.NewStreaming(t.Context(), params)
			defer stream.Close()
			var whole openai.ChatCompletionAccumulator
			for stream.Next() {
				require.True(t, whole.AddChunk(stream.Current()))
			}
			require.NoError(t, stream.Err())
			require.Equal(t, want, saidInChat(t, &whole.ChatCompletion))
			require.Positive(t, whole.Usage.TotalTokens)
		})
	}
}

// openAIConversation is the conversation of the request tests, as the fake reads it.
func openAIConversation(name string) llm.Request {
	limit, temperature := int64(70), 0.5
	return llm.Request{
		Dialect: name, Model: "gpt-4o", System: "be brief", ToolChoice: "required", MaxTokens: &limit,
		Temperature: &temperature,
		Messages: []llm.Message{
			{Role: dialect.User, Content: []llm.Block{{Type: dialect.Text, Text: "What is this?"},
				{Type: dialect.Image, Data: []byte("hi"), MimeType: "image/png"}}},
			{Role: dialect.Assistant, Content: []llm.Block{
				{Type: dialect.Text, Text: "so"},
				{Type: dialect.ToolUse, ID: "a", Name: "look", Input: []byte(`{"n":9007199254740993}`)},
				{Type: dialect.ToolUse, ID: "b", Name: "look", Input: []byte(`{}`)},
			}},
			{Role: dialect.User, Content: []llm.Block{
				{Type: dialect.ToolResult, ID: "b", Content: []llm.Block{{Type: dialect.Text, Text: "two"}}},
				{Type: dialect.ToolResult, ID: "a", Content: []llm.Block{{Type: dialect.Text, Text: "one"}}},
			}},
			{Role: dialect.User, Content: []llm.Block{{Type: dialect.Text, Text: "And?"}}},
		},
		Tools: []llm.Tool{{Name: "look", Description: "looks",
			InputSchema: []byte(`{"properties":{"n":{"type":"integer"}},"type":"object"}`)}},
	}
}

// openAINeutral removes places and notation from a request.
func openAINeutral(r llm.Request) llm.Request {
	r.Body, r.Header = nil, nil
	var strip func([]llm.Block)
	strip = func(blocks []llm.Block) {
		for i := range blocks {
			blocks[i].Raw, blocks[i].Path = nil, ""
			strip(blocks[i].Content)
		}
	}
	for i := range r.Messages {
		r.Messages[i].Path = ""
		strip(r.Messages[i].Content)
	}
	for i := range r.Tools {
		r.Tools[i].Path = ""
	}
	return r
}

var openAILookSchema = map[string]any{"type": "object",
	"properties": map[string]any{"n": map[string]any{"type": "integer"}}}

func TestOpenAIChatSDKsRequestIsRead(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Text("so it is")))
	call := func(id, arguments string) openai.ChatCompletionMessageToolCallUnionParam {
		return openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: id,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "look", Arguments: arguments}},
		}
	}
	assistant := openai.AssistantMessage("so")
	assistant.OfAssistant.ToolCalls = []openai.ChatCompletionMessageToolCallUnionParam{
		call("a", `{"n":9007199254740993}`),
		call("b", `{}`),
	}
	client := openAIClient(srv.OpenAI())
	_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: "gpt-4o", MaxCompletionTokens: openai.Int(70), Temperature: openai.Float(0.5),
		ToolChoice: openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: openai.String("required")},
		Stop:       openai.ChatCompletionNewParamsStopUnion{OfStringArray: []string{"END"}},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be brief"),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("What is this?"),
				openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64,aGk="})}),
			assistant, openai.ToolMessage("two", "b"), openai.ToolMessage("one", "a"), openai.UserMessage("And?"),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "look", Description: openai.String("looks"), Parameters: openAILookSchema})},
	})
	require.NoError(t, err)
	want := openAIConversation(dialect.OpenAIChat)
	want.StopSequences = []string{"END"}
	require.Equal(t, want, openAINeutral(srv.Requests()[0]))
}

func TestOpenAIChatSDKReadsErrors(t *testing.T) {
	srv, err := llm.Start(
		llm.Options{},
		llm.When(llm.LastUser("fail")).Fail(&llm.Error{Status: 500, Kind: "server_error",
			Message: "out of order"}),
	)
	require.NoError(t, err)
	defer srv.Close()
	client := openAIClient(srv.OpenAI())
	ask := func(params openai.ChatCompletionNewParams, o ...option.RequestOption) *openai.Error {
		_, err := client.Chat.Completions.New(t.Context(), params, o...)
		var said *openai.Error
		require.ErrorAs(t, err, &said)
		return said
	}
	refused := openAIChatParams()
	refused.Messages = append(refused.Messages, openai.ToolMessage("1", "nobody"))
	said := ask(refused)
	require.Equal(t, http.StatusBadRequest, said.StatusCode)
	require.Equal(t, "invalid_request_error", said.Type)
	require.Equal(t, "messages.[1].role", said.Param)
	require.Contains(t, said.Message, "call")

	missed := ask(openAIChatParams())
	require.Equal(t, http.StatusNotFound, missed.StatusCode)
	require.Contains(t, missed.Message, "no rule of the server matches this request; the nearest of 1 is rule 1")
	require.Len(t, srv.Journal(), 2, "a miss is not retried")

	failing := openAIChatParams()
	failing.Messages[0] = openai.UserMessage("fail")
	said = ask(failing, option.WithMaxRetries(0))
	require.Equal(t, http.StatusInternalServerError, said.StatusCode)
	require.Equal(t, "out of order", said.Message)
}

var outOfOrder = &dialect.Error{Status: 500, Code: "server_error", Message: "out of order"}

func TestOpenAIChatSDKReadsAnErrorInAStream(t *testing.T) {
	client := openAIClient(serveBroken(t, fake.Chat, "sunny", 2, outOfOrder) + "/v1")
	stream := client.Chat.Completions.NewStreaming(t.Context(), openAIChatParams())
	defer stream.Close()
	text := ""
	for stream.Next() {
		text += stream.Current().Choices[0].Delta.Content
	}
	require.Equal(t, "sunn", text)
	require.ErrorContains(t, stream.Err(), "out of order")
}

func TestOpenAISDKListsModels(t *testing.T) {
	client := openAIClient(serveSideRequests(t, fake.Chat) + "/v1")
	list, err := client.Models.List(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, list.Data)
	one, err := client.Models.Get(t.Context(), "my-model")
	require.NoError(t, err)
	require.Equal(t, "my-model", one.ID)
}

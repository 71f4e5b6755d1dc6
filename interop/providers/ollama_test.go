package providers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	fake "github.com/mcp-conform/mcp-conform/fakes/llm/ollama"
)

func ollamaClient(t *testing.T, base string) *api.Client {
	t.Helper()
	u, err := url.Parse(base)
	require.NoError(t, err)
	return api.NewClient(u, http.DefaultClient)
}

// ollamaSaid is what the SDK made of an answer.
type ollamaSaid struct {
	text, thinking, reason string
	calls                  []string
}

// askOllama asks and joins the lines: the SDK calls back for each line, or for the one answer.
func askOllama(t *testing.T, c *api.Client, req *api.ChatRequest) (said ollamaSaid, ids []string, err error) {
	t.Helper()
	done := false
	err = c.Chat(t.Context(), req, func(r api.ChatResponse) error {
		require.False(t, done, "a line after the last")
		require.Equal(t, "assistant", r.Message.Role)
		require.False(t, r.CreatedAt.IsZero())
		said.text += r.Message.Content
		said.thinking += r.Message.Thinking
		for _, call := range r.Message.ToolCalls {
			require.Equal(t, len(said.calls), call.Function.Index)
			said.calls = append(said.calls, call.Function.Name+" "+call.Function.Arguments.String())
			ids = append(ids, call.ID)
		}
		if done = r.Done; done {
			said.reason = r.DoneReason
			require.Positive(t, r.TotalDuration)
			require.Positive(t, r.EvalCount)
		}
		return nil
	})
	if err == nil {
		require.True(t, done, "no last line")
	}
	return said, ids, err
}

func ollamaRequest(model string, stream *bool) *api.ChatRequest {
	return &api.ChatRequest{Model: model, Stream: stream,
		Messages: []api.Message{{Role: "user", Content: "What is the weather?"}}}
}

func TestOllamaSDKReadsEveryReply(t *testing.T) {
	thought := llm.Block{Type: dialect.Thinking, Text: "hm, so it is"}
	for name, c := range map[string]struct {
		rule *llm.Rule
		want ollamaSaid
	}{
		"text": {llm.When().Reply(llm.Text("sunny – 18°C, <b>\n")), ollamaSaid{text: "sunny – 18°C, <b>\n",
			reason: "stop"}},
		"texts":   {llm.When().Reply(llm.Text("a"), llm.Text("b")), ollamaSaid{text: "ab", reason: "stop"}},
		"nothing": {llm.When().Reply(), ollamaSaid{reason: "stop"}},
		"truncated": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopMaxTokens),
			ollamaSaid{text: "once", reason: "length"}},
		"a tool": {llm.When().Reply(llm.Call("add", `{"s":"Köln","n":{"m":[1,null]}}`)),
			ollamaSaid{calls: []string{`add {"s":"Köln","n":{"m":[1,null]}}`}, reason: "stop"}},
		"tools at once": {llm.When().Reply(llm.Text("so"), llm.Call("add", `{"a":1}`), llm.Call("add", `{}`),
			llm.Call("sub", ``)), ollamaSaid{text: "so", calls: []string{`add {"a":1}`, `add {}`, `sub {}`}, reason: "stop"}},
		"a late tool": {llm.When().Reply(llm.Call("add", `{"a":1}`), llm.Call("add", `{}`)).LateUse(),
			ollamaSaid{calls: []string{`add {"a":1}`, `add {}`}, reason: "stop"}},
		"junk": {llm.When().Reply(llm.Call("add", `{"a`)), ollamaSaid{text: `{"name": "add", "parameters": {"a}`,
			reason: "stop"}},
		"thinking": {llm.When().Reply(thought, llm.Text("so")), ollamaSaid{thinking: "hm, so it is", text: "so",
			reason: "stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule)
			client := ollamaClient(t, srv.Ollama())
			plain := false
			for _, model := range []string{"llama3.2", "llama3.2:" + fake.NoIDs} {
				for _, stream := range []*bool{nil, &plain} {
					said, ids, err := askOllama(t, client, ollamaRequest(model, stream))
					require.NoError(t, err)
					require.Equal(t, c.want, said)
					seen := map[string]bool{}
					for _, id := range ids {
						require.Equal(t, strings.HasSuffix(model, fake.NoIDs), id == "", "id %q of %s", id, model)
						require.False(t, seen[id] && id != "", "id %q", id)
						seen[id] = true
					}
				}
			}
		})
	}
}

func TestOllamaSDKsRequestIsRead(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Text("so it is")))
	call := func(id string, arguments map[string]any) api.ToolCall {
		c := api.ToolCall{ID: id, Function: api.ToolCallFunction{Name: "look", Arguments: api.NewToolCallFunctionArguments()}}
		for name, value := range arguments {
			c.Function.Arguments.Set(name, value)
		}
		return c
	}
	properties := api.NewToolPropertiesMap()
	properties.Set("n", api.ToolProperty{Type: api.PropertyType{"integer"}})
	plain := false
	_, _, err := askOllama(t, ollamaClient(t, srv.Ollama()), &api.ChatRequest{
		Model: "gpt-4o", Stream: &plain, Options: map[string]any{"num_predict": 70, "temperature": 0.5,
			"stop": []string{"END"}}, Think: &api.ThinkValue{Value: false},
		Messages: []api.Message{
			{Role: "system", Content: "be brief"},
			{Role: "user", Content: "What is this?", Images: []api.ImageData{[]byte("\x89PNG\r\n\x1a\n")}},
			{Role: "assistant", Content: "so", Thinking: "hm", ToolCalls: []api.ToolCall{call("a", map[string]any{"n": 7}),
				call("b", nil)}},
			{Role: "tool", Content: "two", ToolName: "look", ToolCallID: "b"}, {Role: "tool", Content: "one", ToolName: "look",
				ToolCallID: "a"},
			{Role: "user", Content: "And?"},
		},
		Tools: api.Tools{{Type: "function", Function: api.ToolFunction{Name: "look", Description: "looks",
			Parameters: api.ToolFunctionParameters{Type: "object", Properties: properties}}}},
	})
	require.NoError(t, err)
	want := openAIConversation(dialect.Ollama)
	want.StopSequences, want.ToolChoice = []string{"END"}, ""
	want.Messages[0].Content = []llm.Block{{Type: dialect.Image, Data: []byte("\x89PNG\r\n\x1a\n"), MimeType: "image/png"},
		{Type: dialect.Text, Text: "What is this?"}}
	want.Messages[1].Content = append([]llm.Block{{Type: dialect.Thinking, Text: "hm"}}, want.Messages[1].Content...)
	want.Messages[1].Content[2].Input = []byte(`{"n":7}`)
	for i := range want.Messages[2].Content {
		want.Messages[2].Content[i].Name = "look"
	}
	want.Tools[0].InputSchema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	require.Equal(t, want, openAINeutral(srv.Requests()[0]))
}

func TestOllamaSDKReadsErrors(t *testing.T) {
	srv, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("fail")).Fail(&llm.Error{Status: 503,
		Message: "server busy"}))
	require.NoError(t, err)
	defer srv.Close()
	client := ollamaClient(t, srv.Ollama())
	ask := func(req *api.ChatRequest) api.StatusError {
		_, _, err := askOllama(t, client, req)
		var said api.StatusError
		require.ErrorAs(t, err, &said)
		return said
	}
	refused := ollamaRequest("no such model", nil)
	require.Equal(t, http.StatusBadRequest, ask(refused).StatusCode)
	missed := ask(ollamaRequest("llama3.2", nil))
	require.Equal(t, http.StatusNotFound, missed.StatusCode)
	require.Contains(t, missed.ErrorMessage, "rule")
	require.Len(t, srv.Journal(), 2, "a miss is not retried")
	failing := ollamaRequest("llama3.2", nil)
	failing.Messages[0].Content = "fail"
	require.Equal(t, api.StatusError{StatusCode: 503, Status: "503 Service Unavailable", ErrorMessage: "server busy"},
		ask(failing))
}

func TestOllamaSDKReadsAnErrorInAStream(t *testing.T) {
	base := serveBroken(t, fake.Chat, "sunny", 1, outOfOrder)
	said, _, err := askOllama(t, ollamaClient(t, base), ollamaRequest("llama3.2", nil))
	require.EqualError(t, err, "out of order")
	require.Equal(t, "sunn", said.text)
}

func TestOllamaSDKListsModels(t *testing.T) {
	client := ollamaClient(t, serveSideRequests(t, fake.Chat))
	list, err := client.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, "llama3.2:latest", list.Models[0].Name)
	require.Equal(t, "llama", list.Models[0].Details.Family)
	shown, err := client.Show(t.Context(), &api.ShowRequest{Model: "my-model"})
	require.NoError(t, err)
	require.Len(t, shown.Capabilities, 4)
	running, err := client.ListRunning(t.Context())
	require.NoError(t, err)
	require.Empty(t, running.Models)
	require.NoError(t, client.Heartbeat(t.Context()))
	version, err := client.Version(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0.17.4", version)

	model := llm.New(t, llm.When().Reply(llm.Text("never said")))
	var loaded api.ChatResponse
	require.NoError(t, ollamaClient(t, model.Ollama()).Chat(t.Context(), &api.ChatRequest{Model: "llama3.2"},
		func(r api.ChatResponse) error {
			loaded = r
			return nil
		}))
	require.Equal(t, "load", loaded.DoneReason)
	require.True(t, loaded.Done)
	require.Empty(t, loaded.Message.Content)
}

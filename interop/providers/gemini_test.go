package providers

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"testing"

	"cloud.google.com/go/auth"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/gemini"
)

const (
	gemini2 = "gemini-2.5-flash"
	gemini3 = "gemini-3-pro-preview"
)

// geminiClient returns Google's SDK for a server.
func geminiClient(t *testing.T, url string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	require.NoError(t, err)
	return c
}

type staticToken struct{}

func (staticToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: "t", Type: "Bearer"}, nil
}

// vertexClient returns Google's SDK for a server as Vertex AI.
func vertexClient(t *testing.T, url string) *genai.Client {
	t.Helper()
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "p", Location: "europe-west1",
		Credentials: auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: staticToken{}}),
		HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	require.NoError(t, err)
	return c
}

// whole joins the chunks of a stream and counts them.
func whole(t *testing.T, stream iter.Seq2[*genai.GenerateContentResponse, error]) (all *genai.GenerateContentResponse,
	chunks int) {
	t.Helper()
	for r, err := range stream {
		require.NoError(t, err)
		chunks++
		if all == nil || len(all.Candidates) == 0 || len(r.Candidates) == 0 {
			all = r
			continue
		}
		c := r.Candidates[0]
		c.Content.Parts = append(all.Candidates[0].Content.Parts, c.Content.Parts...)
		if c.FinishReason == "" {
			c.FinishReason = all.Candidates[0].FinishReason
		}
		all = r
	}
	require.NotNil(t, all)
	return all, chunks
}

// said returns the texts, thoughts and calls of a response.
func said(r *genai.GenerateContentResponse) (text, thoughts string, calls []genai.FunctionCall) {
	if len(r.Candidates) == 0 || r.Candidates[0].Content == nil {
		return
	}
	for _, p := range r.Candidates[0].Content.Parts {
		switch {
		case p.FunctionCall != nil:
			calls = append(calls, *p.FunctionCall)
		case p.Thought:
			thoughts += p.Text
		default:
			text += p.Text
		}
	}
	return text, thoughts, calls
}

func TestGeminiSDKReadsEveryReply(t *testing.T) {
	args := func(text string) (o map[string]any) {
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		return o
	}
	type want struct {
		text, thoughts string
		calls          []genai.FunctionCall
		finish         genai.FinishReason
	}
	for name, c := range map[string]struct {
		rule *llm.Rule
		want want
	}{
		"text": {llm.When().Reply(llm.Text("sunny – 18°C, <b>\n")),
			want{text: "sunny – 18°C, <b>\n", finish: "STOP"}},
		"nothing": {llm.When().Reply(), want{finish: "STOP"}},
		"truncated": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopMaxTokens),
			want{text: "once", finish: "MAX_TOKENS"}},
		"a tool": {llm.When().Reply(llm.Call("add", `{"a":2,"s":"Köln"}`)),
			want{calls: []genai.FunctionCall{{Name: "add", Args: args(`{"a":2,"s":"Köln"}`)}}, finish: "STOP"}},
		"two tools and text": {llm.When().Reply(llm.Text("so"), llm.Call("add", `{"a":2}`), llm.Call("now", `{}`)),
			want{text: "so", calls: []genai.FunctionCall{{Name: "add", Args: args(`{"a":2}`)}, {Name: "now", Args: args(`{}`)}},
				finish: "STOP"}},
		"a thought": {llm.When().Reply(llm.Block{Type: dialect.Thinking, Text: "hm, well"}, llm.Text("so")),
			want{text: "so", thoughts: "hm, well", finish: "STOP"}},
		"a refusal": {llm.When().Reply(llm.Text("no")).StopReason(dialect.StopRefusal),
			want{text: "no", finish: "PROHIBITED_CONTENT"}},
		"filtered": {llm.When().Reply(llm.Text("so")).StopReason(dialect.StopContentFilter),
			want{text: "so", finish: "SAFETY"}},
		"junk": {llm.When().Reply(llm.Call("add", `{"a`)), want{finish: "MALFORMED_FUNCTION_CALL"}},
		"late": {llm.When().Reply(llm.Call("add", `{"a":2}`), llm.Call("now", `{}`)).LateUse(),
			want{finish: "STOP",
				calls: []genai.FunctionCall{{Name: "add", Args: args(`{"a":2}`)}, {Name: "now", Args: args(`{}`)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, model := range []string{gemini2, gemini3} {
				srv := llm.New(t, c.rule)
				client := geminiClient(t, srv.Gemini())
				plain, err := client.Models.GenerateContent(t.Context(), model, genai.Text("hi"), nil)
				require.NoError(t, err)
				streamed, _ := whole(t, client.Models.GenerateContentStream(t.Context(), model, genai.Text("hi"), nil))
				for _, r := range []*genai.GenerateContentResponse{plain, streamed} {
					var got want
					got.text, got.thoughts, got.calls = said(r)
					got.finish = r.Candidates[0].FinishReason
					for i := range got.calls {
						require.Equal(t, model == gemini3, got.calls[i].ID != "", "only Gemini 3 has ids of calls")
						got.calls[i].ID = ""
					}
					require.Equal(t, c.want, got, model)
					require.Equal(t, model, r.ModelVersion)
					require.NotEmpty(t, r.ResponseID)
					require.NotZero(t, r.UsageMetadata.TotalTokenCount)
				}
			}
		})
	}
}

func TestGeminiSDKSeesBothGenerations(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Call("add", `{"a":2}`), llm.Call("add", `{"a":3}`)))
	for model, want := range map[string]int{gemini2: 1, gemini3: 3} {
		for name, client := range map[string]*genai.Client{"gemini": geminiClient(t, srv.Gemini()), "vertex": vertexClient(t,
			srv.Gemini())} {
			r, chunks := whole(t, client.Models.GenerateContentStream(t.Context(), model, genai.Text("hi"), nil))
			require.Equal(t, want, chunks, "%s, %s", model, name)
			require.NotEmpty(t, r.Candidates[0].Content.Parts[0].ThoughtSignature)
			require.Empty(t, r.Candidates[0].Content.Parts[1].ThoughtSignature)
		}
	}
}

func TestGeminiSDKReadsABlockedPrompt(t *testing.T) {
	srv := llm.New(t, llm.When().Reply().StopReason(dialect.StopContentFilter))
	client := geminiClient(t, srv.Gemini())
	plain, err := client.Models.GenerateContent(t.Context(), gemini2, genai.Text("hi"), nil)
	require.NoError(t, err)
	streamed, _ := whole(t, client.Models.GenerateContentStream(t.Context(), gemini2, genai.Text("hi"), nil))
	for _, r := range []*genai.GenerateContentResponse{plain, streamed} {
		require.Empty(t, r.Candidates)
		require.Equal(t, genai.BlockedReasonProhibitedContent, r.PromptFeedback.BlockReason)
	}
}

func TestGeminiSDKReadsErrors(t *testing.T) {
	for status, word := range map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
		404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
		500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"} {
		srv := llm.New(t, llm.When().Fail(&llm.Error{Status: status, Message: "it broke",
			Header: http.Header{"Retry-After": {"3"}}}))
		client := geminiClient(t, srv.Gemini())
		_, plain := client.Models.GenerateContent(t.Context(), gemini2, genai.Text("hi"), nil)
		var streamed error
		for _, err := range client.Models.GenerateContentStream(t.Context(), gemini2, genai.Text("hi"), nil) {
			streamed = err
		}
		for _, err := range []error{plain, streamed} {
			var got genai.APIError
			require.True(t, errors.As(err, &got), "%v", err)
			require.Equal(t, status, got.Code)
			require.Equal(t, word, got.Status)
			require.Equal(t, "it broke", got.Message)
			if status == 429 {
				require.Equal(t, "3s", got.Details[2]["retryDelay"])
			}
		}
	}
}

func TestGeminiSDKReadsAnErrorInAStream(t *testing.T) {
	url := serveBroken(t, gemini.GenerateContent, "once upon a time", 1, &llm.Error{Status: 503, Message: "overloaded"})
	var texts []string
	var failed error
	stream := geminiClient(t, url).Models.GenerateContentStream(t.Context(), gemini2, genai.Text("hi"), nil)
	for r, err := range stream {
		if err != nil {
			failed = err
			continue
		}
		text, _, _ := said(r)
		texts = append(texts, text)
	}
	require.Equal(t, []string{"once"}, texts)
	var got genai.APIError
	require.True(t, errors.As(failed, &got), "%v", failed)
	require.Equal(t, "UNAVAILABLE", got.Status)
}

// The SDK's request passes the strict rules of the fake and is read as the conversation.
func TestGeminiSDKsRequestIsRead(t *testing.T) {
	for _, model := range []string{gemini2, gemini3} {
		for how, connect := range map[string]func(*testing.T, string) *genai.Client{"gemini": geminiClient,
			"vertex": vertexClient} {
			t.Run(model+"/"+how, func(t *testing.T) {
				srv := llm.New(t, llm.When(llm.Turn(1)).Reply(llm.Call("weather", `{"city":"Paris"}`),
					llm.Call("weather", `{"city":"London"}`)),
					llm.When(llm.Turn(2), llm.ToolResults(2)).Reply(llm.Text("18 and 15")))
				config := &genai.GenerateContentConfig{
					SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser), MaxOutputTokens: 100,
					Temperature: genai.Ptr[float32](0.5), StopSequences: []string{"END"},
					Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
						{Name: "weather", Description: "tells it", Parameters: &genai.Schema{Type: genai.TypeObject,
							Required: []string{"city"},
							Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString, MinLength: genai.Ptr[int64](1),
								Nullable: genai.Ptr(true)}}}},
						{Name: "now", ParametersJsonSchema: map[string]any{"type": "object", "additionalProperties": false}},
					}}},
					ToolConfig: &genai.ToolConfig{
						FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeAny},
					},
				}
				chat, err := connect(t, srv.Gemini()).Chats.Create(t.Context(), model, config, nil)
				require.NoError(t, err)
				first, err := chat.Send(
					t.Context(),
					genai.NewPartFromText("The weather?"),
					genai.NewPartFromBytes([]byte{1, 2, 3},
						"image/png"),
					genai.NewPartFromBytes([]byte{4}, "audio/wav"),
				)
				require.NoError(t, err)
				_, _, calls := said(first)
				var responses []*genai.Part
				for i, call := range calls {
					response := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": []string{"18°C", "15°C"}[i]})
					response.FunctionResponse.ID = call.ID
					responses = append(responses, response)
				}
				delete(responses[1].FunctionResponse.Response, "output")
				responses[1].FunctionResponse.Response["error"] = "it rains in"
				second, err := chat.Send(t.Context(), responses...)
				require.NoError(t, err)
				require.Equal(t, "18 and 15", second.Text())

				req := srv.Requests()[1]
				require.Equal(t, model, req.Model)
				require.Equal(t, "be brief", req.System)
				require.EqualValues(t, 100, *req.MaxTokens)
				require.InDelta(t, 0.5, *req.Temperature, 0)
				require.Equal(t, []string{"END"}, req.StopSequences)
				require.Equal(t, dialect.ChoiceRequired, req.ToolChoice)
				require.Equal(t, "weather", req.Tools[0].Name)
				require.Equal(t, "tells it", req.Tools[0].Description)
				require.JSONEq(t, `{"type":"object","required":["city"],"properties":{"city":{"type":["string","null"],`+
					`"minLength":1}}}`, string(req.Tools[0].InputSchema))
				require.JSONEq(t, `{"type":"object","additionalProperties":false}`, string(req.Tools[1].InputSchema))

				require.Len(t, req.Messages, 3)
				require.Equal(t, dialect.User, req.Messages[0].Role)
				asked := req.Messages[0].Content
				require.Equal(t, "The weather?", asked[0].Text)
				require.Equal(t, []any{dialect.Image, "image/png", []byte{1, 2, 3}}, []any{asked[1].Type, asked[1].MimeType,
					asked[1].Data})
				require.Equal(t, []any{dialect.Audio, "audio/wav", []byte{4}}, []any{asked[2].Type, asked[2].MimeType,
					asked[2].Data})
				require.Equal(t, dialect.Assistant, req.Messages[1].Role)
				uses, results := req.Messages[1].Content, req.Messages[2].Content
				require.Len(t, uses, 2)
				require.NotEmpty(t, uses[0].Signature, "the SDK sends it back")
				require.JSONEq(t, `{"city":"London"}`, string(uses[1].Input))
				require.Len(t, results, 2)
				require.Equal(t, "18°C", dialect.PlainText(results[0].Content))
				require.False(t, results[0].IsError)
				require.Equal(t, "it rains in", dialect.PlainText(results[1].Content))
				require.True(t, results[1].IsError)
				for i := range uses {
					require.Equal(t, uses[i].ID, results[i].ID)
					require.Equal(t, model == gemini3, uses[i].ID != "")
				}
			})
		}
	}
}

func TestGeminiSDKsInvalidRequestsAreRefused(t *testing.T) {
	srv, err := llm.Start(llm.Options{})
	require.NoError(t, err)
	defer srv.Close()
	client := geminiClient(t, srv.Gemini())
	call := func(city string) *genai.Part {
		return genai.NewPartFromFunctionCall("weather", map[string]any{"city": city})
	}
	result := genai.NewPartFromFunctionResponse("weather", map[string]any{"output": "18°C"})
	history := func(model []*genai.Part, user ...*genai.Part) []*genai.Content {
		return []*genai.Content{genai.NewContentFromText("hi", genai.RoleUser), genai.NewContentFromParts(model,
			genai.RoleModel), genai.NewContentFromParts(user, genai.RoleUser)}
	}
	for name, c := range map[string]struct {
		model    string
		contents []*genai.Content
		want     string
	}{
		"one of two results": {gemini2, history([]*genai.Part{call("Paris"), call("London")}, result),
			"function response"},
		"no signature": {gemini3, history([]*genai.Part{call("Paris")}, result), "thought_signature"},
		"nothing":      {gemini2, nil, "contents"},
		"role of another API": {gemini2, []*genai.Content{genai.NewContentFromText("hi", "assistant")},
			"Please use a valid role"},
		"result without a call": {gemini2, []*genai.Content{genai.NewContentFromParts([]*genai.Part{result}, genai.RoleUser)},
			"function call"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.Models.GenerateContent(t.Context(), c.model, c.contents, nil)
			var got genai.APIError
			require.True(t, errors.As(err, &got), "%v", err)
			require.Equal(t, "INVALID_ARGUMENT", got.Status)
			require.Contains(t, got.Message, c.want)
		})
	}
}

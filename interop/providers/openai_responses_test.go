package providers

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	fake "github.com/mcp-conform/mcp-conform/fakes/llm/openai"
)

func openAIResponsesParams() responses.ResponseNewParams {
	return responses.ResponseNewParams{Model: "gpt-4o",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What is the weather?")}}
}

func saidInResponse(t *testing.T, r *responses.Response) openAISaid {
	t.Helper()
	s := openAISaid{text: r.OutputText(), finish: string(r.Status)}
	if r.IncompleteDetails.Reason != "" {
		require.Equal(t, "incomplete", s.finish)
		s.finish = r.IncompleteDetails.Reason
	}
	seen := map[string]bool{}
	for _, it := range r.Output {
		require.False(t, seen[it.ID] || it.ID == "", "id %q", it.ID)
		seen[it.ID] = true
		switch it := it.AsAny().(type) {
		case responses.ResponseFunctionToolCall:
			require.False(t, seen[it.CallID] || it.CallID == "", "call_id %q", it.CallID)
			seen[it.CallID] = true
			s.calls = append(s.calls, openAICall{it.Name, it.Arguments})
		case responses.ResponseOutputMessage:
			for _, p := range it.Content {
				s.refusal += p.Refusal
			}
		}
	}
	return s
}

// streamedResponse asks for a stream, and compares its pieces with the final response.
func streamedResponse(t *testing.T, c openai.Client, params responses.ResponseNewParams) *responses.Response {
	t.Helper()
	stream := c.Responses.NewStreaming(t.Context(), params)
	defer stream.Close()
	text, refusal, summary := "", "", ""
	arguments := map[string]string{}
	var end *responses.Response
	var last int64 = -1
	for stream.Next() {
		e := stream.Current()
		require.Equal(t, last+1, e.SequenceNumber)
		last = e.SequenceNumber
		switch e := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseRefusalDeltaEvent:
			refusal += e.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			summary += e.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			arguments[e.ItemID] += e.Delta
		case responses.ResponseFunctionCallArgumentsDoneEvent:
			require.Equal(t, e.Arguments, arguments[e.ItemID])
		case responses.ResponseCompletedEvent:
			end = &e.Response
		case responses.ResponseIncompleteEvent:
			end = &e.Response
		}
	}
	require.NoError(t, stream.Err())
	require.NotNil(t, end, "no final event")
	said := saidInResponse(t, end)
	require.Equal(t, said.text, text)
	require.Equal(t, said.refusal, refusal)
	for _, it := range end.Output {
		if it.Type == "function_call" {
			require.Equal(t, it.Arguments.OfString, arguments[it.ID])
		}
		for _, s := range it.Summary {
			require.Equal(t, s.Text, summary)
		}
	}
	return end
}

func TestOpenAIResponsesSDKReadsEveryReply(t *testing.T) {
	for name, c := range openAIReplies {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule)
			client := openAIClient(srv.OpenAI())
			want := c.want
			want.finish = c.response
			plain, err := client.Responses.New(t.Context(), openAIResponsesParams())
			require.NoError(t, err)
			require.Equal(t, want, saidInResponse(t, plain))
			require.Equal(t, want, saidInResponse(t, streamedResponse(t, client, openAIResponsesParams())))
			require.Positive(t, plain.Usage.TotalTokens)
		})
	}
}

func TestOpenAIResponsesSDKReadsRefusalsFiltersAndReasoning(t *testing.T) {
	thought := llm.Block{Type: dialect.Thinking, Text: "hm, so it is", Signature: "sealed"}
	for name, c := range map[string]struct {
		rule *llm.Rule
		want openAISaid
	}{
		"refusal": {llm.When().Reply(llm.Text("no, never")).StopReason(dialect.StopRefusal),
			openAISaid{refusal: "no, never", finish: "completed"}},
		"held back": {llm.When().Reply(llm.Text("onc")).StopReason(dialect.StopContentFilter),
			openAISaid{text: "onc", finish: "content_filter"}},
		"reasoning": {llm.When().Reply(thought, llm.Call("add", `{}`)), openAISaid{calls: []openAICall{{"add", "{}"}},
			finish: "completed"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule)
			client := openAIClient(srv.OpenAI())
			params := openAIResponsesParams()
			params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
			plain, err := client.Responses.New(t.Context(), params)
			require.NoError(t, err)
			for _, r := range []*responses.Response{plain, streamedResponse(t, client, params)} {
				require.Equal(t, c.want, saidInResponse(t, r))
				if name == "reasoning" {
					reasoning := r.Output[0].AsReasoning()
					require.Equal(t, "hm, so it is", reasoning.Summary[0].Text)
					require.Equal(t, "sealed", reasoning.EncryptedContent)
				}
			}
		})
	}
}

func TestOpenAIResponsesSDKsRequestIsRead(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Text("so it is")))
	client := openAIClient(srv.OpenAI())
	image := responses.ResponseInputContentParamOfInputImage("auto")
	image.OfInputImage.ImageURL = openai.String("data:image/png;base64,aGk=")
	output := func(callID, text string) responses.ResponseInputItemUnionParam {
		return responses.ResponseInputItemUnionParam{
			OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String(
					callID,
				), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(text)}},
		}
	}
	_, err := client.Responses.New(t.Context(), responses.ResponseNewParams{
		Model: "gpt-4o", Instructions: openai.String("be brief"), MaxOutputTokens: openai.Int(70),
		Temperature: openai.Float(0.5), Store: openai.Bool(false),
		ToolChoice: responses.ResponseNewParamsToolChoiceUnion{
			OfToolChoiceMode: openai.Opt(responses.ToolChoiceOptionsRequired),
		},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: "look", Description: openai.String("looks"), Parameters: openAILookSchema, Strict: openai.Bool(false)}}},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfMessage(
				responses.ResponseInputMessageContentListParam{
					responses.ResponseInputContentParamOfInputText("What is this?"),
					image,
				},
				"user",
			),
			responses.ResponseInputItemParamOfMessage("so", "assistant"),
			responses.ResponseInputItemParamOfFunctionCall(`{"n":9007199254740993}`, "a", "look"),
			responses.ResponseInputItemParamOfFunctionCall(`{}`, "b", "look"),
			output("b", "two"), output("a", "one"),
			responses.ResponseInputItemParamOfMessage("And?", "user"),
		}},
	})
	require.NoError(t, err)
	require.Equal(t, openAIConversation(dialect.OpenAIResponses), openAINeutral(srv.Requests()[0]))
}

func TestOpenAIResponsesSDKCanSendItemsBack(t *testing.T) {
	thought := llm.Block{Type: dialect.Thinking, Text: "hm", Signature: "sealed"}
	srv := llm.New(t,
		llm.When(llm.Turn(1)).Reply(thought, llm.Text("so"), llm.Call("look", `{"n":1}`)),
		llm.When(llm.Turn(2), llm.ToolResults(1)).Reply(llm.Text("so it is")))
	client := openAIClient(srv.OpenAI())
	params := openAIResponsesParams()
	params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	first, err := client.Responses.New(t.Context(), params)
	require.NoError(t, err)
	items := []responses.ResponseInputItemUnionParam{responses.ResponseInputItemParamOfMessage("What is the weather?",
		"user")}
	for _, it := range first.Output {
		switch it := it.AsAny().(type) {
		case responses.ResponseReasoningItem:
			given := it.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfReasoning: &given})
		case responses.ResponseOutputMessage:
			given := it.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfOutputMessage: &given})
		case responses.ResponseFunctionToolCall:
			given := it.ToParam()
			items = append(items, responses.ResponseInputItemUnionParam{OfFunctionCall: &given})
		}
	}
	items = append(
		items,
		responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
			CallID: openai.String(first.Output[2].CallID),
			Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("1")}}},
	)
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
	second, err := client.Responses.New(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "so it is", second.OutputText())
	turn := srv.Requests()[1].Messages[1].Content
	require.Equal(t, "hm", turn[0].Text)
	require.Equal(t, "sealed", turn[0].Signature)
	require.Equal(t, "so", turn[1].Text)
	require.Equal(t, first.Output[2].CallID, turn[2].ID)
}

func TestOpenAIResponsesSDKReadsErrors(t *testing.T) {
	srv, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("fail")).Fail(&llm.Error{Status: 429,
		Code: "rate_limit_exceeded", Message: "slow down"}))
	require.NoError(t, err)
	defer srv.Close()
	client := openAIClient(srv.OpenAI())
	ask := func(params responses.ResponseNewParams, o ...option.RequestOption) *openai.Error {
		_, err := client.Responses.New(t.Context(), params, o...)
		var said *openai.Error
		require.ErrorAs(t, err, &said)
		return said
	}
	refused := openAIResponsesParams()
	refused.Input = responses.ResponseNewParamsInputUnion{
		OfInputItemList: []responses.ResponseInputItemUnionParam{
			responses.ResponseInputItemParamOfFunctionCall(`{}`, "a", "look"),
		},
	}
	said := ask(refused)
	require.Equal(t, http.StatusBadRequest, said.StatusCode)
	require.Equal(t, "invalid_request_error", said.Type)
	require.Equal(t, "input", said.Param)
	require.Contains(t, said.Message, "call")

	missed := ask(openAIResponsesParams())
	require.Equal(t, http.StatusNotFound, missed.StatusCode)
	require.Contains(t, missed.Message, "no rule of the server matches this request; the nearest of 1 is rule 1")
	require.Len(t, srv.Journal(), 2, "a miss is not retried")

	failing := openAIResponsesParams()
	failing.Input.OfString = openai.String("fail")
	said = ask(failing, option.WithMaxRetries(0))
	require.Equal(t, http.StatusTooManyRequests, said.StatusCode)
	require.Equal(t, "rate_limit_exceeded", said.Code)
}

func TestOpenAIResponsesSDKReadsAnErrorInAStream(t *testing.T) {
	client := openAIClient(serveBroken(t, fake.Responses, "sunny", 2, outOfOrder) + "/v1")
	stream := client.Responses.NewStreaming(t.Context(), openAIResponsesParams())
	defer stream.Close()
	var names []string
	for stream.Next() {
		names = append(names, stream.Current().Type)
	}
	require.Equal(t, []string{"response.created", "response.in_progress"}, names)
	require.ErrorContains(t, stream.Err(), "out of order")
}

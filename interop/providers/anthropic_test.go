package providers

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	fake "github.com/mcp-conform/mcp-conform/fakes/llm/anthropic"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

func anthropicClient(url string) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("sk-test"))
}

func anthropicParams(messages ...anthropic.MessageParam) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{Model: "claude-test", MaxTokens: 100, Messages: messages}
}

var anthropicQuestion = anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather?"))

// streamedByAnthropic asks for a stream and joins it.
func streamedByAnthropic(t *testing.T, c anthropic.Client, params anthropic.MessageNewParams) *anthropic.Message {
	t.Helper()
	stream := c.Messages.NewStreaming(t.Context(), params)
	defer stream.Close()
	var whole anthropic.Message
	for stream.Next() {
		require.NoError(t, whole.Accumulate(stream.Current()))
	}
	require.NoError(t, stream.Err())
	return &whole
}

func TestAnthropicSDKReadsEveryReply(t *testing.T) {
	thinking := llm.Block{Type: dialect.Thinking, Text: "hm, so it is", Signature: "Er=="}
	redacted := llm.Block{Type: dialect.Other, Raw: json.RawMessage(`{"type":"redacted_thinking","data":"xyz"}`)}
	type block struct{ kind, text, name, input string } // text is also a signature or data
	said := func(s string) block { return block{"text", s, "", ""} }
	for name, c := range map[string]struct {
		rule     *llm.Rule
		want     []block
		reason   anthropic.StopReason
		sequence string
	}{
		"text": {llm.When().Reply(llm.Text("sunny – 18°C, <b>\n")), []block{said("sunny – 18°C, <b>\n")},
			"end_turn", ""},
		"texts":   {llm.When().Reply(llm.Text("a"), llm.Text("b")), []block{said("a"), said("b")}, "end_turn", ""},
		"nothing": {llm.When().Reply(), nil, "end_turn", ""},
		"truncated": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopMaxTokens), []block{said("once")},
			"max_tokens", ""},
		"stop sequence": {llm.When().Reply(llm.Text("once")).StopReason(llm.StopStopSequence), []block{said("once")},
			"stop_sequence", "END"},
		"refusal": {llm.When().Reply(llm.Text("no")).StopReason(dialect.StopRefusal), []block{said("no")}, "refusal",
			""},
		"held back": {llm.When().Reply().StopReason(dialect.StopContentFilter), nil, "refusal", ""},
		"pause": {llm.When().Reply(llm.Text("wait")).StopReason("pause_turn"), []block{said("wait")}, "pause_turn",
			""},
		"too much": {llm.When().Reply(llm.Text("so")).StopReason("model_context_window_exceeded"), []block{said("so")},
			"model_context_window_exceeded", ""},
		"a tool": {llm.When().Reply(llm.Call("add", `{"n":9007199254740993,"s":"Köln"}`)),
			[]block{{"tool_use", "", "add", `{"n":9007199254740993,"s":"Köln"}`}}, "tool_use", ""},
		"tools at once": {llm.When().Reply(llm.Text("so"), llm.Call("add", `{"a":1}`), llm.Call("add", `{}`),
			llm.Call("sub", ``)), []block{said("so"), {"tool_use", "", "add", `{"a":1}`}, {"tool_use", "", "add", `{}`},
			{"tool_use", "", "sub", `{}`}}, "tool_use", ""},
		"tools at an end": {llm.When().Reply(llm.Call("add", `{"a":1}`)).StopReason(llm.EndTurn),
			[]block{{"tool_use", "", "add", `{"a":1}`}}, "end_turn", ""},
		"junk": {llm.When().Reply(llm.Call("add", `{"a`)), []block{{"tool_use", "", "add", `{}`}}, "tool_use", ""},
		// the SDK makes {} of it
		"thinking": {llm.When().Reply(thinking, redacted, llm.Call("add", `{"a":1}`)),
			[]block{{"thinking", "Er==", "", ""}, {"redacted_thinking", "xyz", "", ""}, {"tool_use", "", "add", `{"a":1}`}},
			"tool_use", ""},
	} {
		t.Run(name, func(t *testing.T) {
			srv := llm.New(t, c.rule)
			client := anthropicClient(srv.Anthropic())
			params := anthropicParams(anthropicQuestion)
			params.StopSequences = []string{"END"}
			plain, err := client.Messages.New(t.Context(), params)
			require.NoError(t, err)
			for how, m := range map[string]*anthropic.Message{"plain": plain, "streamed": streamedByAnthropic(t, client,
				params)} {
				var got []block
				for _, b := range m.Content {
					switch b := b.AsAny().(type) {
					case anthropic.TextBlock:
						got = append(got, said(b.Text))
					case anthropic.ToolUseBlock:
						require.Regexp(t, "^toolu_01", b.ID)
						require.Equal(t, "direct", b.Caller.Type)
						got = append(got, block{"tool_use", "", b.Name, string(b.Input)})
					case anthropic.ThinkingBlock:
						require.Equal(t, "hm, so it is", b.Thinking)
						got = append(got, block{"thinking", b.Signature, "", ""})
					case anthropic.RedactedThinkingBlock:
						got = append(got, block{"redacted_thinking", b.Data, "", ""})
					default:
						t.Fatalf("a block of the type %T", b)
					}
				}
				require.Equal(t, c.want, got, how)
				require.Equal(t, c.reason, m.StopReason, how)
				require.Equal(t, c.sequence, m.StopSequence, how)
				require.Equal(t, c.reason == "refusal", m.StopDetails.Type == "refusal", how)
				require.Equal(t, "claude-test", m.Model, how)
				require.Regexp(t, "^msg_01", m.ID)
				require.EqualValues(t, "message", m.Type)
				require.EqualValues(t, "assistant", m.Role)
				require.Positive(t, m.Usage.InputTokens, how)
				require.Positive(t, m.Usage.OutputTokens, how)
			}
		})
	}
}

// bare removes places and notation from a conversation.
func bare(messages []llm.Message) []llm.Message {
	var all []llm.Message
	for _, m := range messages {
		all = append(all, llm.Message{Role: m.Role, Content: bareBlocks(m.Content)})
	}
	return all
}

func bareBlocks(blocks []llm.Block) []llm.Block {
	var all []llm.Block
	for _, b := range blocks {
		b.Path, b.Content = "", bareBlocks(b.Content)
		if b.Type != dialect.Other {
			b.Raw = nil
		}
		all = append(all, b)
	}
	return all
}

func TestAnthropicSDKsRequestIsRead(t *testing.T) {
	gif := []byte("GIF89a")
	srv := llm.New(t,
		llm.When(llm.Turn(1)).Reply(
			llm.Block{Type: dialect.Thinking, Text: "hm", Signature: "Er=="}, llm.Block{Type: dialect.Other,
				Raw: json.RawMessage(`{"type":"redacted_thinking","data":"xyz"}`)},
			llm.Text("Let me see."), llm.CallID("u1", "look", `{"at":"Paris"}`), llm.CallID("u2", "look", `{}`)),
		llm.When(llm.Turn(2)).Reply(llm.Text("A map.")),
	)
	client := anthropicClient(srv.Anthropic())
	params := anthropicParams(anthropic.NewUserMessage(anthropic.NewTextBlock("What is there?"),
		anthropic.NewImageBlockBase64("image/gif", base64.StdEncoding.EncodeToString(gif))))
	params.System = []anthropic.TextBlockParam{{Text: "Be brief."}, {Text: "Be kind."}}
	params.Temperature, params.StopSequences = anthropic.Float(0.5), []string{"END"}
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "look",
		Description: anthropic.String("Looks"),
		InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"at": map[string]any{"type": "string"}},
			Required: []string{"at"}}}}}
	first, err := client.Messages.New(t.Context(), params)
	require.NoError(t, err)
	image := anthropic.ToolResultBlockParam{ToolUseID: "u2", Content: []anthropic.ToolResultBlockParamContentUnion{
		{OfText: &anthropic.TextBlockParam{Text: "a map"}},
		{
			OfImage: &anthropic.ImageBlockParam{
				Source: anthropic.ImageBlockParamSourceUnion{
					OfBase64: &anthropic.Base64ImageSourceParam{
						MediaType: "image/gif",
						Data:      base64.StdEncoding.EncodeToString(gif),
					},
				},
			},
		},
	}}
	params.Messages = append(params.Messages, first.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock("u1", "no such place", true),
			anthropic.ContentBlockParamUnion{OfToolResult: &image}))
	last := streamedByAnthropic(t, client, params)
	require.Equal(t, "A map.", last.Content[0].Text)

	text := func(s string) llm.Block { return llm.Block{Type: dialect.Text, Text: s} }
	shown := llm.Block{Type: dialect.Image, MimeType: "image/gif", Data: gif}
	request := srv.Requests()[1]
	require.Equal(t, []llm.Message{
		{Role: dialect.User, Content: []llm.Block{text("What is there?"), shown}},
		{Role: dialect.Assistant, Content: []llm.Block{
			{Type: dialect.Thinking, Text: "hm", Signature: "Er=="},
			{Type: dialect.Other, Raw: json.RawMessage(`{"data":"xyz","type":"redacted_thinking"}`)},
			text("Let me see."),
			{Type: dialect.ToolUse, ID: "u1", Name: "look", Input: json.RawMessage(`{"at":"Paris"}`)},
			{Type: dialect.ToolUse, ID: "u2", Name: "look", Input: json.RawMessage(`{}`)},
		}},
		{Role: dialect.User, Content: []llm.Block{
			{Type: dialect.ToolResult, ID: "u1", IsError: true, Content: []llm.Block{text("no such place")}},
			{Type: dialect.ToolResult, ID: "u2", Content: []llm.Block{text("a map"), shown}},
		}},
	}, bare(request.Messages))
	require.Equal(t, "Be brief.\n\nBe kind.", request.System)
	require.Equal(t, "claude-test", request.Model)
	require.EqualValues(t, 100, *request.MaxTokens)
	require.EqualValues(t, 0.5, *request.Temperature)
	require.Equal(t, []string{"END"}, request.StopSequences)
	require.True(t, request.Stream)
	require.False(t, srv.Requests()[0].Stream)
	require.Len(t, request.Tools, 1)
	require.Equal(t, "look", request.Tools[0].Name)
	require.Equal(t, "Looks", request.Tools[0].Description)
	require.JSONEq(t, `{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`,
		string(request.Tools[0].InputSchema))
}

func TestAnthropicSDKsToolChoicesAreRead(t *testing.T) {
	srv := llm.New(t, llm.When().Reply(llm.Text("so")))
	client := anthropicClient(srv.Anthropic())
	params := anthropicParams(anthropicQuestion)
	params.Tools = []anthropic.ToolUnionParam{
		anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{}}, "look"),
	}
	for _, choice := range []anthropic.ToolChoiceUnionParam{
		{},
		{OfAuto: &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: anthropic.Bool(true)}},
		{OfAny: &anthropic.ToolChoiceAnyParam{}},
		{OfNone: &anthropic.ToolChoiceNoneParam{}},
		anthropic.ToolChoiceParamOfTool("look"),
	} {
		params.ToolChoice = choice
		_, err := client.Messages.New(t.Context(), params)
		require.NoError(t, err)
	}
	var choices []string
	for _, r := range srv.Requests() {
		choices = append(choices, r.ToolChoice)
	}
	require.Equal(t, []string{"", "auto", "required", "none", "tool:look"}, choices)
}

func TestAnthropicSDKReadsErrors(t *testing.T) {
	once := func(status int) *llm.Rule { return llm.When().Fail(&llm.Error{Status: status, Message: "m"}).Times(1) }
	noKey := func(url string) anthropic.Client {
		return anthropic.NewClient(option.WithBaseURL(url),
			option.WithMiddleware(func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
				r.Header.Del("X-Api-Key")
				r.Header.Del("Authorization")
				return next(r)
			}), option.WithAPIKey("sk-test"))
	}
	open := anthropicParams(anthropicQuestion, anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("u1",
		map[string]any{}, "look")), anthropicQuestion)
	for name, c := range map[string]struct {
		rules  []*llm.Rule
		client func(string) anthropic.Client
		params anthropic.MessageNewParams
		status int
		kind   anthropic.ErrorType
		text   string
	}{
		"missing key":   {nil, noKey, anthropicParams(anthropicQuestion), 401, "authentication_error", "key"},
		"open tool use": {nil, anthropicClient, open, 400, "invalid_request_error", "u1"},
		"forbidden": {[]*llm.Rule{once(403)}, anthropicClient, anthropicParams(anthropicQuestion), 403,
			"permission_error", `"m"`},
		"not found": {[]*llm.Rule{once(404)}, anthropicClient, anthropicParams(anthropicQuestion), 404,
			"not_found_error", `"m"`},
		"too large": {[]*llm.Rule{once(413)}, anthropicClient, anthropicParams(anthropicQuestion), 413,
			"request_too_large", `"m"`},
	} {
		for _, streamed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				srv := llm.New(t, c.rules...)
				srv.AllowRefusals()
				client := c.client(srv.Anthropic())
				var err error
				if streamed {
					err = client.Messages.NewStreaming(t.Context(), c.params).Err()
				} else {
					_, err = client.Messages.New(t.Context(), c.params)
				}
				var refused *anthropic.Error
				require.ErrorAs(t, err, &refused)
				require.Equal(t, c.status, refused.StatusCode)
				require.Equal(t, c.kind, refused.Type())
				require.Regexp(t, "^req_01", refused.RequestID)
				require.Contains(t, refused.RawJSON(), c.text)
				require.Len(t, srv.Journal(), 1, "no retry")
			})
		}
	}
}

func TestAnthropicSDKRetriesOnlyWhatItShould(t *testing.T) {
	soon := http.Header{"Retry-After-Ms": {"1"}}
	for _, status := range []int{429, 500, 529} {
		srv := llm.New(t, llm.When().Fail(&llm.Error{Status: status, Message: "m", Header: soon}).Times(1),
			llm.When().Reply(llm.Text("so")))
		client := anthropicClient(srv.Anthropic())
		m, err := client.Messages.New(t.Context(), anthropicParams(anthropicQuestion))
		require.NoError(t, err)
		require.Equal(t, "so", m.Content[0].Text)
		require.Len(t, srv.Journal(), 2)
	}
	srv, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("bye")).Reply())
	require.NoError(t, err)
	defer srv.Close()
	client := anthropicClient(srv.Anthropic())
	_, err = client.Messages.New(t.Context(), anthropicParams(anthropicQuestion))
	var missed *anthropic.Error
	require.ErrorAs(t, err, &missed)
	require.Equal(t, 404, missed.StatusCode)
	require.ErrorContains(t, missed, "no rule of the server matches this request; the nearest of 1 is rule 1")
	require.Len(t, srv.Journal(), 1, "a miss is not retried")
}

func TestAnthropicSDKReadsAnErrorInAStream(t *testing.T) {
	for events, told := range map[int]int{0: 0, 1: 1, 5: 4} { // the SDK hides the ping
		client := anthropicClient(serveBroken(t, fake.Messages, "sunny, all day", events, &dialect.Error{Status: 529,
			Message: "busy"}))
		stream := client.Messages.NewStreaming(t.Context(), anthropicParams(anthropicQuestion))
		seen := 0
		for stream.Next() {
			seen++
		}
		require.Equal(t, told, seen)
		var failed *anthropic.Error
		require.ErrorAs(t, stream.Err(), &failed)
		require.EqualValues(t, "overloaded_error", failed.Type())
		require.Contains(t, failed.RawJSON(), `"message":"busy"`)
	}
}

func TestAnthropicSDKReadsSideRequests(t *testing.T) {
	client := anthropicClient(serveSideRequests(t, fake.Messages))

	var names []string
	models := client.Models.ListAutoPaging(t.Context(), anthropic.ModelListParams{})
	for models.Next() {
		names = append(names, models.Current().DisplayName)
	}
	require.NoError(t, models.Err())
	require.Equal(t, []string{"Claude Haiku 4.5", "Claude Sonnet 4.5", "Claude Sonnet 4"}, names)
	model, err := client.Models.Get(t.Context(), "claude-sonnet-4-20250514", anthropic.ModelGetParams{})
	require.NoError(t, err)
	require.Equal(t, 2025, model.CreatedAt.Year())
	_, err = client.Models.Get(t.Context(), "gpt-4o", anthropic.ModelGetParams{})
	var unknown *anthropic.Error
	require.ErrorAs(t, err, &unknown)
	require.EqualValues(t, "not_found_error", unknown.Type())

	tokens, err := client.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "claude-test",
		Messages: []anthropic.MessageParam{anthropicQuestion}})
	require.NoError(t, err)
	require.Positive(t, tokens.InputTokens)
}

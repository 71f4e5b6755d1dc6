package openai

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// styles maps recordings to compatible servers.
var styles = map[string]dialect.Codec{
	"docker-agent__TestExec_Mistral_ToolCall.yaml":                                    Mistral,
	"fantasy__TestOpenAICompatibleCommon__groq-kimi-k2__multi_tool_streaming.yaml":    Groq,
	"fantasy__TestOpenAICompatibleCommon__xai-grok-4-fast__multi_tool_streaming.yaml": XAI,
	"ai__anthropic-fallback-tool-call.sse":                                            IndexFromOne,
}

// styleDeviations are members that only the recordings have, with reasons.
var styleDeviations = map[string]string{
	"p": "random padding",
}

func TestCodecsImitateCompatibleServers(t *testing.T) {
	all := sharedtest.Needed(t, "openai-compat")
	for _, r := range all {
		t.Run(r.Name, func(t *testing.T) {
			file, _, _ := strings.Cut(r.Name, "/")
			codec := styles[file]
			require.NotNil(t, codec, "no server is named for it")
			text := r.Request
			if text == "" {
				text = body(user, `,"stream":true`)
			}
			req := decode(t, text)
			require.Nil(t, codec.Check(req))
			theirs := shape(t, strings.TrimRight(r.Answer, "\n")+"\n\n") // one lost its last line
			ours := shape(t, string(join(codec.Encode(req, theirs.reply()))))
			require.Equal(t, theirs.kinds, ours.kinds)
			for kind, members := range theirs.members {
				members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return styleDeviations[m] != "" })
				require.Equal(t, members, ours.members[kind], kind)
			}
			require.Equal(t, theirs.text, ours.text)
			require.Equal(t, theirs.names, ours.names)
			require.Equal(t, theirs.arguments, ours.arguments)
			require.Equal(t, theirs.finish, ours.finish)
		})
	}
}

// Each server's variations show in the deltas and finish reasons of one reply.
func TestCompatibleServerVariations(t *testing.T) {
	reply := dialect.Reply{Content: []dialect.Block{says("so"), {Type: dialect.ToolUse, ID: "aaaaaaaa1", Name: "add",
		Input: []byte(`{"a":2}`)},
		{Type: dialect.ToolUse, ID: "aaaaaaaa2", Name: "add", Input: []byte(`{}`)}}}
	golden := codectest.Golden(t, "testdata/style_streams.txtar")
	for _, codec := range []dialect.Codec{Mistral, Groq, XAI, IndexFromOne} {
		t.Run(codec.Name(), func(t *testing.T) {
			req := decode(t, body(user, `,"stream":true`))
			late := reply
			late.LateUse = true
			golden(t, codec.Name(), choices(t, codec.Encode(req, &reply)))
			golden(t, codec.Name()+", late use", choices(t, codec.Encode(req, &late)))
			require.Equal(t, []string{"POST " + strings.TrimSuffix(codec.(chat).base, "/") + "/chat/completions"},
				codec.Patterns())
		})
	}
}

func TestOpenRouterSendsCommentsAndRepeatsTheFinishReason(t *testing.T) {
	req := decode(t, body(user, `,"stream":true,"provider":{}`))
	require.Nil(t, OpenRouter.Check(req), "it has members of its own")
	a := OpenRouter.Encode(req, &dialect.Reply{Content: []dialect.Block{says("hi")}})
	require.Equal(t, ": OPENROUTER PROCESSING\n\n", string(a.Chunks[0]))
	a.Chunks = a.Chunks[2:]
	require.Equal(t, []string{`{"role":"assistant","content":""}`, `{"content":"hi"}`, `{"content":""} stop`,
		`{"role":"assistant","content":""} stop`, `[DONE]`}, choices(t, a))
	require.Contains(t, string(a.Chunks[3]), `"native_finish_reason":"stop"}],"usage":{"prompt_tokens":`)
	plain := string(join(OpenRouter.Encode(decode(t, body(user, "")),
		&dialect.Reply{Content: []dialect.Block{says("hi")}})))
	require.True(t, strings.HasPrefix(plain, "\n         \n{"), "%q", plain)
	require.NotContains(t, plain, "annotations")
	keys(t, plain) // it is JSON
	failed := &dialect.Error{Status: 402, Kind: "k", Code: "c", Message: "no credit"}
	require.JSONEq(t, `{"error":{"code":402,"message":"no credit"}}`, string(join(OpenRouter.EncodeError(failed))))
	require.Equal(t, "data: {\"error\":{\"code\":402,\"message\":\"no credit\"}}\n\n",
		string(OpenRouter.EncodeErrorEvent(req, nil, 0, failed)))
}

func TestMistralRefusesOtherIDs(t *testing.T) {
	a := Mistral.Encode(decode(t, body(user, "")), &dialect.Reply{Content: []dialect.Block{asks("add", "{}")}})
	require.Regexp(t, `"id":"[A-Za-z0-9]{9}"`, string(join(a)))
	history := func(id string) string {
		return body(user+`,{"role":"assistant","tool_calls":[
			{"id":"`+id+`","type":"function","function":{"name":"add","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"`+id+`","content":"4"}`, "")
	}
	require.Nil(t, Mistral.Check(decode(t, history("D9WYdiHxV"))))
	refused := Mistral.Check(decode(t, history("call_12345")))
	require.NotNil(t, refused)
	require.Equal(t, "Tool call id was call_12345 but must be a-z, A-Z, 0-9, with a length of 9.", refused.Message)
	require.Nil(t, Chat.Check(decode(t, history("call_12345"))))
}

func TestRefusalsAndFilteredAnswers(t *testing.T) {
	refusal := dialect.Reply{StopReason: dialect.StopRefusal, Content: []dialect.Block{says("I can't")}}
	plain := string(join(Chat.Encode(decode(t, body(user, "")), &refusal)))
	require.Contains(t, plain, `"content": null,`)
	require.Contains(t, plain, `"refusal": "I can't",`)
	require.Contains(t, plain, `"finish_reason": "stop"`)
	stream := decode(t, body(user, `,"stream":true`))
	require.Equal(t, []string{`{"role":"assistant","content":null,"refusal":""}`, `{"refusal":"I ca"}`,
		`{"refusal":"n't"}`, `{} stop`, `[DONE]`}, choices(t, Chat.Encode(stream, &refusal)))
	require.Equal(t, []string{`{"content":"I ca","role":"assistant"}`, `{"content":"n't"}`, `{} stop`, `[DONE]`},
		choices(t, XAI.Encode(stream, &refusal)), "a server without refusals says it")

	filtered := dialect.Reply{StopReason: dialect.StopContentFilter, Content: []dialect.Block{says("so")}}
	content, _, finish := spoken(t, filtered)
	require.Equal(t, "so", *content)
	require.Equal(t, "content_filter", finish)
	require.Equal(t, []string{`{"role":"assistant","content":"","refusal":null}`, `{"content":"so"}`, `{} content_filter`,
		`[DONE]`}, choices(t, Chat.Encode(stream, &filtered)))
}

// Thinking is where each server has it, in streams and plain answers.
func TestThinkingIsInTheServersOwnMember(t *testing.T) {
	reply := dialect.Reply{Content: []dialect.Block{{Type: dialect.Thinking, Text: "hm"}, says("so")}}
	for _, c := range []struct {
		codec         dialect.Codec
		plain, stream string
	}{
		{Chat, `"content": "so"`, ``},
		{Compatible, `"content":"so","reasoning_content":"hm"`, `{"reasoning_content":"hm"}`},
		{XAI, `"content":"so","reasoning_content":"hm"`, `{"reasoning_content":"hm","role":"assistant"}`},
		{OpenRouter, `"content":"so","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"`,
			`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"unknown","index":0}]}`},
		{Mistral, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},` +
			`{"type":"text","text":"so"}]`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`},
	} {
		t.Run(c.codec.Name(), func(t *testing.T) {
			plain := c.codec.Encode(decode(t, body(user, "")), &reply)
			require.Contains(t, string(join(plain)), c.plain)
			stream := c.codec.Encode(decode(t, body(user, `,"stream":true`)), &reply)
			require.Contains(t, string(join(stream)), c.stream)
			for _, a := range []dialect.Answer{plain, stream} {
				if c.stream != "" {
					read, err := c.codec.DecodeReply(join(a))
					require.NoError(t, err)
					require.Equal(t, reply.Content, read.Content)
				}
			}
		})
	}
}

func TestServersHaveTheirOwnIDsLimitsAndErrors(t *testing.T) {
	refused := &dialect.Error{Status: 401, Message: "no key"}
	for _, c := range []struct {
		codec             dialect.Codec
		id, limit, failed string
	}{
		{Chat, `^chatcmpl-\w{29}$`, "X-Ratelimit-Limit-Requests",
			`{"error":{"message":"no key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		{Compatible, `^chatcmpl-\w{29}$`, "",
			`{"error":{"message":"no key","type":"invalid_request_error","param":null,"code":null}}`},
		{Mistral, `^[0-9a-f]{32}$`, "X-Ratelimit-Limit-Req-Minute", `{"detail":"no key"}`},
		{OpenRouter, `^gen-\d+-\w{20}$`, "X-Generation-Id", `{"error":{"code":401,"message":"no key"}}`},
		{Groq, `^chatcmpl-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, "X-Ratelimit-Limit-Requests",
			`{"error":{"message":"no key","type":"invalid_request_error","code":"invalid_api_key"}}`},
		{XAI, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, "",
			`{"code":"The request does not have valid authentication credentials","error":"no key"}`},
	} {
		t.Run(c.codec.Name(), func(t *testing.T) {
			a := c.codec.Encode(decode(t, body(user, "")), &dialect.Reply{Serial: 7,
				Usage: &dialect.Usage{Input: 20, Output: 5, Cached: 4}})
			var answer struct {
				ID    string
				Usage struct {
					Prompt     int `json:"prompt_tokens"`
					Completion int `json:"completion_tokens"`
					Details    struct {
						Cached int `json:"cached_tokens"`
					} `json:"prompt_tokens_details"`
				}
			}
			require.NoError(t, json.Unmarshal(join(a), &answer))
			require.Regexp(t, c.id, answer.ID)
			require.Equal(t, []int{20, 5}, []int{answer.Usage.Prompt, answer.Usage.Completion})
			if c.codec != Groq {
				require.Equal(t, 4, answer.Usage.Details.Cached)
			}
			if c.limit != "" {
				require.NotEmpty(t, a.Header.Get(c.limit))
			}
			require.JSONEq(t, c.failed, string(join(c.codec.EncodeError(refused))))
		})
	}
}

func TestAStreamMayEndWithoutDone(t *testing.T) {
	a := Compatible.Encode(decode(t, body(user, `,"stream":true`)), &dialect.Reply{Stream: dialect.WithoutDone,
		Content: []dialect.Block{says("hi")}})
	require.Equal(t, []string{`{"role":"assistant","content":""}`, `{"content":"hi"}`, `{} stop`}, choices(t, a))
}

func TestAStreamMayHaveCommentsAndBeginWithTheResultsOfAFilter(t *testing.T) {
	a := Compatible.Encode(decode(t, body(user, `,"stream":true`)), &dialect.Reply{
		Stream: dialect.KeptAlive | dialect.FilterFirst, Content: []dialect.Block{says("hi")}})
	require.Contains(t, string(a.Chunks[0]), `data: {"choices":[],`)
	require.Len(t, a.Chunks, 8)
	for _, i := range []int{1, 3, 5} {
		require.Equal(t, ": keep-alive\n\n", string(a.Chunks[i]))
	}
	a.Chunks = [][]byte{a.Chunks[2], a.Chunks[4], a.Chunks[6], a.Chunks[7]}
	require.Equal(t, []string{`{"role":"assistant","content":""}`, `{"content":"hi"}`, `{} stop`, `[DONE]`}, choices(t, a))
}

func TestLegacyFunctionsAreCalled(t *testing.T) {
	functions := `,"functions":[{"name":"add","parameters":{"type":"object","properties":{}}}],` +
		`"function_call":{"name":"add"}`
	history := user + `,{"role":"assistant","content":null,"function_call":{"name":"add","arguments":"{}"}},` +
		`{"role":"function","name":"add","content":"4"}`
	req := decode(t, body(history, functions))
	require.Nil(t, Chat.Check(req))
	require.Equal(t, "tool:add", req.ToolChoice)
	require.Equal(t, "add", req.Tools[0].Name)
	require.Equal(t, dialect.ToolUse, req.Messages[1].Content[0].Type)
	result := req.Messages[2].Content[0]
	require.Equal(t, []any{dialect.ToolResult, "add", "4"}, []any{result.Type, result.Name, result.Content[0].Text})

	reply := &dialect.Reply{Content: []dialect.Block{asks("add", `{"a":2}`), asks("add", `{"a":3}`)}}
	plain := string(join(Chat.Encode(decode(t, body(user, functions)), reply)))
	require.Contains(t, plain, `"finish_reason": "function_call"`)
	stream := Chat.Encode(decode(t, body(user, functions+`,"stream":true`)), reply)
	require.Equal(t, []string{
		`{"role":"assistant","content":null,"function_call":{"name":"add","arguments":""},"refusal":null}`,
		`{"function_call":{"arguments":"{\"a\""}}`, `{"function_call":{"arguments":":2}"}}`, `{} function_call`, `[DONE]`},
		choices(t, stream))
	for _, a := range []string{plain, string(join(stream))} {
		read, err := Chat.DecodeReply([]byte(a))
		require.NoError(t, err)
		require.Equal(t, []dialect.Block{{Type: dialect.ToolUse, Name: "add", Input: []byte(`{"a":2}`)}}, read.Content)
		require.Equal(t, dialect.StopToolUse, read.StopReason)
	}
}

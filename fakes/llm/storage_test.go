package llm

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// responseID returns the id of a response, plain or streamed.
func responseID(t *testing.T, answer string) string {
	t.Helper()
	_, rest, found := strings.Cut(answer, `"resp_`)
	require.True(t, found, answer)
	id, _, _ := strings.Cut(rest, `"`)
	return "resp_" + id
}

func TestAResponseContinuesTheOneBefore(t *testing.T) {
	s := New(t, When(Turn(1)).Reply(CallID("call_1", "get_weather", `{"city":"Paris"}`)),
		When(Turn(2), ToolResults(1)).Reply(Text("sunny")), When(Turn(3), LastUser("thanks")).Reply(Text("welcome")))
	const tools = `,"tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{}}}]}`
	ask := func(more, input string) string {
		t.Helper()
		w := post(s, "/v1/responses", `{"model":"gpt-4o",`+more+`"input":`+input+tools)
		require.Equal(t, 200, w.Code, w.Body.String())
		return w.Body.String()
	}
	first := responseID(t, ask("", `"Weather?"`))
	second := ask(`"stream":true,"previous_response_id":"`+first+`",`,
		`[{"type":"function_call_output","call_id":"call_1","output":"18°C"}]`)
	require.Contains(t, second, `"previous_response_id":"`+first+`"`)
	ask(`"previous_response_id":"`+responseID(t, second)+`",`, `"thanks"`)
	requests := s.Requests()
	AssertConversation(t, &requests[2], "user: Weather?", `assistant uses get_weather {"city":"Paris"}`,
		"result of get_weather: 18°C", "assistant: sunny", "user: thanks")
	require.NotContains(t, string(s.Journal()[2].Body), "Weather?", "the journal has the body as it came")
}

func TestAThreadContinuesAfterItsLastAnswer(t *testing.T) {
	s := New(t, When(Turn(1)).Reply(CallID("u1", "get_weather", `{"city":"Paris"}`)),
		When(Turn(2), ToolResults(1)).Reply(Text("sunny")), When(Turn(3), LastUser("thanks")).Reply(Text("welcome")))
	s.AllowRefusals()
	ask := func(status int, more, content string) string {
		t.Helper()
		r := httptest.NewRequest("POST", "http://127.0.0.1/v1/messages", strings.NewReader(
			`{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":`+content+`}]`+more+`}`))
		r.Header = http.Header{"Anthropic-Beta": {"message-threads-2026-08-12"}, "Anthropic-Version": {"2023-06-01"},
			"X-Api-Key": {"k"}}
		w := serve(s, r)
		require.Equal(t, status, w.Code, w.Body.String())
		if status == http.StatusNotFound {
			require.Contains(t, w.Body.String(), "unknown previous_message_id msg_no")
		}
		_, rest, _ := strings.Cut(w.Body.String(), `"id":"msg_`)
		id, _, _ := strings.Cut(rest, `"`)
		return `,"thread":{"type":"continue","previous_message_id":"msg_` + id + `"}`
	}
	const tools = `,"tools":[{"name":"get_weather","input_schema":{"type":"object"}}]`
	first := ask(200, `,"system":"be kind","thread":{"type":"create"}`+tools, `"Weather?"`)
	ask(400, first+tools, `"Weather?"`)
	ask(404, `,"thread":{"type":"continue","previous_message_id":"msg_no"}`, `"Weather?"`)
	second := ask(200, first+`,"stream":true`, `[{"type":"tool_result","tool_use_id":"u1","content":"18°C"}]`)
	ask(200, second, `"thanks"`)
	requests := s.Requests()
	last := &requests[len(requests)-1]
	AssertConversation(t, last, "system: be kind", "user: Weather?", `assistant uses get_weather {"city":"Paris"}`,
		"result of get_weather: 18°C", "assistant: sunny", "user: thanks")
	require.Len(t, last.Tools, 1)
}

func TestAnItemReferenceStandsForItsItem(t *testing.T) {
	s := New(t, When(Turn(1)).Reply(CallID("call_1", "now", `{}`)), When(Turn(2)).Reply(Text("noon")))
	var first struct{ Output []struct{ ID string } }
	require.NoError(t, json.Unmarshal(post(s, "/v1/responses", `{"model":"gpt-4o","input":"Time?"}`).Body.Bytes(), &first))
	w := post(s, "/v1/responses", `{"model":"gpt-4o","input":[{"role":"user","content":"Time?"},
		{"type":"item_reference","id":"`+first.Output[0].ID+`"},
		{"type":"function_call_output","call_id":"call_1","output":"12:00"}]}`)
	require.Equal(t, 200, w.Code, w.Body.String())
}

func TestUnknownAndForgottenResponsesAreRefused(t *testing.T) {
	s := start(t, Options{}, When().Reply(CallID("call_1", "now", `{}`)))
	first := responseID(t, post(s, "/v1/responses", `{"model":"gpt-4o","input":"a"}`).Body.String())
	unstored := responseID(t, post(s, "/v1/responses", `{"model":"gpt-4o","input":"a","store":false}`).Body.String())
	for _, c := range []struct {
		previous, input, want string
		status                int
	}{
		{"resp_no", `"b"`, "Previous response with id 'resp_no' not found.", 400},
		{unstored, `"b"`, "not found.", 400},
		{first, `"b"`, "No tool output found for function call call_1.", 400},
		{first, `[{"type":"function_call_output","call_id":"other","output":"x"}]`,
			"No tool call found for function call output with call_id other.", 400},
		{first, `[{"type":"item_reference","id":"fc_no"}]`, "Item with id 'fc_no' not found.", 404},
	} {
		w := post(s, "/v1/responses", `{"model":"gpt-4o","previous_response_id":"`+c.previous+`","input":`+c.input+`}`)
		require.Equal(t, c.status, w.Code)
		require.Contains(t, w.Body.String(), c.want)
	}
	s.Reset()
	w := post(s, "/v1/responses", `{"model":"gpt-4o","previous_response_id":"`+first+`","input":"b"}`)
	require.Contains(t, w.Body.String(), "not found")
}

func TestEmbeddingsAreEqualForEqualTextsAndCloseForSimilarOnes(t *testing.T) {
	s := start(t, Options{})
	embed := func(path, input, more string) [][]float32 {
		t.Helper()
		w := post(s, path, `{"model":"text-embedding-3-small","input":`+input+more+`}`)
		require.Equal(t, 200, w.Code, w.Body.String())
		var answer struct {
			Data []struct {
				Index     int
				Embedding []float32
			}
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		var all [][]float32
		for i, d := range answer.Data {
			require.Equal(t, i, d.Index)
			all = append(all, d.Embedding)
		}
		return all
	}
	all := embed("/v1/embeddings", `["the cat sat on the mat","a cat on a mat","stock prices fell"]`, "")
	require.Len(t, all[0], 1536)
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i] * b[i])
		}
		return sum
	}
	require.InDelta(t, 1, dot(all[0], all[0]), 1e-3)
	require.Greater(t, dot(all[0], all[1]), 2*dot(all[0], all[2]))
	require.Equal(t, all[2:], embed("/openai/deployments/mine/embeddings?api-version=1", `"stock prices fell"`, ""))
	require.Len(t, embed("/compatible/v1/embeddings", `[1,2,3]`, `,"dimensions":8`)[0], 8)

	var packed struct{ Data []struct{ Embedding string } }
	w := post(s, "/v1/embeddings", `{"model":"m","input":"a","encoding_format":"base64","dimensions":2}`)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &packed))
	raw, err := base64.StdEncoding.DecodeString(packed.Data[0].Embedding)
	require.NoError(t, err)
	require.Len(t, raw, 8)
	for body, want := range map[string]string{
		`{"model":"m"}`:                                      "Missing required parameter: 'input'.",
		`{"input":"a"}`:                                      "you must provide a model parameter",
		`{"model":"m","input":[]}`:                           "Invalid 'input': empty array.",
		`{"model":"m","input":"a","dimensions":0}`:           "Invalid 'dimensions': integer below minimum value.",
		`{"model":"m","input":"a","encoding_format":"text"}`: "Supported values are: 'float' and 'base64'.",
		`[`: "could not parse",
	} {
		w := post(s, "/v1/embeddings", body)
		require.Equal(t, 400, w.Code)
		require.Contains(t, w.Body.String(), want)
	}
}

func TestAzurePathsNameTheModel(t *testing.T) {
	s := New(t, When(Model("mine")).Reply(Text("hi")))
	require.Equal(t, s.URL, s.Azure())
	const messages = `"messages":[{"role":"user","content":"hello"}]}`
	for path, body := range map[string]string{
		"/openai/deployments/mine/chat/completions?api-version=2024-10-21": `{` + messages,
		"/openai/v1/chat/completions":                                      `{"model":"mine",` + messages,
		"/openai/v1/responses":                                             `{"model":"mine","input":"hello"}`,
		"/openai/responses?api-version=2025-04-01-preview":                 `{"model":"mine","input":"hello"}`,
	} {
		w := post(s, path, body)
		require.Equal(t, 200, w.Code, w.Body.String())
	}
}

// Package npm lets the providers' JavaScript SDKs talk with the fake model, and checks both sides of the conversation.
package npm

import (
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

type call struct {
	Name  string
	Input map[string]string
}

type turn struct {
	Text   string
	Calls  []call
	Reason string
}

// seen is the output of an SDK.
type seen struct {
	First, Last turn
	Failed      struct {
		Status int
		Says   bool
	}
}

func TestEverySDKHasTheSameConversation(t *testing.T) {
	installed(t)
	for _, c := range []struct {
		sdk     string
		reasons [2]string // by turn, in the provider's words
	}{
		{sdk: dialect.OpenAIChat, reasons: [2]string{"tool_calls", "stop"}},
		{sdk: dialect.OpenAIResponses, reasons: [2]string{"completed", "completed"}},
		{sdk: dialect.Anthropic, reasons: [2]string{"tool_use", "end_turn"}},
		{sdk: dialect.Gemini, reasons: [2]string{"STOP", "STOP"}},
		{sdk: dialect.Ollama, reasons: [2]string{"stop", "stop"}},
		{sdk: dialect.CohereChat, reasons: [2]string{"TOOL_CALL", "COMPLETE"}},
	} {
		for _, how := range []string{"plain", "streamed"} {
			t.Run(c.sdk+"/"+how, func(t *testing.T) {
				model := weather(t)
				cmd := exec.CommandContext(t.Context(), "node", "sdks.mjs", c.sdk, model.BaseURLs()[c.sdk], how)
				out, err := cmd.Output()
				require.NoError(t, err, "%s", stderr(err))
				var got seen
				require.NoError(t, json.Unmarshal(out, &got), "%s", out)

				calls := []call{{"get_weather", map[string]string{"city": "Paris"}},
					{"get_weather", map[string]string{"city": "London"}}}
				require.Equal(t, turn{"Let me look. 🗼", calls, c.reasons[0]}, got.First)
				require.Equal(t, turn{"Eighteen in Paris – fifteen in London.", []call{}, c.reasons[1]}, got.Last)
				require.Equal(t, 429, got.Failed.Status)
				require.True(t, got.Failed.Says, "the SDK's error has the text: %s", out)

				requests := model.Requests()
				require.Len(t, requests, 3, "no retry")
				requireRequest(t, &requests[0], how == "streamed")
				requireHistory(t, requests[1].Messages)
			})
		}
	}
}

func installed(t *testing.T) {
	t.Helper()
	need.Program(t, "node", "install Node.js 20 or later")
	need.File(t, "node_modules", "run npm ci in interop/providers/npm")
}

// weather is the model of the conversation.
func weather(t *testing.T) *llm.Server {
	return llm.New(t,
		llm.When(llm.LastUser("Please fail.")).Fail(&llm.Error{Status: 429, Message: "too many requests, as asked"}),
		llm.When(llm.Turn(1)).Reply(llm.Text("Let me look. 🗼"),
			llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
		llm.When(llm.ToolResults(2)).Reply(llm.Text("Eighteen in Paris – fifteen in London.")))
}

// Through the proxy the SDKs get the same answers, also from the recording.
func TestEverySDKIsRecordedAndReplayedThroughTheProxy(t *testing.T) {
	installed(t)
	for _, sdk := range []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic, dialect.Gemini,
		dialect.Ollama, dialect.CohereChat} {
		t.Run(sdk, func(t *testing.T) {
			model := weather(t)
			path := filepath.Join(t.TempDir(), "talk.yaml")
			var heard []string
			for _, mode := range []cassettes.Mode{cassettes.RecordAnew, cassettes.ReplayOnly} {
				options := []cassettes.Option{cassettes.WithMode(mode), cassettes.WithOrigin(cassettes.Scripted)}
				for _, provider := range []string{"openai", "anthropic", "gemini", "ollama", "cohere"} {
					options = append(options, cassettes.WithUpstream(provider, model.URL))
				}
				proxy, err := cassettes.StartProxy(path, options...)
				require.NoError(t, err)
				out, err := exec.CommandContext(t.Context(), "node", "sdks.mjs", sdk, proxy.Bases()[sdk], "streamed").Output()
				require.NoError(t, err, "%s: %s", mode, stderr(err))
				require.NoError(t, proxy.Close(), mode)
				heard = append(heard, string(out))
			}
			require.Contains(t, heard[0], "Eighteen in Paris")
			require.Equal(t, heard[0], heard[1])
			require.Len(t, model.Requests(), 3, "a replay asks nobody")
		})
	}
}

// requireRequest checks the first request of every SDK.
func requireRequest(t *testing.T, r *llm.Request, streamed bool) {
	require.Equal(t, streamed, r.Stream)
	require.Equal(t, int64(100), *r.MaxTokens)
	require.Len(t, r.Tools, 1)
	require.Equal(t, "get_weather", r.Tools[0].Name)
	require.Equal(t, "Current weather in a city", r.Tools[0].Description)
	require.JSONEq(t, `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`,
		string(r.Tools[0].InputSchema))
	require.Len(t, r.Messages, 1)
	require.Equal(t, "How is the weather in Paris and London?", dialect.PlainText(r.Messages[0].Content))
}

// requireHistory checks the history of the second request.
func requireHistory(t *testing.T, messages []dialect.Message) {
	require.Len(t, messages, 3)
	require.Equal(t, dialect.Assistant, messages[1].Role)
	uses, results := dialect.Blocks(messages, dialect.ToolUse), dialect.Blocks(messages, dialect.ToolResult)
	require.Len(t, uses, 2)
	require.Len(t, results, 2)
	for i, city := range []string{"Paris", "London"} {
		require.JSONEq(t, `{"city":"`+city+`"}`, string(uses[i].Input))
		require.Equal(t, uses[i].ID, results[i].ID)
		require.Contains(t, string(results[i].Raw), []string{"eighteen degrees", "fifteen degrees"}[i])
	}
}

// stderr returns the standard error of a failed command.
func stderr(err error) []byte {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return nil
}

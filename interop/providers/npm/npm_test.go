// Package npm holds the fake model against the providers' SDKs for JavaScript: each has a conversation with it, and both sides see the same.
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
	"github.com/mcp-conform/mcp-conform/interop/expect"
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

// seen is what an SDK made of the conversation.
type seen struct {
	First, Last turn
	Failed      struct {
		Status int
		Says   bool
	}
}

func TestEverySDKHasTheConversation(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/providers/npm")
	for _, c := range []struct {
		sdk     string
		reasons [2]string // of the two turns, in the provider's words
	}{
		{sdk: dialect.OpenAIChat, reasons: [2]string{"tool_calls", "stop"}},
		{sdk: dialect.OpenAIResponses, reasons: [2]string{"completed", "completed"}},
		{sdk: dialect.Anthropic, reasons: [2]string{"tool_use", "end_turn"}},
		{sdk: dialect.Gemini, reasons: [2]string{"STOP", "STOP"}},
		{sdk: dialect.Ollama, reasons: [2]string{"stop", "stop"}},
	} {
		for _, how := range []string{"plain", "streamed"} {
			t.Run(c.sdk+"/"+how, func(t *testing.T) {
				model := llm.New(t,
					llm.When(llm.LastUser("Please fail.")).Fail(&llm.Error{Status: 429, Message: "too many requests, as asked"}),
					llm.When(llm.Turn(1)).Reply(llm.Text("Let me look. 🗼"), llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
					llm.When(llm.ToolResults(2)).Reply(llm.Text("Eighteen in Paris – fifteen in London.")),
				)
				cmd := exec.CommandContext(t.Context(), "node", "sdks.mjs", c.sdk, model.Bases()[c.sdk], how)
				out, err := cmd.Output()
				require.NoError(t, err, "%s", stderr(err))
				var got seen
				require.NoError(t, json.Unmarshal(out, &got), "%s", out)

				require.Equal(t, turn{"Let me look. 🗼", []call{{"get_weather", map[string]string{"city": "Paris"}}, {"get_weather", map[string]string{"city": "London"}}}, c.reasons[0]}, got.First)
				require.Equal(t, turn{"Eighteen in Paris – fifteen in London.", []call{}, c.reasons[1]}, got.Last)
				require.Equal(t, 429, got.Failed.Status)
				require.True(t, got.Failed.Says, "the SDK shows the error's text: %s", out)

				requests := model.Requests()
				require.Len(t, requests, 3, "nothing was tried again")
				requireRequest(t, &requests[0], how == "streamed")
				requireHistory(t, requests[1].Messages)
			})
		}
	}
}

// Through the proxy the SDKs see what they see without it, and see it again when nobody else answers.
func TestEverySDKIsRecordedAndReplayedThroughTheProxy(t *testing.T) {
	expect.Program(t, "node", "install Node.js 20 or later")
	expect.File(t, "node_modules", "run npm ci in interop/providers/npm")
	for _, sdk := range []string{dialect.OpenAIChat, dialect.OpenAIResponses, dialect.Anthropic, dialect.Gemini, dialect.Ollama} {
		t.Run(sdk, func(t *testing.T) {
			model := llm.New(t,
				llm.When(llm.LastUser("Please fail.")).Fail(&llm.Error{Status: 429, Message: "too many requests, as asked"}),
				llm.When(llm.Turn(1)).Reply(llm.Text("Let me look. 🗼"), llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
				llm.When(llm.ToolResults(2)).Reply(llm.Text("Eighteen in Paris – fifteen in London.")),
			)
			path := filepath.Join(t.TempDir(), "talk.yaml")
			var heard []string
			for _, mode := range []cassettes.Mode{cassettes.RecordAnew, cassettes.ReplayOnly} {
				proxy, err := cassettes.StartProxy(path, cassettes.WithMode(mode), cassettes.WithOrigin(cassettes.Scripted), cassettes.WithUpstream("openai", model.URL),
					cassettes.WithUpstream("anthropic", model.URL), cassettes.WithUpstream("gemini", model.URL), cassettes.WithUpstream("ollama", model.URL))
				require.NoError(t, err)
				out, err := exec.CommandContext(t.Context(), "node", "sdks.mjs", sdk, proxy.Bases()[sdk], "streamed").Output()
				require.NoError(t, err, "%s: %s", mode, stderr(err))
				require.NoError(t, proxy.Close(), mode)
				heard = append(heard, string(out))
			}
			require.Contains(t, heard[0], "Eighteen in Paris")
			require.Equal(t, heard[0], heard[1])
			require.Len(t, model.Requests(), 3, "who replays asks nobody")
		})
	}
}

// requireRequest holds a first request against what every SDK was asked to say.
func requireRequest(t *testing.T, r *llm.Request, streamed bool) {
	require.Equal(t, streamed, r.Stream)
	require.Equal(t, int64(100), *r.MaxTokens)
	require.Len(t, r.Tools, 1)
	require.Equal(t, "get_weather", r.Tools[0].Name)
	require.Equal(t, "Current weather in a city", r.Tools[0].Description)
	require.JSONEq(t, `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`, string(r.Tools[0].InputSchema))
	require.Len(t, r.Messages, 1)
	require.Equal(t, "How is the weather in Paris and London?", dialect.PlainText(r.Messages[0].Content))
}

// requireHistory holds the history of the second request against the conversation.
func requireHistory(t *testing.T, messages []dialect.Message) {
	require.Len(t, messages, 3)
	require.Equal(t, dialect.Assistant, messages[1].Role)
	uses, results := dialect.Blocks(messages, dialect.ToolUse), dialect.Blocks(messages, dialect.ToolResult)
	require.Len(t, uses, 2)
	require.Len(t, results, 2)
	for i, city := range []string{"Paris", "London"} {
		require.JSONEq(t, `{"city":"`+city+`"}`, string(uses[i].Input))
		require.Equal(t, uses[i].ID, results[i].ID, "also where the provider has no ids")
		require.Contains(t, string(results[i].Raw), []string{"eighteen degrees", "fifteen degrees"}[i])
	}
}

// stderr is what a failed command wrote there.
func stderr(err error) []byte {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return failed.Stderr
	}
	return nil
}

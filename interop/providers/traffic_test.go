package providers

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// Recordings of real providers, made by others with go-vcr, replay through the providers' SDKs.
func TestRealTrafficReplaysThroughTheSDKs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "traffic"), "*", "*.yaml"))
	require.NoError(t, err)
	replayed := 0
	for _, path := range files {
		if name := filepath.Base(path); !strings.HasPrefix(name, "fantasy__") && !strings.HasPrefix(name, "docker-agent__") {
			continue // of other recorders
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			f, err := cassettes.Read(path)
			require.NoError(t, err)
			transport, err := cassettes.New(path)
			require.NoError(t, err)
			client := &http.Client{Transport: transport}
			calls := 0
			for i := range f.Interactions {
				it := &f.Interactions[i]
				switch it.Dialect {
				case dialect.OpenAIChat:
					calls += callsInChat(t, client, it)
				case dialect.OpenAIResponses:
					calls += callsInResponses(t, client, it)
				case dialect.Anthropic:
					calls += callsOfAnthropic(t, client, it)
				case dialect.Gemini:
					calls += callsOfGemini(t, client, it)
				default:
					t.Fatalf("%s %s has no dialect", it.Method, it.URL)
				}
			}
			require.NoError(t, transport.Close(), "every interaction was used")
			require.Positive(t, calls, "tool calls")
		})
		replayed++
	}
	require.GreaterOrEqual(t, replayed, 10)
}

// split separates an interaction's address into the parts that SDKs expect.
func split(it *cassettes.Interaction, path string) (base, rest string) {
	return strings.TrimSuffix(it.URL, path), path
}

func callsInChat(t *testing.T, client *http.Client, it *cassettes.Interaction) (calls int) {
	base, path := split(it, "chat/completions")
	sdk := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("sk-test"), option.WithHTTPClient(client))
	if !it.Decoded.Stream {
		var whole openai.ChatCompletion
		require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &whole))
		require.NotEmpty(t, whole.Choices)
		return len(whole.Choices[0].Message.ToolCalls)
	}
	var raw *http.Response
	require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &raw))
	stream := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(raw), nil)
	whole := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		whole.AddChunk(stream.Current())
	}
	require.NoError(t, stream.Err())
	require.NotEmpty(t, whole.Choices)
	return len(whole.Choices[0].Message.ToolCalls)
}

func callsInResponses(t *testing.T, client *http.Client, it *cassettes.Interaction) (calls int) {
	base, path := split(it, "responses")
	sdk := openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("sk-test"), option.WithHTTPClient(client))
	var whole responses.Response
	if it.Decoded.Stream {
		var raw *http.Response
		require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &raw))
		stream := ssestream.NewStream[responses.ResponseStreamEventUnion](ssestream.NewDecoder(raw), nil)
		for stream.Next() {
			if e := stream.Current(); e.Type == "response.completed" {
				whole = e.AsResponseCompleted().Response
			}
		}
		require.NoError(t, stream.Err())
	} else {
		require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &whole))
	}
	require.Equal(t, responses.ResponseStatusCompleted, whole.Status)
	for _, item := range whole.Output {
		if item.Type == "function_call" {
			calls++
		}
	}
	return calls
}

func callsOfAnthropic(t *testing.T, client *http.Client, it *cassettes.Interaction) (calls int) {
	base, path := split(it, "v1/messages")
	sdk := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("sk-test"),
		anthropicoption.WithHTTPClient(client))
	var whole anthropic.Message
	if it.Decoded.Stream {
		var raw *http.Response
		require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &raw))
		stream := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(raw), nil)
		for stream.Next() {
			require.NoError(t, whole.Accumulate(stream.Current()))
		}
		require.NoError(t, stream.Err())
	} else {
		require.NoError(t, sdk.Execute(t.Context(), http.MethodPost, path, json.RawMessage(it.Request), &whole))
	}
	require.NotEmpty(t, whole.Content)
	for _, b := range whole.Content {
		if b.Type == "tool_use" {
			calls++
		}
	}
	return calls
}

// callsOfGemini decodes the answers with the SDK's types: the SDK cannot send a given body.
func callsOfGemini(t *testing.T, client *http.Client, it *cassettes.Interaction) (calls int) {
	resp, err := client.Post(it.URL, "application/json", strings.NewReader(it.Request))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, it.Status, resp.StatusCode)
	for chunk := range strings.SplitSeq(string(body), "\r\n\r\n") {
		if chunk = strings.TrimSpace(strings.TrimPrefix(chunk, "data: ")); chunk == "" {
			continue
		}
		var part genai.GenerateContentResponse
		require.NoError(t, json.Unmarshal([]byte(chunk), &part))
		calls += len(part.FunctionCalls())
	}
	return calls
}

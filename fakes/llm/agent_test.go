package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

const hostMark, caseMark = "mkhosthost", "mkcasecase"

// hosted is a server that plays a host's model, beside one marked conversation.
func hosted(t *testing.T, called func(string) bool) *llm.Server {
	s, err := llm.Start(llm.Options{Agent: &llm.Agent{Mark: hostMark, Called: called, Tools: []llm.Tool{
		{Name: "basic-question", Description: "Runs the case basic/question."}, {Name: "question"}, {Name: "last"}}}})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Script(caseMark, llm.When().Reply(llm.Text("sampled"))))
	return s
}

// turn asks the model in a dialect, with the content of the turns, the user first, and tools. It returns the text or
// the names of the tools that the model uses.
func turn(t *testing.T, s *llm.Server, d string, plain bool, contents []any, tools ...string) string {
	var messages, offered []any
	for i, content := range contents {
		if text, ok := content.(string); ok {
			content = map[string]any{"type": "text", "text": text}
		}
		messages = append(messages, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": content})
	}
	for _, name := range tools {
		offered = append(offered, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object",
			"properties": map[string]any{"why": map[string]any{"type": "string"}}, "required": []any{"why"}}})
	}
	params := map[string]any{"messages": messages, "maxTokens": json.Number("100")}
	if tools != nil {
		params["tools"] = offered
	}
	asker := model.New(model.Options{Dialect: d, URL: s.BaseURLs()[d], Key: "key", HTTP: http.DefaultClient, Plain: plain})
	result, err := asker.Sample(t.Context(), params)
	require.NoError(t, err)
	blocks, ok := result["content"].([]any)
	if !ok {
		blocks = []any{result["content"]}
	}
	var said []string
	for _, b := range blocks {
		block := b.(map[string]any)
		if block["type"] == "tool_use" {
			require.Equal(t, map[string]any{"why": "none"}, block["input"])
			said = append(said, block["name"].(string))
			continue
		}
		said = append(said, block["text"].(string))
	}
	return strings.Join(said, " ")
}

func use(id, name string) any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": map[string]any{"why": "none"}}
}

func result(id string) any {
	return map[string]any{"type": "tool_result", "toolUseId": id,
		"content": []any{map[string]any{"type": "text", "text": "said " + caseMark}}}
}

func TestTheHostsModelCallsEachToolOnceInEveryDialect(t *testing.T) {
	for _, d := range dialects.APIs() {
		for _, plain := range []bool{true, false} {
			t.Run(fmt.Sprint(d, plain), func(t *testing.T) {
				s := hosted(t, nil)
				tools := []string{"shell", "mcp__server__basic_question", "server-question", "last"}
				talk := []any{"Call them all. " + hostMark}
				for i, want := range []string{tools[1], tools[2], tools[3]} {
					require.Equal(t, want, turn(t, s, d, plain, talk, tools...))
					id := fmt.Sprintf("call_%d", i)
					talk = append(talk, use(id, want), result(id))
				}
				require.Equal(t, "Every tool was called. The task is done.", turn(t, s, d, plain, talk, tools...))
				for _, x := range s.Journal() {
					require.True(t, x.Host)
					require.Empty(t, x.Owner)
				}
			})
		}
	}
}

func TestARequestBelongsToWhoSpokeLast(t *testing.T) {
	for name, c := range map[string]struct {
		talk        []any
		tools       []string
		host, owned bool
	}{
		"prompt":                       {[]any{"Go. " + hostMark}, []string{"last"}, true, false},
		"title":                        {[]any{"Title of: Go. " + hostMark}, nil, true, false},
		"prompt that was rewritten":    {[]any{"Go."}, []string{"x/last"}, true, false},
		"warm-up":                      {[]any{"hi"}, nil, false, false},
		"other tools":                  {[]any{"hi"}, []string{"shell", "blast"}, false, false},
		"sample":                       {[]any{"Q " + caseMark}, nil, false, true},
		"sample with the host's tools": {[]any{"Q " + caseMark}, []string{"last"}, false, true},
		"sample behind the host's history": {[]any{"Go. " + hostMark, use("a", "last"), result("a"), "Fine.",
			"Q " + caseMark}, nil, false, true},
		"both marks in a text": {[]any{hostMark + " Q " + caseMark}, nil, false, true},
		"later round of a sample": {[]any{"Go. " + hostMark, "Fine.", "Q " + caseMark, use("a", "get_weather"), result("a")},
			[]string{"get_weather"}, false, true},
		"host after a sample in its history": {[]any{"Go. " + hostMark, use("a", "last"), "Q " + caseMark, "sampled",
			result("a")}, []string{"last"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := hosted(t, nil)
			turn(t, s, dialect.Native, true, c.talk, c.tools...)
			x := s.Journal()[0]
			require.Equal(t, c.host, x.Host)
			require.Equal(t, c.owned, x.Owner == caseMark)
		})
	}
}

func TestAToolIsRequestedAgainIfItWasNotCalled(t *testing.T) {
	called := map[string]bool{}
	s := hosted(t, func(name string) bool { return called[name] })
	ask := func() string {
		return turn(t, s, dialect.Native, true, []any{"Go. " + hostMark}, "basic-question", "question", "last")
	}
	require.Equal(t, "basic-question", ask())
	require.Equal(t, "basic-question", ask(), "a turn may be a retry")
	called["basic-question"] = true
	for range 3 {
		require.Equal(t, "question", ask())
	}
	require.Equal(t, "last", ask(), "the host may refuse a tool")
	called["last"] = true
	require.Contains(t, ask(), "Every tool was called")
}

// The turns begin once the first tool was called, each is said once, and uses have the names that the host offers. A
// turn without the tools, such as a title, is none of them.
func TestTheHostsModelMakesItsMistakesInTurn(t *testing.T) {
	for _, d := range []string{dialect.OpenAIChat, dialect.Anthropic, dialect.Gemini} {
		s, err := llm.Start(llm.Options{Agent: &llm.Agent{Mark: hostMark, Tools: []llm.Tool{{Name: "first"}, {Name: "last"}},
			Others: []llm.Tool{{Name: "tide"}}, Turns: [][]llm.Block{
				{llm.Call("tide", `{"why":"none"}`)}, {llm.Call("tide", `{"wh`)}, {llm.Call("nowhere", `{"why":"none"}`)}, {}}}})
		require.NoError(t, err)
		t.Cleanup(s.Close)
		tools := []string{"srv/first", "srv/tide", "srv/last"}
		if d == dialect.OpenAIChat {
			tools = []string{"srv__first", "srv__tide", "srv__last"}
		}
		ask := func(talk ...any) string { return turn(t, s, d, true, talk, tools...) }
		task := "Go. " + hostMark
		require.Equal(t, tools[0], ask(task))
		called := []any{task, use("a", tools[0]), result("a")}
		require.Equal(t, tools[1], ask(called...))
		require.Equal(t, "Calling the tools", turn(t, s, d, true, []any{"A title for: " + task}))
		if d == dialect.OpenAIChat {
			body := strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"` + task + `"},{"role":"assistant",` +
				`"tool_calls":[{"id":"a","type":"function","function":{"name":"srv__first","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"a","content":"fine"}],"tools":[{"type":"function",` +
				`"function":{"name":"srv__tide","parameters":{"type":"object","properties":{}}}}]}`)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat/completions", body)
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer key")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			raw, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Contains(t, string(raw), `{\"wh"`, "the arguments are as they are")
		} // elsewhere the provider has no invalid JSON, so the turn is left out
		require.Equal(t, "nowhere", ask(called...))
		require.Empty(t, ask(called...))
		require.Equal(t, tools[2], ask(called...))
	}
}

func TestAHostGetsEmbeddings(t *testing.T) {
	s := hosted(t, nil)
	for path, body := range map[string]string{
		"/v1/embeddings": `{"model":"text-embedding-3-small","input":"` + hostMark + `"}`,
		"/api/embed":     `{"model":"nomic-embed-text","input":"` + hostMark + `"}`,
		"/v1beta/models/gemini-embedding-001:embedContent?key=k": `{"content":{"parts":[{"text":"` + hostMark + `"}]}}`,
	} {
		resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
	}
	for _, x := range s.Journal() {
		require.True(t, x.SideRequest)
	}
}

func TestSideTurnsThatWantJSONGetJSON(t *testing.T) {
	const schema = `{"type":"object","required":["title","isNew","words"],"properties":{"title":{"type":"string"},` +
		`"isNew":{"type":"boolean"},"words":{"type":"array"}}}`
	const want = `{"title":"none","isNew":false,"words":[]}`
	s := hosted(t, nil)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"Title?"}],"response_format":` +
			`{"type":"json_schema","json_schema":{"name":"t","schema":` + schema + `}}}`,
		"/v1/responses": `{"model":"m","input":"Title?","text":{"format":{"type":"json_schema","name":"t","schema":` +
			schema + `}}}`,
		"/api/chat": `{"model":"m","stream":false,"messages":[{"role":"user","content":"Title?"}],"format":` + schema + `}`,
		"/v1beta/models/gemini-2.5-flash:generateContent?key=k": `{"contents":[{"role":"user",` +
			`"parts":[{"text":"Title?"}]}],` +
			`"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":` + schema + `}}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer key")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		var answer any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
		require.NoError(t, resp.Body.Close())
		raw, err := json.Marshal(answer)
		require.NoError(t, err)
		require.Contains(t, string(raw), strings.ReplaceAll(want, `"`, `\"`), path)
	}
}

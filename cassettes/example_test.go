package cassettes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// A conversation is recorded once and then answered from the file.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "weather.yaml")

	// Record. For a real provider omit the origin, and do not change its address.
	model, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("weather")).Reply(llm.Text("18°C")))
	if err != nil {
		panic(err)
	}
	rec, err := cassettes.New(file, cassettes.WithMode(cassettes.RecordAnew), cassettes.WithOrigin(cassettes.Scripted))
	if err != nil {
		panic(err)
	}
	ask(rec, model.Native())
	model.Close()
	if err := rec.Close(); err != nil {
		panic(err)
	}

	// Replay.
	player, err := cassettes.Replay(file)
	if err != nil {
		panic(err)
	}
	replay, err := llm.Start(llm.Options{Source: player})
	if err != nil {
		panic(err)
	}
	defer replay.Close()
	fmt.Println(ask(http.DefaultTransport, replay.Native()))
	// Output: {"role":"assistant","content":{"type":"text","text":"18°C"},"model":"scripted-model","stopReason":"endTurn"}
}

func ask(transport http.RoundTripper, url string) string {
	question := `{"messages":[{"role":"user","content":{"type":"text","text":"How is the weather?"}}],"maxTokens":100}`
	resp, err := (&http.Client{Transport: transport}).Post(url, "application/json", strings.NewReader(question))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return string(answer)
}

// A test whose client is answered from testdata/cassettes/weather.yaml.
func ExampleOpen() {
	test := func(t llm.TB) { // your test; t is its *testing.T
		client := &http.Client{Transport: cassettes.Open(t, "weather")}
		fmt.Println(askOpenAI(client, "How is the weather?"))
	}
	test(exampleTB{})
	// Output: It is eighteen degrees.
}

// A date in a prompt, and a setting that changes, do not matter.
func ExampleNormalize() {
	test := func(t llm.TB) { // your test; t is its *testing.T
		date := regexp.MustCompile(` on \d{4}-\d\d-\d\d`)
		client := &http.Client{Transport: cassettes.Open(t, "weather",
			cassettes.Ignore("max_tokens", "thinking.budget_tokens"),
			cassettes.Normalize(func(r *cassettes.Request) { r.Body = date.ReplaceAll(r.Body, nil) }))}
		fmt.Println(askOpenAI(client, "How is the weather on 2026-11-22?"))
	}
	test(exampleTB{})
	// Output: It is eighteen degrees.
}

// A program in any language uses the proxy's address in place of the provider's.
func ExampleNewProxy() {
	test := func(t llm.TB) { // your test; t is its *testing.T
		proxy := cassettes.NewProxy(t, "weather")
		fmt.Println(strings.HasPrefix(proxy.Bases()["anthropic"], "http://127.0.0.1:"))
	}
	test(exampleTB{})
	// Output: true
}

// exampleTB is a TB that prints.
type exampleTB struct{}

func (exampleTB) Helper()                     {}
func (exampleTB) Cleanup(func())              {}
func (exampleTB) Logf(f string, a ...any)     { fmt.Printf(f+"\n", a...) }
func (t exampleTB) Errorf(f string, a ...any) { t.Logf(f, a...) }
func (t exampleTB) Fatalf(f string, a ...any) { t.Logf(f, a...) }

// askOpenAI sends a request like OpenAI's SDK.
func askOpenAI(client *http.Client, question string) string {
	body := fmt.Sprintf(`{"model":"gpt-4o","messages":[{"role":"user","content":%q}]}`, question)
	resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		panic(err)
	}
	return answer.Choices[0].Message.Content
}

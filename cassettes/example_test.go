package cassettes_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// A conversation with a model is recorded once, and answered from the file from then on.
func Example() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "weather.yaml")

	// Record. For a provider's model say Recorded, and leave its address as it is.
	model, err := llm.Start(llm.Options{}, llm.When(llm.LastUser("weather")).Reply(llm.Text("18°C")))
	if err != nil {
		panic(err)
	}
	rec, err := cassettes.Record(file, http.DefaultTransport, cassettes.Scripted)
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

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// askModel is a program that asks its model each of its arguments, as OpenAI's SDK would, and prints the answers. It
// streams those about the weather.
func askModel() int {
	for _, question := range os.Args[1:] {
		if question == "fail" {
			return 7
		}
		body := fmt.Sprintf(`{"model":"gpt-4o","stream":%t,"messages":[{"role":"user","content":%q}]}`,
			strings.Contains(question, "weather"), question)
		url := os.Getenv("OPENAI_BASE_URL") + "/chat/completions"
		req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"},
			"Authorization": {"Bearer " + os.Getenv("OPENAI_API_KEY")}}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		answer, err := io.ReadAll(resp.Body)
		fmt.Printf("%d %s %v\n", resp.StatusCode, answer, err)
		resp.Body.Close()
	}
	return 0
}

// startModel starts a scripted model, with its address in the variable MODEL, until the end of the script.
func startModel(ts *testscript.TestScript, _ bool, _ []string) {
	model, err := llm.Start(llm.Options{},
		llm.When(llm.LastUser("weather")).Reply(llm.Text("It is eighteen degrees.")).Times(99),
		llm.When(llm.LastUser("key")).Reply(llm.Text("Your key is sk-proj-0123456789abcdefghij.")).Times(99))
	ts.Check(err)
	ts.Defer(model.Close)
	ts.Setenv("MODEL", model.URL)
}

package llm_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// ask posts a request and returns the answer's status, and its text up to the model's name.
func ask(url, body string) (int, string) {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	content, _, _ := strings.Cut(string(text), `,"model":`)
	return resp.StatusCode, content
}

// In a test, New(t, rules…) also closes the server and fails the test for unused rules.
func Example() {
	srv, err := llm.Start(llm.Options{},
		llm.When(llm.LastUser("weather"), llm.Offers("get_weather")).Reply(llm.CallID("call_1", "get_weather",
			`{"city":"Paris"}`)),
		llm.When(llm.ToolResults(1)).Reply(llm.Text("18°C in Paris")),
	)
	if err != nil {
		panic(err)
	}
	defer srv.Close()

	_, text := ask(srv.Native(), `{"messages":[{"role":"user","content":{"type":"text","text":"How is the weather?"}}],
		"tools":[{"name":"get_weather","inputSchema":{"type":"object"}}],"maxTokens":100}`)
	fmt.Println(text)
	_, text = ask(srv.Native(), `{"messages":[
		{"role":"user","content":{"type":"text","text":"How is the weather?"}},
		{"role":"assistant","content":{"type":"tool_use","id":"call_1","name":"get_weather","input":{"city":"Paris"}}},
		{"role":"user","content":{"type":"tool_result","toolUseId":"call_1","content":[{"type":"text","text":"18"}]}}]}`)
	fmt.Println(text)
	// Output:
	// {"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"get_weather","input":{"city":"Paris"}}]
	// {"role":"assistant","content":{"type":"text","text":"18°C in Paris"}
}

// The error for an unmatched request names the nearest rule and the first difference.
func Example_miss() {
	srv, err := llm.Start(llm.Options{}, llm.When(llm.Turn(1), llm.System("be brief")).Reply(llm.Text("hi")))
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	status, text := ask(srv.OpenAI()+"/chat/completions",
		`{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}`)
	fmt.Println(status, strings.NewReplacer("; ", ";\n", ": the", ":\nthe").Replace(text))
	// Output:
	// 404 {
	//   "error": {
	//     "message": "no rule of the server matches this request;
	// the nearest of 1 is rule 1, When(Turn(1), System(\"be brief\")):
	// the system prompt is \"\", expected it to contain \"be brief\"",
	//     "type": "invalid_request_error",
	//     "param": null,
	//     "code": "no_rule_matches"
	//   }
	// }
}

// Marks identify conversations on one server.
func ExampleServer_Script() {
	srv, err := llm.Start(llm.Options{})
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	for _, mark := range []string{"k3j9x2", "p8w4q1"} {
		if err := srv.Script(mark, llm.When().Reply(llm.Text("I am "+mark))); err != nil {
			panic(err)
		}
	}
	_, text := ask(srv.Native(), `{"messages":[{"role":"user","content":{"type":"text","text":"p8w4q1: who are you?"}}]}`)
	fmt.Println(text)
	fmt.Println(srv.Unused())
	// Output:
	// {"role":"assistant","content":{"type":"text","text":"I am p8w4q1"}
	// [rule 1, When() of mark k3j9x2 was never used]
}

// A matcher is one method. Its error becomes part of a miss.
func ExampleMatcherFunc() {
	short := llm.MatcherFunc(func(r *llm.Request) error {
		if r.MaxTokens != nil && *r.MaxTokens <= 100 {
			return nil
		}
		return fmt.Errorf("max tokens are not at most 100")
	})
	fmt.Println(short.Match(&llm.Request{}))
	// Output: max tokens are not at most 100
}

// The first answer is cut inside an event; a retry gets the complete one.
func ExampleRule_Fault() {
	srv, err := llm.Start(llm.Options{},
		llm.When().Reply(llm.Text("18 degrees in Paris")).Fault(llm.TruncateInside(0)).Times(1),
		llm.When().Reply(llm.Text("18 degrees in Paris")),
	)
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	for range 2 {
		fmt.Println(ask(srv.Native(),
			`{"messages":[{"role":"user","content":{"type":"text","text":"How is the weather?"}}]}`))
	}
	for _, x := range srv.Journal() {
		fmt.Printf("%d: %s %s\n", x.Number, x.Rule, x.Fault)
	}
	// Output:
	// 200 {"role":"assistant","content":{"type":"text","text":"18 degre
	// 200 {"role":"assistant","content":{"type":"text","text":"18 degrees in Paris"}
	// 1: rule 1, When() of the server TruncateInside(0)
	// 2: rule 2, When() of the server
}

// The model thinks for two seconds, then says a word roughly every 50 ms. In a testing/synctest bubble this takes no
// time.
func ExampleRule_Pace() {
	slow := llm.Pace{FirstToken: 2 * time.Second, Token: 50 * time.Millisecond, Jitter: 0.3, Seed: 1}
	rule := llm.When(llm.LastUser("weather")).Reply(llm.Text("18°C in Paris")).Pace(slow)
	fmt.Println(rule, rule.Validate())
	// Output: When(LastUser("weather")) <nil>
}

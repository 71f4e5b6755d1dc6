package ollama_test

import (
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/llm/ollama"
)

// Ollama has no history rules: a call may lack its result. Image data URIs do not decode.
func Example() {
	for _, message := range []string{
		`{"role":"assistant","tool_calls":[{"function":{"name":"now"}}]}`,
		`{"role":"user","content":"look","images":["data:image/png;base64,aGk="]}`,
	} {
		body := `{"model":"llama3.2","messages":[` + message + `]}`
		if _, refused := ollama.Chat.Decode(&http.Request{}, []byte(body)); refused != nil {
			fmt.Println(refused.Status, refused.Message)
			continue
		}
		fmt.Println("accepted")
	}
	// Output:
	// accepted
	// 400 illegal base64 data at input byte 4
}

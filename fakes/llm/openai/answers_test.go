package openai

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

// The order of the members is the servers' own, so whole answers are compared.
func TestAnswersOfAllServersAreTheseBytes(t *testing.T) {
	golden := codectest.Golden(t, "testdata/answers.txtar")
	const both = `{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}],"input":"hi"`
	reply := &dialect.Reply{Serial: 1, Content: []dialect.Block{{Type: dialect.Thinking, Text: "They greet."},
		says("Hello <you>, wait"), asks("greet", `{"who": "é"}`)}}
	refusal := &dialect.Reply{Serial: 2, Content: []dialect.Block{says("No.")}, StopReason: dialect.StopRefusal,
		Usage: &dialect.Usage{Input: 9, Output: 5, Cached: 4}}
	for _, codec := range []dialect.Codec{Chat, Responses, Mistral, OpenRouter, Groq, XAI, XAIResponses, Compatible,
		IndexFromOne} {
		for _, form := range []struct{ name, more string }{
			{"plain", `}`}, {"streamed", `,"stream":true,"stream_options":{"include_usage":true}}`}} {
			synctest.Test(t, func(t *testing.T) { // a clock that stands still
				var lines []string
				for _, r := range []*dialect.Reply{reply, refusal} {
					req, refused := codec.Decode(&http.Request{}, []byte(both+form.more))
					require.Nil(t, refused)
					lines = append(lines, string(join(codec.Encode(req, r))))
				}
				golden(t, codec.Name()+", "+form.name, lines)
			})
		}
	}
}

package openai

import (
	"net/http"
	"testing"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/llm/internal/codectest"
)

// refusalOfResponses decodes and checks, as the server does.
func refusalOfResponses(text string) *dialect.Error {
	req, err := Responses.Decode(&http.Request{}, []byte(text))
	if err != nil {
		return err
	}
	return Responses.Check(req)
}

func TestCheckResponses(t *testing.T) {
	codectest.Check(t, Responses, "testdata/responses.txtar", "/v1/responses", http.Header{})
}

package openai

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Paths of Responses beside conversations.
const (
	countTokens = "/responses/input_tokens"
	compact     = "/responses/compact"
)

// countTokens estimates the tokens of an input. It refuses what a conversation with that input would be refused for.
func (o responses) countTokens(r *http.Request, body []byte) dialect.Answer {
	if _, refused := o.sideRequest(r, body); refused != nil {
		return o.EncodeError(refused)
	}
	return o.sideAnswer(body, jsonvalue.Ordered("object", "response.input_tokens", "input_tokens", tokensOf(body)))
}

// compact replaces a conversation by its user messages and one item, which a later input may contain.
func (o responses) compact(r *http.Request, body []byte) dialect.Answer {
	q, refused := o.sideRequest(r, body)
	if refused != nil {
		return o.EncodeError(refused)
	}
	var kept []json.RawMessage
	if q.IsText("input") {
		kept = append(kept, jsonvalue.Ordered("type", "message", "role", "user",
			"content", []any{jsonvalue.Ordered("type", "input_text", "text", q.Text("input"))}))
	}
	for _, it := range q.List("input") {
		if it.Kind == "message" && it.Text("role") == "user" {
			kept = append(kept, it.JSON)
		}
	}
	serial, tokens := int64(len(body)), tokensOf(body)
	kept = append(kept, jsonvalue.Ordered("type", "compaction", "id", dialect.GenerateHex("cmp_", 32, serial, 0),
		"encrypted_content", base64.StdEncoding.EncodeToString([]byte(dialect.GenerateID("", 32, serial, 1)))))
	return o.sideAnswer(body, jsonvalue.Ordered("id", dialect.GenerateHex("resp_", 32, serial, 2),
		"object", "response.compaction", "created_at", time.Now().Unix(), "output", kept,
		"usage", jsonvalue.Ordered("input_tokens", tokens, "input_tokens_details", jsonvalue.Ordered("cached_tokens", 0),
			"output_tokens", 60, "output_tokens_details", jsonvalue.Ordered("reasoning_tokens", 0),
			"total_tokens", tokens+60)))
}

func (o responses) sideRequest(r *http.Request, body []byte) (*request, *dialect.Error) {
	req, refused := o.Decode(r, body)
	if refused == nil {
		refused = o.Check(req)
	}
	if refused != nil {
		return nil, refused
	}
	return dialect.Parsed(req, parseResponses)
}

func tokensOf(body []byte) int { return 1 + len(body)/4 }

func (o responses) sideAnswer(body []byte, answer json.RawMessage) dialect.Answer {
	h := o.header("application/json", dialect.GenerateID("req_", 32, int64(len(body)), len(answer)))
	return dialect.Answer{Status: http.StatusOK, Header: h, Chunks: [][]byte{indented(answer)}}
}

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// ToolUse returns a CreateMessageResult in which the model uses a tool, or with more pairs of name and arguments
// several at once. Arguments are a JSON object. The ids are call_1, call_2, ….
func ToolUse(name, arguments string, more ...string) map[string]any {
	pairs := append([]string{name, arguments}, more...)
	var blocks []any
	for i := 0; i+1 < len(pairs); i += 2 {
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": fmt.Sprintf("call_%d", i/2+1), "name": pairs[i],
			"input": jsonvalue.Decode([]byte(pairs[i+1]))})
	}
	return map[string]any{"role": "assistant", "content": blocks, "model": "fake-model", "stopReason": "toolUse"}
}

// Decline returns the error with which a user declines a request.
func Decline() error { return &Error{Code: CodeDeclined, Message: "the user declined the request"} }

// Script answers the nth request with the nth answer: a result, such as that of [Text] and [ToolUse], or an error, such
// as that of [Decline]. A further request gets an error. That, and an answer that no request got, fails the test.
func Script(t server.TB, answers ...any) Handler {
	t.Helper()
	var mu sync.Mutex
	asked := 0
	t.Cleanup(func() {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if asked < len(answers) {
			t.Errorf("expected as many requests as the script has answers, %d, found %d", len(answers), asked)
		}
	})
	return func(context.Context, map[string]any) (map[string]any, error) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked > len(answers) {
			return nil, fmt.Errorf("expected as many requests as the script has answers, %d, found one more", len(answers))
		}
		switch answer := answers[asked-1].(type) {
		case map[string]any:
			return answer, nil
		case error:
			return nil, answer
		default:
			return nil, fmt.Errorf("answer %d of the script is %T: expected a result, such as client.Text, or an error",
				asked, answer)
		}
	}
}

// fakeModel is a fake model, such as an *llm.Server.
type fakeModel interface{ BaseURLs() map[string]string }

// asking returns a handler that asks a fake model, which gets the params as they are.
func asking(fake fakeModel) Handler {
	send := http.DefaultClient
	if own, ok := fake.(interface{ Client() *http.Client }); ok {
		send = own.Client()
	}
	return func(ctx context.Context, params map[string]any) (map[string]any, error) {
		body := bytes.NewReader(jsonvalue.Marshal(params))
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, fake.BaseURLs()[dialect.Native], body)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := send.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("the fake model answered with HTTP %d: %s", resp.StatusCode, answer)
		}
		if err != nil {
			return nil, err
		}
		return jsonvalue.ReadObject(json.RawMessage(answer))
	}
}

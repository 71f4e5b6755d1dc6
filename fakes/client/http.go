package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/sse"
)

const (
	jsonOrEvents    = "application/json, text/event-stream"
	headerSession   = "Mcp-Session-Id"
	headerRevision  = "Mcp-Protocol-Version"
	headerLastEvent = "Last-Event-Id"
	// errorBody is how many bytes of an error's body are read.
	errorBody = 4 << 10
)

// post sends a message to the server and returns the HTTP response, with any status.
func (c *Client) post(ctx context.Context, header http.Header, m map[string]any) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.options.URL, bytes.NewReader(jsonvalue.Marshal(m)))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	return c.options.HTTP.Do(req)
}

// statusError is a response of HTTP that is not a success and holds no JSON-RPC error.
type statusError struct {
	status int
	body   string
}

func (s *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", s.status, s.body) }

// readStatus reads a response that is not a success into an error: an [*Error] if its body is one.
func readStatus(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, errorBody)) // without a body the status says enough
	var m message
	if json.Unmarshal(body, &m) == nil && m.Error != nil {
		return fmt.Errorf("HTTP %d: %w", resp.StatusCode, m.Error)
	}
	return &statusError{resp.StatusCode, string(body)}
}

// messages calls take with each message of a response, JSON or events, until take returns false.
func (c *Client) messages(resp *http.Response, at *sse.Reader, take func(*message) bool) error {
	var invalid error
	one := func(raw []byte) bool {
		if len(raw) == 0 || at.Type != "" { // an event that only gives an id to resume from, or is not for clients
			return true
		}
		var several []message
		if several, invalid = unpack(raw, c.Revision()); invalid != nil {
			return false
		}
		for i := range several {
			if !take(&several[i]) {
				return false
			}
		}
		return true
	}
	kind := resp.Header.Get("Content-Type")
	if sse.IsStream(kind) {
		if err := at.Events(resp.Body, one); invalid == nil {
			return err
		}
		return invalid
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
	switch {
	case err != nil:
		return err
	case len(raw) > maxMessage:
		return errTooLong
	}
	if one(raw); invalid != nil {
		return fmt.Errorf("the body with the Content-Type %q is not a message: %w", kind, jsonvalue.Plain(invalid))
	}
	return nil
}

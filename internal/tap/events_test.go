package tap_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// Clients read events of one type only, so the type of another one is recorded.
func TestTheTypeOfAnEventIsRecorded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: ping\ndata: now\n\nevent: message\ndata: {}\n\ndata: []\n\n")
	}))
	defer s.Close()
	var found []string
	frames := tap.NewFrames(func(f trace.Frame) {
		if f.Dir == trace.ToClient && len(f.Raw) > 0 {
			found = append(found, string(f.Raw)+f.Type)
		}
	})
	c := &http.Client{Transport: frames.RoundTripper(http.DefaultTransport)}
	resp, err := c.Get(s.URL)
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, []string{"nowping", "{}", "[]"}, found)
}

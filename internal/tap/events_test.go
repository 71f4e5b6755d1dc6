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

// An event that comes again has the id and the data of an earlier one.
func TestAnEventThatComesAgainIsMarked(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\ndata: {}\n\nid: 1\ndata: []\n\nid: 2\ndata: {}\n\nid: 1\ndata: {}\n\n")
	}))
	defer s.Close()
	require.Equal(t, []string{"{} new", "[] new", "{} new", "{} again"}, recorded(t, s.URL, func(f trace.Frame) string {
		if f.Resent {
			return " again"
		}
		return " new"
	}))
}

// Clients read events of one type only, so the type of another one is recorded.
func TestTheTypeOfAnEventIsRecorded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: ping\ndata: now\n\nevent: message\ndata: {}\n\ndata: []\n\n")
	}))
	defer s.Close()
	typeOf := func(f trace.Frame) string { return f.Type }
	require.Equal(t, []string{"nowping", "{}", "[]"}, recorded(t, s.URL, typeOf))
}

// recorded gets an event stream, and returns the data of its events, each with what is said of its frame.
func recorded(t *testing.T, url string, of func(trace.Frame) string) []string {
	var found []string
	frames := tap.NewFrames(func(f trace.Frame) {
		if f.Dir == trace.ToClient && len(f.Raw) > 0 {
			found = append(found, string(f.Raw)+of(f))
		}
	})
	c := &http.Client{Transport: frames.RoundTripper(http.DefaultTransport)}
	resp, err := c.Get(url)
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return found
}

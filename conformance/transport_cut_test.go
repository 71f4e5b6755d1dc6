package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// cutter is a network that breaks once, behind so many bytes of the streams of calls.
type cutter struct {
	http.RoundTripper
	url  string
	at   int // negative for never
	seen bytes.Buffer
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	ofCall := r.Method == http.MethodPost || r.Header.Get("Last-Event-Id") != ""
	if err == nil && ofCall && r.URL.String() == c.url && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &severed{resp.Body, c}
	}
	return resp, err
}

// severed is a stream through it.
type severed struct {
	io.ReadCloser
	by *cutter
}

func (c *severed) Read(b []byte) (int, error) {
	if left := c.by.at - c.by.seen.Len(); left > 0 {
		b = b[:min(len(b), left)]
	}
	n, err := c.ReadCloser.Read(b)
	if n > 0 {
		c.by.seen.Write(b[:n])
		if c.by.seen.Len() == c.by.at {
			return n, io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// through plays the case of a stream that is come back for against the reference behind such a network, and returns what crossed it, and the verdicts.
func through(t *testing.T, at int) (string, map[string]string) {
	t.Helper()
	var crossed string
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		network := &cutter{RoundTripper: env.HTTP.Transport, url: env.URL, at: at}
		env.HTTP = &http.Client{Transport: network}
		err := reference.Client(reference.Config{Dialect: dialect.Native})(ctx, env)
		crossed = network.seen.String()
		return err
	})
	suite := conformance.Suite{Client: client, Revisions: []server.Revision{server.V20251125}, Seed: 1, Only: []string{"transport/disconnect"}, Bubble: func(f func()) {
		synctest.Test(t, func(*testing.T) { f() })
	}}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	verdicts := map[string]string{}
	for _, r := range rs.Results {
		verdicts[r.ID()] = string(r.Verdict) + ": " + r.Message
	}
	return crossed, verdicts
}

// A network that breaks at any byte of a stream that can be resumed changes nothing of what is said of a client that comes back. Before the first event
// has come whole there is nothing to come back for; and a client that has not read how long it is to wait does not know.
func TestANetworkThatBreaksAtAnyByteChangesNoVerdict(t *testing.T) {
	whole, want := through(t, -1)
	require.Contains(t, want["transport/reconnects"], string(report.Pass))
	first := strings.Index(whole, "\n\n") + 2
	wait := strings.Index(whole, "retry: ")
	told := wait + strings.Index(whole[wait:], "\n") + 1
	require.Less(t, first, wait)
	barrier := strings.LastIndex(whole[:strings.LastIndex(whole, "sampling/createMessage")], "data: ") // whose stream has no ids
	require.Less(t, told, barrier)
	for at := first; at < barrier; at++ {
		_, got := through(t, at)
		if at >= wait-len("id: post-1/3\n") && at < told {
			require.Contains(t, got["transport/retry-honoured"], "was back sooner")
			delete(got, "transport/retry-honoured")
		}
		for id, verdict := range got {
			require.Equal(t, want[id], verdict, fmt.Sprintf("cut behind byte %d, %q", at, whole[max(0, at-20):at]))
		}
	}
}

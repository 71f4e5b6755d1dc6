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
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// cutter is a network that breaks once, after a number of bytes of the streams of calls.
type cutter struct {
	http.RoundTripper
	url  string
	at   int // Negative for never.
	seen bytes.Buffer
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(r)
	ofCall := r.Method == http.MethodPost || r.Header.Get("Last-Event-Id") != ""
	if err == nil && ofCall && r.URL.String() == c.url &&
		strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &severed{resp.Body, c}
	}
	return resp, err
}

// severed is a stream through a cutter.
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

// through plays transport/disconnect with the reference behind a cutter. It returns the bytes that passed, and the
// verdicts.
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
	suite := conformance.Suite{Client: client, Revisions: []server.Revision{server.V20251125}, Seed: 1,
		Only: []string{"transport/disconnect"}, Bubble: func(f func()) {
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

// A break at any byte of a resumable stream changes no verdict. A stream is resumable after its first event, and a
// client that has not read the retry time cannot honour it. A sample breaks at the bytes around line ends.
func TestABrokenConnectionChangesNoVerdict(t *testing.T) {
	t.Parallel()
	all, want := through(t, -1)
	require.Contains(t, want["transport/reconnects"], string(report.Pass))
	first := strings.Index(all, "\n\n") + 2
	wait := strings.Index(all, "retry: ")
	known := wait + strings.Index(all[wait:], "\n") + 1
	require.Less(t, first, wait)
	barrier := strings.LastIndex(all[:strings.LastIndex(all, "sampling/createMessage")],
		"data: ") // The barrier's stream has no ids.
	require.Less(t, known, barrier)
	for at := first; at < barrier; at++ {
		if !sharedtest.Whole() && !strings.Contains(all[at-1:at+1], "\n") && at%64 != 0 {
			continue
		}
		_, got := through(t, at)
		if at >= wait-len("id: post-1/3\n") && at < known {
			require.Contains(t, got["transport/retry-honoured"], "reconnects, found less")
			delete(got, "transport/retry-honoured")
		}
		for id, verdict := range got {
			require.Equal(t, want[id], verdict, fmt.Sprintf("cut behind byte %d, %q", at, all[max(0, at-20):at]))
		}
	}
}

package conformance_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// slow returns the reference client with a model far away: each request to it takes the time in addition.
func slow(each time.Duration) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = &http.Client{Transport: farModel{env.HTTP.Transport, each, env.URL}}
		return reference.Client(reference.Config{})(ctx, env)
	})
}

type farModel struct {
	next   http.RoundTripper
	each   time.Duration
	server string
}

func (f farModel) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.String(), f.server) {
		select {
		case <-time.After(f.each): // in virtual time
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return f.next.RoundTrip(r)
}

func TestASlowClientGetsTimeForEachSamplingRequest(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, slow(time.Second))
	suite.Only, suite.Skip = []string{"loop", "basic"}, sample(expensive...)
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	for _, r := range rs.Results {
		require.False(t, r.Failed(true), "%s: %s", r.ID(), r.Message)
		require.NotEqual(t, report.Unsupported, r.Verdict, "%s: %s", r.ID(), r.Message)
	}
}

func TestAClientThatIsTooSlowIsToldHowMuchTimeItNeeds(t *testing.T) {
	t.Parallel()
	suite := suiteOf(t, slow(9*time.Second))
	suite.Only = []string{"tool-use", "parallel", "loop", "malformed", "balance", "consent"}
	suite.Skip = sample(expensive...)
	rs, traces, err := suite.Run(t.Context())
	require.NoError(t, err)
	waiting, passed := 0, 0
	for _, r := range rs.Results {
		require.False(t, r.Failed(false), "%s %s: %s", r.Verdict, r.ID(), r.Message)
		switch {
		case r.ID() == "client/ends-cleanly":
			require.Equal(t, report.Unsupported, r.Verdict)
			require.Regexp(t, `takes it .*s on average: set a limit such as .*m\d+s \(--timeout, conf`, r.Message)
		case r.Verdict == report.Unsupported:
			require.Equal(t, "client/ends-cleanly", r.Prerequisite, "%s: %s", r.ID(), r.Message)
			waiting++
		case r.Verdict == report.Pass:
			passed++
		}
	}
	require.NotZero(t, waiting)
	require.NotZero(t, passed)
	text := string(report.Text(rs, report.TextOptions{}))
	require.Less(t, strings.Index(text, "--timeout"), 1000, "the advice comes first:\n%s", text)
	for _, tr := range traces {
		require.Less(t, tr.Events[len(tr.Events)-1].At, 10*time.Minute)
	}

	suite.Timeout, suite.Skip, suite.Only = 2*time.Minute, nil, []string{"tool-use", "loop"}
	suite.Revisions = []server.Revision{server.V20251125}
	rs, _, err = suite.Run(t.Context())
	require.NoError(t, err)
	for _, r := range rs.Results {
		require.NotEqual(t, report.Unsupported, r.Verdict, "%s: %s", r.ID(), r.Message)
		require.False(t, r.Failed(true), "%s: %s", r.ID(), r.Message)
	}
}

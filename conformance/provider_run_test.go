package conformance_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
	"github.com/mcp-conform/mcp-conform/internal/reference"
)

// A client may have one HTTP client for the server and the model, with a jar: the provider's cookies are for the provider's domain.
func TestACookieJarIsNoLeak(t *testing.T) {
	suite := suiteOf(t, harness.InProcess(func(ctx context.Context, env harness.Env) error {
		jar, err := cookiejar.New(nil)
		if err != nil {
			return err
		}
		env.HTTP = &http.Client{Transport: env.HTTP.Transport, Jar: jar}
		return reference.Client(reference.Config{})(ctx, env)
	}))
	suite.Only = []string{"provider-errors"}
	rs, _, err := suite.Run(t.Context())
	require.NoError(t, err)
	require.False(t, rs.Failed(true))
}

// What a client gives away in a header is in the trace, so that it can be judged from a file.
func TestALeakInAHeaderCanBeJudgedOffline(t *testing.T) {
	for _, name := range []string{"key-to-the-server", "key-in-a-header-of-its-own"} {
		suite := suiteOf(t, harness.InProcess(mutants.Find(name).Client(reference.Config{}, nil)))
		suite.Only = []string{"provider-errors/unauthorized"}
		_, traces, err := suite.Run(t.Context())
		require.NoError(t, err)
		var read []*trace.Trace
		for _, tr := range traces {
			var file bytes.Buffer
			require.NoError(t, tr.Write(&file))
			again, err := trace.Read(&file)
			require.NoError(t, err)
			read = append(read, again)
		}
		rs, err := conformance.Judge(read...)
		require.NoError(t, err)
		i := slices.IndexFunc(rs.Results, func(r report.Result) bool { return r.ID() == "provider-errors/no-secret" })
		require.GreaterOrEqual(t, i, 0)
		require.Equal(t, report.Fail, rs.Results[i].Verdict, name)
		require.Contains(t, rs.Results[i].Message, "found the key", name)
	}
}

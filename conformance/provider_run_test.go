package conformance_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/cookiejar"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// A client may share one HTTP client with a cookie jar between server and model.
func TestACookieJarIsNotALeak(t *testing.T) {
	t.Parallel()
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

// The trace holds the headers that leak a secret.
func TestALeakInAHeaderIsJudgedFromAFile(t *testing.T) {
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
		require.Equal(t, report.Fail, find(t, rs, "always/no-secret").Verdict, name)
	}
}

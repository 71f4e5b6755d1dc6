package harness_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAStrangerOnLoopbackIsNoEvidence(t *testing.T) {
	strange := false
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		for _, address := range []string{env.URL, env.Model["openai-chat"]} {
			u, err := url.Parse(address)
			if err != nil {
				return err
			}
			path := u.Path[strings.Index(u.Path[1:], "/")+1:]
			if !strange {
				break
			}
			a, err := http.Post(u.Scheme+"://"+u.Host+path, "application/json",
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
			if err != nil {
				return err
			}
			_ = a.Body.Close()
			if a.StatusCode != http.StatusNotFound {
				return fmt.Errorf("%s: expected the status 404, found %d", path, a.StatusCode)
			}
		}
		return correct(ctx, env)
	}, harness.Loopback())
	play := func() *trace.Trace {
		var got *trace.Trace
		r := harness.Runner{Client: client, Revision: server.V20251125}
		require.NoError(t, r.Run(context.Background(), []harness.Case{question("q")}, func(t *trace.Trace) { got = t }))
		for _, e := range got.Events {
			require.True(t, e.Process == nil || e.Process.Err == "", "%+v", e.Process)
		}
		return got
	}
	alone := play()
	require.Empty(t, marks(alone, trace.MarkStrangers))
	strange = true
	visited := play()
	require.Equal(t, []string{"2"}, marks(visited, trace.MarkStrangers)[""])
	require.Len(t, visited.Events, len(alone.Events)+1)
}

func TestSecretsOfTheEnvironmentAreInNoEvent(t *testing.T) {
	secrets := map[string]string{"AWS_ACCESS_KEY_ID": "AKIA1234567890ABCDEF", "CI_JOB_JWT": "eyJhbGciOi.eyJzdWIi.c2lnbmF0",
		"SLACK_TOKEN": `xoxb-"quoted"\&-<0123456789>`, "STRIPE_API_KEYS": "rk_live_0123456789/+=",
		"GITLAB_PAT": "glpat-0123456789"}
	said := "the provider said:"
	for name, value := range secrets {
		t.Setenv(name, value)
		said += " " + value + " " + base64.StdEncoding.EncodeToString([]byte("x:"+value)) + " " + url.QueryEscape(value)
	}
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, said)
		r, _ := http.NewRequestWithContext(ctx, "POST", env.Model["openai-chat"]+"/chat/completions", strings.NewReader(body))
		r.Header.Set("User-Agent", said)
		for _, address := range []string{r.URL.String(), env.URL} {
			to, err := url.Parse(address)
			if err != nil {
				return err
			}
			again := r.Clone(ctx)
			again.URL, again.Body = to, http.NoBody
			if again.Body, err = r.GetBody(); err != nil {
				return err
			}
			answer, err := env.HTTP.Do(again)
			if err != nil {
				return err
			}
			_ = answer.Body.Close()
		}
		env.Report(harness.Outcome{Tool: "case-q", Ended: "error", Error: &harness.OutcomeError{Message: said}})
		return fmt.Errorf("it failed: %s", said)
	})
	var file bytes.Buffer
	r := harness.Runner{Client: client, Revision: server.V20251125}
	require.NoError(t, r.Run(context.Background(), []harness.Case{question("q")}, func(got *trace.Trace) {
		require.NoError(t, got.Write(&file))
	}))
	require.Greater(t, strings.Count(file.String(), "$SLACK_TOKEN"), 5)
	for name, value := range secrets {
		require.NotContains(t, file.String(), value[3:len(value)-3], name)
		require.NotContains(t, file.String(), base64.StdEncoding.EncodeToString([]byte("x:" + value))[4:20], name)
	}
}

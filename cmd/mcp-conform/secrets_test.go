package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

const mostPlanted = 30

func plantedName(i int) string { return fmt.Sprintf("PLANTED_%d_KEY", i) }

func plantedValue(i int) string {
	return []string{"sk-live-%02d-0123456789abcdef", `p"a\s<s>&%02d/w+o=r d'0123`, "%02déßñ/0123456789?x=%%20"}[i%3]
}

func planted(i int) string { return fmt.Sprintf(plantedValue(i), i) }

// told is a place of a message in which a client may write what it should not.
var told = regexp.MustCompile(`"(?:text|message|model|content|name|version|reason|stopReason|arguments|query)": ?"`)

// telltale writes the secrets of its environment into its messages, in four forms.
type telltale struct{ sent *atomic.Int64 }

func (t telltale) next() (secret, inJSON string) {
	n := int(t.sent.Add(1))
	secret = os.Getenv(plantedName(n % mostPlanted))
	switch n / mostPlanted % 3 {
	case 1:
		secret = url.QueryEscape(secret)
	case 2:
		secret = base64.StdEncoding.EncodeToString([]byte("user:" + secret))
	}
	raw, _ := json.Marshal(secret)
	return secret, strings.Trim(string(raw), `"`)
}

func (t telltale) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	secret, _ := t.next()
	r.Header.Set("User-Agent", "client/"+url.PathEscape(secret))
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(body, []byte("tools/call")) && !bytes.Contains(body, []byte(`"initialize"`)) {
			body = told.ReplaceAllFunc(body, func(place []byte) []byte {
				_, inJSON := t.next()
				return append(bytes.Clone(place), inJSON+" "...)
			})
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func runTelltale() int {
	t := telltale{&atomic.Int64{}}
	env, err := harness.EnvFromProcess(os.Args[1:], os.Getenv)
	if err == nil {
		env.HTTP = &http.Client{Transport: t}
		err = reference.Client(reference.Config{Edit: func(_ *harness.Env, o *client.Options, _ *model.Options) {
			o.Consent = func(_ context.Context, _, result map[string]any) error {
				if secret, _ := t.next(); result != nil && t.sent.Load()%5 == 0 {
					return fmt.Errorf("401 from the model: %s", secret)
				}
				return nil
			}
		}})(context.Background(), env)
	}
	for i := range mostPlanted {
		_, _ = os.Stdout.Write(harness.Outcome{Tool: "basic-question", Ended: harness.Failed,
			Error: &harness.OutcomeError{Message: planted(i)}}.Line())
		fmt.Println(os.Getenv(plantedName(i)))
		fmt.Fprintln(os.Stderr, err, os.Getenv(plantedName(i)))
	}
	return 1
}

func TestNoFileOfARunHoldsASecretOfTheEnvironment(t *testing.T) {
	sharedtest.NeedsWhole(t)
	dir := t.TempDir()
	cmd := exec.Command("mcp-conform", "run", "-v", "--scenario", "parallel", "--scenario", "basic", "--out", "out",
		"--report", "html=a,junit=b,markdown=c,json=d,annotations=e,checks=f,text=g,badge=h", "--", "telltale")
	cmd.Dir = dir
	cmd.Env = os.Environ()
	for i := range mostPlanted {
		cmd.Env = append(cmd.Env, plantedName(i)+"="+planted(i))
	}
	output, _ := cmd.CombinedOutput() // it fails
	require.NoError(t, os.WriteFile(filepath.Join(dir, "output"), output, 0o600))
	masked, files := map[int]bool{}, 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		for i := range mostPlanted {
			masked[i] = masked[i] || bytes.Contains(raw, []byte("$"+plantedName(i)))
			inJSON, _ := json.Marshal(planted(i))
			in64 := base64.StdEncoding.EncodeToString([]byte("user:" + planted(i)))
			forms := []string{planted(i), strings.Trim(string(inJSON), `"`), url.QueryEscape(planted(i)), in64[8:28]}
			for _, form := range forms {
				require.NotContains(t, string(raw), form, "%s holds secret %d", path, i)
			}
		}
		return err
	}))
	require.Len(t, masked, mostPlanted)
	for i, is := range masked {
		require.True(t, is, "secret %d was never sent", i)
	}
	require.Greater(t, files, 12)
}

// Package gitleaks looks for secrets in written cassettes with gitleaks. It is a module of its own, since gitleaks
// needs many others, whose versions importers of the adapters would get.
package gitleaks

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zricethezav/gitleaks/v8/detect"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/secrets/secretstest"
)

// provider repeats what it is told: as JSON, or as events of which each has a part of a word.
type provider struct{ streams bool }

func (p provider) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(r.Body)
	kind, body := "application/json", string(sent)
	if p.streams {
		kind, body = "text/event-stream", ""
		for text := jsonvalue.Decode(sent).(map[string]any)["said"].(string); text != ""; {
			n := min(7, len(text))
			body += fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", jsonvalue.Canonical(text[:n]))
			text = text[n:]
		}
		body += "data: [DONE]\n\n"
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, err
}

// gitleaks has rules that our table does not have. It must not find anything in a cassette of ours; the same texts,
// without a cassette, show that it looks.
func TestGitleaksFindsNothingInCassettes(t *testing.T) {
	planted := secretstest.Generate(rand.New(rand.NewPCG(8, 8)))
	detector, err := detect.NewDetectorDefaultConfig()
	require.NoError(t, err)
	known := 0
	for _, p := range planted {
		known += min(1, len(detector.DetectString(p.Text)))
	}
	require.Greater(t, known, 90)

	for name, streams := range map[string]bool{"json": false, "events": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "planted.yaml")
			recorded, err := cassettes.New(path, cassettes.WithMode(cassettes.RecordAnew),
				cassettes.WithTransport(provider{streams}))
			require.NoError(t, err)
			for _, p := range planted {
				req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions",
					strings.NewReader(jsonvalue.Canonical(map[string]any{"said": p.Text})))
				require.NoError(t, err)
				resp, err := recorded.RoundTrip(req)
				require.NoError(t, err)
				_, err = io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
			}
			require.NoError(t, recorded.Close())
			files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			require.NoError(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				for _, f := range detector.DetectBytes(text) {
					t.Errorf("%s: %s in line %d: %s", filepath.Base(file), f.RuleID, f.StartLine, f.Match)
				}
			}
		})
	}
}

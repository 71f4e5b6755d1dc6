package harness

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzReadFeature(f *testing.F) {
	f.Add([]byte(`{"mcp-conform":"supports","feature":"decisions"}`))
	f.Add([]byte(`{"mcp-conform":"outcome","tool":"a","outcome":"completed"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if feature, ok := readFeature(line); ok {
			require.Contains(t, features, feature)
		}
	})
}

func TestWhatAnnouncesAFeatureIsTakenOutOfTheOutput(t *testing.T) {
	for line, want := range map[string]string{
		`{"mcp-conform":"supports","feature":"decisions"}`:                  Decisions,
		`{"mcp-conform":"supports","feature":"tasks"}`:                      Tasks,
		` {"feature": "decisions", "mcp-conform": "supports", "more": 1}  `: "", // a line of the contract begins with its brace
		`{"mcp-conform":"supports","feature":"telepathy"}`:                  "",
		`{"mcp-conform":"supports"}`:                                        "",
		`{"mcp-conform":"outcome","feature":"decisions"}`:                   "",
		`{"mcp-conform":"supports","feature":["decisions"]}`:                "",
		`decisions`: "",
	} {
		var kept bytes.Buffer
		var got string
		lines := &outcomes{to: &kept, report: func(Outcome) {}, announce: func(f string) { got = f }}
		_, err := lines.Write([]byte(line + "\n"))
		require.NoError(t, err)
		lines.flush()
		require.Equal(t, want, got, line)
		if want == "" {
			require.Equal(t, line+"\n", kept.String(), "what announces nothing is output")
		} else {
			require.Empty(t, kept.String())
		}
	}
}

func TestAnEnvironmentWithoutAHarnessTakesAnAnnouncement(*testing.T) { Env{}.Announce(Decisions) }

package harness

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzReadOutcome(f *testing.F) {
	f.Add([]byte(`{"mcp-conform":"outcome","tool":"s-a","outcome":"completed"}`))
	f.Add([]byte(` {"tool":"s-a","outcome":"gave-up","error":{"message":"no"},"mcp-conform":"outcome"}` + "\r\n"))
	f.Add([]byte(`{"mcp-conform":"outcome","tool":"s-a","outcome":"well"}`))
	f.Add([]byte(`{"mcp-conform":"income","tool":"s-a","outcome":"failed"}`))
	f.Add([]byte(`{"mcp-conform":`))
	f.Add([]byte(`{"mcp-conform":"supports","feature":"decisions"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if feature, ok := readFeature(line); ok {
			require.Contains(t, Features(), feature)
		}
		o, ok := readOutcome(line)
		if !ok {
			return
		}
		again, ok := readOutcome(o.Line())
		require.True(t, ok)
		require.Equal(t, o, again)
		require.Equal(t, 1, bytes.Count(o.Line(), []byte("\n")))
	})
}

func TestOutputPassesUnchangedAroundContractLines(t *testing.T) {
	long := strings.Repeat("x", 3*longestLine)
	const outcome = `{"mcp-conform":"outcome","tool":"s-a","outcome":"failed"}` + "\n"
	for _, piece := range []int{1, 7, 1000, 1 << 20} {
		var out strings.Builder
		reported := 0
		lines := &lineFilter{to: &out, report: func(Outcome) { reported++ }}
		// What follows a long line on the same line is not a contract line.
		rest := "first\n" + outcome + "{" + long + "\n" + outcome + "{" + long + outcome + "\n\n{}\n last"
		for rest != "" {
			n := min(piece, len(rest))
			_, err := lines.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		lines.flush()
		require.Equal(t, "first\n{"+long+"\n{"+long+outcome+"\n\n{}\n last", out.String())
		require.Equal(t, 2, reported, piece)
	}
}

func TestOnlyKnownFeaturesAreAnnounced(t *testing.T) {
	for line, want := range map[string]string{
		`{"mcp-conform":"supports","feature":"decisions"}`:                  Decisions,
		`{"mcp-conform":"supports","feature":"tasks"}`:                      Tasks,
		` {"feature": "decisions", "mcp-conform": "supports", "more": 1}  `: "", // does not begin with its brace
		`{"mcp-conform":"supports","feature":"telepathy"}`:                  "",
		`{"mcp-conform":"supports"}`:                                        "",
		`{"mcp-conform":"outcome","feature":"decisions"}`:                   "",
		`{"mcp-conform":"supports","feature":["decisions"]}`:                "",
		`decisions`: "",
	} {
		var kept bytes.Buffer
		var got string
		lines := &lineFilter{to: &kept, report: func(Outcome) {}, announce: func(f string) { got = f }}
		_, err := lines.Write([]byte(line + "\n"))
		require.NoError(t, err)
		lines.flush()
		require.Equal(t, want, got, line)
		require.Equal(t, want == "", kept.String() == line+"\n", line)
	}
	Env{}.Announce(Decisions) // outside of the harness
}

// BenchmarkFlood measures how fast a client's output is read: lines of any kind, and lines like outcomes.
func BenchmarkFlood(b *testing.B) {
	long := strings.Repeat("x", 1000) + "\n"
	for name, line := range map[string]string{"short": "y\n", "braces": "{\n", "long": long} {
		b.Run(name, func(b *testing.B) {
			flood := []byte(strings.Repeat(line, (32<<10)/len(line)))
			lines := &lineFilter{to: &headTail{}, report: func(Outcome) {}}
			b.SetBytes(int64(len(flood)))
			for b.Loop() {
				_, _ = lines.Write(flood)
			}
		})
	}
}

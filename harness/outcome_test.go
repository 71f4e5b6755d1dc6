package harness

import (
	"bytes"
	"flag"
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
	f.Fuzz(func(t *testing.T, line []byte) {
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

func TestALineOfAnyLengthPassesHoweverItIsWritten(t *testing.T) {
	long := strings.Repeat("x", 3*longestLine)
	const said = `{"mcp-conform":"outcome","tool":"s-a","outcome":"failed"}` + "\n"
	for _, piece := range []int{1, 7, 1000, 1 << 20} {
		var out strings.Builder
		told := 0
		lines := &outcomes{to: &out, report: func(Outcome) { told++ }}
		text := "first\n" + said + "{" + long + "\n" + said + "{" + long + said + "\n\n{}\n last"
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			_, err := lines.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		lines.flush()
		require.Equal(t, "first\n{"+long+"\n{"+long+said+"\n\n{}\n last", out.String())
		require.Equal(t, 2, told, "%d: what follows a long line on the same one is no line of its own", piece)
	}
}

func TestAContainedTestIsGivenTheUsersOwnArguments(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.Bool("test.v", false, "")
	flags.Bool("test.short", false, "")
	flags.String("test.run", "", "")
	flags.String("setting", "", "")
	flags.Bool("quick", false, "")
	for given, want := range map[string]string{
		"": "",
		"-test.v=true -test.run=^TestX$ -test.paniconexit0 -test.coverprofile=x": "",
		"-test.run TestX -setting test.run --quick pos -test.v":                  "-setting test.run --quick pos -test.v",
		"--test.short -quick -setting=a":                                         "--test.short -quick -setting=a",
		"-test.v -- -test.v":                                                     "-- -test.v",
		"-unknown value":                                                         "-unknown value",
		"-setting":                                                               "-setting",
		"- -test.v":                                                              "- -test.v",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, ownArgs(strings.Fields(given), flags)...), given)
	}
}

// BenchmarkFlood tells how fast a client's output is read, for lines of any kind, and such as begin like outcomes.
func BenchmarkFlood(b *testing.B) {
	for name, line := range map[string]string{"short lines": "y\n", "braces": "{\n", "long lines": strings.Repeat("x", 1000) + "\n"} {
		b.Run(name, func(b *testing.B) {
			flood := []byte(strings.Repeat(line, (32<<10)/len(line)))
			lines := &outcomes{to: &ends{}, report: func(Outcome) {}}
			b.SetBytes(int64(len(flood)))
			for b.Loop() {
				_, _ = lines.Write(flood)
			}
		})
	}
}

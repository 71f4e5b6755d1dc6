package shell_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/shell"
)

func TestWordsAreQuotedOnlyWhereTheyNeedIt(t *testing.T) {
	require.Equal(t, "node", shell.Quote("node"))
	require.Equal(t, "./client.js", shell.Quote("./client.js"))
	require.Equal(t, "''", shell.Quote(""))
	require.Equal(t, "'kill -9 $$'", shell.Quote("kill -9 $$"))
	require.Equal(t, `'it'\''s'`, shell.Quote("it's"))
	require.Empty(t, shell.Quote())
}

func TestAShellSplitsTheLineIntoTheWords(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no POSIX shell here to ask: on Windows, Git brings one")
	}
	words := []string{"a b", "", "it's", `"$HOME"`, "`x`", "*", "a\\b", "new\nline", "~", "--x=1", "!x", "{a,b}", "日本"}
	out, err := exec.Command(sh, "-c", `printf '<%s>' `+shell.Quote(words...)).Output()
	require.NoError(t, err)
	require.Equal(t, "<"+strings.Join(words, "><")+">", string(out))
}

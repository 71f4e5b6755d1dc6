package words_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

func ExampleQuote() {
	fmt.Println(words.Quote("node", "./client.js", "", "kill -9 $$", "it's"))
	// Output: node ./client.js '' 'kill -9 $$' 'it'\''s'
}

func TestShellSplitsTheLineIntoTheWords(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("this test needs a POSIX shell: on Windows, install Git")
	}
	list := []string{"a b", "", "it's", `"$HOME"`, "`x`", "*", "a\\b", "new\nline", "~", "--x=1", "!x", "{a,b}", "日本"}
	out, err := exec.Command(sh, "-c", `printf '<%s>' `+words.Quote(list...)).Output()
	require.NoError(t, err)
	require.Equal(t, "<"+strings.Join(list, "><")+">", string(out))
	require.Empty(t, words.Quote())
}

package need

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
)

// blame begins the reason of each entry: who made the mistake, if it is one.
var blame = regexp.MustCompile(`^(SDK|adapter|SDK and adapter|host|gateway|language|nobody): \S`)

// Every baseline says of each entry who is to blame.
func TestEveryBaselineSaysWhoIsToBlame(t *testing.T) {
	entries := 0
	for _, root := range []string{"..", "../../recipes"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".venv")) {
				return fs.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			raw, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(raw, []byte("\nknown:")) {
				return err
			}
			file, err := baseline.Parse(path, raw, conformance.BaselineChecks())
			require.NoError(t, err)
			for _, e := range file.Entries {
				entries++
				require.Regexp(t, blame, e.Reason, "%s: %s", path, e.Check)
			}
			return nil
		}))
	}
	require.Greater(t, entries, 300)
}

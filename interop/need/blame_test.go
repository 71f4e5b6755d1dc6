package need

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
)

// blame begins the reason of each entry: who made the mistake, if it is one.
var blame = regexp.MustCompile(`^(SDK|adapter|SDK and adapter|host|gateway|language|nobody): \S`)

// wholeSessions are checks whose entries have no cases: of sessions, and of a gateway.
var wholeSessions = regexp.MustCompile(`^(client|gateway)/|^always/(error-shape|http-headers|no-secret|state-echoed)$`)

// Every baseline says of each entry who is to blame, and in which cases it fails: in others, it is news. No test of
// ours runs the recipe mcp-use.
func TestEveryBaselineSaysWhoIsToBlameAndWhere(t *testing.T) {
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
				if !wholeSessions.MatchString(e.Check) && !strings.Contains(path, "mcp-use") {
					require.NotEmpty(t, slices.Concat(e.Cases, slices.Sorted(maps.Keys(e.Kinds))), "%s: %s", path, e.Check)
				}
			}
			return nil
		}))
	}
	require.Greater(t, entries, 300)
}

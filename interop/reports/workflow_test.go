package reports_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/require"
)

var workflow = regexp.MustCompile("(?s)```yaml\n(name: [^`]*\njobs:\n.*?)```")

func TestTheWorkflowsOfTheDocumentationPassActionlint(t *testing.T) {
	found := 0
	for _, path := range []string{"../../docs/ci.md", "../../docs/reports.md"} {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, block := range workflow.FindAllSubmatch(page, -1) {
			found++
			var out bytes.Buffer
			linter, err := actionlint.NewLinter(&out, &actionlint.LinterOptions{})
			require.NoError(t, err)
			problems, err := linter.Lint("workflow.yml", block[1], nil)
			require.NoError(t, err)
			require.Empty(t, problems, "%s: %s", path, out.String())
		}
	}
	require.Equal(t, 3, found)
}

func TestActionlintReadsTheAction(t *testing.T) {
	project, err := actionlint.NewProject("../..")
	require.NoError(t, err)
	cache := actionlint.NewLocalActionsCache(project, nil)
	action, _, err := cache.FindMetadata("./")
	require.NoError(t, err)
	require.Equal(t, "mcp-conform", action.Name)
	require.Contains(t, action.Inputs, "clients")
	require.Contains(t, action.Outputs, "exit-code")
}

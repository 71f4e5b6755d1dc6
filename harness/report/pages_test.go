package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/report"
)

func TestThePagesOfTheChecksAreThoseOfTheVersion(t *testing.T) {
	for tool, branch := range map[string]string{"v0.2.0": "v0.2.0", "(devel)": "main", "go test": "main",
		"v0.0.0-20261123014831-0123456789ab": "main"} {
		require.Equal(t, "https://github.com/mcp-conform/mcp-conform/blob/"+branch+"/docs/checks/", report.CheckPages(tool))
	}
}

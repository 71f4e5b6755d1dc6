package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check/checktest"
)

func TestCatalogueIsValid(t *testing.T) {
	require.NoError(t, checktest.Validate(catalogue()))
}

func TestToolNamesAndMarksAreUniqueAndValid(t *testing.T) {
	tools, marks := map[string]string{}, map[string]string{}
	for _, s := range catalogue() {
		for _, c := range s.Cases {
			if c.Carrier == "" {
				require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, c.Tool(), "every provider accepts it as a tool name")
			}
			require.Empty(t, tools[c.Tool()], "%s and %s share a tool name", c.ID, tools[c.Tool()])
			require.Regexp(t, `^[a-z0-9]{6,}$`, c.Mark())
			for mark, other := range marks {
				require.False(t, strings.Contains(mark, c.Mark()) || strings.Contains(c.Mark(), mark),
					"the mark of %s contains that of %s", c.ID, other)
			}
			tools[c.Tool()], marks[c.Mark()] = c.ID, c.ID
			if c.Script != nil {
				for _, rule := range c.Script(c.Mark()) {
					require.NotNil(t, rule)
				}
			}
		}
	}
}

package evidence_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/parallel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

var catalogue = check.Catalogue{basic.Scenario, tooluse.Scenario, parallel.Scenario}

package evidence_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/always"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/parallel"
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/tooluse"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

var catalogue = check.Catalogue{always.Scenario, basic.Scenario, tooluse.Scenario, parallel.Scenario}

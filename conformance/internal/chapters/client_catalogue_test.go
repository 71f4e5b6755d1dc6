package chapters_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
)

var clientCatalogue = check.Catalogue{basic.Scenario}

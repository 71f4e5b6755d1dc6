package balance

import "github.com/mcp-conform/mcp-conform/conformance/internal/check"

var catalogue = check.Catalogue{Scenario}

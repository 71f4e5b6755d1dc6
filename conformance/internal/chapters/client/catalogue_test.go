package client_test

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/chapters/basic"
	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/tracetest"
)

type session = tracetest.Story

var catalogue = check.Catalogue{basic.Scenario}

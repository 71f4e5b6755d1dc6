package mcpgo_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/client"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/host"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/mcpgo"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

func TestClient(t *testing.T) {
	column := &matrix.Column{Name: "mcp-go", Language: "Go", Run: "mcpgo",
		Version: need.Built(t, "github.com/mark3labs/mcp-go")}
	need.InMatrix(t, column, mcpgo.Client(mcpgo.AskModel), "testdata/client.yaml", "48 known, 72 not applicable",
		conformance.Skip("malformed"))
}

func TestStrictClient(t *testing.T) {
	strict := mcpgo.Client(func(env harness.Env) client.SamplingHandler {
		return mcpgo.Handler(host.Host{Env: env, Strict: true})
	})
	need.Baseline(t, strict, "testdata/strict.yaml", "28 known, 72 not applicable", conformance.Skip("malformed"))
}

func TestClientOverSockets(t *testing.T) {
	need.Baseline(t, mcpgo.Client(mcpgo.AskModel, harness.Loopback()), "testdata/sockets.yaml",
		"44 known, 72 not applicable", conformance.Skip("malformed"))
}

func TestMalformedRequests(t *testing.T) {
	need.Baseline(t, mcpgo.Client(mcpgo.AskModel), "testdata/malformed.yaml", "10 known, 11 not applicable",
		conformance.Only("malformed"),
		conformance.Skip("malformed/long-string"))
}

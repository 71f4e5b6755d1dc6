// Package pythonsdk compares clients on the official Python SDK and on FastMCP with their baselines. The clients are
// the templates of mcp-conform init.
package pythonsdk

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("PYTHONDONTWRITEBYTECODE", "1"); err != nil {
		panic(err)
	}
	m.Run()
}

// venv returns the folder with the programs of a virtual environment, which NAME.txt locks.
func venv(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(".venv-"+name, "bin")
	need.File(t, folder, "in interop/pythonsdk: python3 -m venv .venv-"+name+" && .venv-"+name+
		"/bin/pip install --no-deps --require-hashes -r "+name+".txt")
	return folder
}

// The other scenarios wait for time limits of the SDKs.
var quick = []string{"declare", "basic", "tool-use", "parallel", "loop", "balance", "cancel", "consent",
	"provider-errors", "mrtr"}

// odd are cases in which the SDK does something odd.
var odd = []string{"malformed/deep-nesting", "malformed/bad-base64", "malformed/tool-bad-schema", "transport/repeated*"}

// handlers are the scenarios that tell the sampling handlers of FastMCP apart, and declare, without which the matrix
// says nothing of tools: in the rest they are alike.
var handlers = []string{"declare", "basic", "tool-use", "parallel", "provider-errors"}

func TestClients(t *testing.T) {
	for _, c := range []struct {
		name, venv, template, provider string
		counts                         string
		column                         matrix.Column
		cases                          []string
		in                             []server.Revision
	}{
		{"v1", "v1", "python-sdk", "native", "29 known, 22 not applicable",
			matrix.Column{Name: "MCP Python SDK 1.x", Version: need.Locked(t, "v1.txt", `(?m)^mcp==(\S+)`)},
			slices.Concat(quick, odd, []string{"tasks", "time/ping*"}), []server.Revision{server.V20251125}},
		{"v2", "v2", "python-sdk", "native", "47 known, 17 not applicable",
			matrix.Column{Name: "MCP Python SDK", Version: need.Locked(t, "v2.txt", `(?m)^mcp==(\S+)`)},
			slices.Concat(quick, odd, []string{"transport/lost-session", "transport/rare-events"}), nil},
		{"fastmcp-openai", "fastmcp", "fastmcp", "openai", "44 known, 20 not applicable, 20 unsupported",
			matrix.Column{Name: "FastMCP with OpenAI"}, slices.Concat(quick, []string{"transport/repeated*",
				"transport/lost-session", "transport/rare-events"}), nil},
		{"fastmcp-anthropic", "fastmcp", "fastmcp", "anthropic", "11 known, 13 not applicable",
			matrix.Column{Name: "FastMCP with Anthropic", Run: "anthropic"}, handlers, []server.Revision{server.V20251125}},
		{"fastmcp-gemini", "fastmcp", "fastmcp", "gemini", "13 known, 9 not applicable",
			matrix.Column{Name: "FastMCP with Gemini", Run: "gemini"}, handlers, []server.Revision{server.V20251125}},
	} {
		t.Run(c.name, func(t *testing.T) {
			adapter := filepath.Join("../../cmd/mcp-conform/init", c.template, "adapter.py")
			client := harness.Command(filepath.Join(venv(t, c.venv), "python"), adapter, "--provider", c.provider)
			options := []conformance.Option{conformance.Only(c.cases...), conformance.Explore(0),
				conformance.In(c.in...)}
			if c.provider != "native" {
				client.Has = []string{harness.OneModel}
				c.column.Version = need.Locked(t, "fastmcp.txt", `(?m)^fastmcp==(\S+)`)
			}
			c.column.Language, c.column.Init = "Python", c.template
			need.InMatrix(t, &c.column, client, filepath.Join("testdata", c.name+".yaml"), c.counts, options...)
		})
	}
}

func TestTwoCommands(t *testing.T) {
	for kind, name := range map[string]string{"python-sdk": "v2", "fastmcp": "fastmcp"} {
		t.Run(kind, func(t *testing.T) { need.TwoCommands(t, kind, venv(t, name)) })
	}
}

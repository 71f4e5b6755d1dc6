// Package importer proves that a project which imports ours keeps its own versions of dependencies.
package importer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/interop/need"
)

// theirs is a project on an older go-sdk whose tests use our fakes and checks.
var theirs = map[string]string{
	"go.mod": `module example.com/theirs

go 1.25.5

require github.com/modelcontextprotocol/go-sdk v1.6.1
`,
	"theirs.go": `package theirs

import "github.com/modelcontextprotocol/go-sdk/mcp"

var Client = mcp.NewClient
`,
	"theirs_test.go": `package theirs

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/gosdk"
)

func TestSampling(t *testing.T) {
	conformance.Run(t, gosdk.Client(func(env harness.Env) *mcp.ClientOptions {
		return &mcp.ClientOptions{CreateMessageWithToolsHandler: gosdk.AskModel(env)}
	}), conformance.Only("basic/question"), conformance.In(server.V20251125))
}

func TestModel(t *testing.T) {
	if llm.New(t).OpenAI() == "" {
		t.Error("the fake has no address")
	}
}
`,
}

func TestImportersKeepTheirVersions(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	for name, content := range theirs {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil && os.Getenv(need.RequireToolsVariable) != "1" && strings.Contains(string(out), "dial tcp") {
			t.Skip("go-sdk v1.6.1 is not in the module cache: connect to a network to download it")
		}
		require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
		return string(out)
	}
	for path, folder := range map[string]string{"github.com/mcp-conform/mcp-conform": "",
		"github.com/mcp-conform/mcp-conform/interop": "interop"} {
		run("mod", "edit", "-require", path+"@v0.0.0", "-replace", path+"="+filepath.Join(root, folder))
	}
	run("mod", "tidy")
	require.Equal(t, "v1.6.1\n", run("list", "-m", "-f", "{{.Version}}", "github.com/modelcontextprotocol/go-sdk"))

	alone := run("list", "-deps", "github.com/mcp-conform/mcp-conform/fakes/llm",
		"github.com/mcp-conform/mcp-conform/conformance")
	require.NotContains(t, alone, "modelcontextprotocol/go-sdk", "the fakes and the checks need no SDK")
	require.Contains(t, run("test", "-v", "./..."), "--- PASS: TestSampling")
}

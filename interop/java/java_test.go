// Package java compares a client on the official Java SDK with its baseline.
package java

import (
	"testing"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/interop/matrix"
	"github.com/mcp-conform/mcp-conform/interop/need"
)

func installed(t *testing.T) {
	t.Helper()
	need.Program(t, "java", "install Java 17 or later")
	need.File(t, "target/lib", "run mvn compile dependency:copy-dependencies in interop/java")
}

// The adapter is that of mcp-conform init java. The other scenarios wait for time limits of the SDK.
func TestClient(t *testing.T) {
	installed(t)
	column := &matrix.Column{Name: "MCP Java SDK", Language: "Java", Init: "java",
		Version: need.Locked(t, "pom.xml", `<artifactId>mcp</artifactId>\s*<version>(.*)</version>`)}
	need.InMatrix(
		t,
		column,
		harness.Command("java", "-XX:TieredStopAtLevel=1", "-cp", "target/classes:target/lib/*", "Adapter"),
		"testdata/client.yaml",
		"5 known, 35 not applicable",
		conformance.In(server.V20251125),
		conformance.Only("declare", "basic", "tool-use", "balance", "loop", "consent", "provider-errors"),
	)
}

func TestTwoCommands(t *testing.T) {
	installed(t)
	need.TwoCommands(t, "java", ".", "target")
}

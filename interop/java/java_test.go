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
	for folder, profile := range map[string]string{"target": "", "target/v1": "-P v1 "} {
		need.File(t, folder+"/lib", "run mvn "+profile+"compile dependency:copy-dependencies in interop/java")
	}
}

// The other scenarios wait for time limits of the SDK, or show one of two things, by chance, after a lost session.
var quick = []string{"declare", "basic", "tool-use", "balance", "loop", "cancel", "consent", "provider-errors",
	"transport/get-stream", "transport/repeated", "transport/events", "transport/rare-events"}

// The adapter is that of mcp-conform init java. It is compiled with both versions of the SDK.
func TestClients(t *testing.T) {
	installed(t)
	for _, c := range []struct {
		name, title, built, version, counts string
		skip                                []string
	}{
		// Version 1 waits for ever after a second request of a call that it cannot read, as in basic/after-image.
		{"v1", "MCP Java SDK 1.x", "target/v1", `(?s)<id>v1</id>.*<mcp>(.*?)</mcp>`,
			"11 known, 36 not applicable, 4 unsupported", []string{"basic/after-image"}},
		{"v2", "MCP Java SDK", "target", `<mcp>(.*)</mcp>`, "9 known, 36 not applicable, 4 unsupported", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			column := &matrix.Column{Name: c.title, Language: "Java", Init: "java",
				Version: need.Locked(t, "pom.xml", c.version)}
			client := harness.Command("java", "-XX:TieredStopAtLevel=1", "-cp", c.built+"/classes:"+c.built+"/lib/*",
				"Adapter")
			need.InMatrix(t, column, client, "testdata/"+c.name+".yaml", c.counts,
				conformance.In(server.V20251125), conformance.Only(quick...), conformance.Skip(c.skip...))
		})
	}
}

func TestTwoCommands(t *testing.T) {
	installed(t)
	need.TwoCommands(t, "java", ".", "target")
}

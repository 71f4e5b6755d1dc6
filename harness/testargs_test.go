package harness

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestAContainedTestReceivesTheUsersArguments(t *testing.T) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	for _, name := range []string{"test.v", "test.short", "quick"} {
		flags.Bool(name, false, "")
	}
	flags.String("test.run", "", "")
	flags.String("setting", "", "")
	for given, want := range map[string]string{
		"": "",
		"-test.v=true -test.run=^X$ -test.paniconexit0":         "",
		"-test.run TestX -setting test.run --quick pos -test.v": "-setting test.run --quick pos -test.v",
		"--test.short -quick -setting=a":                        "--test.short -quick -setting=a",
		"-test.v -- -test.v":                                    "-- -test.v",
		"-unknown value":                                        "-unknown value",
		"-setting":                                              "-setting",
		"- -test.v":                                             "- -test.v",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, ownArgs(strings.Fields(given), flags)...), given)
	}
}

func TestTheReportOfAContainedProcessIsAlwaysComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	writeReport(path, &trace.Process{State: trace.Started})
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 200 {
			writeReport(path, &trace.Process{State: trace.Ended, Err: strings.Repeat("out of luck ", 1000)})
		}
	}()
	for {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var p trace.Process
		require.NoError(t, json.Unmarshal(raw, &p))
		select {
		case <-written:
			return
		default:
		}
	}
}

package conformance_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	plays "github.com/mcp-conform/mcp-conform/internal/proof/play"
	"github.com/mcp-conform/mcp-conform/internal/relay"
	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// findPython returns the path of the interpreter itself: the python3 in the PATH may be a script that takes long to
// find it.
var findPython = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath("python3")
	if err != nil {
		return "", err
	}
	out, err := exec.Command(path, "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// python returns a client over stdio with one of the behaviours of its script.
func python(t *testing.T, behaviour string) harness.Client {
	path, err := findPython()
	if err != nil && os.Getenv("MCP_CONFORM_REQUIRE_TOOLS") == "" {
		t.Skip("python3 is not in the PATH: install Python 3.9 or later, as with apt-get install python3")
	}
	require.NoError(t, err)
	return harness.CommandStdio(path, filepath.Join("testdata", "stdio_client.py"), behaviour)
}

// overStdio returns a suite with the simplest case.
func overStdio(c harness.Client, timeout time.Duration) conformance.Suite {
	return conformance.Suite{Client: c, Revisions: []server.Revision{server.V20251125}, Only: []string{"basic/question"},
		Seed: 1, Timeout: timeout, CaseTimeout: timeout}
}

// played is what a suite returned.
type played struct {
	*report.Results
	traces []*trace.Trace
}

// playAll runs up to six suites at once, more than -parallel allows: their clients wait more than they work.
func playAll(t *testing.T, suites map[string]conformance.Suite) map[string]played {
	t.Helper()
	all, errs := map[string]played{}, map[string]error{}
	var mu sync.Mutex
	var running sync.WaitGroup
	slots := make(chan struct{}, 6)
	for name, suite := range suites {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			rs, traces, err := suite.Run(t.Context())
			mu.Lock()
			defer mu.Unlock()
			all[name], errs[name] = played{rs, traces}, err
		})
	}
	running.Wait()
	for name, err := range errs {
		require.NoError(t, err, name)
	}
	return all
}

// playOverStdio plays the simplest case with a client.
func playOverStdio(t *testing.T, c harness.Client) *report.Results {
	t.Helper()
	return playAll(t, map[string]conformance.Suite{"": overStdio(c, 0)})[""].Results
}

// noRelays waits until no relay of this process is left.
func noRelays(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return // No procfs.
	}
	self, err := os.Executable()
	require.NoError(t, err)
	left := func() []string {
		var left []string
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			raw, _ := os.ReadFile(path) // It may have ended since.
			if strings.HasPrefix(string(raw), self+"\x00"+relay.Argument) {
				left = append(left, string(raw))
			}
		}
		return left
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	deadline := time.After(time.Minute)
	for len(left()) > 0 {
		select {
		case <-look.C:
		case <-deadline:
			require.Empty(t, left(), "relays are left")
		}
	}
}

// A quarter of them play by default, by their names.
func TestBadClientsOverStdio(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { noRelays(t) })
	const short = 4 * time.Second // Far more than a client needs until it hangs.
	type want struct {
		connects, onlyMessages, sampled, endsCleanly report.Verdict
		says                                         string // In the report.
		connections                                  int    // 0 for any number
	}
	const pass, fail, unseen = report.Pass, report.Fail, report.NotObserved
	clients := map[string]want{
		"none":                {pass, pass, pass, pass, "", 1},
		"crlf":                {pass, pass, pass, pass, "", 1},
		"leaves-the-server":   {pass, pass, pass, pass, "", 1},
		"leaves-a-grandchild": {pass, pass, pass, pass, "", 1},
		"restarts":            {pass, pass, pass, pass, "", 2},
		"closes-at-once":      {fail, unseen, unseen, pass, "it ended with success", 0},
		"logs":                {pass, fail, pass, pass, `"INFO sending notifications/initialized"`, 1},
		"byte-order-mark":     {fail, fail, unseen, unseen, "it was still running after 4s", 0},
		"half-a-frame":        {pass, fail, fail, pass, `\"result\":{\"role\":\"assist"`, 0},
		"garbage":             {pass, fail, pass, pass, "2 ", 1},
		"batch":               {pass, fail, pass, pass, `"[{\"jsonrpc\":\"2.0\",\"id\":100,`, 1},
		"two-in-a-line":       {pass, fail, pass, pass, `}{\"jsonrpc\":`, 1},
		"pretty":              {fail, fail, unseen, unseen, "it was still running after 4s", 0},
		"latin1":              {pass, fail, pass, pass, `"invalid UTF-8"`, 1},
		"long-line":           {pass, fail, pass, pass, `"xxxxxxxxxxxx`, 1},
		"reads-nothing":       {pass, pass, unseen, fail, "it was still running after 4s", 0},
		"kills-the-server":    {pass, pass, unseen, pass, "", 0},
		"dies":                {pass, pass, unseen, fail, "it was ended by the signal killed", 0},
	}
	suites := map[string]conformance.Suite{}
	for behaviour, want := range clients {
		if !sharedtest.Whole() && plays.Number(behaviour)%4 != 0 {
			continue
		}
		suite := overStdio(python(t, behaviour), harness.DefaultTimeout)
		if strings.Contains(want.says, "still running") {
			suite.Client.Grace, suite.Timeout, suite.CaseTimeout = time.Second/4, short, short
		}
		suites[behaviour] = suite
	}
	for behaviour, played := range playAll(t, suites) {
		want, rs, traces := clients[behaviour], played.Results, played.traces
		t.Run(behaviour, func(t *testing.T) {
			raw := string(report.JSON(rs))
			for id, verdict := range map[string]report.Verdict{"connects": want.connects, "only-messages": want.onlyMessages,
				"sampled": want.sampled, "ends-cleanly": want.endsCleanly} {
				require.Equal(t, verdict, find(t, rs, "client/"+id).Verdict, "%s: %s", id, raw)
			}
			text := string(report.Text(rs, report.TextOptions{Verbose: true}))
			require.True(t, strings.Contains(text, want.says) || strings.Contains(raw, want.says), "%s\n%s", want.says, text)
			connections := 0
			for _, e := range traces[0].Events {
				if e.Mark != nil && e.Mark.Name == trace.MarkConnection {
					connections++
				}
			}
			if want.connections > 0 {
				require.Equal(t, want.connections, connections)
			}
			require.Equal(t, trace.Stdio, traces[0].Header.Transport)
		})
	}
}

func TestAClientThatNeverLaunchesTheServerFailsConnects(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not in the PATH: on Windows, install Git")
	}
	rs := playOverStdio(t, harness.CommandStdio(sh, "-c", "exit 0"))
	noRelays(t)
	r := find(t, rs, "client/connects")
	require.Equal(t, report.Fail, r.Verdict)
	require.Contains(t, r.Message, "never launched the server")
	require.Contains(t, r.Fix, "launch")
}

func TestAShellCanRunTheServerCommand(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not in the PATH: on Windows, install Git")
	}
	const script = `printf '%%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize",` +
		`"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' ` +
		`'{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":2,"method":"ping"}' | %s`
	rs := playOverStdio(t, harness.CommandStdio(sh, "-c", fmt.Sprintf(script, "{server-command}")))
	noRelays(t)
	require.Equal(t, report.Pass, find(t, rs, "client/connects").Verdict)
	require.Equal(t, report.Pass, find(t, rs, "client/ends-cleanly").Verdict)
	require.Equal(t, report.NotObserved, find(t, rs, "client/sampled").Verdict)
}

func TestAProgramOverStdioIsJudgedUnderGoTest(t *testing.T) {
	conformance.Run(t, python(t, "none"), conformance.In(server.V20251125),
		conformance.Only("basic", "tool-use", "parallel"))
	noRelays(t)
}

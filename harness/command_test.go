//go:build unix

package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// shell is a client that is a shell script; its $0 is the server's URL.
func shell(script string) harness.Client { return harness.Command("sh", "-c", script) }

// longEnough is for a shell to get to where it hangs. A busy machine extends it.
const longEnough = 2 * time.Second

func TestACommandIsACompleteClient(t *testing.T) {
	tr := play(t, harness.Runner{Client: harness.Command(os.Args[0], "program:reference"), Revision: server.V20260728},
		question("case/one"))[0]
	requireClean(t, tr)
	require.Equal(t, 1, modelRequests(tr))
	require.Equal(t, []string{os.Args[0], "program:reference"}, tr.Events[0].Process.Argv)
}

func TestTheTraceSaysHowACommandEnded(t *testing.T) {
	for script, want := range map[string]trace.Process{
		"exit 0": {},
		"echo so far; echo and no further >&2; exit 7": {ExitCode: 7, Stdout: "so far\n", Stderr: "and no further\n"},
		"kill -s SEGV $$":                        {ExitCode: -1, Signal: "segmentation fault"},
		"kill -s KILL $$":                        {ExitCode: -1, Signal: "killed"},
		"trap 'exit 0' TERM; kill -s TERM $$":    {},
		`printf 'caf\351\n'`:                     {Stdout: "caf�\n"},
		`echo '{"mcp-conform":"outcome"}'; exit`: {Stdout: `{"mcp-conform":"outcome"}` + "\n"},
	} {
		want.State = trace.Ended
		require.Equal(t, &want, end(t, shell(script), 0), script)
	}
}

func TestACommandThatHangsEndsAtItsTimeLimit(t *testing.T) {
	t.Parallel()
	require.Equal(t, &trace.Process{State: trace.Ended, ExitCode: -1, Signal: "terminated", Deadline: true,
		Stdout: "waiting\n"}, end(t, shell("echo waiting; exec sleep 1000"), longEnough))
}

func TestACommandThatEndsWhenAskedIsStillOutOfTime(t *testing.T) {
	t.Parallel()
	p := end(t, shell("trap 'exit 0' TERM; sleep 1000 & wait"), longEnough)
	require.True(t, p.Deadline)
	require.False(t, p.Clean())
}

func TestACommandThatIgnoresTheSignalIsKilledAfterTheGrace(t *testing.T) {
	ready := fifo(t)
	c := shell(`trap '' TERM; echo ready >"` + ready + `"; while :; do sleep 1000; done`)
	c.Grace = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		readLine(t, ready) // it ignores the signal now
		cancel()
	}()
	require.Equal(t, &trace.Process{State: trace.Ended, ExitCode: -1, Signal: "killed", Interrupted: true},
		interrupted(t, ctx, c, context.Canceled))
}

// interrupted runs the client until ctx ends with the error, and returns how the client ended.
func interrupted(t *testing.T, ctx context.Context, c harness.Client, want error) (p *trace.Process) {
	r := harness.Runner{Client: c, Revision: server.V20251125}
	require.ErrorIs(t, r.Run(ctx, cases(quiet, "case/quiet"), func(tr *trace.Trace) { p = ending(t, tr) }), want)
	return p
}

// untilADeadline is a context that, when cancelled, ends as if by a deadline.
type untilADeadline struct{ context.Context }

func (c untilADeadline) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func TestTheCallersDeadlineIsAnInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := fifo(t)
	go func() {
		_, _ = os.ReadFile(began) // until the client has opened and closed it
		cancel()
	}()
	p := interrupted(t, untilADeadline{ctx}, shell(`: >"`+began+`"; exec sleep 1000`), context.DeadlineExceeded)
	require.True(t, p.Interrupted)
	require.False(t, p.Deadline)
}

func TestProcessesThatACommandLeavesAreKilled(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a child in the background":      `sleep 1000 >/dev/null 2>&1 & exit 0`,
		"one that holds the pipes":       `sleep 1000 & exit 0`,
		"one that ignores the signal":    `(trap '' TERM; exec sleep 1000) & exit 0`,
		"a child of a client that hangs": `sleep 1000 >/dev/null 2>&1 & exec sleep 1000`,
		"one that then holds the pipes":  `sleep 1000 & exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := fifo(t) // which the children hold, too
			free := make(chan error, 1)
			go func() {
				_, err := os.ReadFile(held) // until nobody holds its other end
				free <- err
			}()
			timeout := time.Duration(0)
			if !strings.HasSuffix(script, "exit 0") {
				timeout = longEnough
			}
			p := end(t, shell(`exec 3>"`+held+`"; `+script), timeout)
			require.Equal(t, timeout != 0, p.Deadline)
			select {
			case err := <-free:
				require.NoError(t, err)
			case <-time.After(time.Minute):
				require.Fail(t, "a process of the client's group is still running")
			}
		})
	}
}

func TestAStrayProcessWithThePipesDoesNotHoldUpTheRun(t *testing.T) {
	c := harness.Command(os.Args[0], "program:leave-an-orphan")
	c.Grace = 50 * time.Millisecond
	p := end(t, c, 0)
	require.True(t, p.Clean(), "%+v", p)
	pid, err := strconv.Atoi(strings.TrimSpace(p.Stdout))
	require.NoError(t, err)
	if runtime.GOOS != "linux" {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "only Linux finds it")
		return
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // missing, or of a zombie
	require.True(t, len(stat) == 0 || strings.Contains(string(stat), ") Z "), "expected no process, found %s", stat)
}

func TestAFloodOfOutputIsBounded(t *testing.T) {
	p := end(t, shell("echo the beginning >&2; yes line | head -c 3000000 >&2; echo the end >&2"), 0)
	require.True(t, p.Clean(), "%+v", p)
	require.Less(t, len(p.Stderr), 21<<10)
	require.True(t, strings.HasPrefix(p.Stderr, "the beginning\nline\n"))
	require.True(t, strings.HasSuffix(p.Stderr, "line\nthe end\n"))
	parts := regexp.MustCompile(`(?s)^(.*)\n… (\d+) bytes omitted …\n(.*)$`).FindStringSubmatch(p.Stderr)
	require.NotNil(t, parts)
	dropped, err := strconv.Atoi(parts[2])
	require.NoError(t, err)
	require.Equal(t, 3000000+len("the beginning\n")+len("the end\n"), len(parts[1])+dropped+len(parts[3]))
}

func TestAKeyThatIsCutIsHidden(t *testing.T) {
	const token = "ghp_0123456789abcdefghij"
	t.Setenv("GITHUB_TOKEN", token)
	fill := func(n int) string { return fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x >&2;", n) }
	show := "printf " + token + " >&2;"
	p := end(t, shell(fill(4<<10-16)+show+fill(9000)+show+fill(16<<10-8)), 0)
	require.True(t, p.Clean(), "%+v", p)
	require.Equal(t, strings.Repeat("x", 4<<10-16)+"$GITHUB_TOKEN\n… 9024 bytes omitted …\n$GITHUB_TOKEN"+
		strings.Repeat("x", 16<<10-8), p.Stderr)
}

func TestPlaceholdersAreReplacedAndTheURLComesLast(t *testing.T) {
	const prompt = "Task mkz4drstxc: Call every tool of the MCP server mcp-conform once, without arguments, " +
		"one after the other, " +
		"whatever each of them answers. Then you are done."
	places := strings.NewReplacer(prompt, "PROMPT")
	for args, want := range map[string]string{
		"--config={config} two": "--config=CONFIG two",
		"-p {prompt}":           "-p PROMPT URL",
		"{uri}":                 "{uri} URL",
		"one two":               "one two URL",
		"{url} two":             "URL two",
		"--server={url} two":    "--server=URL two",
		"{url} x{url}y{url}":    "URL xURLyURL",
		"":                      "URL",
	} {
		argv := append([]string{"sh", "-c", `echo "$@"`, "sh"}, strings.Fields(args)...)
		out := places.Replace(end(t, harness.Command(argv...), 0).Stdout)
		out = regexp.MustCompile(`=\S+/mcp\.json`).ReplaceAllString(out, "=CONFIG")
		out = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\d{20}/mcp`).ReplaceAllString(out, "URL")
		require.Equal(t, want+"\n", out)
	}
}

func TestTheConfigurationNamesTheServerInBothStyles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	const script = `cat "$1"; echo "$1 $TMPDIR $PWD" >&2; echo x >"$TMPDIR/left"`
	out := end(t, harness.Command("sh", "-c", script, "sh", "{config}"), 0)
	var config map[string]map[string]struct{ Type, URL string }
	require.NoError(t, json.Unmarshal([]byte(out.Stdout), &config))
	require.Len(t, config, 2)
	for _, style := range []string{"mcpServers", "servers"} {
		require.Len(t, config[style], 1)
		require.Equal(t, "http", config[style]["mcp-conform"].Type)
		require.Regexp(t, `^http://127\.0\.0\.1:\d+/\d{20}/mcp$`, config[style]["mcp-conform"].URL)
	}
	folders := strings.Fields(out.Stderr)
	require.Equal(t, filepath.Dir(folders[0]), folders[1], "temporary files are in the folder of the session")
	require.NoDirExists(t, folders[1])
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, wd, folders[2])
}

func TestTheTraceHasTheClientsOutcomes(t *testing.T) {
	const completed = `{"mcp-conform":"outcome","tool":"s-a","outcome":"completed"}`
	const failed = `{"mcp-conform":"outcome","tool":"s-b","outcome":"failed","error":{"code":-32602,"message":"no"}}`
	const invalid = `{"mcp-conform":"outcome","tool":"s-a","outcome":"well"}`
	client := shell(`echo one; echo '` + completed + `'; echo two; echo '` + failed + `'
		echo '` + invalid + `'; printf '` + completed + `'`)
	tr := play(t, harness.Runner{Client: client}, quiet("s/a"), quiet("s/b"))[0]
	require.Equal(t, map[string][]string{"s/a": {completed, completed}, "s/b": {failed}}, marks(tr, trace.MarkOutcome))
	require.Equal(t, "one\ntwo\n"+invalid+"\n", ending(t, tr).Stdout)
}

func TestTheTraceHasTheClientsFeatures(t *testing.T) {
	inProcess := harness.InProcess(func(_ context.Context, env harness.Env) error {
		env.Announce(harness.Decisions)
		return nil
	})
	const line = `{"mcp-conform":"supports","feature":"decisions"}`
	process := shell(`echo '` + line + `'; echo '{"mcp-conform":"supports","feature":"telepathy"}'`)
	for _, client := range []harness.Client{inProcess, process} {
		tr := play(t, harness.Runner{Client: client}, quiet("s/a"))[0]
		require.Equal(t, map[string][]string{"": {harness.Decisions}}, marks(tr, trace.MarkSupports), "for the session")
		require.NotContains(t, ending(t, tr).Stdout, line)
	}
}

func TestACommandThatCannotStartIsTheCallersMistake(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	for path, want := range map[string]string{
		"no-such-client":                     "executable file not found in $PATH",
		"./no-such-client":                   "no such file or directory",
		write("client.txt", "exit 0", 0o644): "permission denied",
		dir:                                  "is a directory",
		write("no-interpreter", "#!/no/such/interpreter\n", 0o755): "no such file or directory",
		write("no-program", "\x7fnot a program", 0o755):            "exec format error",
		"": "executable file not found",
	} {
		mistake := commandError(t, harness.Command(path, "arg"))
		require.ErrorContains(t, mistake, want)
		require.Equal(t, path, mistake.Path)
	}
	require.ErrorContains(t, commandError(t, harness.Command()), "the command is missing")
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// readLine waits for a line in a named pipe.
func readLine(t *testing.T, path string) {
	f, err := os.Open(path)
	if !assert.NoError(t, err) {
		return
	}
	defer f.Close()
	_, err = bufio.NewReader(f).ReadString('\n')
	assert.True(t, err == nil || errors.Is(err, io.EOF), "%v", err)
}

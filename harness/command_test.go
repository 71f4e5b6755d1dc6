//go:build unix

package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
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

// shell is a client that is a shell script; the server's URL is its $0.
func shell(script string) harness.Client { return harness.Command("sh", "-c", script) }

// end runs a client that never connects and returns how it ended.
func end(t *testing.T, c harness.Client, timeout time.Duration) *trace.Process {
	t.Helper()
	traces := play(t, harness.Runner{Client: c, Revision: server.V20251125, Timeout: timeout}, quiet("case/quiet"))
	require.Len(t, traces, 1)
	return ending(t, traces[0])
}

// longEnough is for a shell to come as far as where it hangs, on a machine that is busy.
const longEnough = 5 * time.Second

func TestACommandIsAFullClient(t *testing.T) {
	traces := play(t, harness.Runner{Client: harness.Command(os.Args[0], "program:reference"), Revision: server.V20260728}, question("case/one"))
	require.Len(t, traces, 1)
	p := ending(t, traces[0])
	require.True(t, p.Clean(), "%+v", p)
	require.Equal(t, 1, modelRequests(traces[0]))
	require.Equal(t, []string{os.Args[0], "program:reference"}, traces[0].Events[0].Process.Argv, "the trace says what was started")
}

func TestHowACommandEndedIsInTheTrace(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   trace.Process
	}{
		"with success":             {"exit 0", trace.Process{}},
		"with a status":            {"echo so far; echo and no further >&2; exit 7", trace.Process{ExitCode: 7, Stdout: "so far\n", Stderr: "and no further\n"}},
		"by a segmentation fault":  {"kill -s SEGV $$", trace.Process{ExitCode: -1, Signal: "segmentation fault"}},
		"killed by somebody else":  {"kill -s KILL $$", trace.Process{ExitCode: -1, Signal: "killed"}},
		"with success by a signal": {"trap 'exit 0' TERM; kill -s TERM $$", trace.Process{}},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.State = trace.Ended
			require.Equal(t, &c.want, end(t, shell(c.script), 0))
		})
	}
}

func TestACommandThatHangsIsEndedWhenItsTimeIsUp(t *testing.T) {
	t.Parallel()
	require.Equal(t, &trace.Process{State: trace.Ended, ExitCode: -1, Signal: "terminated", Deadline: true, Stdout: "waiting\n"},
		end(t, shell("echo waiting; exec sleep 1000"), longEnough))
}

func TestACommandThatGoesQuietlyWhenToldHasRunOutOfItsTimeAllTheSame(t *testing.T) {
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
		readLine(t, ready) // it ignores the signal from here on
		cancel()
	}()
	var p *trace.Process
	r := harness.Runner{Client: c, Revision: server.V20251125}
	require.ErrorIs(t, r.Run(ctx, []harness.Case{quiet("case/quiet")}, func(tr *trace.Trace) { p = ending(t, tr) }), context.Canceled)
	require.Equal(t, &trace.Process{State: trace.Ended, ExitCode: -1, Signal: "killed", Interrupted: true}, p,
		"the run was given up, which is no time-out")
}

// untilADeadline is a context that ends as if by a deadline, when it is cancelled.
type untilADeadline struct{ context.Context }

func (c untilADeadline) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

func TestADeadlineOfTheCallersIsAnInterruption(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := untilADeadline{cancelled}
	began := fifo(t)
	go func() {
		_, _ = os.ReadFile(began) // until the client has opened it, and closed it again
		cancel()
	}()
	r := harness.Runner{Client: shell(`: >"` + began + `"; exec sleep 1000`), Revision: server.V20251125}
	var p *trace.Process
	require.ErrorIs(t, r.Run(ctx, []harness.Case{quiet("case/quiet")}, func(tr *trace.Trace) { p = ending(t, tr) }), context.DeadlineExceeded)
	require.True(t, p.Interrupted)
	require.False(t, p.Deadline, "the client's own time was not up")
}

func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	// Each script opens a named pipe, which its children then hold, too.
	for name, script := range map[string]string{
		"a child in the background":                 `sleep 1000 >/dev/null 2>&1 & exit 0`,
		"one that holds the pipes":                  `sleep 1000 & exit 0`,
		"one that ignores the signal":               `(trap '' TERM; exec sleep 1000) & exit 0`,
		"one of a client that hangs":                `sleep 1000 >/dev/null 2>&1 & exec sleep 1000`,
		"one that holds the pipes of one that does": `sleep 1000 & exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			held := fifo(t)
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
				require.Fail(t, "a process of the client's group is still there")
			}
		})
	}
}

func TestAProcessThatGotAwayWithThePipesHoldsNobodyUp(t *testing.T) {
	c := harness.Command(os.Args[0], "program:leave-an-orphan")
	c.Grace = 50 * time.Millisecond
	p := end(t, c, 0)
	require.True(t, p.Clean(), "%+v", p)
	pid, err := strconv.Atoi(strings.TrimSpace(p.Stdout))
	require.NoError(t, err)
	if runtime.GOOS != "linux" {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it was out of reach, and lives")
		return
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // not there, or of a zombie that nobody reaps
	require.True(t, len(stat) == 0 || strings.Contains(string(stat), ") Z "), "it was found all the same: %s", stat)
}

func TestAFloodOfOutputIsBounded(t *testing.T) {
	p := end(t, shell("echo the beginning >&2; yes line | head -c 3000000 >&2; echo the end >&2"), 0)
	require.True(t, p.Clean(), "%+v", p)
	require.Less(t, len(p.Stderr), 21<<10)
	require.True(t, strings.HasPrefix(p.Stderr, "the beginning\nline\n"), "the first lines are kept: %q", p.Stderr[:20])
	require.True(t, strings.HasSuffix(p.Stderr, "line\nthe end\n"), "and the last")
	head, rest, _ := strings.Cut(p.Stderr, "\n… ")
	number, tail, _ := strings.Cut(rest, " bytes are left out here …\n")
	dropped, err := strconv.Atoi(number)
	require.NoError(t, err, "what is missing is told: %q", p.Stderr[4000:4300])
	require.Equal(t, 3000000+len("the beginning\n")+len("the end\n"), len(head)+dropped+len(tail))
}

func TestOutputThatIsNoTextIsMadeText(t *testing.T) {
	require.Equal(t, "caf�\n", end(t, shell(`printf 'caf\351\n'`), 0).Stdout)
}

func TestTheServerStandsWhereItIsAskedForOrLast(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"in a configuration":  {[]string{"--config={config}", "two"}, "--config=CONFIG two"},
		"beside a prompt":     {[]string{"-p", "{prompt}"}, "-p PROMPT URL"},
		"no such placeholder": {[]string{"{uri}"}, "{uri} URL"},
		"last":                {[]string{"one", "two"}, "one two URL"},
		"in the middle":       {[]string{"{url}", "two"}, "URL two"},
		"within a word":       {[]string{"--server={url}", "two"}, "--server=URL two"},
		"several times":       {[]string{"{url}", "x{url}y{url}"}, "URL xURLyURL"},
		"no other place":      {nil, "URL"},
	} {
		t.Run(name, func(t *testing.T) {
			argv := append([]string{"sh", "-c", `echo "$@"`, "sh"}, c.args...)
			out := end(t, harness.Command(argv...), 0).Stdout
			out = strings.ReplaceAll(out, "Call every tool of the MCP server mcp-conform once, without arguments, one after the other, whatever each of them answers. Then you are done.", "PROMPT")
			out = regexp.MustCompile(`=\S+/mcp\.json`).ReplaceAllString(out, "=CONFIG")
			for _, word := range strings.Fields(out) {
				if i := strings.Index(word, "http://127.0.0.1:"); i >= 0 {
					url, _, _ := strings.Cut(word[i:], "/mcp")
					out = strings.ReplaceAll(out, url+"/mcp", "URL")
				}
			}
			require.Equal(t, c.want+"\n", out)
		})
	}
}

func TestTheConfigurationNamesTheServerInBothStyles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	out := end(t, harness.Command("sh", "-c", `cat "$1"; echo "$1 $TMPDIR $PWD" >&2; echo x >"$TMPDIR/left"`, "sh", "{config}"), 0)
	var config map[string]map[string]struct{ Type, URL string }
	require.NoError(t, json.Unmarshal([]byte(out.Stdout), &config))
	require.Len(t, config, 2)
	for _, style := range []string{"mcpServers", "servers"} {
		require.Len(t, config[style], 1)
		require.Equal(t, "http", config[style]["mcp-conform"].Type)
		require.Regexp(t, `^http://127\.0\.0\.1:\d+/mcp$`, config[style]["mcp-conform"].URL)
	}
	where := strings.Fields(out.Stderr)
	require.Equal(t, filepath.Dir(where[0]), where[1], "temporary files of the client go with the session")
	require.NoDirExists(t, where[1])
	wd, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, wd, where[2], "it runs where we run")
}

func TestWhatAClientSaysOfItsCallsIsInTheTrace(t *testing.T) {
	const completed = `{"mcp-conform":"outcome","tool":"s-a","outcome":"completed"}`
	const failed = `{"mcp-conform":"outcome","tool":"s-b","outcome":"failed","error":{"code":-32602,"message":"no"}}`
	client := shell(`echo one; echo '` + completed + `'; echo two; echo '` + failed + `'; echo '{"mcp-conform":"outcome","tool":"s-a","outcome":"well"}'; printf '` + completed + `'`)
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125}, quiet("s/a"), quiet("s/b"))
	require.Len(t, traces, 1)
	got := map[string][]string{}
	for _, e := range traces[0].Events {
		if e.Mark != nil && e.Mark.Name == trace.MarkOutcome {
			got[e.Case] = append(got[e.Case], e.Mark.Text)
		}
	}
	require.Equal(t, map[string][]string{"s/a": {completed, completed}, "s/b": {failed}}, got)
	require.Equal(t, "one\ntwo\n"+`{"mcp-conform":"outcome","tool":"s-a","outcome":"well"}`+"\n", ending(t, traces[0]).Stdout,
		"what is no outcome line is output")
}

func TestWhatAClientAnnouncesIsInTheTrace(t *testing.T) {
	inProcess := harness.InProcess(func(_ context.Context, env harness.Env) error {
		env.Announce(harness.Decisions)
		return nil
	})
	line := `{"mcp-conform":"supports","feature":"decisions"}`
	for name, client := range map[string]harness.Client{"in process": inProcess, "a process": shell(`echo '` + line + `'; echo '{"mcp-conform":"supports","feature":"telepathy"}'`)} {
		t.Run(name, func(t *testing.T) {
			traces := play(t, harness.Runner{Client: client, Revision: server.V20251125}, quiet("s/a"))
			require.Len(t, traces, 1)
			var got []string
			for _, e := range traces[0].Events {
				if e.Mark != nil && e.Mark.Name == trace.MarkSupports {
					require.Empty(t, e.Case, "it is said of the client, not of a case")
					got = append(got, e.Mark.Text)
				}
			}
			require.Equal(t, []string{harness.Decisions}, got)
			require.NotContains(t, ending(t, traces[0]).Stdout, line)
		})
	}
}

func TestACommandThatCannotBeStartedIsTheCallersMistake(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	plain := write("client.txt", "exit 0", 0o644)
	lost := write("no-interpreter", "#!/no/such/interpreter\n", 0o755)
	foreign := write("no-program", "\x7fnot a program", 0o755)
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"not there":                {[]string{"no-such-client", "arg"}, `the client "no-such-client" cannot be started: exec: "no-such-client": executable file not found in $PATH`},
		"not there, by its path":   {[]string{"./no-such-client"}, `the client "./no-such-client" cannot be started: exec: "./no-such-client": stat ./no-such-client: no such file or directory`},
		"not executable":           {[]string{plain}, `the client "` + plain + `" cannot be started: exec: "` + plain + `": permission denied`},
		"a folder":                 {[]string{dir}, `the client "` + dir + `" cannot be started: exec: "` + dir + `": is a directory`},
		"without its interpreter":  {[]string{lost}, `the client "` + lost + `" cannot be started: fork/exec ` + lost + `: no such file or directory`},
		"of no format that is run": {[]string{foreign}, `the client "` + foreign + `" cannot be started: fork/exec ` + foreign + `: exec format error`},
		"nothing":                  {nil, `the client "" cannot be started: no command was given`},
	} {
		t.Run(name, func(t *testing.T) {
			r := harness.Runner{Client: harness.Command(c.argv...), Revision: server.V20251125}
			err := r.Run(t.Context(), []harness.Case{quiet("case/quiet")}, func(*trace.Trace) { assert.Fail(t, "nothing ran that could be traced") })
			var mistake *harness.CommandError
			require.ErrorAs(t, err, &mistake)
			require.Equal(t, c.want, mistake.Error())
			if len(c.argv) > 0 {
				require.Equal(t, c.argv[0], mistake.Path)
			}
		})
	}
}

// fifo makes a named pipe.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// readLine waits until somebody has written a line into a named pipe.
func readLine(t *testing.T, path string) {
	f, err := os.Open(path)
	if !assert.NoError(t, err) {
		return
	}
	defer f.Close()
	_, err = bufio.NewReader(f).ReadString('\n')
	assert.True(t, err == nil || errors.Is(err, io.EOF), "%v", err)
}

package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/reference"
	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// own is this test's binary, called with the name of one of the programs.
func own(t *testing.T) string {
	self, err := os.Executable()
	require.NoError(t, err)
	return self
}

// connections are the names of the connections in a trace, in order.
func connections(tr *trace.Trace) []string {
	var names []string
	for _, e := range tr.Events {
		if e.Mark != nil && e.Mark.Name == trace.MarkConnection {
			names = append(names, e.Mark.Text)
		}
	}
	return names
}

func TestAClientLaunchesTheServerAndIsServedInBothEras(t *testing.T) {
	for name, client := range map[string]harness.Client{
		"a program":  harness.CommandStdio(own(t), "program:reference"),
		"in process": harness.InProcess(reference.Client(reference.Config{}), harness.Stdio()),
	} {
		for _, revision := range server.Revisions()[1:] {
			t.Run(name+" in "+string(revision), func(t *testing.T) {
				traces := play(t, harness.Runner{Client: client, Revision: revision, Bubble: inBubble(t)}, question("s/one"), question("s/two"))
				require.Len(t, traces, 1)
				require.True(t, ending(t, traces[0]).Clean(), "%+v", ending(t, traces[0]))
				require.Equal(t, 2, modelRequests(traces[0]))
				require.Equal(t, []string{"conn-1"}, connections(traces[0]))
				require.Equal(t, trace.Stdio, traces[0].Header.Transport)
				for i, e := range traces[0].Events {
					if e.Frame == nil {
						continue
					}
					require.Nil(t, e.Frame.HTTP, "#%d", i)
					require.Equal(t, "conn-1", e.Frame.Session, "#%d", i)
				}
			})
		}
	}
}

// tellStdio prints what a client over stdio is told, and launches the server twice by the command that it prints.
func tellStdio() error {
	raw, err := os.ReadFile(os.Args[3])
	if err != nil {
		return err
	}
	told := map[string]json.RawMessage{"config": raw, "context": json.RawMessage(os.Getenv("MCP_CONFORMANCE_CONTEXT"))}
	args, err := json.Marshal(os.Args[2:])
	if err != nil {
		return err
	}
	told["args"] = args
	return json.NewEncoder(os.Stdout).Encode(told)
}

func TestAClientOverStdioIsToldOfTheServerInThreeWays(t *testing.T) {
	p := end(t, harness.CommandStdio(own(t), "program:tell-stdio", "--server={server-command}", "{config}", "last"), 0)
	require.True(t, p.Clean(), "%+v", p)
	type command struct {
		Type    string
		Command string
		Args    []string
		Env     map[string]string
	}
	var told struct {
		Args   []string
		Config struct {
			McpServers, Servers map[string]command
		}
		Context struct{ Server command }
	}
	require.NoError(t, json.Unmarshal([]byte(p.Stdout), &told), p.Stdout)
	require.Equal(t, "last", told.Args[2], "nothing is added")
	require.Len(t, told.Args, 3)
	server := told.Config.McpServers["mcp-conform"]
	require.Equal(t, "stdio", server.Type)
	require.NotNil(t, server.Env)
	require.Equal(t, own(t), server.Command)
	require.Equal(t, relay.Argument, server.Args[0])
	require.Equal(t, told.Config.McpServers, told.Config.Servers)
	require.Equal(t, server.Command, told.Context.Server.Command)
	require.Equal(t, server.Args, told.Context.Server.Args)
	quoted, ok := strings.CutPrefix(told.Args[0], "--server=")
	require.True(t, ok)
	require.Equal(t, own(t)+" "+relay.Argument+" "+server.Args[1], quoted)
	require.NoDirExists(t, filepath.Dir(server.Args[1]), "what the relay needs goes with the session")
}

func TestPlacesThatTheTransportDoesNotHaveAreTheCallersMistake(t *testing.T) {
	for want, client := range map[string]harness.Client{
		`the client "sh" cannot be started: its arguments have {url}, and over stdio the server has no URL: want {server-command} or {config}`:              harness.CommandStdio("sh", "-c", "x {url}"),
		`the client "sh" cannot be started: its arguments have {server-command}, and over HTTP no server is launched: want {url}, or the client over stdio`: harness.Command("sh", "-c", "x {server-command}"),
		`the client "" cannot be started: no command was given`: harness.CommandStdio(),
	} {
		r := harness.Runner{Client: client, Revision: server.V20251125}
		err := r.Run(t.Context(), []harness.Case{quiet("case/quiet")}, func(*trace.Trace) {})
		var mistake *harness.CommandError
		require.ErrorAs(t, err, &mistake)
		require.EqualError(t, err, want)
	}
}

func TestAServerMayBeLaunchedAgain(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		for range 2 {
			if err := reference.Client(reference.Config{})(ctx, env); err != nil {
				return err
			}
		}
		return nil
	}, harness.Stdio())
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, Bubble: inBubble(t)}, question("s/one"))
	require.Equal(t, []string{"conn-1", "conn-2"}, connections(traces[0]))
	require.Equal(t, 2, modelRequests(traces[0]))
}

// lines are what is written to it, and safe for concurrent use.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestWhatTheServerLogsComesToItsStandardError(t *testing.T) {
	logs := harness.Case{ID: "s/logs", Handler: func(s *server.Session) (any, error) { return "done", s.Log("a word") }}
	call := func(ctx context.Context, env harness.Env) error {
		logged := make(lines, 10)
		rwc, err := env.Launch(ctx, logged)
		if err != nil {
			return err
		}
		for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s-logs"}}`} {
			if _, err := io.WriteString(rwc, line+"\n"); err != nil {
				return err
			}
		}
		if got := <-logged; got != "a word\n" {
			return errors.New(got)
		}
		return rwc.Close()
	}
	traces := play(t, harness.Runner{Client: harness.InProcess(call, harness.Stdio()), Revision: server.V20251125, Bubble: inBubble(t)}, logs)
	require.True(t, ending(t, traces[0]).Clean(), "%+v", ending(t, traces[0]))
	marked := 0
	for _, e := range traces[0].Events {
		if e.Mark != nil && e.Mark.Name == trace.MarkStderr {
			require.Equal(t, "a word", e.Mark.Text)
			marked++
		}
	}
	require.Equal(t, 1, marked)
}

func TestACaseMayHaveAServerOfAnotherVersion(t *testing.T) {
	c := quiet("s/other")
	c.Isolated, c.Speaks, c.TellsVersions = true, []server.Revision{server.V20250618}, true
	var told []server.Revision
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		told = append(told, env.Revision)
		return reference.Client(reference.Config{})(ctx, env)
	})
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, Bubble: inBubble(t)}, quiet("s/usual"), c)
	require.Len(t, traces, 2)
	require.ElementsMatch(t, []server.Revision{server.V20251125, ""}, told, "the client is left to find out")
	require.Nil(t, traces[0].Header.Speaks)
	require.Equal(t, []string{"2025-06-18"}, traces[1].Header.Speaks)
	var said strings.Builder
	for _, e := range traces[1].Events {
		if e.Frame != nil {
			said.Write(e.Frame.Raw)
		}
	}
	require.Contains(t, said.String(), `"code":-32022`)
	require.Contains(t, said.String(), `"protocolVersion":"2025-06-18"`)
	require.True(t, ending(t, traces[1]).Clean(), "%+v", ending(t, traces[1]))
}

func TestAClientThatLeavesItsPipeOpenIsNoLeakOfOurs(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		rwc, err := env.Launch(ctx, nil)
		if err != nil {
			return err
		}
		_, err = io.WriteString(rwc, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		if err != nil {
			return err
		}
		line, err := bufio.NewReader(rwc).ReadString('\n')
		if line != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
			return errors.New(line)
		}
		return err
	}, harness.Stdio())
	traces := play(t, harness.Runner{Client: client, Revision: server.V20251125, Bubble: inBubble(t)}, quiet("s/one"))
	require.True(t, ending(t, traces[0]).Clean(), "%+v", ending(t, traces[0]))
	require.Empty(t, ending(t, traces[0]).Leak)
}

func TestAServerThatCannotBeLaunchedIsAnError(t *testing.T) {
	const context = `{"server":{"command":"/no/such/server","args":["x"]}}`
	env, err := harness.EnvFromProcess(nil, func(name string) string {
		if name == "MCP_CONFORMANCE_CONTEXT" {
			return context
		}
		return ""
	})
	require.NoError(t, err)
	require.Equal(t, []string{"/no/such/server", "x"}, env.Server)
	_, err = env.Launch(t.Context(), nil)
	require.EqualError(t, err, "launching the server: fork/exec /no/such/server: no such file or directory")

	_, err = harness.EnvFromProcess(nil, func(string) string { return `{"server":{}}` })
	require.EqualError(t, err, "MCP_CONFORMANCE_CONTEXT has a server without a command")
}

// dieOverStdio launches the server, waits until it is served, and leaves by a crash.
func dieOverStdio() error {
	env, err := harness.EnvFromProcess(nil, os.Getenv)
	if err != nil {
		return err
	}
	cmd := exec.Command(env.Server[0], env.Server[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return errors.Join(self.Kill(), errors.New("still here"))
}

func TestTheServerEndsWithAClientThatIsKilled(t *testing.T) {
	traces := play(t, harness.Runner{Client: harness.CommandStdio(own(t), "program:die-over-stdio"), Revision: server.V20251125}, quiet("s/one"))
	require.NotEmpty(t, ending(t, traces[0]).Signal)
	events := traces[0].Events
	last := events[len(events)-2].Frame
	require.NotNil(t, last)
	require.True(t, last.Closed, "the end of the pipe comes before that of the client")
}

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
	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// self is the path of this test binary, which runs the programs.
func self(t *testing.T) string {
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// connections returns the names of the connections in a trace.
func connections(tr *trace.Trace) []string { return marks(tr, trace.MarkConnection)[""] }

const (
	ping       = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
		`"capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

func TestAClientLaunchesTheServerInBothEras(t *testing.T) {
	for name, client := range map[string]harness.Client{
		"a program":  harness.CommandStdio(self(t), "program:reference"),
		"in process": right(harness.Stdio()),
	} {
		for _, revision := range server.AllRevisions()[1:] {
			t.Run(name+" in "+string(revision), func(t *testing.T) {
				traces := virtually(t, client, revision, question("s/one"), question("s/two"))
				require.Len(t, traces, 1)
				requireClean(t, traces...)
				require.Equal(t, 2, modelRequests(traces[0]))
				require.Equal(t, []string{"conn-1"}, connections(traces[0]))
				require.Equal(t, trace.Stdio, traces[0].Header.Transport)
				for i, e := range traces[0].Events {
					if e.Frame != nil {
						require.Nil(t, e.Frame.HTTP, "#%d", i)
						require.Equal(t, "conn-1", e.Frame.Session, "#%d", i)
					}
				}
			})
		}
	}
}

// printStdio prints the arguments, the configuration and the context that a client over stdio receives.
func printStdio() error {
	raw, err := os.ReadFile(os.Args[3])
	if err != nil {
		return err
	}
	args, err := json.Marshal(os.Args[2:])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]json.RawMessage{"args": args, "config": raw,
		"context": json.RawMessage(os.Getenv("MCP_CONFORMANCE_CONTEXT"))})
}

func TestAClientFindsTheServersCommandInThreePlaces(t *testing.T) {
	argv := []string{self(t), "program:print-stdio", "--server={server-command}", "{config}", "last"}
	p := end(t, harness.CommandStdio(argv...), 0)
	require.True(t, p.Clean(), "%+v", p)
	type command struct {
		Type    string
		Command string
		Args    []string
		Env     map[string]string
	}
	var got struct {
		Args    []string
		Config  struct{ McpServers, Servers map[string]command }
		Context struct{ Server command }
	}
	require.NoError(t, json.Unmarshal([]byte(p.Stdout), &got), p.Stdout)
	require.Len(t, got.Args, 3, "no argument is appended")
	require.Equal(t, "last", got.Args[2])
	configured := got.Config.McpServers["mcp-conform"]
	require.Equal(t, "stdio", configured.Type)
	require.NotNil(t, configured.Env)
	require.Equal(t, self(t), configured.Command)
	require.Equal(t, relay.Argument, configured.Args[0])
	require.Equal(t, got.Config.McpServers, got.Config.Servers)
	require.Equal(t, configured.Command, got.Context.Server.Command)
	require.Equal(t, configured.Args, got.Context.Server.Args)
	require.Equal(t, "--server="+self(t)+" "+relay.Argument+" "+configured.Args[1], got.Args[0])
	require.NoDirExists(t, filepath.Dir(configured.Args[1]), "it is removed after the session")
}

// commandError runs a client that cannot start and returns the error.
func commandError(t *testing.T, c harness.Client) (mistake *harness.CommandError) {
	t.Helper()
	r := harness.Runner{Client: c, Revision: server.V20251125}
	err := r.Run(t.Context(), cases(quiet, "case/quiet"), func(*trace.Trace) { t.Error("expected no trace") })
	require.ErrorAs(t, err, &mistake)
	return mistake
}

func TestPlaceholdersOfTheOtherTransportAreTheCallersMistake(t *testing.T) {
	for want, client := range map[string]harness.Client{
		"over stdio the server has no URL":                        harness.CommandStdio("sh", "-c", "x {url}"),
		"over HTTP it launches no server":                         harness.Command("sh", "-c", "x {server-command}"),
		`the client "" cannot be started: the command is missing`: harness.CommandStdio(),
	} {
		require.ErrorContains(t, commandError(t, client), want)
	}
}

func TestAClientMayLaunchTheServerAgain(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		return errors.Join(correct(ctx, env), correct(ctx, env))
	}, harness.Stdio())
	tr := virtually(t, client, server.V20251125, question("s/one"))[0]
	require.Equal(t, []string{"conn-1", "conn-2"}, connections(tr))
	require.Equal(t, 2, modelRequests(tr))
}

// lines receives what is written to it.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestTheServersLogGoesToItsStandardError(t *testing.T) {
	logs := harness.Case{ID: "s/logs", Handler: func(s *server.Session) (any, error) {
		return "done",
			s.Transport().LogToStderr("a word")
	}}
	call := func(ctx context.Context, env harness.Env) error {
		logged := make(lines, 10)
		pipe, err := env.Launch(ctx, logged)
		if err != nil {
			return err
		}
		call := initialize + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s-logs"}}` + "\n"
		for _, line := range strings.SplitAfter(call, "\n") {
			if _, err := io.WriteString(pipe, line); err != nil {
				return err
			}
		}
		if got := <-logged; got != "a word\n" {
			return errors.New(got)
		}
		return pipe.Close()
	}
	tr := virtually(t, harness.InProcess(call, harness.Stdio()), server.V20251125, logs)[0]
	requireClean(t, tr)
	var logged []string
	for _, texts := range marks(tr, trace.MarkStderr) {
		logged = append(logged, texts...)
	}
	require.Equal(t, []string{"a word"}, logged)
}

func TestAPipeThatAClientLeavesOpenIsNotALeak(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		pipe, err := env.Launch(ctx, nil)
		if err != nil {
			return err
		}
		if _, err = io.WriteString(pipe, ping); err != nil {
			return err
		}
		line, err := bufio.NewReader(pipe).ReadString('\n')
		if line != `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n" {
			return errors.New(line)
		}
		return err
	}, harness.Stdio())
	requireClean(t, virtually(t, client, server.V20251125, quiet("s/one"))...)
}

func TestAServerThatCannotBeLaunchedIsAnError(t *testing.T) {
	variables := map[string]string{
		"MCP_CONFORMANCE_CONTEXT": `{"server":{"command":"/no/such/server","args":["x"]}}`}
	env, err := harness.EnvFromProcess(nil, func(name string) string { return variables[name] })
	require.NoError(t, err)
	require.Equal(t, []string{"/no/such/server", "x"}, env.Server)
	_, err = env.Launch(t.Context(), nil)
	require.ErrorContains(t, err, "launching the server: ")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// dieOverStdio launches the server, waits for a response, and kills itself.
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
	if _, err := io.WriteString(in, ping); err != nil {
		return err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	process, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return errors.Join(process.Kill(), errors.New("still running"))
}

func TestTheServerEndsWithAKilledClient(t *testing.T) {
	tr := play(t, harness.Runner{Client: harness.CommandStdio(self(t), "program:die-over-stdio")}, quiet("s/one"))[0]
	require.NotEmpty(t, ending(t, tr).Signal)
	last := tr.Events[len(tr.Events)-2].Frame
	require.NotNil(t, last)
	require.True(t, last.Closed, "the end of the pipe comes before that of the client")
}

package harness

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
	"github.com/mcp-conform/mcp-conform/internal/relay"
)

// CommandStdio is a client that is a program and launches its server itself, to speak to it over the standard streams. It is started as
// [Command] says, with three ways to learn of the server's command: in its arguments {server-command} is that command as one string, quoted
// for a shell, and {config} the path of an mcp.json that has it under mcpServers; in its environment MCP_CONFORMANCE_CONTEXT has it
// under "server", as "command" and "args". Nothing is added to its arguments. The server may be launched any number of times; it needs
// nothing in its environment, and ends when its standard input does.
//
// What is launched is this program, with [relay.Argument] as its first argument: it hands the bytes on to the server in the process that
// called. An init function sees to that, so that a test binary does it too, whatever its TestMain.
func CommandStdio(argv ...string) Client {
	c := Command(argv...)
	c.stdio = true
	return c
}

// Stdio has a client in process speak as over stdio: env.URL is empty, and env.Launch gives it a pipe to the server. In virtual time it is one in
// memory.
func Stdio() Option { return func(c *Client) { c.stdio = true } }

// launchable has the client launch the server in place of connecting to it, where that is how it works: env is told how.
func (f *fakes) launchable(client *Client, env *Env) error {
	if !client.stdio {
		return nil
	}
	env.URL = ""
	if client.run != nil && client.contained == nil {
		env.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
			return inMemory(ctx, f.server, stderr)
		}
		return nil
	}
	relays, err := relay.Listen(func(c *relay.Conn) { f.server.ServeConn(context.Background(), c) })
	if err != nil {
		return err
	}
	f.relays, env.settle = relays, relays.Settle
	env.launches(relays.Command())
	return nil
}

// inMemory connects to a server without a process between.
func inMemory(ctx context.Context, to *server.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
	network := memnet.New()
	listener, err := network.Listen("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	client, err := network.DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, err
	}
	served, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	if stderr == nil {
		stderr = io.Discard
	}
	p := &pretended{served, stderr, atomic.Bool{}}
	go to.ServeConn(context.Background(), p) // ends with the server, if not before
	return &pretendedPipe{client, p}, nil
}

// pretended is a server that is no process, as it is served.
type pretended struct {
	io.ReadWriteCloser
	stderr io.Writer
	killed atomic.Bool
}

func (p *pretended) Stderr() io.Writer { return p.stderr }
func (p *pretended) Killed() bool      { return p.killed.Load() }

// pretendedPipe is the client's end of it.
type pretendedPipe struct {
	io.ReadWriteCloser
	of *pretended
}

func (p *pretendedPipe) Kill() error {
	p.of.killed.Store(true)
	return p.Close()
}

// launches tells the client of the server's command, if there is one.
func (e *Env) launches(command []string) {
	if len(command) == 0 {
		return
	}
	e.Server = command
	e.Launch = client.Command(command...)
}

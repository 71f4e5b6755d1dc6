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

// CommandStdio is a client that is a program and launches its server, to speak to it over the standard streams. It
// starts as [Command] describes, but no argument is appended. It finds the server's command in one of three ways:
// {server-command} in its arguments is the command as one string, quoted for a shell; {config} is the path of an
// mcp.json that has it under mcpServers; MCP_CONFORMANCE_CONTEXT has it under "server", as "command" and "args". The
// server may be launched any number of times. It needs no environment, and ends when its standard input does.
//
// The command is this program with [relay.Argument] as its first argument: it relays the bytes to the server in the
// calling process. An init function sees to that, also in a test binary with any TestMain.
func CommandStdio(argv ...string) Client {
	c := Command(argv...)
	c.stdio = true
	return c
}

// Stdio makes a client in process use stdio: env.URL is empty, and env.Launch returns a pipe to the server, in memory
// if time is virtual.
func Stdio() Option { return func(c *Client) { c.stdio = true } }

func (f *fakes) launchable(client *Client, env *Env) error {
	if !client.stdio {
		return nil
	}
	env.URL = ""
	if client.run != nil && client.contained == nil && client.gateway == nil {
		env.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
			return launchInMemory(ctx, f.server, stderr)
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

// launchInMemory connects to a server without a process in between.
func launchInMemory(ctx context.Context, to *server.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
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
	p := &memoryServer{served, stderr, atomic.Bool{}}
	go to.ServeConn(context.Background(), p) // ends with the server at the latest
	return &memoryPipe{client, p}, nil
}

// memoryServer is the server's end of a pipe in memory.
type memoryServer struct {
	io.ReadWriteCloser
	stderr io.Writer
	killed atomic.Bool
}

func (s *memoryServer) Stderr() io.Writer { return s.stderr }
func (s *memoryServer) Killed() bool      { return s.killed.Load() }

type memoryPipe struct {
	io.ReadWriteCloser
	server *memoryServer
}

func (p *memoryPipe) Kill() error {
	p.server.killed.Store(true)
	return p.Close()
}

// launches sets the server's command, if there is one.
func (e *Env) launches(command []string) {
	if len(command) == 0 {
		return
	}
	e.Server = command
	e.Launch = client.Command(command...)
}

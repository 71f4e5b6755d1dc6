package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

type replayCommand struct {
	Path   string   `arg:"" placeholder:"PATH" help:"A trace, a folder of traces, or a folder of run --out."`
	Listen string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Loopback address (default: a free port)."`
	Stdio  bool     `help:"Serve over standard input and output instead, until the client closes them."`
	Ignore []string `sep:"none" placeholder:"MEMBER" help:"${replay_ignore}"`
}

// Run serves the server's side of a recording. It fails if a client sends anything that was not recorded.
func (c *replayCommand) Run(ctx context.Context, s streams) error {
	var mu sync.Mutex
	differs := false
	options := server.Options{}
	if !c.Stdio {
		listener, err := loopback(c.Listen)
		if err != nil {
			return err
		}
		options.Listener = listener
	}
	srv, err := server.StartReplay(options, c.Path, server.ReplayOptions{Ignore: c.Ignore, Repeat: true,
		Differs: func(why string) {
			mu.Lock()
			defer mu.Unlock()
			differs = true
			fmt.Fprintf(s.err, "mcp-conform: differs from the recording: %s\n", why)
		}})
	if err != nil {
		if options.Listener != nil {
			err = errors.Join(err, options.Listener.Close())
		}
		return usage(err)
	}
	if c.Stdio {
		srv.ServeConn(ctx, standardIO{})
	} else {
		fmt.Fprintf(s.out, "serving the server's side of %s until interrupted\n\n%s\n", c.Path, srv.URL)
		<-ctx.Done()
	}
	closed := srv.Close()
	if uncalled := srv.Uncalled(); uncalled != nil {
		fmt.Fprintf(
			s.err,
			"mcp-conform: recorded calls that were not made: %d; the first: %s\n",
			len(uncalled),
			uncalled[0],
		)
	}
	if differs {
		return &exitError{exitFailed, closed}
	}
	return closed
}

func loopback(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, usage(fmt.Errorf("--listen: expected a loopback address with a port, such as 127.0.0.1:8080, found %q",
			address))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return listener, nil
}

// standardIO is the connection to the program that started this one.
type standardIO struct{}

func (standardIO) Read(b []byte) (int, error)  { return os.Stdin.Read(b) }
func (standardIO) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (standardIO) Close() error                { return os.Stdin.Close() }

type verifyCommand struct {
	invocation
	Path    string        `arg:"" placeholder:"PATH" help:"A trace, a folder of traces, or a folder of run --out."`
	Server  []string      `arg:"" optional:"" placeholder:"URL|-- COMMAND" help:"${verify_server}"`
	Ignore  []string      `sep:"none" placeholder:"MEMBER" help:"${verify_ignore}"`
	Update  bool          `help:"Accept the differences: write them into the traces."`
	Header  []string      `sep:"none" placeholder:"NAME=VALUE" help:"Add this header to each request."`
	Timeout time.Duration `default:"1m" help:"Time limit of the whole session."`
}

// Run plays the client's side of a recording to a server. It fails if the server says anything else than it did.
func (c *verifyCommand) Run(ctx context.Context, s streams) error {
	options, err := c.options(c.dashed())
	if err != nil {
		return usage(err)
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	found, err := client.PlayRecording(limited, options, c.Path, c.Ignore...)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case found == nil:
		return verifyError(err)
	}
	for _, difference := range found.Differences {
		fmt.Fprintf(s.out, "DIFFERS  %s\n", difference)
	}
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("the session did not end within %s (--timeout)", c.Timeout)}
	}
	compared := fmt.Sprintf(
		"%s and %s of the server",
		words.Count(found.Requests, "response"),
		words.Count(found.Asks, "request"),
	)
	switch n := len(found.Differences); {
	case n == 0:
		fmt.Fprintf(s.out, "ok: %s are as recorded\n", compared)
		return nil
	case c.Update:
		if err := found.Update(); err != nil {
			return &exitError{exitFailed, fmt.Errorf("--update: %w", err)}
		}
		fmt.Fprintf(s.out, "updated: %s in %s\n", words.Count(n, "difference"), c.Path)
		return nil
	default:
		fmt.Fprintf(s.out, "failed: %s in %s        --update: accept them · --ignore MEMBER: leave one out\n",
			words.Count(n, "difference"), compared)
		return &exitError{exitFailed, nil}
	}
}

func (c *verifyCommand) options(command bool) (client.Options, error) {
	header := http.Header{}
	for _, one := range c.Header {
		name, value, ok := strings.Cut(one, "=")
		if !ok || strings.TrimSpace(name) != name || name == "" {
			return client.Options{}, fmt.Errorf("--header: expected NAME=VALUE, found %q", one)
		}
		header.Add(name, value)
	}
	isURL := len(c.Server) == 1 &&
		(strings.HasPrefix(c.Server[0], "http://") || strings.HasPrefix(c.Server[0], "https://"))
	switch {
	case strings.Join(c.Server, "") == "" || !command && !isURL:
		return client.Options{}, fmt.Errorf("expected the server's URL, or its command after --, found %q", c.Server)
	case command && len(c.Header) > 0:
		return client.Options{}, errors.New("--header: expected a URL")
	case command:
		return client.Options{Launch: client.Command(c.Server...)}, nil
	}
	return client.Options{URL: c.Server[0], HTTP: &http.Client{}, Header: header}, nil
}

// verifyError distinguishes a server that cannot be reached from bad input.
func verifyError(err error) error {
	var unreachable *net.OpError
	if errors.As(err, &unreachable) {
		return &exitError{exitHarness, err}
	}
	return usage(err)
}

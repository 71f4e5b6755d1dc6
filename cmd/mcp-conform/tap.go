package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

type tapCommand struct {
	invocation
	Out         string   `required:"" placeholder:"DIR" help:"Folder for a trace of each session."`
	Server      []string `arg:"" optional:"" passthrough:"" placeholder:"URL|-- COMMAND" help:"${tap_server}"`
	Listen      string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"${tap_listen}"`
	Model       string   `placeholder:"URL" help:"${tap_model}"`
	ModelListen string   `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"${tap_model_listen}"`
	NoBodies    bool     `help:"Leave out what was said: of each text only its length remains."`
	Check       bool     `help:"Judge the traces at the end, as mcp-conform check does."`
	Config      string   `placeholder:"FILE" help:"${tap_config}"`
}

// Run passes on what a client and a server say, and writes traces when it ends. Interrupting it is its normal end.
func (c *tapCommand) Run(ctx context.Context, s streams) error {
	if c.Config != "" {
		return c.configuration(s)
	}
	upstream, command, err := c.server(c.dashed())
	if err != nil {
		return usage(err)
	}
	if err := canWrite(c.Out); err != nil {
		return err
	}
	header := trace.Header{Tool: version(), Tapped: true}
	if command != nil {
		header.Transport = trace.Stdio
	}
	recording := tap.New(header)
	files := &tapFiles{dir: c.Out, silent: c.NoBodies}
	stop := files.keep(recording, s.err)
	defer stop()
	model, err := c.serveModel(recording)
	if err != nil {
		return err
	}
	if command != nil {
		if model != nil {
			fmt.Fprintf(s.err, "mcp-conform: the model is at %s\n", model.url)
		}
		err = passLines(ctx, recording, command, s)
	} else {
		err = c.passHTTP(ctx, recording, upstream, model, s)
	}
	if model != nil {
		model.close()
	}
	stop()
	written, unwritten := files.finish(recording, s.err)
	if unwritten != nil {
		return &exitError{exitHarness, unwritten}
	}
	if c.Check && len(written) > 0 && err == nil {
		return execute(context.WithoutCancel(ctx), append([]string{"check"}, written...), streams{s.err, s.err})
	}
	return err
}

// server returns the server's address, or its command.
func (c *tapCommand) server(command bool) (*url.URL, []string, error) {
	words := c.Server
	if len(words) > 0 && words[0] == "--" {
		words, command = words[1:], true
	}
	if strings.Join(words, "") == "" || !command && len(words) != 1 {
		return nil, nil, fmt.Errorf("expected the server's URL, or its command after --, found %q", words)
	}
	if command {
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, nil, fmt.Errorf("the command cannot be started: %w", err)
		}
		return nil, words, nil
	}
	at, err := httpURL(words[0])
	return at, nil, err
}

func httpURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, fmt.Errorf("expected a URL such as http://127.0.0.1:3000/mcp, found %q", text)
	}
	if at.Path == "" {
		at.Path = "/"
	}
	return at, nil
}

// canWrite makes the folder and tries to write there, so that a session is not recorded in vain.
func canWrite(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(dir, ".tmp-*"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		return &exitError{exitHarness, fmt.Errorf("--out: expected a folder that can be written: %w", err)}
	}
	return nil
}

// tapServer is an HTTP server of the tap.
type tapServer struct {
	url    string
	server *http.Server
	done   chan struct{}
}

func serveTap(address, path string, handler http.Handler) (*tapServer, error) {
	listener, err := loopback(address)
	if err != nil {
		return nil, err
	}
	one := &tapServer{"http://" + listener.Addr().String() + path, &http.Server{Handler: handler}, make(chan struct{})}
	go func() {
		defer close(one.done)
		_ = one.server.Serve(listener) // returns when it is closed
	}()
	return one, nil
}

func (s *tapServer) close() {
	_ = s.server.Close()
	<-s.done
}

// plainTransport sends requests as they are.
func plainTransport() *http.Transport { return &http.Transport{DisableCompression: true} }

// serveModel serves the way to the model; nil without one.
func (c *tapCommand) serveModel(r *tap.Recording) (*tapServer, error) {
	if c.Model == "" {
		return nil, nil
	}
	at, err := httpURL(c.Model)
	if err != nil {
		return nil, usage(fmt.Errorf("--model: %w", err))
	}
	return serveTap(c.ModelListen, "", tap.Proxy(at, true, r.Model(plainTransport()), nil))
}

func (c *tapCommand) passHTTP(ctx context.Context, r *tap.Recording, to *url.URL, model *tapServer, s streams) error {
	next := plainTransport()
	defer next.CloseIdleConnections()
	front, err := serveTap(c.Listen, to.Path, tap.Proxy(to, false, r.RoundTripper(next), next))
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "recording what passes to %s until interrupted\n\nserver  %s\n", to, front.url)
	if model != nil {
		fmt.Fprintf(s.out, "model   %s\n", model.url)
	}
	<-ctx.Done()
	front.close()
	return nil
}

// passLines runs the server, and passes lines on between it and our standard streams. Its exit status becomes ours.
func passLines(ctx context.Context, r *tap.Recording, command []string, s streams) error {
	const connection = "stdio 1"
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Stderr = s.err
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = patience
	in, err := run.StdinPipe()
	if err != nil {
		return err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return usage(fmt.Errorf("the command cannot be started: %w", err))
	}
	r.Mark(trace.MarkConnection, connection)
	go func() {
		_ = r.Copy(in, os.Stdin, trace.FromClient, connection) // a server that has gone is seen below
		_ = in.Close()
	}()
	copied := r.Copy(s.out, out, trace.ToClient, connection)
	if copied != nil && !errors.Is(copied, fs.ErrClosed) {
		_, _ = io.Copy(io.Discard, out) // the client has gone; the server may end by itself
	}
	err = run.Wait()
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() > 0 && ctx.Err() == nil {
		return &exitError{exited.ExitCode(), fmt.Errorf("the server exited with status %d", exited.ExitCode())}
	}
	return nil
}

// freeAddress returns an address of this machine on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

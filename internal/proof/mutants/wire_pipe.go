package mutants

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Pipe is a launched server.
type Pipe interface {
	io.ReadWriteCloser
	// Kill ends the server at once.
	Kill() error
}

// launcher launches a server, as [harness.Env] does.
type launcher = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error)

// launch launches the server for the client.
func (w *Wire) launch(ctx context.Context, launch launcher, stderr io.Writer) (io.ReadWriteCloser, error) {
	if err := w.failure(); err != nil {
		return nil, err
	}
	if w.edit.Stderr != nil && w.always() {
		stderr = w.edit.Stderr
	}
	launched, err := launch(ctx, stderr)
	if err != nil {
		return nil, err
	}
	to := launched.(Pipe)
	if w.edit.Pipe != nil && w.always() {
		to = w.edit.Pipe(to)
	}
	reader, writer := io.Pipe()
	p := &pipe{w: w, to: to, reader: reader, lines: writer, writing: make(chan struct{}, 1)}
	p.forget = w.opened(p)
	w.mu.Lock()
	w.pipe = p
	w.mu.Unlock()
	w.work.Go(p.read)
	return p, nil
}

// pipe is the client's end of a launched server, whose lines are edited.
type pipe struct {
	w      *Wire
	to     Pipe
	reader *io.PipeReader
	lines  *io.PipeWriter
	forget func()

	writing chan struct{} // holds a token while somebody writes to the server
}

func (p *pipe) Read(b []byte) (int, error) { return p.reader.Read(b) }

// read edits what the server says.
func (p *pipe) read() {
	from := bufio.NewReader(p.to)
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			_ = p.lines.CloseWithError(err)
			return
		}
		for _, raw := range p.w.payload(bytes.TrimRight(line, "\r\n"), nil, false) {
			if _, err := p.lines.Write(append(raw, '\n')); err != nil {
				return
			}
		}
	}
}

// Write edits one line of the client's.
func (p *pipe) Write(line []byte) (int, error) {
	if err := p.w.failure(); err != nil {
		return 0, err
	}
	o, err := jsonvalue.ReadObject(line)
	if err != nil {
		return len(line), p.toServer(bytes.TrimRight(line, "\n"))
	}
	m := &Message{Wire: p.w, Body: o}
	for _, body := range p.w.outgoing(m) {
		if err := p.toServer(jsonvalue.Marshal(body)); err != nil {
			return 0, err
		}
	}
	if p.w.edit.Sent != nil && p.w.applies(m) {
		p.w.edit.Sent(m)
	}
	if m.reply != nil {
		_, err = p.lines.Write(append(jsonvalue.Marshal(m.reply), '\n'))
	}
	return len(line), err
}

func (p *pipe) toServer(line []byte) error {
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	_, err := p.to.Write(append(line, '\n'))
	return err
}

func (p *pipe) Close() error {
	p.forget()
	err := p.to.Close()
	_ = p.reader.Close()
	return err
}

func (p *pipe) Kill() error {
	p.forget()
	return p.to.Kill()
}

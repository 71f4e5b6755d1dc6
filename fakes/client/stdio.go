package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// errServerEnded means that a launched server ended by itself.
var errServerEnded = errors.New("the server ended the connection")

// pipe is the connection to a launched server: one message a line (2025-11-25, basic/transports#stdio; 2026-07-28,
// basic/transports/stdio).
type pipe struct {
	client *Client
	stream io.ReadWriteCloser

	writing chan struct{} // holds a token while a message is written
	ended   chan struct{} // closed when nothing more can be read
	running sync.WaitGroup

	mu      sync.Mutex
	take    taker
	waiting map[string]chan *message // by the id of the client's request
	err     error                    // why it ended
}

func (c *Client) openPipe(take taker) (*pipe, error) {
	stream, err := c.options.Launch(c.ctx, c.options.Stderr)
	if err != nil {
		return nil, err
	}
	p := &pipe{client: c, stream: stream, take: take,
		writing: make(chan struct{}, 1), ended: make(chan struct{}), waiting: map[string]chan *message{}}
	p.running.Go(p.read)
	return p, nil
}

// read reads to the server's end. Lines that are not messages are skipped.
func (p *pipe) read() {
	lines := bufio.NewReader(p.stream)
	for {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, errTooLong):
			p.end(err)
			return
		case err != nil:
			p.end(errServerEnded)
			return
		}
		several, err := unpack(line, p.client.Revision())
		if err != nil {
			p.client.stray(line)
			continue
		}
		for i := range several {
			p.deliver(&several[i])
		}
	}
}

// readLine reads a line with its end.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage:
			return nil, errTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// deliver gives a message to whom it is for.
func (p *pipe) deliver(m *message) {
	if m.Method != "" {
		p.mu.Lock()
		take := p.take
		p.mu.Unlock()
		if work := take(p.client.ctx, m); work != nil {
			p.running.Go(func() {
				if err := work(); err != nil {
					p.end(fmt.Errorf("answering %s: %w", m.Method, err))
				}
			})
		}
		return
	}
	if answer := p.forget(string(m.ID)); answer != nil {
		answer <- m
	}
}

// giveTo gives what comes from now on, and is not a response, to another taker.
func (p *pipe) giveTo(take taker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take = take
}

// forget stops waiting for a response and returns where it was to be sent.
func (p *pipe) forget(id string) chan *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := p.waiting[id]
	delete(p.waiting, id)
	return answer
}

// end records why nothing more can come. The first reason counts.
func (p *pipe) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = why
		close(p.ended)
	}
}

func (p *pipe) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// request sends a request and returns its response. When ctx ends before, the request is cancelled; initialize cannot
// be (2025-11-25, basic/utilities/cancellation#behavior-requirements).
func (p *pipe) request(ctx context.Context, id int64, method string, params any) (*message, error) {
	answer := make(chan *message, 1)
	p.mu.Lock()
	p.waiting[fmt.Sprint(id)] = answer
	p.mu.Unlock()
	if err := p.send(request(id, method, params)); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-p.ended:
		return nil, p.why()
	case <-ctx.Done():
	}
	p.forget(fmt.Sprint(id))
	if method == "initialize" {
		return nil, ctx.Err()
	}
	return nil, errors.Join(ctx.Err(), p.send(cancellation(id)))
}

func (p *pipe) send(m map[string]any) error {
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	if _, err := p.stream.Write(append(jsonvalue.Marshal(m), '\n')); err != nil {
		return fmt.Errorf("%w: %w", errServerEnded, err)
	}
	return nil
}

// close ends the server's input and waits for its end and for running answers. Its error is that of an end that came
// before.
func (p *pipe) close() error { return errors.Join(p.why(), p.shut()) }

// shut is close without the error of an end that came before.
func (p *pipe) shut() error {
	err := p.stream.Close()
	p.running.Wait()
	return err
}

package reference

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// pipe is the client's end of a server that it launched: one channel for everything, a message a line (2025-11-25,
// basic/transports#stdio; 2026-07-28, basic/transports/stdio).
type pipe struct {
	model *model
	rwc   io.ReadWriteCloser
	asked func(*message) func() error // takes what the server says unasked, and returns what there is to do about it
	logs  bool                        // writes log lines where messages belong: broken on purpose
	late  bool                        // dies of a response that it does not wait for: broken on purpose
	mute  bool                        // gives up without a word: broken on purpose

	cancels func(id any) map[string]any

	writing chan struct{} // holds a token while somebody writes
	ended   chan struct{} // closed when nothing can come any more
	running sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]chan *message // by the ids of our requests
	err     error                    // why it ended
}

// openPipe launches the server.
func openPipe(ctx context.Context, m *model, asked func(*message) func() error) (*pipe, error) {
	p := &pipe{model: m, asked: asked, cancels: m.cancels, logs: m.config.broken.logsOnThePipe, late: m.config.broken.diesOfLateResponse, mute: m.config.broken.givesUpSilently,
		writing: make(chan struct{}, 1), ended: make(chan struct{}), waiting: map[string]chan *message{}}
	var stderr io.Writer // which says nothing to a right client
	if m.config.broken.pipes.fearsStderr {
		stderr = alarm{p}
	}
	var err error
	if p.rwc, err = m.env.Launch(ctx, stderr); err != nil {
		return nil, err
	}
	p.running.Go(p.read)
	return p, nil
}

// read hands what the server says to whom it is for.
func (p *pipe) read() {
	lines := bufio.NewReader(p.rwc)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			p.end(errServerEnded)
			return
		}
		several, err := p.model.unpack(line)
		if err != nil { // is no message, and so nothing to us
			if p.model.config.broken.batches.deadly && bytes.HasPrefix(line, []byte("[")) {
				p.end(fmt.Errorf("broken on purpose: %w", err))
				return
			}
			continue
		}
		for i := range several {
			if !p.take(&several[i]) {
				return
			}
		}
	}
}

// take hands a message to whom it is for, and reports whether there is more to be read.
func (p *pipe) take(m *message) bool {
	if m.Method != "" {
		if work := p.asked(m); work != nil {
			p.running.Go(func() {
				if err := work(); err != nil {
					p.end(fmt.Errorf("answering %s: %w", m.Method, err))
				}
			})
		}
		return true
	}
	p.mu.Lock()
	answer := p.waiting[string(m.ID)]
	delete(p.waiting, string(m.ID))
	p.mu.Unlock()
	switch {
	case answer != nil:
		answer <- m
	case p.late:
		p.end(errors.New("broken on purpose: a response that nobody waits for"))
		return false
	}
	return true
}

// end notes why nothing can come any more; what was first counts.
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

// request sends a request and returns its response. When ctx ends before it came, the request is cancelled.
func (p *pipe) request(ctx context.Context, id any, method string, params map[string]any) (*message, error) {
	answer := make(chan *message, 1)
	p.mu.Lock()
	p.waiting[fmt.Sprint(id)] = answer
	p.mu.Unlock()
	if err := p.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	select {
	case m := <-answer:
		return m, nil
	case <-p.ended:
		return nil, p.why()
	case <-ctx.Done():
		if method == "initialize" { // cannot be cancelled (2025-11-25, basic/utilities/cancellation#behavior-requirements)
			return nil, ctx.Err()
		}
		p.mu.Lock()
		delete(p.waiting, fmt.Sprint(id))
		p.mu.Unlock()
		if p.mute {
			return nil, ctx.Err()
		}
		return nil, errors.Join(ctx.Err(), p.send(p.cancels(id)))
	}
}

// send writes a message.
func (p *pipe) send(m map[string]any) error {
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	line := append(marshal(m), '\n')
	if p.logs {
		line = append([]byte("DEBUG sending a message\n"), line...)
	}
	if _, err := p.rwc.Write(line); err != nil {
		return fmt.Errorf("%w: %w", errServerEnded, err)
	}
	return nil
}

// close ends the server's input, waits for its end and for what is still being answered.
func (p *pipe) close() error {
	err := p.why() // of an end that we did not make
	if p.model.config.broken.pipes.kills {
		err = errors.Join(err, p.rwc.(interface{ Kill() error }).Kill())
	} else {
		err = errors.Join(err, p.rwc.Close())
	}
	p.running.Wait()
	return err
}

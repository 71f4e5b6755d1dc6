package llm

import (
	"context"
	"strings"
	"sync"
)

// Gate delays answers until a test releases them: see [Rule.Hold]. A word in the request, such as one from the test's
// question, selects which requests are held and released together. The zero value is ready. Gates are safe for
// concurrent use, also by several rules and servers.
type Gate struct {
	mu     sync.Mutex
	states map[string]*gateState // by word
}

// gateState is the state of the requests with one word.
type gateState struct {
	held chan struct{} // closed when the first is held
	left chan struct{} // closed when all held ones have ended
	open chan struct{} // closed by Open
	now  int           // held and not ended
}

// state returns the state of a word and creates it if needed. The caller holds the lock.
func (g *Gate) state(word string) *gateState {
	if g.states[word] == nil {
		if g.states == nil {
			g.states = map[string]*gateState{}
		}
		g.states[word] = &gateState{held: make(chan struct{}), left: make(chan struct{}), open: make(chan struct{})}
	}
	return g.states[word]
}

// Close makes the gate hold requests that contain the word. Requests without such a word pass. A repeated call has no
// effect.
func (g *Gate) Close(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state(word)
}

// Open releases requests with the word, held and future ones. A repeated call has no effect.
func (g *Gate) Open(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	closeOnce(g.state(word).open)
}

// Held returns a channel that closes when a request with the word is held: the server has read it and sent the answer's
// header.
func (g *Gate) Held(word string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state(word).held
}

// Ended returns a channel that closes when all held requests with the word have ended, answered or cancelled by the
// caller. Journal and trace then contain the end.
func (g *Gate) Ended(word string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state(word).left
}

// Idle waits until every held request has ended, or ctx ends.
func (g *Gate) Idle(ctx context.Context) {
	g.mu.Lock()
	var busy []<-chan struct{}
	for _, p := range g.states {
		if p.now > 0 {
			busy = append(busy, p.left)
		}
	}
	g.mu.Unlock()
	for _, left := range busy {
		select {
		case <-left:
		case <-ctx.Done():
			return
		}
	}
}

// enter counts a request to be held and returns its word's state; nil if it may pass.
func (g *Gate) enter(body []byte) *gateState {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for word, p := range g.states {
		if !strings.Contains(string(body), word) {
			continue
		}
		if p.now++; p.now == 1 {
			closeOnce(p.held)
		}
		return p
	}
	return nil
}

func (g *Gate) leave(p *gateState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.now--; p.now == 0 {
		closeOnce(p.left)
	}
}

// closeOnce closes a channel that may be closed already. The caller holds the lock.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// Hold delays answers between header and body until the gate opens; a caller that hangs up is noticed. Only successful
// answers are held.
func (r *Rule) Hold(g *Gate) *Rule {
	r.gate = g
	return r
}

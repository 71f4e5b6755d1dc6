package llm

import (
	"context"
	"strings"
	"sync"
)

// Gate holds answers back until a test lets them go: see [Rule.Hold]. Requests are known by words that stand in them, such as one that a
// test has put into its question, so that each is held and let go by itself. Its methods are safe for concurrent use, and a gate may
// belong to several rules and servers. The zero value is a gate.
type Gate struct {
	mu     sync.Mutex
	places map[string]*place // by word
}

// place is what is known of the requests with one word.
type place struct {
	held chan struct{} // closed once there was one
	left chan struct{} // closed once there was one and all are over
	open chan struct{} // closed by Open
	now  int           // how many there are that are not over
}

// place returns the one of a word, which from then on is waited for. The lock is held.
func (g *Gate) place(word string) *place {
	if g.places[word] == nil {
		if g.places == nil {
			g.places = map[string]*place{}
		}
		g.places[word] = &place{held: make(chan struct{}), left: make(chan struct{}), open: make(chan struct{})}
	}
	return g.places[word]
}

// Close has the gate hold requests in which the word stands. Those without a word for which it was closed pass as if there were no gate.
// Closing it again changes nothing.
func (g *Gate) Close(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.place(word)
}

// Open lets the requests with the word go, those that are held and those to come. Opening it again changes nothing.
func (g *Gate) Open(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	closeOnce(g.place(word).open)
}

// Held returns a channel that is closed once a request with the word is held: the model has been asked, and the header of its answer sent.
func (g *Gate) Held(word string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.place(word).held
}

// Left returns a channel that is closed once a request with the word was held and is over: it was let go and answered, or its caller hung up.
// Its end is in journal and trace by then.
func (g *Gate) Left(word string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.place(word).left
}

// Idle waits until all that was held is over, or ctx ends.
func (g *Gate) Idle(ctx context.Context) {
	g.mu.Lock()
	var busy []<-chan struct{}
	for _, p := range g.places {
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

// enter counts a request that is to be held, and returns the place of its word; nil where it may pass.
func (g *Gate) enter(body []byte) *place {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for word, p := range g.places {
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

func (g *Gate) leave(p *place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.now--; p.now == 0 {
		closeOnce(p.left)
	}
}

// closeOnce closes a channel that may be closed already; its owner's lock is held.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// Hold makes answers wait, between their header and what they say, until the gate lets them go; a caller that hangs up meanwhile is
// noticed. Only what answers with success is held.
func (r *Rule) Hold(g *Gate) *Rule {
	r.gate = g
	return r
}

// hold keeps an answer at the gate. It reports false where the caller has gone, or the server was closed, before the gate was opened.
func (s *Server) hold(ctx context.Context, p *place) bool {
	select {
	case <-p.open:
		return ctx.Err() == nil
	case <-ctx.Done():
	case <-s.closing:
	}
	return false
}

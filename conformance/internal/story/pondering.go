package story

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// How long a handler waits for the client. None is a whole number of seconds, because the limits of clients are: a
// client that hangs up at its own limit does so clearly before or clearly after.
const (
	// CancelIgnoredAfter is how long the client has to respond to the request after a cancel. Then the model answers the
	// cancelled one. A client that handles one request at a time and ignores the cancel cannot respond earlier.
	CancelIgnoredAfter = 1500 * time.Millisecond
	// SerialAfter is how long the client has to respond to a second request before the handler takes it for a client
	// that handles one request at a time.
	SerialAfter = 800 * time.Millisecond
	// Reaction is how long the client has to abandon its call or its model request.
	Reaction = 2500 * time.Millisecond
)

// quick are the questions that the model answers at once. A word identifies each, because a client may split a text
// into several parts. No answer contains another.
var quick = []struct{ question, word, answer string }{
	{"Name a bird.", "bird", "A robin."},
	{"Name a fish.", "fish", "A herring."},
	{"Name a tree.", "tree", "An oak."},
	{"Are you still there?", "still", "I am."},
}

// WellConsidered is the model's answer to every other question.
const WellConsidered = "That is well considered."

// Impossible is the question that the model refuses.
const Impossible = "Do the impossible."

// Gated completes a case whose handler holds back the model's answers with a gate. Questions in quick and
// [Impossible] pass the gate.
// It is not inlined: its closures would be in the binary once for each case.
//
//go:noinline
func Gated(c harness.Case, handler func(*Gate) server.Handler) harness.Case {
	c.Barrier, c.Lingers = true, !c.Hostile
	c.Make = func(harness.Limits) harness.Stage {
		gate := &Gate{}
		var rules []*llm.Rule
		for _, q := range quick {
			rules = append(rules, llm.When(llm.LastUser(q.word)).Reply(llm.Text(q.answer)).Optional())
		}
		refusal := &llm.Error{Status: 400, Message: "The model cannot do this."}
		rules = append(rules, llm.When(llm.LastUser("impossible")).Fail(refusal).Optional())
		rules = append(rules, llm.When().Reply(llm.Text(WellConsidered)).Hold(&gate.Gate))
		return harness.Stage{Handler: handler(gate), Rules: rules, Settled: gate.settled}
	}
	return c
}

// Gate is what the handler and the model of a case share in one session: the gate in front of the model's answers,
// and what the session's barrier must wait for. It is safe for concurrent use.
type Gate struct {
	llm.Gate
	mu       sync.Mutex
	handlers []chan struct{} // the barrier waits until each is closed
	until    time.Time       // the barrier waits until then
}

// DelayBarrier makes the barrier wait for d from now, for a late response of the client.
func (st *Gate) DelayBarrier(d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.until = time.Now().Add(d)
}

// BlockBarrier makes the barrier wait until the caller calls done. A second call of done has no effect.
func (st *Gate) BlockBarrier() (done func()) {
	over := make(chan struct{})
	st.mu.Lock()
	defer st.mu.Unlock()
	st.handlers = append(st.handlers, over)
	return sync.OnceFunc(func() { close(over) })
}

// settled returns when the gate holds no answer and nothing else blocks the barrier, at the latest after the time that
// a handler waits for the client.
func (st *Gate) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*Reaction)
	defer cancel()
	st.Idle(ctx)
	st.mu.Lock()
	handlers, until := slices.Clone(st.handlers), st.until
	st.mu.Unlock()
	if !until.IsZero() {
		WaitFor(time.Until(until), ctx.Done(), nil)
	}
	for _, over := range handlers {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
}

// HeldQuestion returns the nth question of a handler whose answer the gate holds, and the word by which the gate
// identifies it. Each call of the tool has words of its own.
func HeldQuestion(s *server.Session, gate *Gate, n int) (*server.CreateMessageParams, string) {
	word := fmt.Sprintf("ponder%dand%dwell", s.Call().Number, n)
	gate.Close(word)
	return s.Ask(fmt.Sprintf("Take your time over this (%s).", word)), word
}

// WaitFor waits until a or b is closed, for at most limit, and reports whether one was. A nil channel is never closed.
func WaitFor(limit time.Duration, a, b <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-a:
	case <-b:
	case <-timer.C:
		return false
	}
	return true
}

// AskHeld sends a question whose answer the gate holds. It returns when the model has the question, or when the
// client has responded without it.
func AskHeld(s *server.Session, gate *Gate) (asked *server.Pending, word string, err error) {
	ask, word := HeldQuestion(s, gate, 1)
	asked, err = StartHeld(s, gate, ask, word)
	return asked, word, err
}

// StartHeld is [AskHeld] for a question of [HeldQuestion].
func StartHeld(
	s *server.Session, gate *Gate, ask *server.CreateMessageParams, word string,
) (*server.Pending, error) {
	asked, err := s.Start(ask)
	if err != nil {
		return nil, err
	}
	select {
	case <-gate.Held(word):
	case <-asked.Done():
	}
	return asked, nil
}

// ForeignAnswer returns the model's answer to another question of the case, if the client's answer contains it; else
// "". A client may add text of its own.
func ForeignAnswer(a *evidence.Answer, r *evidence.Round) string {
	said := dialect.PlainText(a.Blocks())
	for _, q := range quick {
		asked, answered := strings.Contains(string(r.Raw), q.question), strings.Contains(said, q.answer)
		switch {
		case asked && answered:
			return ""
		case !asked && answered:
			return q.answer
		}
	}
	if strings.Contains(said, WellConsidered) {
		return WellConsidered
	}
	return ""
}

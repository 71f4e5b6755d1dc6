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

// ignoring is how long a client may take to answer what is asked after a cancel, before the model answers what was cancelled. One
// that answers one request after the other, and does not heed the cancel, cannot answer before the model has.
const CancelIgnoredAfter = 1500 * time.Millisecond

// serial is the same where nothing is held against a client that has not seen the cancel by then.
const SerialAfter = 800 * time.Millisecond

// reaction is how long a client may take to give up its call, and its request of the model.
const Reaction = 2500 * time.Millisecond

// What the model says where it has not to think, by what is asked. Each is told from all the others, by a word: a client may send a text in
// several parts.
var quickly = []struct{ asked, word, says string }{
	{"Name a bird.", "bird", "A robin."}, {"Name a fish.", "fish", "A herring."}, {"Name a tree.", "tree", "An oak."}, {"Are you still there?", "still", "I am."},
}

const WellConsidered = "That is well considered."

// pondered is a case in which the model thinks until a gate is opened, and answers everything else at once.
func Pondered(c harness.Case, play func(*Stage) server.Handler) harness.Case {
	c.Barrier = true
	c.Make = func(harness.Limits) harness.Stage {
		gate := &Stage{}
		var rules []*llm.Rule
		for _, q := range quickly {
			rules = append(rules, llm.When(llm.LastUser(q.word)).Reply(llm.Text(q.says)).Optional())
		}
		rules = append(rules, llm.When().Reply(llm.Text(WellConsidered)).Hold(&gate.Gate))
		return harness.Stage{Handler: play(gate), Rules: rules, Settled: gate.settled}
	}
	return c
}

// stage is what play and model share in a session: the gate, and what the plays still have to see to.
type Stage struct {
	llm.Gate
	mu    sync.Mutex
	busy  []chan struct{} // one for each play that is waited for, closed at its end
	until time.Time       // when nothing more is to be seen
}

// lasts has what follows the case wait for what may still come of it, so long from now.
func (st *Stage) Lasts(d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.until = time.Now().Add(d)
}

// begin has what follows the case wait for the play, until done is called.
func (st *Stage) Begin() (done func()) {
	over := make(chan struct{})
	st.mu.Lock()
	st.busy = append(st.busy, over)
	st.mu.Unlock()
	return sync.OnceFunc(func() { close(over) })
}

// settled waits until the model holds nothing any more, and the plays have seen what there was to see, which takes them no longer than they wait
// for a client.
func (st *Stage) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*Reaction)
	defer cancel()
	st.Idle(ctx)
	st.mu.Lock()
	busy, until := slices.Clone(st.busy), st.until
	st.mu.Unlock()
	if !until.IsZero() {
		Either(time.Until(until), ctx.Done(), nil)
	}
	for _, over := range busy {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
}

// ponder is the n-th question of a play that the model thinks about, and the word by which the gate knows it: each call of the tool has its own.
func Ponder(s *server.Session, gate *Stage, n int) (*server.CreateMessageParams, string) {
	word := fmt.Sprintf("ponder%dand%dwell", s.Call(), n)
	gate.Close(word)
	return s.Ask(fmt.Sprintf("Take your time over this (%s).", word)), word
}

// either waits until one of the two is closed, a nil one never, for at most so long, and reports whether one was.
func Either(limit time.Duration, a, b <-chan struct{}) bool {
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

// startPondering asks a question that the model thinks about, and returns when it does, or never will.
func StartPondering(s *server.Session, gate *Stage) (asked *server.Pending, word string, err error) {
	ask, word := Ponder(s, gate, 1)
	asked, err = Held(s, gate, ask, word)
	return asked, word, err
}

// held asks a question, and returns when the model thinks about it, or never will.
func Held(s *server.Session, gate *Stage, ask *server.CreateMessageParams, word string) (*server.Pending, error) {
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

// anothers returns what an answer says that belongs to another question of the play; "" for nothing. A client may say more than its model did.
func Others(a *evidence.Answer, r *evidence.Round) string {
	said, asked := dialect.PlainText(a.Blocks()), string(r.Raw)
	for _, q := range quickly {
		if strings.Contains(asked, q.asked) {
			if strings.Contains(said, q.says) {
				return ""
			}
			continue
		}
		if strings.Contains(said, q.says) {
			return q.says
		}
	}
	if strings.Contains(said, WellConsidered) {
		return WellConsidered
	}
	return ""
}

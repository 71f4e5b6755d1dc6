package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// firstEra are the revisions in which a server makes requests, and so cancels them.
var firstEra = []server.Revision{server.V20250326, server.V20250618, server.V20251125}

// What is given up: a sample that the server cancels, while the model thinks about it; cancels that name nothing that is running; cancels that
// cross the answer; and then the client's own calls, while the model thinks, and while the server works. A check that passes shows no frames: what
// crosses comes in another order each time, and the report of a right client is to be the same.
var cancelling = Scenario{
	ID:        "cancel",
	Purpose:   "samples that the server cancels, and calls that the client gives up",
	Revisions: AllRevisions(),
	Cases: []harness.Case{
		pondered(harness.Case{ID: "cancel/in-flight", Revisions: firstEra}, cancelInFlight),
		pondered(harness.Case{ID: "cancel/unknown-request", Revisions: firstEra}, cancelInVain(ofNobody)),
		pondered(harness.Case{ID: "cancel/finished-request", Revisions: firstEra}, cancelInVain(ofTheFirst)),
		pondered(harness.Case{ID: "cancel/not-well-formed", Revisions: firstEra, Hostile: true}, cancelInVain(ofNothing)),
		pondered(harness.Case{ID: "cancel/crossing", Revisions: firstEra}, cancelCrossing),
		pondered(harness.Case{ID: "cancel/call-while-sampling", GiveUp: true}, sampleUntilGivenUp),
		pondered(harness.Case{ID: "cancel/call-while-working", GiveUp: true}, workUntilGivenUp),
	},
	Checks: []Check{
		stopsWork, cancelledUnanswered, unknownID, finishedID, malformedCancel, cancelIsNotAnswered, race,
		callerCancels, modelEnds, endedCall, noRetry, callCancelled, namesOwn, lateResponse,
	},
}

const (
	// ignoring is how long a client may take to answer what is asked after a cancel, before the model answers what was cancelled. One
	// that answers one request after the other, and does not heed the cancel, cannot answer before the model has.
	ignoring = 1500 * time.Millisecond
	// serial is the same where nothing is held against a client that has not seen the cancel by then.
	serial = 800 * time.Millisecond
	// lateAnswer is how long an answer is waited for that should not come, of a client that has hung up on the model.
	lateAnswer = time.Second
	// reaction is how long a client may take to give up its call, and its request of the model.
	reaction = 2500 * time.Millisecond
)

// But for lateAnswer none of those is a whole number of seconds, for limits of clients are: one that hangs up at its own limit does so well before, or well behind.

// What the model says where it has not to think, by what is asked. Each is told from all the others, by a word: a client may send a text in
// several parts.
var quickly = []struct{ asked, word, says string }{
	{"Name a bird.", "bird", "A robin."}, {"Name a fish.", "fish", "A herring."}, {"Name a tree.", "tree", "An oak."}, {"Are you still there?", "still", "I am."},
}

const wellConsidered = "That is well considered."

// pondered is a case in which the model thinks until a gate is opened, and answers everything else at once.
func pondered(c harness.Case, play func(*stage) server.Handler) harness.Case {
	c.Barrier = true
	c.Make = func(harness.Limits) harness.Stage {
		gate := &stage{}
		var rules []*llm.Rule
		for _, q := range quickly {
			rules = append(rules, llm.When(llm.LastUser(q.word)).Reply(llm.Text(q.says)).Optional())
		}
		rules = append(rules, llm.When().Reply(llm.Text(wellConsidered)).Hold(&gate.Gate))
		return harness.Stage{Handler: play(gate), Rules: rules, Settled: gate.settled}
	}
	return c
}

// stage is what play and model share in a session: the gate, and what the plays still have to see to.
type stage struct {
	llm.Gate
	mu    sync.Mutex
	busy  []chan struct{} // one for each play that is waited for, closed at its end
	until time.Time       // when nothing more is to be seen
}

// lasts has what follows the case wait for what may still come of it, so long from now.
func (st *stage) lasts(d time.Duration) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.until = time.Now().Add(d)
}

// begin has what follows the case wait for the play, until done is called.
func (st *stage) begin() (done func()) {
	over := make(chan struct{})
	st.mu.Lock()
	st.busy = append(st.busy, over)
	st.mu.Unlock()
	return sync.OnceFunc(func() { close(over) })
}

// settled waits until the model holds nothing any more, and the plays have seen what there was to see, which takes them no longer than they wait
// for a client.
func (st *stage) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*reaction)
	defer cancel()
	st.Idle(ctx)
	st.mu.Lock()
	busy, until := slices.Clone(st.busy), st.until
	st.mu.Unlock()
	if !until.IsZero() {
		either(time.Until(until), ctx.Done(), nil)
	}
	for _, over := range busy {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
}

// ponder is the n-th question of a play that the model thinks about, and the word by which the gate knows it: each call of the tool has its own.
func ponder(s *server.Session, gate *stage, n int) (*server.CreateMessageParams, string) {
	word := fmt.Sprintf("ponder%dand%dwell", s.Call(), n)
	gate.Close(word)
	return s.Ask(fmt.Sprintf("Take your time over this (%s).", word)), word
}

// either waits until one of the two is closed, a nil one never, for at most so long, and reports whether one was.
func either(limit time.Duration, a, b <-chan struct{}) bool {
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
func startPondering(s *server.Session, gate *stage) (asked *server.Pending, word string, err error) {
	ask, word := ponder(s, gate, 1)
	asked, err = held(s, gate, ask, word)
	return asked, word, err
}

// held asks a question, and returns when the model thinks about it, or never will.
func held(s *server.Session, gate *stage, ask *server.CreateMessageParams, word string) (*server.Pending, error) {
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

// cancelInFlight cancels a sample while the model thinks about it. The model answers only once a later sample was answered: the cancel had
// come to the client before that. A client that has not heeded it then has an answer, and time to send it. For an error of one that has, and takes its
// time to send it, the session's barrier waits, and nothing else does.
func cancelInFlight(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, word, err := startPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		select {
		case <-asked.Done():
			return asked.Answer() // there is nothing left to cancel
		default:
		}
		if err := s.Cancel(asked, "the answer is not needed any more"); err != nil {
			return nil, err
		}
		later, err := s.Start(s.Ask("Name a fish."))
		if err != nil {
			return nil, err
		}
		either(ignoring, later.Done(), nil)
		heeded := either(ignoring, gate.Left(word), nil) // that the client hung up is seen a moment later
		gate.Open(word)
		if heeded {
			gate.lasts(lateAnswer)
		} else {
			either(reaction, asked.Done(), nil)
		}
		if _, err := later.Answer(); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a tree."))
	}
}

// ofNobody are cancels of requests that there never were.
func ofNobody(json.RawMessage) []string {
	return []string{
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":987654321,"reason":"not needed"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"no-such-request","reason":"not needed"}}`,
	}
}

// ofTheFirst is a cancel of the first request, which was answered.
func ofTheFirst(first json.RawMessage) []string {
	return []string{fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"not needed"}}`, first)}
}

// ofNothing are cancels that are not well-formed.
func ofNothing(json.RawMessage) []string {
	var frames []string
	for _, params := range []string{`null`, `{}`, `{"requestId":null}`, `{"requestId":{"id":1}}`, `{"requestId":[]}`, `{"requestId":true}`, `[]`, `"all"`} {
		frames = append(frames, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+params+`}`)
	}
	return append(frames, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
}

// cancelInVain sends cancels that name nothing that is running, each while the model thinks about a sample that it does not name, and after it asks
// another. The model thinks about each no longer than that takes: a client has a limit for it. Of one that answers requests one after the other
// nothing is running from the second on, and with one whose sample was ended by a cancel there is nothing more to be seen. The frames may name
// the play's first request, which was answered.
func cancelInVain(frames func(first json.RawMessage) []string) func(*stage) server.Handler {
	return func(gate *stage) server.Handler {
		return func(s *server.Session) (any, error) {
			first, err := s.Start(s.Ask("Name a bird."))
			if err != nil {
				return nil, err
			}
			if _, err := first.Answer(); err != nil {
				return nil, err
			}
			inTurn := false
			for i, frame := range frames(first.ID()) {
				ask, word := ponder(s, gate, i+1)
				if inTurn {
					gate.Open(word)
				}
				asked, err := held(s, gate, ask, word)
				waited := false
				if err == nil {
					waited, err = cancelBeside(s, frame, func() { gate.Open(word) })
				}
				inTurn = inTurn || waited
				gate.Open(word)
				if err != nil || !either(reaction, asked.Done(), nil) { // one that was cancelled after all is not answered
					return "done", err
				}
			}
			return "done", nil
		}
	}
}

// cancelBeside sends a cancel and asks a sample. Of a client that answers that only once the model was let go, or not in time, it reports that it
// answers requests in turn.
func cancelBeside(s *server.Session, cancel string, letGo func()) (inTurn bool, err error) {
	if err := s.Send([]byte(cancel)); err != nil {
		return false, err
	}
	later, err := s.Start(s.Ask("Are you still there?"))
	if err != nil {
		return false, err
	}
	if inTurn = !either(serial, later.Done(), nil); inTurn {
		letGo()
	}
	_, err = later.Answer()
	return inTurn, err
}

// cancelCrossing cancels a sample as soon as it was asked, and another as soon as the model answers: each time the answer may be on its way.
// What is asked next is another matter.
func cancelCrossing(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("Are you still there?")); err != nil {
			return nil, err
		}
		atOnce, err := s.Start(s.Ask("Name a bird."))
		if err != nil {
			return nil, err
		}
		if err := s.Cancel(atOnce, "asked by mistake"); err != nil {
			return nil, err
		}
		if _, err := s.Sample(s.Ask("Name a fish.")); err != nil {
			return nil, err
		}
		asked, word, err := startPondering(s, gate)
		gate.Open(word)
		if err != nil {
			return nil, err
		}
		if err := s.Cancel(asked, "it takes too long"); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a tree."))
	}
}

// sampleUntilGivenUp samples for a call that the client is to give up while the model thinks. In the first era the client says so, and then the
// sample is cancelled, too: nobody waits for it. In the second nothing comes: the call was over when the client was asked. A client that
// does not mean to give anything up calls without a progress token.
func sampleUntilGivenUp(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if !s.WantsProgress() {
			return s.Sample(s.Ask("Name a bird."))
		}
		done := func() {} // in the second era a client that gives up leaves the play as it is
		if !s.Revision().Modern() {
			done = gate.begin()
		}
		defer done()
		asked, word, err := startPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		if s.Revision().Modern() {
			either(reaction, gate.Left(word), asked.Done())
		} else if either(reaction, s.Context().Done(), nil) {
			_ = s.Cancel(asked, "the call was given up") // where the client has closed the stream it need not be told
			either(reaction, gate.Left(word), nil)
		}
		gate.Open(word)
		done() // for there may be nobody left to answer
		return asked.Answer()
	}
}

// workUntilGivenUp makes progress with a call that the client is to give up then, and answers it all the same.
func workUntilGivenUp(gate *stage) server.Handler {
	return func(s *server.Session) (any, error) {
		defer gate.begin()()
		if err := s.Progress(1, 2); err != nil {
			return nil, err
		}
		if !s.WantsProgress() || !either(reaction, s.Context().Done(), nil) {
			return "done", nil
		}
		result := object{"content": []any{server.Text("too late")}}
		if s.Revision().Modern() {
			result["resultType"] = "complete"
		}
		raw, err := json.Marshal(object{"jsonrpc": "2.0", "id": s.CallID(), "result": result})
		if err != nil {
			return nil, err
		}
		return nil, s.Send(raw)
	}
}

package cancel

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// firstEra are the revisions in which a server makes requests, and so cancels them.
var firstEra = []server.Revision{server.V20250326, server.V20250618, server.V20251125}

// What is given up: a sample that the server cancels, while the model thinks about it; cancels that name nothing that is running; cancels that
// cross the answer; and then the client's own calls, while the model thinks, and while the server works. A check that passes shows no frames: what
// crosses comes in another order each time, and the report of a right client is to be the same.
var Scenario = check.Scenario{
	ID:        "cancel",
	Purpose:   "samples that the server cancels, and calls that the client gives up",
	Revisions: check.AllRevisions(),
	Cases: []harness.Case{
		story.Pondered(harness.Case{ID: "cancel/in-flight", Revisions: firstEra}, cancelInFlight),
		story.Pondered(harness.Case{ID: "cancel/unknown-request", Revisions: firstEra}, cancelInVain(ofNobody)),
		story.Pondered(harness.Case{ID: "cancel/finished-request", Revisions: firstEra}, cancelInVain(ofTheFirst)),
		story.Pondered(harness.Case{ID: "cancel/not-well-formed", Revisions: firstEra, Hostile: true}, cancelInVain(ofNothing)),
		story.Pondered(harness.Case{ID: "cancel/crossing", Revisions: firstEra}, cancelCrossing),
		story.Pondered(harness.Case{ID: "cancel/call-while-sampling", GiveUp: true}, sampleUntilGivenUp),
		story.Pondered(harness.Case{ID: "cancel/call-while-working", GiveUp: true}, workUntilGivenUp),
	},
	Checks: []check.Check{
		stopsWork, cancelledUnanswered, unknownID, finishedID, malformedCancel, cancelIsNotAnswered, race,
		callerCancels, modelEnds, endedCall, noRetry, callCancelled, namesOwn, lateResponse,
	},
}

const (

	// lateAnswer is how long an answer is waited for that should not come, of a client that has hung up on the model.
	lateAnswer = time.Second
)

// But for lateAnswer none of those is a whole number of seconds, for limits of clients are: one that hangs up at its own limit does so well before, or well behind.

// cancelInFlight cancels a sample while the model thinks about it. The model answers only once a later sample was answered: the cancel had
// come to the client before that. A client that has not heeded it then has an answer, and time to send it. For an error of one that has, and takes its
// time to send it, the session's barrier waits, and nothing else does.
func cancelInFlight(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		asked, word, err := story.StartPondering(s, gate)
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
		story.Either(story.CancelIgnoredAfter, later.Done(), nil)
		heeded := story.Either(story.CancelIgnoredAfter, gate.Left(word), nil) // that the client hung up is seen a moment later
		gate.Open(word)
		if heeded {
			gate.DelayBarrier(lateAnswer)
		} else {
			story.Either(story.Reaction, asked.Done(), nil)
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
func cancelInVain(frames func(first json.RawMessage) []string) func(*story.Stage) server.Handler {
	return func(gate *story.Stage) server.Handler {
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
				ask, word := story.HeldQuestion(s, gate, i+1)
				if inTurn {
					gate.Open(word)
				}
				asked, err := story.StartHeld(s, gate, ask, word)
				waited := false
				if err == nil {
					waited, err = cancelBeside(s, frame, func() { gate.Open(word) })
				}
				inTurn = inTurn || waited
				gate.Open(word)
				if err != nil || !story.Either(story.Reaction, asked.Done(), nil) { // one that was cancelled after all is not answered
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
	if inTurn = !story.Either(story.SerialAfter, later.Done(), nil); inTurn {
		letGo()
	}
	_, err = later.Answer()
	return inTurn, err
}

// cancelCrossing cancels a sample as soon as it was asked, and another as soon as the model answers: each time the answer may be on its way.
// What is asked next is another matter.
func cancelCrossing(gate *story.Stage) server.Handler {
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
		asked, word, err := story.StartPondering(s, gate)
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
func sampleUntilGivenUp(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		if !s.WantsProgress() {
			return s.Sample(s.Ask("Name a bird."))
		}
		done := func() {} // in the second era a client that gives up leaves the play as it is
		if !s.Revision().Modern() {
			done = gate.BlockBarrier()
		}
		defer done()
		asked, word, err := story.StartPondering(s, gate)
		defer gate.Open(word)
		if err != nil {
			return nil, err
		}
		if s.Revision().Modern() {
			story.Either(story.Reaction, gate.Left(word), asked.Done())
		} else if story.Either(story.Reaction, s.Context().Done(), nil) {
			_ = s.Cancel(asked, "the call was given up") // where the client has closed the stream it need not be told
			story.Either(story.Reaction, gate.Left(word), nil)
		}
		gate.Open(word)
		done() // for there may be nobody left to answer
		return asked.Answer()
	}
}

// workUntilGivenUp makes progress with a call that the client is to give up then, and answers it all the same.
func workUntilGivenUp(gate *story.Stage) server.Handler {
	return func(s *server.Session) (any, error) {
		defer gate.BlockBarrier()()
		if err := s.Progress(1, 2); err != nil {
			return nil, err
		}
		if !s.WantsProgress() || !story.Either(story.Reaction, s.Context().Done(), nil) {
			return "done", nil
		}
		result := story.Object{"content": []any{server.Text("too late")}}
		if s.Revision().Modern() {
			result["resultType"] = "complete"
		}
		raw, err := json.Marshal(story.Object{"jsonrpc": "2.0", "id": s.CallID(), "result": result})
		if err != nil {
			return nil, err
		}
		return nil, s.Send(raw)
	}
}

package timing

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance/internal/check"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

const (
	// slowly is what the model says when it takes its time, and ending how that ends: by it a whole answer is known.
	slowly = "Stone by stone, each of which had to be found, cut, and carried up the hill. That took them many years. " + ending
	ending = "And then it burned."
	// pingPatience is how long a ping is waited for. A right client answers it at once.
	pingPatience = 5 * time.Second
)

// The model is silent, goes silent in the middle, speaks slowly, and speaks for ever; meanwhile the client is pinged, and asked for its
// progress.
var Scenario = check.Scenario{
	ID:        "time",
	Purpose:   "a model that keeps the client waiting, and a server that wants to know",
	Revisions: check.WithTools,
	Cases: []harness.Case{
		delayed("time/stall-headers", harness.Beyond, func(l harness.Limits) llm.Fault { return llm.PauseBefore(l.Patience) }),
		delayed("time/stall-midstream", harness.Beyond, func(l harness.Limits) llm.Fault { return llm.PauseAfter(4, l.Patience) }),
		delayed("time/slow", harness.Within, func(l harness.Limits) llm.Fault { return llm.Spread(l.Patience) }),
		delayed("time/drip", harness.Beyond, func(l harness.Limits) llm.Fault { return llm.Spread(l.Patience) }),
		{ID: "time/ping", Make: whilePinged, Revisions: []server.Revision{server.V20251125}, Barrier: true},
		{ID: "time/progress", Make: withProgress, Barrier: true},
	},
	Checks: []check.Check{modelStalls, streamStalls, modelSlow, totalLimit, aliveWhileSampling, progressToken, progressRises, progressEnds, tokenShape, tokenUnique},
}

// delayed is a case in which the model is so slow.
func delayed(id string, timed harness.Timing, how func(harness.Limits) llm.Fault) harness.Case {
	return harness.Case{ID: id, Timed: timed, Barrier: true, Make: func(l harness.Limits) harness.Stage {
		play := func(s *server.Session) (any, error) { return s.Sample(s.Ask("How was Rome built?")) }
		return harness.Stage{Handler: play, Rules: llm.Script(llm.When().Reply(llm.Text(slowly)).Fault(how(l)))}
	}}
}

// whilePinged pings the client while the model holds the answer to a sample back, and lets that through when the ping was answered, or
// waited for in vain.
func whilePinged(harness.Limits) harness.Stage {
	const word, question = "holdtheline", "What takes so long (holdtheline)?" // in one word: a client may send a text in several parts
	var gate llm.Gate
	gate.Close(word)
	play := func(s *server.Session) (any, error) {
		defer gate.Open(word)
		asked, err := s.Start(s.Ask(question))
		if err != nil {
			return nil, err
		}
		select {
		case <-gate.Held(word):
		case <-asked.Done(): // without having asked the model
		}
		ctx, cancel := context.WithTimeout(s.Context(), pingPatience)
		defer cancel()
		_ = s.Ping(ctx) // what came of it is judged from the trace
		gate.Open(word)
		return asked.Answer()
	}
	return harness.Stage{Handler: play, Rules: llm.Script(llm.When().Reply(llm.Text("Nothing any more.")).Hold(&gate))}
}

// withProgress asks for a sample under a token of each type, and for two more without. A client may call the tool more than once, and at
// once: no two requests have one token.
func withProgress(harness.Limits) harness.Stage {
	var calls atomic.Int64
	play := func(s *server.Session) (any, error) {
		n := calls.Add(1)
		for _, token := range []string{fmt.Sprintf(`"a-long-way-%d"`, n), fmt.Sprint(6 + n), "", ""} {
			var ask any = s.Ask("How is it going?")
			if token != "" && !s.Revision().Modern() {
				var err error
				if ask, err = askingForProgress(ask, token); err != nil {
					return nil, err
				}
			}
			if _, err := s.Sample(ask); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}
	return harness.Stage{Handler: play, Rules: llm.Script(llm.When().Reply(llm.Text("Getting on with it.")))}
}

// askingForProgress is the request with a progress token.
func askingForProgress(ask any, token string) (any, error) {
	var o map[string]json.RawMessage
	err := json.Unmarshal(dialect.Marshal(ask), &o)
	if err == nil {
		o["_meta"] = json.RawMessage(`{"progressToken":` + token + `}`)
	}
	return o, err
}

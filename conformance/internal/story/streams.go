package story

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// listenPatience is how long a stream is waited for that a client may open, and need not: those that do have begun before they call a tool, and
// on a busy machine it may be the slower of the two.
const ListenPatience = 2 * time.Second

// said is the model's answer to all that is asked here without a gate.
const Said = "Delivered."

// delivered is a case with a barrier, in which the model has one answer.
func Delivered(c harness.Case, play server.Handler) harness.Case {
	c.Barrier, c.Handler = true, play
	c.Script = func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text(Said))) }
	return c
}

// wait waits for an answer, which a client may owe us for ever in the first era: what comes later is seen all the same. In the second the play
// ends with the client's retry.
func Wait(s *server.Session, asked *server.Pending) {
	if s.Revision().Modern() {
		<-asked.Done()
		return
	}
	WaitFor(Reaction, asked.Done(), s.Context().Done())
}

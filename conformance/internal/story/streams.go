package story

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// ListenPatience is how long a handler waits for a stream that a client may open. A client that does has begun before
// it calls a tool, but on a busy machine the call may arrive first.
const ListenPatience = 2 * time.Second

// Said is the model's answer to every question without a gate.
const Said = "Delivered."

// Delivered completes a case with a barrier, in which the model has one answer.
func Delivered(c harness.Case, handler server.Handler) harness.Case {
	c.Barrier, c.Handler = true, handler
	c.Script = func(string) []*llm.Rule { return []*llm.Rule{llm.When().Reply(llm.Text(Said))} }
	return c
}

// Wait waits for the response to a request. Up to 2025-11-25 it waits at most [Reaction], because none may come; one
// that comes later is recorded too. In 2026-07-28 the handler ends with the client's retry.
func Wait(s *server.Session, asked *server.Pending) {
	if s.Revision().Modern() {
		<-asked.Done()
		return
	}
	WaitFor(Reaction, asked.Done(), s.Context().Done())
}

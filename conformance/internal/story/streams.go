package story

import (
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

// ListenPatience is how long a handler waits for the GET stream, which is optional. A client that opens one starts
// before it calls a tool, but on a busy machine the call can arrive first.
const ListenPatience = 2 * time.Second

// Said is the model's answer in cases of [Delivered].
const Said = "Delivered."

// Delivered returns the case with a handler, a barrier, and a model with one answer.
func Delivered(c harness.Case, handler server.Handler) harness.Case {
	c.Barrier, c.Handler = true, handler
	c.Script = func(string) []*llm.Rule { return llm.Script(llm.When().Reply(llm.Text(Said))) }
	return c
}

// Wait waits for a response, in the first era for at most [Reaction]: a client may never respond, and the trace shows
// a late response. In the second era, the handler ends with the client's retry.
func Wait(s *server.Session, asked *server.Pending) {
	if s.Revision().Modern() {
		<-asked.Done()
		return
	}
	Either(Reaction, asked.Done(), s.Context().Done())
}

package cancel

import (
	"github.com/mcp-conform/mcp-conform/conformance/internal/story"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The server cancels one request as soon as it was sent, and another as soon as the model answers: each time the
// response may be on its way. Another request follows each cancel.
var crossing = gated("cancel/crossing", func(gate *story.Gate) server.Handler {
	return func(s *server.Session) (any, error) {
		if _, err := s.Sample(s.Ask("Are you still there?")); err != nil {
			return nil, err
		}
		asked, err := s.Start(s.Ask("Name a bird."))
		if err != nil {
			return nil, err
		}
		if err := asked.Cancel("asked by mistake"); err != nil {
			return nil, err
		}
		if _, err := s.Sample(s.Ask("Name a fish.")); err != nil {
			return nil, err
		}
		asked, word, err := story.AskHeld(s, gate)
		gate.Open(word)
		if err != nil {
			return nil, err
		}
		if err := asked.Cancel("it takes too long"); err != nil {
			return nil, err
		}
		return s.Sample(s.Ask("Name a tree."))
	}
})

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/sse"
)

// listening is the GET stream, for messages that belong to no request of the client
// (2025-11-25, basic/transports#listening-for-messages-from-the-server).
type listening struct {
	answering
	stop context.CancelFunc
	over chan struct{} // closed when the stream has ended
}

// listen opens the GET stream, unless the server has none.
func (s *session) listen() error {
	ctx, stop := context.WithCancel(s.client.ctx)
	resp, err := s.get(ctx, "") //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		stop()
		if errors.Is(err, errNoStream) {
			return nil
		}
		return fmt.Errorf("opening the GET stream: %w", err)
	}
	l := &listening{answering: answering{session: s, ctx: s.client.ctx}, stop: stop, over: make(chan struct{})}
	s.listening = l
	go func() {
		defer close(l.over)
		defer resp.Body.Close()
		_ = s.client.messages(resp, &sse.Reader{}, func(m *message) bool { // the server may end it at any time
			if m.Method != "" {
				l.take(m)
			}
			return true
		})
	}()
	return nil
}

// lastEvents is how long the server may take to end the GET stream after the session.
const lastEvents = time.Second

// stopListening waits for the server to end the GET stream, and then ends it.
func (s *session) stopListening() error {
	l := s.listening
	if l == nil {
		return nil
	}
	s.listening = nil
	timer := time.AfterFunc(lastEvents, l.stop)
	<-l.over
	timer.Stop()
	l.stop()
	return l.wait()
}

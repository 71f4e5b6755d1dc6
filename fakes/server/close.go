package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// closeTimeout is how long Close waits for handlers after it has cancelled their contexts.
const closeTimeout = 5 * time.Second

// Close cancels every handler, closes every connection and waits for what was running. Its error names the handlers
// that have not returned five seconds after their contexts were cancelled. Further calls wait for the first and return
// nil. A handler must not call it.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		<-s.ended // a channel, unlike a lock, lets the clock of a synctest bubble advance
		return nil
	}
	defer close(s.ended)
	s.cancel()
	s.client.CloseIdleConnections()
	err := s.host.Close()
	<-s.served
	idle := make(chan struct{})
	go func() {
		s.handlers.Wait()
		s.requests.Wait()
		close(idle)
	}()
	timeout := time.NewTimer(closeTimeout)
	defer timeout.Stop()
	select {
	case <-idle:
		return err
	case <-timeout.C:
		return s.stillRunning()
	}
}

func (s *Server) stillRunning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var handlers []string
	for of := range s.running {
		handlers = append(handlers, fmt.Sprintf("%s (call %d)", of.tool, of.call))
	}
	if handlers == nil {
		return errors.New("a request is still being read: first close the http.Server that runs Server.Handler")
	}
	slices.Sort(handlers)
	return fmt.Errorf("handlers did not return after their context was cancelled: %s: return when s.Context() is done",
		strings.Join(handlers, ", "))
}

func (s *Server) closing() bool { return s.ctx.Err() != nil }

// begin adds to a group that Close waits for. It returns false when the server is closed.
func (s *Server) begin(group *sync.WaitGroup) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		group.Add(1)
	}
	return !s.closed
}

// startHandler runs a handler on its own goroutine, unless the server is closed.
func (s *Server) startHandler(of scope, run func()) {
	if !s.begin(&s.handlers) {
		return
	}
	s.mu.Lock()
	s.running[of] = struct{}{}
	s.mu.Unlock()
	go func() {
		defer s.handlers.Done()
		defer func() {
			s.mu.Lock()
			delete(s.running, of)
			s.mu.Unlock()
		}()
		run()
	}()
}

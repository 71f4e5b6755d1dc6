package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// playGrace is how long Close waits for plays after their contexts have ended.
const playGrace = 5 * time.Second

// Close ends every play and every connection at once and waits for what was running. It returns an error that names the plays that
// did not return within five seconds of the end of their contexts. Further calls wait for the first and return nil. A play
// must not call it.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if !first {
		<-s.ended // a channel, unlike a lock, lets the clock of a synctest bubble go on
		return nil
	}
	defer close(s.ended)
	s.cancel()
	err := s.host.Close()
	<-s.served
	idle := make(chan struct{})
	go func() {
		s.plays.Wait()
		s.handlers.Wait()
		close(idle)
	}()
	grace := time.NewTimer(playGrace)
	defer grace.Stop()
	select {
	case <-idle:
		return err
	case <-grace.C:
		return s.stuck()
	}
}

// stuck says what still runs although everything was told to end.
func (s *Server) stuck() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var plays []string
	for of := range s.playing {
		plays = append(plays, fmt.Sprintf("%s (call %d)", of.tool, of.call))
	}
	if plays == nil {
		return errors.New("a request is still being read: close the http.Server that runs the Handler first")
	}
	slices.Sort(plays)
	return fmt.Errorf("plays did not return although their context had ended, have them watch s.Context(): %s", strings.Join(plays, ", "))
}

// closing reports whether Close has been called.
func (s *Server) closing() bool { return s.ctx.Err() != nil }

// begin counts something that Close waits for, and reports false where it is too late to begin anything.
func (s *Server) begin(group *sync.WaitGroup) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		group.Add(1)
	}
	return !s.closed
}

// startPlay runs a play on a goroutine of its own, unless the server is being closed.
func (s *Server) startPlay(of scope, play func()) {
	if !s.begin(&s.plays) {
		return
	}
	s.mu.Lock()
	s.playing[of] = struct{}{}
	s.mu.Unlock()
	go func() {
		defer s.plays.Done()
		defer func() {
			s.mu.Lock()
			delete(s.playing, of)
			s.mu.Unlock()
		}()
		play()
	}()
}

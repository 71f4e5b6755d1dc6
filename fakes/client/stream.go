package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/internal/sse"
)

const (
	// resumeAfter is how long the client waits before it resumes a stream if the server does not say.
	resumeAfter = 500 * time.Millisecond
	// maxResumes is how many times in a row a stream is resumed without a new event.
	maxResumes = 5
)

// errNoStream is the answer of a server that has no stream for GET.
var errNoStream = errors.New("the server has no stream for GET")

// answering are the server's requests of one stream, while they are being answered.
type answering struct {
	session *session
	ctx     context.Context // of the call that the stream belongs to, or of the connection
	running sync.WaitGroup

	mu       sync.Mutex
	failures []error
}

func (a *answering) take(m *message) {
	work := a.session.take(a.ctx, m)
	if work == nil {
		return
	}
	a.running.Go(func() {
		if err := work(); err != nil && !errors.Is(err, ErrSessionLost) { // a lost session needs no response
			a.mu.Lock()
			defer a.mu.Unlock()
			a.failures = append(a.failures, fmt.Errorf("answering %s: %w", m.Method, err))
		}
	})
}

func (a *answering) wait() error {
	a.running.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.failures...)
}

// exchange is a request over HTTP, from its POST to its response.
type exchange struct {
	answering
	id     int64
	at     sse.Reader
	answer *message
}

// exchange posts a request and reads the response, before which the server may send requests. When ctx ends, the
// request is cancelled: a closed stream is not a cancellation (2025-11-25,
// basic/transports#sending-messages-to-the-server).
func (s *session) exchange(ctx context.Context, id int64, method string, params any) (json.RawMessage, error) {
	resp, err := s.client.post(ctx, s.headers(), request(id, method, params))
	if err != nil {
		return nil, errors.Join(err, s.cancelAbandoned(ctx, id))
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		if err = s.refused(resp); errors.Is(err, ErrSessionLost) {
			err = errors.Join(errNotTaken, err)
		}
		return nil, err
	}
	if method == "initialize" {
		s.setHeader(headerSession, resp.Header.Get(headerSession))
	}
	x := &exchange{answering: answering{session: s, ctx: ctx}, id: id}
	err = x.read(ctx, resp)
	if x.answer == nil {
		err = errors.Join(err, s.cancelAbandoned(ctx, id))
	} else {
		err = nil
	}
	if failed := x.wait(); failed != nil {
		return nil, failed
	}
	return resultOf(x.answer, err)
}

func (s *session) cancelAbandoned(ctx context.Context, id int64) error {
	if !s.client.abandoned(ctx) {
		return nil
	}
	return s.send(cancellation(id))
}

// read reads messages up to the response, and resumes a stream that ends before.
func (x *exchange) read(ctx context.Context, resp *http.Response) error {
	defer func() { resp.Body.Close() }()
	err := x.session.client.messages(resp, &x.at, x.take)
	for tries := 0; x.answer == nil && x.at.ID != "" && tries < maxResumes && ctx.Err() == nil; tries++ {
		seen := x.at.ID
		next, failed := x.session.resume(ctx, &x.at)
		if failed != nil {
			if err = failed; errors.Is(failed, ErrSessionLost) {
				return err
			}
			continue
		}
		_ = resp.Body.Close()
		resp = next
		if err = x.session.client.messages(resp, &x.at, x.take); x.at.ID != seen {
			tries = -1
		}
	}
	return err
}

// take receives a message of the request's stream, and reports whether to read on.
func (x *exchange) take(m *message) bool {
	switch {
	case m.Method != "":
		x.answering.take(m)
	case string(m.ID) == fmt.Sprint(x.id):
		x.answer = m
	}
	return x.answer == nil
}

// resume waits as long as the server said and opens the stream again after the last complete event
// (2025-11-25, basic/transports#resumability-and-redelivery).
func (s *session) resume(ctx context.Context, at *sse.Reader) (*http.Response, error) {
	wait := at.Retry
	if wait == 0 {
		wait = resumeAfter
	}
	if err := sleep(ctx, wait); err != nil {
		return nil, err
	}
	return s.get(ctx, at.ID)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get opens a stream with GET, after an event if lastEvent is not "".
func (s *session) get(ctx context.Context, lastEvent string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.client.options.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header = s.headers()
	req.Header.Set("Accept", "text/event-stream")
	if lastEvent != "" {
		req.Header.Set(headerLastEvent, lastEvent)
	}
	resp, err := s.client.options.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusMethodNotAllowed {
		return nil, errNoStream
	}
	return nil, s.refused(resp)
}

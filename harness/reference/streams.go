package reference

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// comeBackAfter is how long a stream that broke is left alone where the server does not say.
	comeBackAfter = 500 * time.Millisecond
	// mostReturns is how often in a row it is come back for in vain.
	mostReturns = 5
)

var (
	// errSessionLost is what becomes of a request in a session that the server does not know any more, and errNotTaken of one that it was not
	// begun with.
	errSessionLost = errors.New("the session is lost")
	errNotTaken    = fmt.Errorf("%w: the request was not taken", errSessionLost)
	// errNotAllowed is the answer of a server that has no streams to be opened with GET.
	errNotAllowed = errors.New("there is no stream to be had with GET")
)

// incoming are the server's requests that came on one stream, or one after the other, while they are being answered.
type incoming struct {
	wire *legacy
	ctx  context.Context

	answering sync.WaitGroup
	mu        sync.Mutex
	failures  []error // why they could not be answered
	first     int     // of them, those that begin a conversation
	body      interface{ Close() error }
}

// take takes a message that is no response.
func (in *incoming) take(m *message) {
	if m.Method == "sampling/createMessage" && in.wire.model.config.broken.forgets(m.Params, &in.first) {
		return
	}
	work := in.wire.take(in.ctx, m)
	if work == nil {
		return
	}
	in.answering.Go(func() {
		err := work()
		if err == nil || errors.Is(err, errSessionLost) { // and nobody waits for the answer
			return
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.failures = append(in.failures, fmt.Errorf("answering %s: %w", m.Method, err))
		if errors.Is(err, errDies) {
			_ = in.body.Close() // or the stream would go on for as long as the server waits
		}
	})
}

// reads sets what is being read.
func (in *incoming) reads(resp *http.Response) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.body = resp.Body
}

// settled waits until all was answered that could be.
func (in *incoming) settled() error {
	in.answering.Wait()
	in.mu.Lock()
	defer in.mu.Unlock()
	return errors.Join(in.failures...)
}

// exchange posts a request and reads its response's stream, on which the server may ask first. When ctx ends it is given up, and cancelled: a
// stream that ends is no cancel (2025-11-25, basic/transports#sending-messages-to-the-server). What the server asks is answered until base ends.
func (l *legacy) exchange(ctx, base context.Context, id int64, method string, params map[string]any) (json.RawMessage, error) {
	resp, err := post(ctx, l.env.HTTP, l.env.URL, l.headers(), marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
	if err != nil {
		return nil, errors.Join(err, l.cancelIf(base, isGivenUp(ctx), id))
	}
	defer func() { resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		err := l.refused(resp)
		if errors.Is(err, errSessionLost) {
			err = errors.Join(errNotTaken, err)
		}
		return nil, err
	}
	if method == "initialize" {
		l.setHeader("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	}
	broken := &l.model.config.broken.transport
	if broken.plainIsAnError && method == "tools/call" && !isStream(resp) {
		return nil, errors.New("broken on purpose: the response is no stream")
	}
	in := &incoming{wire: l, ctx: base}
	at := &reading{broken: *broken}
	var answer *message
	take := func(m *message) bool {
		switch own := string(m.ID) == fmt.Sprint(id); {
		case own && (m.Method == "" || broken.takesRequestsForIts):
			answer = m
		case m.Method != "":
			if l.moved.Load() {
				m.Method = "broken/" + m.Method
			}
			in.take(m)
		}
		return answer == nil
	}
	in.reads(resp)
	err = l.model.messages(resp, at, take)
	for returns := 0; answer == nil && at.id != "" && returns < mostReturns && ctx.Err() == nil && !broken.neverResumes; returns++ {
		seen := at.id
		again, failed := l.comeBack(ctx, at)
		if errors.Is(failed, errSessionLost) {
			err = failed
			break
		}
		if failed != nil {
			err = failed
			continue
		}
		_ = resp.Body.Close()
		resp = again
		in.reads(resp)
		if err = l.model.messages(resp, at, take); at.id != seen {
			returns = -1
		}
	}
	err = errors.Join(err, l.cancelIf(base, isGivenUp(ctx), id))
	if failed := in.settled(); failed != nil {
		return nil, failed
	}
	if answer != nil {
		err = nil
	}
	return resultOf(answer, err)
}

// comeBack waits as long as the server said, and opens a stream again behind the last event that came whole
// (2025-11-25, basic/transports#resumability-and-redelivery).
func (l *legacy) comeBack(ctx context.Context, at *reading) (*http.Response, error) {
	wait := at.retry
	if wait == 0 {
		wait = comeBackAfter
	}
	if l.model.config.broken.transport.hasty {
		wait = 0
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return l.get(ctx, at.id)
}

// get opens a stream with GET, behind an event where one is named.
func (l *legacy) get(ctx context.Context, lastEvent string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.env.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header = l.headers()
	req.Header.Set("Accept", "text/event-stream")
	if lastEvent != "" {
		req.Header.Set("Last-Event-Id", lastEvent)
	}
	resp, err := l.env.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusMethodNotAllowed {
		return nil, errNotAllowed
	}
	return nil, l.refused(resp)
}

// refused is what a response comes to that is no success.
func (l *legacy) refused(resp *http.Response) error {
	if resp.StatusCode == http.StatusNotFound && l.headers().Get("Mcp-Session-Id") != "" {
		return errors.Join(errSessionLost, statusError(resp))
	}
	return statusError(resp)
}

// isStream reports whether a response is a stream of events.
func isStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// listening is the stream on which the server says what is not tied to a request
// (2025-11-25, basic/transports#listening-for-messages-from-the-server).
type listening struct {
	incoming
	stop context.CancelFunc
	over chan struct{} // closed when the stream has ended
}

// listen opens that stream. A server may have none.
func (l *legacy) listen(ctx context.Context) error {
	streamed, stop := context.WithCancel(ctx)
	resp, err := l.get(streamed, "") //nolint:bodyclose // whoever reads it closes it
	if err != nil {
		stop()
		if errors.Is(err, errNotAllowed) {
			return nil
		}
		return fmt.Errorf("listening: %w", err)
	}
	in := &listening{incoming: incoming{wire: l, ctx: ctx}, stop: stop, over: make(chan struct{})}
	in.reads(resp)
	l.listening = in
	go func() {
		defer close(in.over)
		defer resp.Body.Close()
		_ = l.model.messages(resp, &reading{broken: l.model.config.broken.transport}, func(m *message) bool { // it may end at any time
			broken := &l.model.config.broken.transport
			if m.Method != "" && !(m.ID != nil && broken.deafListening) {
				in.take(m)
				l.moved.Store(m.ID != nil && broken.movesOver)
			}
			return true
		})
	}()
	return nil
}

// farewell is how long a server whose session has ended may take to end the stream, too.
const farewell = time.Second

// stopListening ends the stream, unless the server does, whose session is over.
func (l *legacy) stopListening() error {
	in := l.listening
	if in == nil {
		return nil
	}
	l.listening = nil
	timer := time.AfterFunc(farewell, in.stop)
	<-in.over
	timer.Stop()
	in.stop()
	return in.settled()
}

// renew starts a new session in place of one that is lost (2025-11-25, basic/transports#session-management). What asks for samples in it is served as
// before.
func (l *legacy) renew(ctx context.Context) error {
	broken := &l.model.config.broken.transport
	if broken.endsWithSession {
		return errSessionLost
	}
	if err := l.stopListening(); err != nil {
		return err
	}
	if !broken.keepsSessionID {
		l.setHeader("Mcp-Session-Id", "")
	}
	l.setHeader("Mcp-Protocol-Version", "")
	l.served.reset()
	l.renewed = true
	return l.initialize(ctx)
}

// headers are those of the next request.
func (l *legacy) headers() http.Header {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.header.Clone()
}

// setHeader sets a header of all requests from here on; "" leaves it out.
func (l *legacy) setHeader(name, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.header.Del(name)
	if value != "" {
		l.header.Set(name, value)
	}
}

package reference

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mcp-conform/mcp-conform/harness"
)

// limit is how long the client waits for the model: what it was told or, where it was told of none, a minute.
func (m *model) limit() time.Duration {
	limit := cmp.Or(m.env.Timeout, harness.DefaultClientTimeout)
	if m.config.broken.hasty {
		limit /= 16
	}
	return limit
}

// limited is a context in which the model is asked for one sample. It covers all of an answer, however that comes: a model that says a word
// now and then is not waited for any longer than one that is silent.
func (m *model) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if broken := &m.config.broken; broken.waitsForEver || broken.limitsHeader || broken.limitsSilence || broken.limitsAttempts {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, m.limit())
}

// attempt asks the model once. A client that is broken limits that, and not all of its attempts together.
func (m *model) attempt(ctx context.Context, params map[string]any) (map[string]any, error) {
	if m.config.broken.limitsAttempts {
		limited, cancel := context.WithTimeout(ctx, m.limit())
		defer cancel()
		ctx = limited
	}
	return m.ask(ctx, params)
}

// network is how the model is reached. A client that is broken limits parts of an answer there, in place of the whole.
func (m *model) network() *http.Client {
	broken := &m.config.broken
	if !broken.limitsHeader && !broken.limitsSilence {
		return m.env.HTTP
	}
	return &http.Client{Transport: &partly{to: cmp.Or(m.env.HTTP.Transport, http.DefaultTransport), limit: m.limit(), silence: broken.limitsSilence}}
}

// partly waits for the header of an answer no longer than the limit and, where silence has one, for each of its pieces.
type partly struct {
	to      http.RoundTripper
	limit   time.Duration
	silence bool
}

func (p *partly) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	timer := time.AfterFunc(p.limit, cancel)
	resp, err := p.to.RoundTrip(r.WithContext(ctx))
	if err != nil || !p.silence {
		timer.Stop()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &piecemeal{resp.Body, p, timer, cancel}
	return resp, nil
}

// piecemeal is the body of such an answer.
type piecemeal struct {
	io.ReadCloser
	of     *partly
	timer  *time.Timer
	cancel context.CancelFunc
}

func (p *piecemeal) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.of.silence && err == nil {
		p.timer.Reset(p.of.limit)
	}
	return n, err
}

func (p *piecemeal) Close() error {
	p.timer.Stop()
	p.cancel()
	return p.ReadCloser.Close()
}

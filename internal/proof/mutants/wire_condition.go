package mutants

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
)

// A conditional edit is made where the condition holds for one of the samples that a message is, carries or answers.
// Messages of no sample, and what is not a message, then stay as they are.

func (w *Wire) always() bool { return w.when.Holds == nil }

func (w *Wire) knows() bool { return !w.always() || w.edit.Noted != nil }

// holds reports whether the condition holds for one of the facts.
func (w *Wire) holds(all ...Facts) bool {
	if w.edit.Noted != nil {
		call := w.Calling()
		for _, f := range all {
			w.edit.Noted(call, f)
		}
	}
	return w.always() || slices.ContainsFunc(all, w.when.Holds)
}

// inFlight are the samples of the latest call that the client works on. A cancelled one counts, because it is chance
// whether the client answers before the cancel arrives.
func (w *Wire) inFlight() []*Sample {
	if c := w.Call(); c != nil && c.asks {
		return slices.Collect(maps.Values(c.samples))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := map[*Sample]bool{}
	for _, m := range w.traffic.toClient {
		waiting[m.Sample] = true
	}
	var all []*Sample
	for _, s := range w.ofCall {
		if waiting[s] || s.cancelled {
			all = append(all, s)
		}
	}
	return all
}

// cancelled notes which sample the server cancels.
func (w *Wire) cancelled(m *Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.traffic.samples[Key(m.Params()["requestId"])]; s != nil {
		s.cancelled = true
	}
}

// known returns the facts of a sampling request with what the wire knows beside its params.
func (w *Wire) known(params object, atOnce int) Facts {
	f := SampleFacts(params)
	f.Parallel = f.Parallel || atOnce > 1
	f.Streamed = w.streams
	f.Retry = w.again()
	return f
}

// again reports whether the latest call was repeated, or the model failed in it.
func (w *Wire) again() bool {
	c := w.Call()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed || c != nil && c.Retries > 0
}

func (s *Sample) facts() Facts {
	f := s.about
	f.Errors = f.Errors || s.Error != nil
	f.Parallel = f.Parallel || len(ofType(s.Result["content"], "tool_use")) > 1
	f.Retry = f.Retry || s.Key != "" && s.Result != nil // a retry carries it
	return f
}

func (w *Wire) applies(m *Message) bool {
	if !w.knows() {
		return true
	}
	about := w.concerned(m)
	m.about = append(m.about, about...)
	return w.holds(about...)
}

// concerned are the facts of the samples that a message is, carries, answers or names.
func (w *Wire) concerned(m *Message) []Facts {
	switch {
	case m.IsRequest() && m.Method() == methodSample:
		return []Facts{w.known(m.Params(), len(w.inFlight())+1)}
	case m.IsResponse() && m.out:
		return w.answered(m)
	case m.IsResponse():
		return w.delivered(m)
	case m.call != nil:
		return m.call.facts(m.call.Retries > 0)
	case m.nested():
		return w.underWay()
	}
	return w.named(m)
}

// underWay are the facts of the samples of the latest call, which the client works on when it calls a tool.
func (w *Wire) underWay() []Facts {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Facts
	for _, s := range w.ofCall {
		all = append(all, s.about)
	}
	return all
}

// named are the facts of the samples that a notification, or a request about tasks, names.
func (w *Wire) named(m *Message) []Facts {
	if m.out && m.Method() == methodCancelled {
		return w.underWay()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Facts
	for key, s := range w.traffic.samples {
		if names(m, key, s) {
			all = append(all, s.about)
		}
	}
	return all
}

// names reports whether a message is about the sample that the wire keeps under the key.
func names(m *Message, key string, s *Sample) bool {
	p := m.Params()
	switch m.Method() {
	case methodCancelled:
		return key == Key(p["requestId"])
	case methodProgress:
		token := member(s.Asked, "_meta")["progressToken"]
		return token != nil && Key(token) == Key(p["progressToken"])
	}
	return key == "task "+text(p, "taskId")
}

// answered are the facts of the sample that a response of the client answers.
func (w *Wire) answered(m *Message) []Facts {
	switch {
	case m.Request == nil:
		return nil
	case m.Request.Sample == nil:
		return w.named(m.Request)
	}
	f := m.Request.Sample.facts()
	f.Errors = f.Errors || m.Body["error"] != nil
	f.Parallel = f.Parallel || len(ofType(m.Result()["content"], "tool_use")) > 1
	return []Facts{f}
}

// delivered are the facts of the samples that a response of the server asks for, or those that led to it.
func (w *Wire) delivered(m *Message) []Facts {
	var all []Facts
	requests := member(m.Result(), "inputRequests")
	for _, params := range samplesIn(requests) {
		all = append(all, w.known(params, len(samplesIn(requests))))
	}
	if all == nil && m.Request != nil && m.Request.call != nil {
		all = m.Request.call.facts(m.Request.call.Retries > 0)
	}
	return all
}

// samplesIn are the params of the sampling requests among input requests, by key.
func samplesIn(requests object) map[string]object {
	all := map[string]object{}
	for key, item := range requests {
		if request, _ := item.(object); request["method"] == methodSample {
			all[key], _ = request["params"].(object)
		}
	}
	return all
}

// facts are those of the samples of the latest round.
func (c *Call) facts(repeated bool) []Facts {
	var all []Facts
	if repeated {
		all = append(all, Facts{Retry: true})
	}
	for _, s := range c.samples {
		f := s.facts()
		f.Retry = f.Retry || repeated
		all = append(all, f)
	}
	return all
}

// ended reports whether the condition holds for a sample of the call that has ended.
func (w *Wire) ended() bool {
	var all []Facts
	w.mu.Lock()
	for _, s := range w.ofCall {
		all = append(all, s.facts())
	}
	w.mu.Unlock()
	return w.holds(all...)
}

// raw reports whether the condition holds for bytes of the server, and the facts.
func (w *Wire) raw(body []byte) (applies bool, about []Facts) {
	if !w.knows() {
		return true, nil
	}
	o, err := jsonvalue.ReadObject(body)
	if err != nil {
		return w.always(), nil
	}
	m := &Message{Wire: w, Body: o}
	applies = w.applies(m)
	return applies, m.about
}

// inCondition is the key of the facts of a request in its context.
type inCondition struct{}

// marked returns the request with facts of the message that it carries, if they are needed.
func (w *Wire) marked(r *http.Request, facts func() []Facts) *http.Request {
	if !w.knows() {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), inCondition{}, facts()))
}

// where takes the edited way for marked requests for which the condition holds, and the plain one for all others.
func (w *Wire) where(edited, plain http.RoundTripper) http.RoundTripper {
	if !w.knows() {
		return edited
	}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if w.holds(factsOf(r)...) {
			return edited.RoundTrip(r)
		}
		return plain.RoundTrip(r)
	})
}

// asking marks the requests to the model, and notes the model's failures.
func (w *Wire) asking(next http.RoundTripper) http.RoundTripper {
	if !w.knows() {
		return next
	}
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := readRequest(r)
		if err != nil {
			return nil, err
		}
		r = w.marked(r, func() []Facts {
			decoded, err := dialects.Decode(w.dialect, r.URL.Path, body)
			if err != nil {
				return nil
			}
			f := ModelFacts(decoded)
			open := w.inFlight()
			f.Parallel = f.Parallel || len(open) > 1
			f.Errors = f.Errors || len(open) == 1 && open[0].about.Errors // most providers' requests do not say it
			f.Retry = w.again()
			return []Facts{f}
		})
		r.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := next.RoundTrip(r)
		if (err != nil || resp.StatusCode != http.StatusOK) && !errors.Is(r.Context().Err(), context.Canceled) {
			w.mu.Lock()
			w.failed = true
			w.mu.Unlock()
		}
		return resp, err
	})
}

// factsOf are the facts with which a request is marked.
func factsOf(r *http.Request) []Facts {
	facts, _ := r.Context().Value(inCondition{}).([]Facts)
	return facts
}

func withReply(facts []Facts, chunks []object) []Facts {
	facts = slices.Clone(facts)
	for i := range facts {
		facts[i].Parallel = facts[i].Parallel || usesIn(chunks) > 1
	}
	return facts
}

// options edits what the client is built from. With a condition it gets both forms, and chooses for each sample.
func (w *Wire) options(env *harness.Env, o *client.Options, m *model.Options) {
	edit := w.edit.Options
	if edit == nil {
		edit = func(*Wire, *client.Options, *model.Options) {}
	}
	w.streams = !m.Plain && !dialects.FactsOf(m.Dialect).Plain
	w.dialect = m.Dialect
	if w.always() {
		edit(w, o, m)
		w.failures(o)
		return
	}
	plain, edited, unedited := *o, *o, *m
	fired := w.fired
	w.fired = nil // nothing has changed yet
	edit(w, &edited, m)
	w.fired = fired
	if m.Retry != nil { // only a model of its own asks once
		plain.Sampling = model.New(unedited).Sample
	}
	c := conditional{w, plain, edited, m.Retry != nil}
	o.Sampling, o.Validate = c.sample, c.validate
	w.failures(o)
	if edited.Timeout != plain.Timeout {
		o.Timeout = -1
	}
	if decision := w.decision; decision != env.Decision {
		c.edited.Consent = reference.Consent(decision)
		o.Consent = c.consent
	}
}

// conditional is a client of two forms.
type conditional struct {
	w             *Wire
	plain, edited client.Options
	retries       bool // the edited form asks the model again after a failure
}

func (c *conditional) of(params object) *client.Options {
	f := c.w.known(params, len(c.w.inFlight()))
	f.Errors, f.Retry = f.Errors || c.retries, f.Retry || c.retries
	if c.w.holds(f) {
		return &c.edited
	}
	return &c.plain
}

func (c *conditional) sample(ctx context.Context, params object) (object, error) {
	chosen := c.of(params)
	if c.edited.Timeout == c.plain.Timeout {
		return chosen.Sampling(ctx, params)
	}
	shorter := c.w.limit()
	if c.edited.Timeout > 0 {
		shorter = min(shorter, c.edited.Timeout)
	}
	if chosen == &c.edited { // the forms differ from then on
		defer time.AfterFunc(shorter, c.w.Fire).Stop()
	}
	if limit := chosen.Timeout; limit >= 0 {
		if limit == 0 {
			limit = c.w.limit()
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return chosen.Sampling(ctx, params)
}

func (c *conditional) validate(params object) error {
	if validate := c.of(params).Validate; validate != nil {
		return validate(params)
	}
	return c.w.validate(params)
}

func (c *conditional) consent(ctx context.Context, params, result object) error {
	said := c.plain.Consent(ctx, params, result)
	if c.of(params) == &c.plain {
		return said
	}
	edited := c.edited.Consent(ctx, params, result)
	if (edited == nil) != (said == nil) {
		c.w.Fire()
	}
	return edited
}

// failures lets the edit replace what becomes of a failure of the provider.
func (w *Wire) failures(o *client.Options) {
	if w.edit.Failed == nil {
		return
	}
	next := o.Sampling
	o.Sampling = func(ctx context.Context, params object) (object, error) {
		result, err := next(ctx, params)
		if err == nil || errors.As(err, new(*client.Error)) || errors.Is(ctx.Err(), context.Canceled) {
			return result, err
		}
		f := w.known(params, len(w.inFlight()))
		f.Errors = true
		if !w.holds(f) {
			return result, err
		}
		w.fire([]Facts{f})
		return w.edit.Failed(err)
	}
}

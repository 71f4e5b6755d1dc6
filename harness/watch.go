package harness

import (
	"sync"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/leak"
)

// watch records the events of one session, and notices what the session depends on. It is safe for concurrent use.
type watch struct {
	rec     *trace.Recorder
	mask    *leak.Mask
	ids     map[string]string // of cases, by what events name in their place: tools, marks, resources
	further map[string]bool   // tools of cases beside their own
	pulse   *pulse
	say     func(*trace.Event)
	spoke   func(*trace.Event) // called for each message of the client

	connected, done event // the client has sent its first message; the host has given its last answer
	called          sync.Map
	lastTurn        atomic.Bool // the host's model gives its last answer
	announced       announcements
}

type event struct {
	happened chan struct{}
	happens  func()
}

func newEvent() event {
	happened := make(chan struct{})
	return event{happened, sync.OnceFunc(func() { close(happened) })}
}

func (w *watch) record(e trace.Event) trace.Ref {
	if w.further[e.Case] {
		e.Tool = e.Case
	}
	if e.Case != "" {
		e.Case = w.ids[e.Case]
	}
	if fromClient(&e) {
		w.called.Store(e.Case, true)
		w.connected.happens()
		w.spoke(&e)
	}
	if w.lastTurn.Load() && e.End != nil && e.End.Host {
		w.done.happens()
	}
	w.pulse.see(&e)
	w.say(&e)
	return w.rec.Record(masked(w.mask, e))
}

// agent returns what the fake model needs to play the model of a host; nil for a client that is no host.
func (w *watch) agent(client *Client) *llm.Agent {
	if !client.Agent {
		return nil
	}
	return &llm.Agent{Mark: promptMark, Done: func() { w.lastTurn.Store(true) }, Called: func(tool string) bool {
		_, ok := w.called.Load(w.ids[tool])
		return ok
	}}
}

// ending notes that the harness ends the client. What follows is not the client's doing.
func (w *watch) ending() {
	w.pulse.over.Store(true)
	w.record(trace.Event{Mark: &trace.Mark{Name: trace.MarkEnding}})
}

// ended notes how the client ended, and which features it has: those declared, and those that it announced.
func (w *watch) ended(p *trace.Process, declared []string) {
	for _, feature := range declared {
		w.announced.add(feature)
	}
	for _, feature := range w.announced.all() {
		w.record(trace.Event{Mark: &trace.Mark{Name: trace.MarkSupports, Text: feature}})
	}
	w.record(trace.Event{Process: p})
}

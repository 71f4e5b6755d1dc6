package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
)

var stdioEdits = edits{
	"logs-on-the-pipe": piped(func(w *Wire, p *brokenPipe) {
		p.write = func(line []byte) (int, error) {
			w.Fire()
			_, err := p.Pipe.Write(append([]byte("DEBUG sending a message\n"), line...))
			return len(line), err
		}
	}),
	"fears-stderr": func(w *Wire) Edit { return Edit{Stderr: alarm{w}} },
	"waits-for-a-dead-server": piped(func(w *Wire, p *brokenPipe) {
		p.ended = func() {
			w.Fire()
			<-w.Context.Done()
		}
	}),
	"crashes-with-its-server": piped(func(w *Wire, p *brokenPipe) {
		p.ended = func() { w.Panic("the server has ended") }
	}),
	"never-restarts": func(w *Wire) Edit {
		var launched atomic.Bool
		return Edit{Env: func(env *harness.Env) {
			launch := env.Launch
			env.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
				if launched.Swap(true) {
					w.Fire()
					return nil, errors.New("broken on purpose: never restarts a server")
				}
				return launch(ctx, stderr)
			}
		}}
	},
	"kills-its-server": piped(func(w *Wire, p *brokenPipe) {
		p.close = func() error {
			w.Fire()
			return p.Kill()
		}
	}),
	"skips-batches": onBatch(func(*Wire, []byte) []byte { return nil }),
	"first-of-a-batch": onBatch(func(_ *Wire, raw []byte) []byte {
		list, _ := batch(raw)
		return marshal(list[:min(1, len(list))])
	}),
	"dies-of-batches": onBatch(func(w *Wire, raw []byte) []byte {
		w.Die("a batch")
		return nil
	}),
}

// askedIn is the revision in which the correct client asks for the server's revisions.
var askedIn = server.DefaultRevisions()[1]

var versionEdits = edits{
	"insists-on-its-version": in(func(m *Message) { m.discovers(askedIn) }),
	"takes-an-unlisted-version": in(func(m *Message) {
		if m.Body["error"] == nil {
			m.discovers(askedIn)
		}
	}),
	"old-version-in-meta": func(*Wire) Edit {
		var oldest atomic.Value
		return Edit{
			In: func(m *Message) {
				if spoken := m.discovers(askedIn); len(spoken) > 0 {
					oldest.Store(string(slices.Min(spoken)))
				}
			},
			Out: func(m *Message) {
				if version, ok := oldest.Load().(string); ok && m.Meta()[metaVersion] != nil {
					m.Meta()[metaVersion] = version
					m.Header.Set("Mcp-Protocol-Version", version)
				}
			},
		}
	},
	"keeps-its-version": in(func(m *Message) {
		if m.Answers("initialize") && m.Result()["protocolVersion"] != nil {
			m.Result()["protocolVersion"] = m.Request.Params()["protocolVersion"]
		}
	}),
	"falls-back-without-headers": whenNegotiating(Edit{Out: func(m *Message) {
		if m.Method() != "initialize" && m.Meta()[metaVersion] == nil {
			m.Header.Del("Mcp-Protocol-Version")
		}
	}}),
	"falls-back-without-a-session": whenNegotiating(Edit{Out: func(m *Message) { m.Header.Del("Mcp-Session-Id") }}),
	"falls-back-to-two-responses": whenNegotiating(Edit{Out: func(m *Message) {
		if m.AnswersSample() {
			m.After(copyOf(m.Body))
		}
	}}),
	"falls-back-and-asks-for-more": whenNegotiating(Edit{Params: func(p object) { p["maxTokens"] = json.Number("9000") }}),
	"waits-for-its-version": in(func(m *Message) {
		if m.Answers("server/discover") && !slices.Contains(m.discovers(""), askedIn) {
			m.Wire.Fire()
			<-m.Wire.Context.Done()
		}
	}),
}

// whenNegotiating makes the edit while the client has to find out the version.
func whenNegotiating(e Edit) func(*Wire) Edit {
	return func(w *Wire) Edit {
		if w.Env.Revision != "" {
			return Edit{}
		}
		return e
	}
}

// discovers returns the revisions that the response to server/discover lists, and adds one to it; "" adds none.
func (m *Message) discovers(also server.Revision) []server.Revision {
	if !m.Answers("server/discover") {
		return nil
	}
	holder, name := m.Result(), "supportedVersions"
	if failed, ok := m.Body["error"].(object); ok {
		holder, name = member(failed, "data"), "supported"
	}
	list, _ := holder[name].([]any)
	var spoken []server.Revision
	for _, item := range list {
		if s, ok := item.(string); ok {
			spoken = append(spoken, server.Revision(s))
		}
	}
	if also != "" && list != nil && !slices.Contains(spoken, also) {
		delete(m.Body, "error")
		m.Body["result"] = object{"resultType": "complete", "supportedVersions": []any{string(also)},
			"capabilities": object{"tools": object{}}}
	}
	return spoken
}

// onBatch edits batches.
func onBatch(f func(w *Wire, raw []byte) []byte) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Payload: func(raw []byte) []byte {
			if _, ok := batch(raw); ok {
				return f(w, raw)
			}
			return raw
		}}
	}
}

// alarm ends the client when something is written.
type alarm struct{ w *Wire }

func (a alarm) Write(b []byte) (int, error) {
	a.w.Die("the server wrote to standard error")
	return len(b), nil
}

// piped edits the launched server.
func piped(f func(w *Wire, p *brokenPipe)) func(*Wire) Edit {
	return func(w *Wire) Edit {
		return Edit{Pipe: func(to Pipe) Pipe {
			p := &brokenPipe{Pipe: to, write: to.Write, close: to.Close}
			f(w, p)
			return p
		}}
	}
}

// brokenPipe is a launched server that the client handles wrongly.
type brokenPipe struct {
	Pipe
	write  func(line []byte) (int, error)
	close  func() error
	ended  func() // by itself
	closed atomic.Bool
}

func (p *brokenPipe) Write(line []byte) (int, error) {
	n, err := p.write(line)
	if err != nil && p.ended != nil && !p.closed.Load() {
		return len(line), nil
	}
	return n, err
}

func (p *brokenPipe) Read(b []byte) (int, error) {
	n, err := p.Pipe.Read(b)
	if err != nil && p.ended != nil && !p.closed.Load() {
		p.ended()
	}
	return n, err
}

func (p *brokenPipe) Close() error {
	p.closed.Store(true)
	return p.close()
}

package openai

import (
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// writer writes the events of a stream.
type writer struct {
	c         *completion
	withUsage bool
	head      []byte // of each event: its object without the last brace
	open      []byte // the members after the delta of a choice that does not finish, each with a comma before it
	text      []byte // of all events
	events    [][]byte
	chunks    int
}

// providerName is the provider that OpenRouter names.
const providerName = "Scripted"

func (c *completion) writer(withUsage bool) *writer {
	var tier, provider, fingerprint any = dialect.Absent, dialect.Absent, dialect.Absent
	switch {
	case c.style.isOpenAI:
		tier = "default"
	case c.style.isRouter:
		provider = providerName
	}
	if c.style.fingerprint != "" {
		fingerprint = c.style.fingerprint
		if c.reasoning {
			fingerprint = nil
		}
	}
	head := dialect.Ordered("id", c.id, "object", "chat.completion.chunk", "created", c.created, "model", c.model,
		"service_tier", tier, "provider", provider, "system_fingerprint", fingerprint)
	return &writer{c: c, withUsage: withUsage, head: head[:len(head)-1], open: rest(nil, c.ending(false))}
}

// rest writes members behind those of an object that is still open.
func rest(out []byte, members []any) []byte {
	if len(members) == 0 {
		return out
	}
	brace := len(out)
	out = dialect.Append(out, members...)
	out[brace] = ','
	return out[:len(out)-1]
}

func (w *writer) raw(event string) { w.events = append(w.events, []byte(event)) }

// event writes an event with these members after the head.
func (w *writer) event(members ...any) {
	w.end(w.begin(), members)
}

// begin begins an event and returns its place in the text.
func (w *writer) begin() int {
	begin := len(w.text)
	w.text = append(append(w.text, "data: "...), w.head...)
	return begin
}

// end ends an event with these members.
func (w *writer) end(begin int, members []any) {
	w.text = append(rest(w.text, members), "}\n\n"...)
	w.events = append(w.events, w.text[begin:len(w.text):len(w.text)])
	w.chunks++
}

// choice writes an event with one choice.
func (w *writer) choice(d delta) {
	c, s := w.c, w.c.style
	begin := w.begin()
	w.text = dialect.Append(append(w.text, `,"choices":[{"index":0,"delta":`...), d.members...)
	if d.finishes {
		w.text = rest(w.text, c.ending(true))
	} else {
		w.text = append(w.text, w.open...)
	}
	w.text = append(w.text, "}]"...)
	var members []any
	switch {
	case d.finishes && s.joinedFinish:
		members = append(members, "usage", c.usage.object(s))
	case d.finishes && s.isGroq:
		usage := c.usage.object(s)
		members = append(members, "x_groq", dialect.Pairs{"id", c.requestID, "usage", usage}, "usage", usage)
	case s.isGroq && w.chunks == 0:
		members = append(members, "x_groq", dialect.Pairs{"id", c.requestID, "seed", 1})
	case w.withUsage && s.isOpenAI:
		members = append(members, "usage", nil)
	}
	w.end(begin, members)
}

func (w *writer) usage() {
	c, s := w.c, w.c.style
	choices := []dialect.Pairs{}
	var tier any = dialect.Absent
	switch {
	case s.isRouter: // the finish reason again
		delta := dialect.Pairs{"role", "assistant", "content", ""}
		choices = append(choices, append(dialect.Pairs{"index", 0, "delta", delta}, c.ending(true)...))
	case s.isGroq:
		tier = "on_demand"
	}
	w.event("choices", choices, "usage", c.usage.object(s), "service_tier", tier)
}

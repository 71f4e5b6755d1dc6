// Package sequence shows a trace as a sequence for people: a line for each message, in the order in which they were
// seen. It judges nothing.
package sequence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Options are what to show. The zero value shows a line for each message.
type Options struct {
	// Bodies shows each message whole, up to a limit.
	Bodies bool
	// Case limits the sequence to the events of one case, with what passes beside them on the other side of a gateway; ""
	// for all.
	Case string
	// Session shows, beside the case, what its session has outside of cases, such as the connection.
	Session bool
	// Marked are the events to mark, such as those on which a verdict rests.
	Marked map[trace.Ref]bool
	// Growing says nothing about the end of a trace that is still recorded.
	Growing bool
}

const (
	// firstWords is how much of a message is shown in its line, in characters.
	firstWords = 90
	// mostBody is how much of a body is shown, in bytes.
	mostBody = 4000
)

// Writer writes one sequence. It keeps little in memory.
type Writer struct {
	out     io.Writer
	options Options
	current string
	began   bool
	header  trace.Header
	beside  []shown           // what passed at the front of a gateway since the latest event of a case
	chunks  map[int64]int     // of the model's answers, by exchange
	methods map[string]string // of open requests, by sender and id
	// Shown counts the events that were shown.
	Shown int
}

// New returns a writer of a sequence to out.
func New(out io.Writer, o Options) *Writer {
	return &Writer{out: out, options: o, chunks: map[int64]int{}, methods: map[string]string{}}
}

// Add writes a part of a trace, as [trace.Scan] gives it.
func (w *Writer) Add(part *trace.Trace) error {
	if !w.began {
		w.began, w.header = true, part.Header
		if w.options.Case == "" {
			return w.head()
		}
		return nil
	}
	for i := range part.Events {
		if err := w.event(&part.Events[i]); err != nil {
			return err
		}
	}
	if part.Cut && !w.options.Growing && (w.options.Case == "" || w.Shown > 0) {
		_, err := fmt.Fprintln(w.out, "\nThe end is missing: the tap was killed, or still records.")
		return err
	}
	return nil
}

// head writes what the trace is of.
func (w *Writer) head() error {
	h := &w.header
	parts := []string{h.Revision}
	for _, part := range []string{h.Client, h.Transport} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	_, err := fmt.Fprintf(w.out, "%s · %s · seed %d\n", strings.Join(parts, " · "), words.Count(len(h.Cases), "case"),
		h.Seed)
	return err
}

// line is what is shown of an event.
type line struct {
	leg, what, words string
	body             []byte
}

// shown is an event and its line, under the name of a case.
type shown struct {
	*line
	event trace.Event
	under string
}

func (w *Writer) event(e *trace.Event) error {
	l := w.read(e)
	one := w.options.Case
	switch {
	case l == nil:
		return nil
	case one == "":
		return w.write(&shown{l, *e, e.Case})
	case e.Case == "" && e.Front != nil && !w.options.Session:
		w.beside = append(w.beside, shown{l, *e, one})
		return nil
	case e.Case == one || e.Case == "" && w.options.Session && w.plays(one):
		if w.Shown == 0 {
			if err := w.head(); err != nil {
				return err
			}
		}
		for i := range w.beside {
			if err := w.write(&w.beside[i]); err != nil {
				return err
			}
		}
		w.beside = nil
		return w.write(&shown{l, *e, e.Case})
	case e.Case != "":
		w.beside = nil
	}
	return nil
}

// plays reports whether the trace is of a session with the case.
func (w *Writer) plays(id string) bool {
	return slices.ContainsFunc(w.header.Cases, func(c trace.Case) bool { return c.ID == id })
}

func (w *Writer) write(l *shown) error {
	e := &l.event
	var b bytes.Buffer
	if w.Shown == 0 || l.under != w.current {
		name := l.under
		if name == "" {
			name = "(the session)"
		}
		fmt.Fprintf(&b, "\n%s\n", name)
		w.current = l.under
	}
	w.Shown++
	mark := " "
	if w.options.Marked[e.Ref()] {
		mark = ">"
	}
	text := fmt.Sprintf("%s %9s  #%-3d %-15s  %s  %s", mark, since(e.At), e.Seq, l.leg, l.what, clip(l.words))
	b.WriteString(strings.TrimRight(text, " ") + "\n")
	if w.options.Bodies && len(l.body) > 0 {
		writeBody(&b, l.body)
	}
	_, err := w.out.Write(b.Bytes())
	return err
}

// since writes a time since the beginning, in seconds.
func since(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// read returns what to show of an event; nil for nothing.
func (w *Writer) read(e *trace.Event) *line {
	switch {
	case e.Frame != nil:
		return w.frame(e.Frame, "client", "server")
	case e.Front != nil:
		return w.frame(e.Front, "client", "gateway")
	case e.Request != nil:
		r := e.Request
		return &line{"client → model", fmt.Sprintf("%s %s", r.Method, r.Path), r.Dialect + " " + said(r.Body), r.Body}
	case e.Chunk != nil:
		w.chunks[e.Chunk.Exchange]++
		if !w.options.Bodies {
			return nil
		}
		return &line{"model → client", "part", oneLine(e.Chunk.Data), nil}
	case e.End != nil:
		return w.end(e.End)
	case e.Process != nil:
		return &line{"client", string(e.Process.State), ending(e.Process), []byte(e.Process.Stderr)}
	case e.Mark != nil:
		return &line{"harness", e.Mark.Name, e.Mark.Text, nil}
	}
	return nil
}

func (w *Writer) frame(f *trace.Frame, client, server string) *line {
	l := &line{leg: client + " → " + server, body: f.Raw}
	from, to := client+server, server+client // of ids
	if f.Dir == trace.ToClient {
		l.leg, from, to = server+" → "+client, to, from
	}
	m := trace.ReadMessage(f.Raw)
	id := string(m.ID)
	switch {
	case len(f.Raw) == 0:
		l.what = bare(f)
	case m.Method != "":
		l.what, l.words = strings.TrimSpace(m.Method+" "+id), said(m.Params)
		if m.ID != nil {
			w.methods[from+id] = m.Method
		}
	case m.Error != nil:
		l.what, l.words = "error "+id+w.answered(to+id), oneLine(m.Error)
	case m.Result != nil:
		l.what, l.words = "result "+id+w.answered(to+id), said(m.Result)
	default:
		l.what, l.words = "not a message", oneLine(f.Raw)
	}
	for _, note := range []struct {
		is   bool
		text string
	}{{f.Lost, " (lost)"}, {f.Partial, " (cut)"}, {f.Hostile, " (wrong on purpose)"}, {f.Resent, " (again)"}} {
		if note.is {
			l.what += note.text
		}
	}
	return l
}

// answered names the request that a response is for, and forgets it.
func (w *Writer) answered(request string) string {
	method := w.methods[request]
	delete(w.methods, request)
	if method == "" {
		return ""
	}
	return " of " + method
}

// bare describes a frame without a message.
func bare(f *trace.Frame) string {
	switch {
	case f.Closed:
		return "closed the stream"
	case f.HTTP == nil:
		return "nothing"
	case f.HTTP.Method != "":
		return f.HTTP.Method
	}
	return fmt.Sprintf("HTTP %d", f.HTTP.Status)
}

func (w *Writer) end(e *trace.ModelEnd) *line {
	l := &line{leg: "model → client", what: fmt.Sprintf("HTTP %d", e.Status)}
	parts := w.chunks[e.Exchange]
	delete(w.chunks, e.Exchange)
	var notes []string
	if e.Stream {
		notes = append(notes, words.Count(parts, "part"))
	}
	for _, note := range []string{e.Fault, e.Unmatched, e.Refused} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	if e.HungUp {
		notes = append(notes, "the client hung up")
	}
	l.words = strings.Join(notes, ", ")
	return l
}

func ending(p *trace.Process) string {
	switch {
	case p.State == trace.Started:
		return strings.Join(p.Argv, " ")
	case p.Deadline:
		return "by the harness: its time was up"
	case p.Interrupted:
		return "by the harness: the run was interrupted"
	case p.Signal != "":
		return "by the signal " + p.Signal
	case p.Panic != "":
		return "panic: " + p.Panic
	case p.Err != "":
		return p.Err
	}
	return fmt.Sprintf("with status %d", p.ExitCode)
}

// said returns the words of the last message of a conversation, or else the JSON without the protocol's own members.
func said(raw []byte) string {
	o, _ := jsonvalue.Decode(raw).(map[string]any)
	if o["_meta"] != nil {
		delete(o, "_meta")
		raw = jsonvalue.Marshal(o)
	}
	if text := inputs(o); text != "" {
		return text
	}
	m := o
	if messages := jsonvalue.Messages(o); len(messages) > 0 {
		m = messages[len(messages)-1]
	}
	if text, ok := m["content"].(string); ok {
		return jsonvalue.Quote(text)
	}
	blocks, err := jsonvalue.Blocks(m["content"])
	if err != nil || len(blocks) == 0 {
		return oneLine(raw)
	}
	if text := jsonvalue.TextIn(blocks[0], "text"); text != "" && len(blocks) == 1 {
		return jsonvalue.Quote(text)
	}
	return string(jsonvalue.Marshal(m["content"]))
}

// inputs returns the words of what a result asks for, or of what a retry answers, by key; "" for neither.
func inputs(o map[string]any) string {
	all, asks := o["inputRequests"].(map[string]any)
	verb := "asks "
	if !asks {
		all, _ = o["inputResponses"].(map[string]any)
		verb = "answers "
	}
	var each []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text, one := verb+key+":", all[key]
		if request, ok := one.(map[string]any); ok && asks {
			method, _ := request["method"].(string)
			text, one = text+" "+method, request["params"]
		}
		if one != nil {
			text += " " + said(jsonvalue.Marshal(one))
		}
		each = append(each, text)
	}
	return strings.Join(each, ", ")
}

// oneLine returns JSON without white space, and anything else quoted.
func oneLine(raw []byte) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) == nil {
		return b.String()
	}
	return jsonvalue.Quote(string(bytes.ToValidUTF8(raw, []byte("�"))))
}

func clip(text string) string {
	if runes := []rune(text); len(runes) > firstWords {
		return string(runes[:firstWords]) + "…"
	}
	return text
}

// writeBody writes a body in lines of its own: JSON indented, and its end left out if it is long.
func writeBody(b *bytes.Buffer, raw []byte) {
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(bytes.ToValidUTF8(raw, []byte("�")))
	}
	text := pretty.Bytes()
	cut := len(text) > mostBody
	if cut {
		text = bytes.ToValidUTF8(text[:mostBody], nil)
	}
	for each := range bytes.Lines(text) {
		fmt.Fprintf(b, "               %s\n", bytes.TrimRight(each, "\n"))
	}
	if cut {
		fmt.Fprintf(b, "               … (%d bytes)\n", len(raw))
	}
}

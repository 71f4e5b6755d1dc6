package llm

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// errCallerGone says that the caller hung up or the server closed during a wait.
var errCallerGone = errors.New("the caller is gone")

// send delivers the answer chunk by chunk. It records each chunk, and the end with the last one, before writing, so
// that the caller's reaction always follows it in the trace. The exception is a stall, which ends when the caller
// leaves.
func (s *Server) send(w http.ResponseWriter, r *http.Request, x *Exchange, o outcome) {
	ctx, waits := r.Context(), o.pace.waits()
	unsent := o.Answer
	unsent.Status = 0
	if !s.wait(ctx, o.delivery.delay+waits.vary(waits.FirstToken)) {
		s.endUnfinished(x, unsent)
		return
	}
	if o.delivery.cut.silent {
		s.stallOrReset(ctx, w, x, outcome{Answer: unsent, delivery: o.delivery})
		return
	}
	held := o.gate.enter(x.Body) // before the caller sees the header
	s.sendHeader(w, &o)
	control := http.NewResponseController(w)
	if held != nil {
		defer o.gate.leave(held) // once the end is in the trace
		_ = control.Flush()      // a hang-up is noticed while held
		if !until(ctx, s, held.open) || ctx.Err() != nil {
			s.endUnfinished(x, o.Answer)
			return
		}
	}
	if !s.sendChunks(ctx, w, x, &o, &waits) {
		s.endUnfinished(x, o.Answer)
		return
	}
	if ending := o.delivery.cut.ending; ending == stalls || ending == resets {
		_ = control.Flush() // at least the header
		s.stallOrReset(ctx, w, x, o)
	}
}

// sendChunks writes the chunks. False: the caller left or the server closed first.
func (s *Server) sendChunks(ctx context.Context, w http.ResponseWriter, x *Exchange, o *outcome, waits *waits) bool {
	control, stalling := http.NewResponseController(w), o.delivery.cut.ending == stalls
	var began time.Time
	if o.delivery.spread > 0 {
		began = time.Now()
	}
	if len(o.Chunks) == 0 && !stalling {
		s.end(x, o.Answer, completed)
	}
	var split splitter
	if o.delivery.split != nil {
		split = o.delivery.split()
	}
	for i, chunk := range o.Chunks {
		pause := o.pauseBefore(i)
		switch {
		case o.delivery.spread > 0:
			pause += o.due(i) - time.Since(began)
		case i > 0:
			pause += waits.vary(waits.Token)
		}
		if pause > 0 {
			_ = control.Flush() // at least the header
		}
		if !s.wait(ctx, pause) {
			return false
		}
		if s.options.Record != nil {
			s.record(x, trace.Event{Chunk: &trace.ModelChunk{Exchange: x.Number, Data: chunk}})
		}
		last := i == len(o.Chunks)-1
		if last && !stalling {
			s.end(x, o.Answer, completed)
		}
		if s.write(ctx, w, control, chunk, split, o, last) != nil {
			return false
		}
	}
	return true
}

func (s *Server) sendHeader(w http.ResponseWriter, o *outcome) {
	header := w.Header()
	for name, values := range o.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	if !o.Stream && header["Content-Length"] == nil {
		header["Content-Length"] = []string{strconv.Itoa(length(o.Chunks))}
	}
	if o.delivery.contentType != nil {
		header["Content-Type"] = nil // prevents content sniffing by net/http
		if *o.delivery.contentType != "" {
			header["Content-Type"] = []string{*o.delivery.contentType}
		}
	}
	w.WriteHeader(o.Status)
}

func length(chunks [][]byte) int {
	n := 0
	for _, chunk := range chunks {
		n += len(chunk)
	}
	return n
}

// write writes a chunk, split as the rule says, and flushes each piece. Without a split, it flushes the last chunk of a
// stream: what no wait separates leaves together.
func (s *Server) write(ctx context.Context, w http.ResponseWriter, control *http.ResponseController, chunk []byte,
	split splitter, o *outcome, last bool) error {
	if split == nil {
		return writeAndFlush(w, control, chunk, o.Stream && last)
	}
	for i, piece := range split(chunk) {
		if i > 0 && !s.wait(ctx, o.delivery.between) {
			return errCallerGone
		}
		if err := writeAndFlush(w, control, piece, true); err != nil {
			return err
		}
	}
	return nil
}

func writeAndFlush(w http.ResponseWriter, control *http.ResponseController, data []byte, flush bool) error {
	if _, err := w.Write(data); err != nil || !flush {
		return err
	}
	if err := control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// endUnfinished records the end of an unfinished exchange.
func (s *Server) endUnfinished(x *Exchange, a Answer) {
	select {
	case <-s.closing:
		s.end(x, a, closed)
		panic(http.ErrAbortHandler) // half an answer must not look complete
	default:
		s.end(x, a, hungUp)
	}
}

// stallOrReset stalls or resets the connection.
func (s *Server) stallOrReset(ctx context.Context, w http.ResponseWriter, x *Exchange, o outcome) {
	if o.delivery.cut.ending == stalls {
		until[any](ctx, s, nil) // the caller hangs up or the server closes
		s.endUnfinished(x, o.Answer)
		return
	}
	if o.Status == 0 {
		s.end(x, o.Answer, completed)
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // closes a connection that cannot be reset
	}
	if tcp, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // makes Close a reset
	}
	_ = conn.Close()
}

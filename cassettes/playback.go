package cassettes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// respond returns a response whose body has the chunks of an answer, at their recorded pace if it is paced and known.
func respond(r *http.Request, a dialect.Answer, when *timing, paced bool) *http.Response {
	length := int64(-1)
	if !a.Stream {
		length = 0
		for _, chunk := range a.Chunks {
			length += int64(len(chunk))
		}
	}
	body := &playback{ctx: r.Context(), chunks: slices.Clone(a.Chunks), closed: make(chan struct{})}
	if when != nil {
		body.cut = when.Cut
		if paced && when.Pieces != nil && a.Stream {
			body.pauses = when.Pieces
		}
	}
	if length > 0 && body.cut == wholeAnswer {
		a.Header.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)), StatusCode: a.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.Header, Body: body, ContentLength: length, Request: r,
	}
}

type playback struct {
	ctx    context.Context
	chunks [][]byte
	pauses [][2]int64 // one before each chunk, or nil
	cut    string
	begun  bool // some of the first chunk has been read

	once   sync.Once
	closed chan struct{}
}

// Read returns bytes of one chunk only.
func (b *playback) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.chunks) == 0 {
		return 0, b.ending()
	}
	if !b.begun && b.pauses != nil {
		if err := pause(b.ctx, b.closed, b.pauses[0][1]); err != nil {
			return 0, err
		}
		b.pauses = b.pauses[1:]
	}
	n := copy(p, b.chunks[0])
	b.begun = true
	if b.chunks[0] = b.chunks[0][n:]; len(b.chunks[0]) == 0 {
		b.chunks, b.begun = b.chunks[1:], false
	}
	return n, nil
}

// ending returns the error after the last chunk. An answer that was cut short does not end with io.EOF.
func (b *playback) ending() error {
	if b.cut == wholeAnswer {
		return io.EOF
	}
	return fmt.Errorf("the recording ends here because the %s cut the answer short: %w", b.cut, io.ErrUnexpectedEOF)
}

func (b *playback) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// pause waits for some milliseconds, the end of ctx, or the closing of the body.
func pause(ctx context.Context, closed <-chan struct{}, ms int64) error {
	if ms == 0 {
		return nil
	}
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-closed:
		return http.ErrBodyReadAfterClose
	case <-ctx.Done():
		return ctx.Err()
	}
}

package sse

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryLegalStreamIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
		id     string
		retry  time.Duration
	}{
		"plain":                             {"data: a\n\ndata: b\n\n", []string{"a", "b"}, "", 0},
		"CRLF":                              {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}, "", 0},
		"CR":                                {"data: a\r\rdata: b\r\r", []string{"a", "b"}, "", 0},
		"all ends mixed":                    {"data: a\r\ndata: b\rdata: c\n\r\n", []string{"a\nb\nc"}, "", 0},
		"a byte order mark":                 {"\ufeffdata: a\n\n", []string{"a"}, "", 0},
		"no space, two spaces":              {"data:a\ndata:  b\n\n", []string{"a\n b"}, "", 0},
		"comments and unknown fields":       {": c\n:\nx: y\nevent: message\ndata\ndata: a\n\n", []string{"\na"}, "", 0},
		"ids":                               {"id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: cut", []string{"a"}, "2", 0},
		"an id with NUL is ignored":         {"id: 1\n\nid: 2\x003\n\n", nil, "1", 0},
		"an event without data":             {"id: 7\ndata:\n\n", []string{""}, "7", 0},
		"retry":                             {"retry: 1500\n\n", nil, "", 1500 * time.Millisecond},
		"an invalid retry":                  {"retry: 1.5\nretry: -1\nretry: soon\n\n", nil, "", 0},
		"characters that do not end a line": {"data: a\u2028b\u0085c\x0bd\n\n", []string{"a\u2028b\u0085c\x0bd"}, "", 0},
		"an event that is cut off":          {"data: a\n", nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
				at := &Reader{}
				var got []string
				require.NoError(t, at.Events(r, func(data []byte) bool {
					got = append(got, string(data))
					return true
				}))
				require.Equal(t, c.want, got)
				require.Equal(t, c.id, at.ID)
				require.Equal(t, c.retry, at.Retry)
			}
		})
	}
}

func TestTheMediaTypeIsReadInAnyForm(t *testing.T) {
	for kind, want := range map[string]bool{"text/event-stream": true, "Text/Event-Stream; charset=utf-8": true,
		" text/event-stream ;": true, "": false, "application/json": false, "text/event-streams": false} {
		require.Equal(t, want, IsStream(kind), kind)
	}
}

func TestAnEventIsDeliveredAtItsEnd(t *testing.T) {
	for _, end := range []string{"\r\r", "\r\n\r\n", "\n\n", "\r\n\r"} {
		r := &silent{strings.NewReader("data: a" + end)}
		require.NoError(t, Events(r, func(data []byte) bool { return string(data) != "a" }), "%q", end)
	}
}

func TestTheTypeOfAnEventIsItsOwn(t *testing.T) {
	const stream = "data: a\n\nevent: ping\ndata: b\n\ndata: c\n\nevent: ping\n\ndata: d\n\nevent: message\ndata: e\n\n" +
		"event: x\nevent: y\ndata: f\n\nevent\ndata: g\n\n"
	at := &Reader{}
	var got []string
	require.NoError(t, at.Events(strings.NewReader(stream), func(data []byte) bool {
		got = append(got, string(data)+at.Type)
		return true
	}))
	require.Equal(t, []string{"a", "bping", "c", "d", "e", "fy", "g"}, got)
}

// silent is a stream on which nothing more comes.
type silent struct{ *strings.Reader }

func (s *silent) Read(b []byte) (int, error) {
	if s.Len() == 0 {
		panic("read beyond the end of the event")
	}
	return s.Reader.Read(b[:1])
}

// The events do not depend on how the stream is cut into pieces.
func FuzzEventStreams(f *testing.F) {
	for _, stream := range []string{"data: a\n\n", "\ufeffid: 1\r\ndata: a\r\rdata", "retry: 5\n:\n\n",
		"data\n\rid\x00: 1\n\n"} {
		f.Add([]byte(stream))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		read := func(r io.Reader) (got []string, at Reader) {
			require.NoError(t, at.Events(r, func(data []byte) bool {
				got = append(got, string(data))
				return true
			}))
			return got, at
		}
		whole, at := read(bytes.NewReader(stream))
		pieces, again := read(iotest.OneByteReader(bytes.NewReader(stream)))
		require.Equal(t, whole, pieces)
		require.Equal(t, at, again)
		for _, data := range whole {
			require.NotContains(t, data, "\r")
		}
	})
}

// endless is a stream that goes on for ever with the same piece.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	return n, nil
}

func TestAnEventThatDoesNotEndIsAnError(t *testing.T) {
	never := func([]byte) bool { t.Error("found an event"); return false }
	for _, piece := range []endless{"x", "data: 0123456789012345678901234567890123456789\n"} {
		begun := io.MultiReader(strings.NewReader("data: a"), piece)
		require.ErrorIs(t, Events(begun, never), ErrTooLong, "%q", piece)
	}
}

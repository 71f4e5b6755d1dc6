package cassettes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// dripping is a provider whose answer comes in pieces, each a second after the one before, and that then ends as end says.
type dripping struct {
	mediaType string
	pieces    []string
	end       error
}

func (d dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	<-time.After(3 * time.Second)
	in, out := io.Pipe()
	go func() {
		for _, piece := range d.pieces {
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				out.CloseWithError(r.Context().Err())
				return
			}
			if _, err := io.WriteString(out, piece); err != nil {
				return // the reader is gone
			}
		}
		out.CloseWithError(d.end)
	}()
	return &http.Response{StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Body: in, Request: r,
		Header: http.Header{"Content-Type": {d.mediaType}}}, nil
}

var story = []string{"data: one\n\nda", "ta: two\n\n", "data: [DONE]\n\n"}

// tell asks for the story and returns when each piece of it came, until it ends or until stop says so.
func tell(ctx context.Context, t *testing.T, rt http.RoundTripper, stop func(read string) bool) (pieces []string, at []time.Duration, err error) {
	t.Helper()
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
	require.NoError(t, err)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	at = append(at, time.Since(began))
	for buffer := make([]byte, 512); ; {
		n, err := resp.Body.Read(buffer)
		if n > 0 {
			pieces, at = append(pieces, string(buffer[:n])), append(at, time.Since(began))
		}
		if err != nil || stop != nil && stop(strings.Join(pieces, "")) {
			return pieces, at, err
		}
	}
}

func seconds(n ...int) []time.Duration {
	var all []time.Duration
	for _, s := range n {
		all = append(all, time.Duration(s)*time.Second)
	}
	return all
}

// recorded records one telling and returns the file.
func recorded(t *testing.T, provider http.RoundTripper, stop func(string) bool) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "story.yaml")
	rec, err := Record(path, provider, Recorded)
	require.NoError(t, err)
	_, _, _ = tell(t.Context(), t, rec, stop)
	require.NoError(t, rec.Close())
	return path
}

func TestAStreamIsRecordedWhileItPassesAndPlayedAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "story.yaml")
		rec, err := Record(path, dripping{"text/event-stream", story, io.EOF}, Recorded)
		require.NoError(t, err)
		pieces, at, err := tell(t.Context(), t, rec, nil)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, story, pieces, "the caller has each piece when it comes")
		require.Equal(t, seconds(3, 4, 5, 6), at)
		require.NoError(t, rec.Close())

		beside, err := os.ReadFile(timingFile(path))
		require.NoError(t, err)
		require.Equal(t, "{\"version\": 1, \"interactions\": [\n{\"id\":0,\"first_ms\":3000,\"pieces\":[[13,1000],[9,1000],[14,1000]]}\n]}\n", string(beside))
		plain, err := cassette.Load(strings.TrimSuffix(path, extension))
		require.NoError(t, err, "go-vcr reads the cassette as it always does")
		require.Equal(t, strings.Join(story, ""), plain.Interactions[0].Response.Body)

		for name, c := range map[string]struct {
			options []Option
			at      []time.Duration
		}{
			"at once":            {nil, seconds(0, 0, 0, 0)},
			"at the pace it had": {[]Option{Paced()}, seconds(3, 4, 5, 6)},
		} {
			tr, err := New(path, c.options...)
			require.NoError(t, err)
			pieces, at, err = tell(t.Context(), t, tr, nil)
			require.ErrorIs(t, err, io.EOF, name)
			require.Equal(t, story, pieces, name)
			require.Equal(t, c.at, at, name)
			require.NoError(t, tr.Close())
		}
	})
}

func TestAPacedAnswerIsGivenUpWhenItsCallerIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := recorded(t, dripping{"text/event-stream", story, io.EOF}, nil)
		for _, after := range []time.Duration{time.Second, 3500 * time.Millisecond} {
			tr, err := New(path, Paced())
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), after)
			began := time.Now()
			_, _, err = tell(ctx, t, tr, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, after, time.Since(began))
			cancel()
		}
		tr, err := New(path, Paced())
		require.NoError(t, err)
		req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		go resp.Body.Close()
		_, err = resp.Body.Read(make([]byte, 9))
		require.ErrorIs(t, err, http.ErrBodyReadAfterClose, "a reader that waits comes back")
	})
}

func TestAStreamThatIsCutShortIsRecordedAsThat(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for name, c := range map[string]struct {
		provider dripping
		stop     func(string) bool
		want     []string
		ends     string
	}{
		"by the provider": {dripping{"text/event-stream", story[:2], broken}, nil, story[:2],
			"the recording ends here, since the provider cut the answer short: unexpected EOF"},
		"by the caller": {dripping{"text/event-stream", story, io.EOF}, func(read string) bool { return strings.Contains(read, "two") }, story[:2],
			"the recording ends here, since the caller cut the answer short: unexpected EOF"},
		"by a caller who has it all": {dripping{"text/event-stream", story, io.EOF}, func(read string) bool { return strings.Contains(read, "DONE") }, story, "EOF"},
		"before its first byte":      {dripping{"text/event-stream", nil, broken}, nil, nil, "the recording ends here, since the provider cut the answer short: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr, err := New(recorded(t, c.provider, c.stop))
				require.NoError(t, err)
				pieces, _, err := tell(t.Context(), t, tr, nil)
				require.EqualError(t, err, c.ends)
				require.Equal(t, c.want, pieces)
			})
		})
	}
}

func TestTheEndsOfStreams(t *testing.T) {
	for stream, want := range map[string]bool{
		"data: {}\n\ndata: [DONE]\n\n":                                true,
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n":  true,
		"event: response.completed\ndata: {\"response\":{}}\n\n":      true,
		"event: response.incomplete\ndata: {}\n\n":                    true,
		"event: response.failed\ndata: {}\n\n":                        true,
		"{\"message\":{}}\n{\"done\":true}\n":                         true,
		"data:[DONE]\n\n":                                             true,
		"data: {\"type\": \"message_stop\"}\r\n\r\n":                  true,
		"data: {\"type\":\"response.incomplete\"}\n\n":                true,
		"data: {\"text\":\"\\\"type\\\": \\\"message_stop\\\"\"}\n\n": false,
		"data: {\"text\":\"data: [DONE]\"}\n\n":                       false,
		"data: [DONE]":                                                false,
		"event: message_delta\ndata: {}\n\n":                          false,
		"{\"message\":{\"content\":\"a\"},\"done\":false}\n":          false,
		"": false,
	} {
		require.Equal(t, want, finished([]byte(stream)), stream)
	}
}

func TestTimingsThatAreWrong(t *testing.T) {
	const head = `timings x.timing.json: `
	const advice = `; restore the file, or record the cassette again`
	r := &recording{interactions: []*cassette.Interaction{{Response: cassette.Response{Body: "12345"}}}}
	one := func(fields string) string { return `{"version":1,"interactions":[{` + fields + `}]}` }
	for in, want := range map[string]string{
		`{`:                             "unexpected end of JSON input",
		`{}`:                            "the format is version 0, and not 1",
		`{"version":1}`:                 "there are 0 interactions in it, and 1 in the cassette",
		one(`"id":1`):                   "interaction 0: it has the id 1",
		one(`"id":0,"cut":"somebody"`):  `interaction 0: cut is "somebody": want "caller" or "provider"`,
		one(`"id":0,"first_ms":-1`):     "interaction 0: first_ms is less than 0",
		one(`"id":0,"pieces":[[0,1]]`):  "interaction 0: a piece is [0 1]: want a number of bytes, and of milliseconds",
		one(`"id":0,"pieces":[[5,-1]]`): "interaction 0: a piece is [5 -1]: want a number of bytes, and of milliseconds",
		one(`"id":0,"pieces":[[4,1]]`):  "interaction 0: its pieces are 4 bytes, and the body in the cassette is 5",
	} {
		_, err := parseTimings("x.timing.json", []byte(in), r)
		require.EqualError(t, err, head+want+advice, in)
	}
	got, err := parseTimings("x.timing.json", []byte(one(`"id":0,"first_ms":3,"pieces":[[2,0],[3,7]],"cut":"caller"`)), r)
	require.NoError(t, err)
	require.Equal(t, []timing{{0, 3, [][2]int64{{2, 0}, {3, 7}}, cutByCaller}}, got)
}

func TestTimingsThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := recorded(t, dripping{"text/event-stream", story, io.EOF}, nil)
		require.NoError(t, os.Remove(timingFile(path)))
		_, err := New(path)
		require.EqualError(t, err, fmt.Sprintf("cassette %s: its timings are to be in story.timing.json beside it, which is not there: restore it, or record the cassette again", path))
	})
}

func FuzzTimings(f *testing.F) {
	f.Add([]byte(`{"version":1,"interactions":[{"id":0,"first_ms":3,"pieces":[[2,0],[3,7]],"cut":"caller"}]}`))
	f.Add([]byte(`{"version":1,"interactions":[{"id":0,"pieces":[[9223372036854775807,0],[9223372036854775807,0],[7,0]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &recording{interactions: []*cassette.Interaction{{Response: cassette.Response{Code: 200, Body: "12345", Headers: http.Header{"Content-Type": {"text/event-stream"}}}}}}
		when, err := parseTimings("x", data, r)
		if err != nil {
			return
		}
		again, err := parseTimings("x", (&timings{Interactions: when}).encode(), r)
		require.NoError(t, err)
		require.Equal(t, when, again)
		a := answerOf(&r.interactions[0].Response, &when[0])
		joined := ""
		for _, chunk := range a.Chunks {
			joined += string(chunk)
		}
		require.Equal(t, "12345", joined)
	})
}

// What is still on its way when the recording ends, as after Ctrl-C, takes nothing of the rest with it.
func TestARecordingThatEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "story.yaml")
		rec, err := Record(path, dripping{"text/event-stream", story, io.EOF}, Recorded)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range 3 { // the first is over at the sixth second, the second has one piece by then, and the third no answer
			all.Go(func() { _, _, _ = tell(t.Context(), t, rec, nil) })
			<-time.After(2 * time.Second)
		}
		<-time.After(500 * time.Millisecond)
		require.NoError(t, rec.Close())
		all.Wait()
		r, err := load(path)
		require.NoError(t, err)
		require.Len(t, r.interactions, 2)
		require.Equal(t, []string{wholeAnswer, cutByCaller}, []string{r.timings[0].Cut, r.timings[1].Cut})
		require.Equal(t, story[0], r.interactions[1].Response.Body)
		require.NoError(t, rec.Close())
	})
}

package cassettes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// dripping is a provider that answers after three seconds, one piece per second, and ends with an error.
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
				return // the reader has closed
			}
		}
		out.CloseWithError(d.end)
	}()
	return &http.Response{
		StatusCode:    200,
		Status:        "200 OK",
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		ContentLength: -1,
		Body:          in,
		Request:       r,
		Header:        http.Header{"Content-Type": {d.mediaType}},
	}, nil
}

var story = []string{"data: one\n\nda", "ta: two\n\n", "data: [DONE]\n\n"}

// tell requests the story and returns its pieces with their arrival times, until it ends or stop returns true.
func tell(ctx context.Context, t *testing.T, rt http.RoundTripper,
	stop func(read string) bool) (pieces []string, at []time.Duration, err error) {
	t.Helper()
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, chat, strings.NewReader(storyRequest))
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

const storyRequest = `{"model":"m","stream":true,"messages":[]}`

func seconds(n ...int) []time.Duration {
	var all []time.Duration
	for _, s := range n {
		all = append(all, time.Duration(s)*time.Second)
	}
	return all
}

// recorded records the story and returns the file.
func recorded(t *testing.T, provider http.RoundTripper, stop func(string) bool) string {
	t.Helper()
	path := talkFile(t)
	rec := recordAnew(t, path, provider)
	_, _, _ = tell(t.Context(), t, rec, stop)
	require.NoError(t, rec.Close())
	return path
}

func TestStreamIsRecordedWhileItPassesAndReplayedAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := talkFile(t)
		rec := recordAnew(t, path, dripping{"text/event-stream", story, io.EOF})
		pieces, at, err := tell(t.Context(), t, rec, nil)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, story, pieces, "the caller gets each piece as it arrives")
		require.Equal(t, seconds(3, 4, 5, 6), at)
		require.NoError(t, rec.Close())

		beside, err := os.ReadFile(timingFile(path))
		require.NoError(t, err)
		require.Equal(
			t,
			"{\"version\": 1, \"interactions\": [\n{\"id\":0,\"first_ms\":3000,\"pieces\":[[13,1000],[9,1000],[14,1000]]}\n]}\n",
			string(beside),
		)
		plain, err := cassette.Load(strings.TrimSuffix(path, extension))
		require.NoError(t, err, "go-vcr can load the cassette")
		require.Equal(t, strings.Join(story, ""), plain.Interactions[0].Response.Body)

		for name, c := range map[string]struct {
			options []Option
			at      []time.Duration
		}{
			"without delay": {nil, seconds(0, 0, 0, 0)},
			"paced":         {[]Option{Paced()}, seconds(3, 4, 5, 6)},
		} {
			tr := opened(t, path, c.options...)
			pieces, at, err = tell(t.Context(), t, tr, nil)
			require.ErrorIs(t, err, io.EOF, name)
			require.Equal(t, story, pieces, name)
			require.Equal(t, c.at, at, name)
			require.NoError(t, tr.Close())
		}
	})
}

func TestPacedAnswerEndsWhenItIsCancelledOrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := recorded(t, dripping{"text/event-stream", story, io.EOF}, nil)
		for _, after := range []time.Duration{time.Second, 3500 * time.Millisecond} {
			tr := opened(t, path, Paced())
			ctx, cancel := context.WithTimeout(t.Context(), after)
			began := time.Now()
			_, _, err := tell(ctx, t, tr, nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, after, time.Since(began))
			cancel()
		}
		tr := opened(t, path, Paced())
		req, err := http.NewRequest(http.MethodPost, chat, strings.NewReader(storyRequest))
		require.NoError(t, err)
		resp, err := tr.RoundTrip(req)
		require.NoError(t, err)
		go resp.Body.Close()
		_, err = resp.Body.Read(make([]byte, 9))
		require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	})
}

func TestStreamThatIsCutShortEndsWithAnError(t *testing.T) {
	broken := errors.New("connection reset by peer")
	for name, c := range map[string]struct {
		provider dripping
		stop     func(string) bool
		want     []string
		ends     string
	}{
		"by the provider": {dripping{"text/event-stream", story[:2], broken}, nil, story[:2],
			"because the provider cut the answer short: unexpected EOF"},
		"by the caller": {dripping{"text/event-stream", story, io.EOF}, func(read string) bool {
			return strings.Contains(read, "two")
		}, story[:2], "because the caller cut the answer short: unexpected EOF"},
		"by the caller after the end": {dripping{"text/event-stream", story, io.EOF},
			func(read string) bool { return strings.Contains(read, "DONE") }, story, "EOF"},
		"before its first byte": {dripping{"text/event-stream", nil, broken}, nil, nil,
			"because the provider cut the answer short: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tr := opened(t, recorded(t, c.provider, c.stop))
				pieces, _, err := tell(t.Context(), t, tr, nil)
				require.ErrorContains(t, err, c.ends)
				require.Equal(t, c.want, pieces)
			})
		})
	}
}

func TestFinalEventEndsAStream(t *testing.T) {
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

func TestInvalidTimingsAreRejected(t *testing.T) {
	r := &recording{interactions: []*cassette.Interaction{{Response: cassette.Response{Body: "12345"}}}}
	one := func(fields string) string { return `{"version":1,"interactions":[{` + fields + `}]}` }
	for in, want := range map[string]string{
		`{`:                             "unexpected end of JSON input",
		`{}`:                            "version 0, expected 1",
		`{"version":1}`:                 "0 interactions, expected 1",
		one(`"id":1`):                   "unexpected id 1",
		one(`"id":0,"cut":"somebody"`):  `cut is "somebody"`,
		one(`"id":0,"first_ms":-1`):     "first_ms is less than 0",
		one(`"id":0,"pieces":[[0,1]]`):  "invalid piece [0 1]",
		one(`"id":0,"pieces":[[5,-1]]`): "invalid piece [5 -1]",
		one(`"id":0,"pieces":[[4,1]]`):  "4 bytes, the body in the cassette has 5",
	} {
		_, err := parseTimings("x.timing.json", []byte(in), r)
		require.ErrorContains(t, err, "timings x.timing.json: ")
		require.ErrorContains(t, err, want, in)
	}
	got, err := parseTimings("x.timing.json", []byte(one(`"id":0,"first_ms":3,"pieces":[[2,0],[3,7]],"cut":"caller"`)), r)
	require.NoError(t, err)
	require.Equal(t, []timing{{0, 3, [][2]int64{{2, 0}, {3, 7}}, cutByCaller}}, got)
}

// Only a replay at the recorded pace needs the timings.
func TestMissingTimings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := recorded(t, dripping{"text/event-stream", story, io.EOF}, nil)
		require.NoError(t, os.Remove(timingFile(path)))
		_, err := New(path, Paced())
		require.ErrorContains(t, err, "Paced needs its timings: restore "+timingFile(path))
		tr := opened(t, path)
		require.Equal(t, strings.Join(story, ""), asks(t, tr, `{"messages":[],"model":"m","stream":true}`))
		require.NoError(t, tr.Close())
		_, err = Read(path)
		require.NoError(t, err)
	})
}

func FuzzTimings(f *testing.F) {
	f.Add([]byte(`{"version":1,"interactions":[{"id":0,"first_ms":3,"pieces":[[2,0],[3,7]],"cut":"caller"}]}`))
	f.Add(
		[]byte(`{"version":1,"interactions":[{"id":0,"pieces":[[9223372036854775807,0],[9223372036854775807,0],[7,0]]}]}`),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &recording{
			interactions: []*cassette.Interaction{
				{
					Response: cassette.Response{Code: 200, Body: "12345", Headers: http.Header{"Content-Type": {"text/event-stream"}}},
				},
			},
		}
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

// A recording that ends early, as after Ctrl-C, keeps complete answers and the beginning of others.
func TestRecordingThatEndsEarlyKeepsWhatArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := talkFile(t)
		rec := recordAnew(t, path, dripping{"text/event-stream", story, io.EOF})
		var all sync.WaitGroup
		for range 3 { // after 6.5 s the first is complete, the second has one piece, and the third no answer
			all.Go(func() { _, _, _ = tell(t.Context(), t, rec, nil) })
			<-time.After(2 * time.Second)
		}
		<-time.After(500 * time.Millisecond)
		require.NoError(t, rec.Close())
		all.Wait()
		r := loaded(t, path)
		require.Len(t, r.interactions, 2)
		require.Equal(t, []string{wholeAnswer, cutByCaller}, []string{r.timings[0].Cut, r.timings[1].Cut})
		require.Equal(t, story[0], r.interactions[1].Response.Body)
		require.NoError(t, rec.Close())
	})
}

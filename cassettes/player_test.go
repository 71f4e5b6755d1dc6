package cassettes

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// tape is a recording of native requests and answers, in turn.
func tape(pairs ...string) *recording {
	r := &recording{name: "tape"}
	for i := 0; i < len(pairs); i += 2 {
		r.interactions = append(r.interactions, &cassette.Interaction{
			Request: cassette.Request{Method: http.MethodPost, URL: "http://127.0.0.1/native", Body: pairs[i]},
			Response: cassette.Response{Code: http.StatusOK, Body: pairs[i+1],
				Headers: http.Header{"Content-Type": {"application/json"}}},
		})
	}
	return r
}

func ask(p *Player, body string) (string, error) {
	a, err := p.Answer(&dialect.Request{Dialect: dialect.Native, Body: []byte(body)})
	return string(bytes.Join(a.Chunks, nil)), err
}

func TestEqualRequestsAreAnsweredInRecordedOrder(t *testing.T) {
	p := newPlayer(rules{}, tape(`{"a":1}`, "first", `{"b":1}`, "other", `{ "a": 1.0 }`, "second"),
		tape(`{"a":1}`, "third"))
	for _, want := range []string{"first", "second", "third", "third", "third"} {
		got, err := ask(p, `{"a":1}`)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Len(t, p.unused(), 1)
	require.Equal(t, "interaction 1 of tape", p.unused()[0].String())
}

func TestMissNamesTheNearestInteraction(t *testing.T) {
	p := newPlayer(rules{}, tape(`{"model":"a","messages":[{"role":"user","content":"hello"}]}`, "",
		`{"model":"b","messages":[{"role":"user","content":"bye"}]}`, ""))
	_, err := ask(p, `{"model":"b","messages":[{"role":"user","content":"good bye"}]}`)
	require.ErrorContains(t, err, `the nearest is interaction 1 of tape: at messages[0].content expected "bye", found `+
		`"good bye" (differences: 1)`)
	_, err = p.Answer(&dialect.Request{Dialect: dialect.OpenAIChat, Body: []byte(`{}`)})
	require.EqualError(t, err, "no openai-chat request is recorded in tape, which has native; record the conversation")
}

func TestReplayedStreamHasTheRecordedChunks(t *testing.T) {
	for name, c := range map[string]struct {
		mediaType, body string
		chunks          []string
	}{
		"events": {"text/event-stream; charset=utf-8", "data: 1\n\ndata: 2\n\n", []string{"data: 1\n\n", "data: 2\n\n"}},
		"CRLF events": {"text/event-stream", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n",
			[]string{"event: a\r\ndata: 1\r\n\r\n", "data: 2\r\n\r\n"}},
		"CR events":    {"text/event-stream", "data: 1\r\rdata: 2\r\r", []string{"data: 1\r\r", "data: 2\r\r"}},
		"truncated":    {"text/event-stream", "data: 1\n\ndata: 2", []string{"data: 1\n\n", "data: 2"}},
		"comments":     {"text/event-stream", ": wait\n\ndata: 1\n\n", []string{": wait\n\n", "data: 1\n\n"}},
		"lines":        {"application/x-ndjson", "{}\n{\"done\":true}\n", []string{"{}\n", "{\"done\":true}\n"}},
		"not a stream": {"application/json", "{}\n\n{}", []string{"{}\n\n{}"}},
		"empty stream": {"text/event-stream", "", nil},
		"empty body":   {"application/json", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := answerOf(&cassette.Response{Code: 200, Body: c.body, Headers: http.Header{"content-type": {c.mediaType}}}, nil)
			var chunks []string
			for _, chunk := range a.Chunks {
				chunks = append(chunks, string(chunk))
			}
			require.Equal(t, c.chunks, chunks)
			require.Equal(t, strings.HasPrefix(c.mediaType, "text/event") || name == "lines", a.Stream)
		})
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: 1\r\n\r\ndata: 2\n\n\r\r: x"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		pieces := events(stream)
		if !bytes.Equal(bytes.Join(pieces, nil), stream) {
			t.Fatalf("%q became %q", stream, pieces)
		}
		for _, piece := range pieces {
			if len(piece) == 0 {
				t.Fatalf("an empty piece of %q", stream)
			}
		}
	})
}

// questions returns n different requests with answers.
func questions(n int) []string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf(`{"messages":[{"role":"user","content":"question %d"}]}`, i), "{}")
	}
	return pairs
}

// Finding an interaction costs the same in a long recording: no other interaction is compared.
func TestLookupDoesNotDependOnTheLength(t *testing.T) {
	allocations := map[int]float64{}
	for _, n := range []int{10, 10_000} {
		pairs := questions(n)
		p := newPlayer(rules{}, tape(pairs...))
		for _, i := range p.interactions {
			i.request = nil // a comparison would panic
		}
		for i := 0; i < len(pairs); i += 2 {
			_, err := ask(p, pairs[i])
			require.NoError(t, err)
		}
		allocations[n] = testing.AllocsPerRun(100, func() { _, _ = ask(p, pairs[0]) })
	}
	require.Less(t, allocations[10_000], 2*allocations[10], "the race detector drops some pooled objects")
}

func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			pairs := questions(n)
			p := newPlayer(rules{}, tape(pairs...))
			for b.Loop() {
				if _, err := ask(p, pairs[len(pairs)-2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

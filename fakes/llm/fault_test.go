package llm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// story is the reply of the fault tests: nine events when streamed.
const story = "a text of several fragments"

// withoutFaults returns the answer, as one text and as events.
func withoutFaults(t testing.TB, body string) (text string, events []string) {
	t.Helper()
	s, err := Start(Options{}, When().Reply(Text(story)))
	require.NoError(t, err)
	defer s.Close()
	text = post(s, chatPath, body).Body.String()
	events = strings.SplitAfter(text, "\n\n")
	return text, events[:len(events)-1]
}

// Each case has the part of a stream and of a plain answer that the caller receives, and the end of the exchange. The
// caller waits for one minute of virtual time.
func TestCutFaults(t *testing.T) {
	broke := &Error{Status: 503, Message: "overloaded"}
	const completed, gaveUp, cutOff = "", "context deadline exceeded",
		"EOF" // memnet has no resets: io.EOF or io.ErrUnexpectedEOF
	for _, c := range []struct {
		fault        Fault
		name         string
		streamed     func(events []string) string
		plain        func(text string) string
		err          string
		plainErr     string // "": err
		status       int    // in the journal
		plainStatus  int    // 0: status
		afterHeaders bool
	}{
		{StallBeforeHeaders(), "StallBeforeHeaders()", nil, nil, gaveUp, "", 0, 0, false},
		{StallAfter(0), "StallAfter(0)", first0, none, gaveUp, "", 200, 0, true},
		{StallAfter(2), "StallAfter(2)", two, half, gaveUp, "", 200, 0, true},
		{StallAfter(99), "StallAfter(99)", allButOne, half, gaveUp, "", 200, 0, true},
		{ResetBeforeHeaders(), "ResetBeforeHeaders()", nil, nil, cutOff, "", 0, 0, false},
		{ResetAfter(0), "ResetAfter(0)", first0, none, cutOff, "", 200, 0, true},
		{ResetAfter(2), "ResetAfter(2)", two, half, cutOff, "", 200, 0, true},
		{TruncateAfter(0), "TruncateAfter(0)", first0, none, completed, "", 200, 0, true},
		{TruncateAfter(2), "TruncateAfter(2)", two, half, completed, "", 200, 0, true},
		{TruncateInside(2), "TruncateInside(2)", func(e []string) string { return e[0] + e[1] + half(e[2]) }, half,
			completed, "", 200, 0, true},
		{TruncateInside(0), "TruncateInside(0)", func(e []string) string { return half(e[0]) }, half, completed, "",
			200, 0, true},
		{ErrorAfter(2, broke), "ErrorAfter(2, 503)", func(e []string) string {
			return e[0] + e[1] + `data: {"error":{"message":"overloaded","type":"server_error","param":null,"code":null}}` +
				"\n\n"
		}, func(string) string {
			return "{\n  \"error\": {\n    \"message\": \"overloaded\",\n    \"type\": \"server_error\",\n    \"param\": " +
				"null,\n    \"code\": null\n  }\n}\n"
		}, completed, "", 200, 503, true},
	} {
		for _, body := range []string{streamed, hello} {
			t.Run(c.name+strconv.FormatBool(body == streamed), func(t *testing.T) {
				var s seen
				inMemory(t, &s, []*Rule{When().Reply(Text(story)).Fault(c.fault)},
					func(t *testing.T, server *Server, network *memnet.Network) {
						text, events := withoutFaults(t, body)
						ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						began := time.Now()
						resp, err := send(t, ctx, network, server, body)
						got := ""
						require.Equal(t, c.afterHeaders, err == nil)
						if err == nil {
							var read []byte
							read, err = io.ReadAll(resp.Body)
							got = string(read)
						}
						wantErr, status := c.err, c.status
						if body == streamed && c.streamed != nil {
							require.Equal(t, c.streamed(events), got)
						} else if body == hello && c.plain != nil {
							require.Equal(t, c.plain(text), got)
							if c.plainStatus > 0 {
								status = c.plainStatus
							}
						}
						if wantErr == completed {
							require.NoError(t, err)
							require.Equal(t, status, resp.StatusCode)
						} else {
							require.ErrorContains(t, err, wantErr)
						}
						if wantErr == gaveUp {
							require.Equal(t, time.Minute, time.Since(began))
							synctest.Wait()
						}
						x := server.Journal()[0]
						require.Equal(t, []any{c.name, status, wantErr == gaveUp, false}, []any{x.Fault, x.Status, x.HungUp, x.Closed})
						require.False(t, x.Ended.IsZero())
						end := s.all[len(s.all)-1].End
						require.Equal(t, trace.ModelEnd{Exchange: 1, Status: status, Stream: body == streamed, HungUp: wantErr == gaveUp,
							Fault: c.name}, *end)
					})
			})
		}
	}
}

func none(string) string            { return "" }
func first0([]string) string        { return "" }
func two(events []string) string    { return events[0] + events[1] }
func half(text string) string       { return text[:len(text)/2] }
func allButOne(all []string) string { return strings.Join(all[:len(all)-1], "") }

// A stall or a pause ends with its server, and does not look like a complete answer.
func TestCloseEndsStallsAndPauses(t *testing.T) {
	for _, fault := range []Fault{StallBeforeHeaders(), StallAfter(2), Drip(1, time.Hour), PauseAfter(1, time.Hour),
		Spread(time.Hour)} {
		t.Run(fault.String(), func(t *testing.T) {
			var s seen
			inMemory(t, &s, []*Rule{When().Reply(Text(story)).Fault(fault)},
				func(t *testing.T, server *Server, network *memnet.Network) {
					ended := make(chan error)
					go func() {
						resp, err := send(t, t.Context(), network, server, streamed)
						if err == nil {
							_, err = io.ReadAll(resp.Body)
						}
						ended <- err
					}()
					synctest.Wait()
					server.Close()
					require.Error(t, <-ended)
					x := server.Journal()[0]
					require.True(t, x.Closed)
					require.False(t, x.HungUp, "it is we who ended it")
				})
			require.True(t, s.all[len(s.all)-1].End.Closed)
		})
	}
}

func TestStallInMountedHandlerEndsWithTheServer(t *testing.T) {
	come := make(chan struct{}, 1)
	server, err := Start(Options{Record: func(trace.Event) trace.Ref { come <- struct{}{}; return trace.Ref{} }},
		When().Fault(StallBeforeHeaders()))
	require.NoError(t, err)
	mounted := httptest.NewServer(server.Handler())
	defer mounted.Close()
	ended := make(chan error)
	go func() {
		_, err := http.Post(mounted.URL+chatPath, "application/json", strings.NewReader(hello))
		ended <- err
	}()
	<-come
	server.Close()
	<-come // at the end
	require.ErrorContains(t, <-ended, "EOF")
}

func TestResetOnRealSockets(t *testing.T) {
	for _, fault := range []Fault{ResetBeforeHeaders(), ResetAfter(1)} {
		server := start(t, Options{}, When().Reply(Text(story)).Fault(fault))
		client := &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
		resp, err := client.Post(server.OpenAI()+"/chat/completions", "application/json", strings.NewReader(streamed))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, resp.Body.Close())
		}
		require.ErrorIs(t, err, syscall.ECONNRESET, fault.String())
	}
}

// pieces keeps each write with its time.
type pieces struct {
	http.ResponseWriter
	all     []string
	flushed int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.all = append(p.all, string(b))
	return len(b), nil
}

func (p *pieces) Flush() { p.flushed++ }

func TestSplitFaults(t *testing.T) {
	synctest.Test(t, testSplitFaults) // the time is fixed
}

func testSplitFaults(t *testing.T) {
	for _, body := range []string{streamed, hello} {
		text, _ := withoutFaults(t, body)
		deliver := func(f Fault) *pieces {
			s, err := Start(Options{}, When().Reply(Text(story)).Fault(f))
			require.NoError(t, err)
			defer s.Close()
			w := &pieces{ResponseWriter: httptest.NewRecorder()}
			s.Handler().ServeHTTP(w, httptest.NewRequest("POST", "http://localhost"+chatPath, strings.NewReader(body)))
			require.Equal(t, text, strings.Join(w.all, ""))
			require.Equal(t, len(w.all), w.flushed, "each goes out by itself")
			return w
		}
		require.Len(t, deliver(SplitEveryByte()).all, len(text))
		seven, again, eight := deliver(SplitAtRandom(7)), deliver(SplitAtRandom(7)), deliver(SplitAtRandom(8))
		require.Equal(t, seven.all, again.all)
		require.NotEqual(t, seven.all, eight.all)
		require.True(t, slices.ContainsFunc(seven.all, func(p string) bool { return len(p) == 16 }))
		require.False(t, slices.ContainsFunc(seven.all, func(p string) bool { return len(p) > 16 }))
	}
}

func TestDripWaitsBetweenPieces(t *testing.T) {
	var s seen
	inMemory(t, &s, []*Rule{When().Reply(Text(story)).Fault(Drip(10, time.Second))},
		func(t *testing.T, server *Server, network *memnet.Network) {
			text, _ := withoutFaults(t, hello)
			began := time.Now()
			resp, err := send(t, t.Context(), network, server, hello)
			require.NoError(t, err)
			got, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Equal(t, text, string(got))
			require.Equal(t, time.Duration((len(text)-1)/10)*time.Second, time.Since(began))
		})
}

func TestSplitterKeepsItsStateForTheAnswer(t *testing.T) {
	d, err := deliver([]Fault{SplitAtRandom(1)})
	require.NoError(t, err)
	split, event := d.split(), bytes.Repeat([]byte("x"), 300)
	require.NotEqual(t, split(event), split(event), "it goes on where it was, and does not begin anew with each event")
}

func TestHeaderFaults(t *testing.T) {
	s := start(t, Options{},
		When(Turn(1), Model("none")).Reply().Fault(WrongContentType("")),
		When().Fail(&Error{Status: 429, Message: "slow", Header: RetryAfter(7)}).Fault(WrongContentType("text/html"),
			SplitEveryByte(), TruncateInside(0)))
	w := post(s, chatPath, hello)
	require.Equal(t, 429, w.Code)
	require.Equal(t, "text/html", w.Header().Get("Content-Type"))
	require.Equal(t, "7", w.Header().Get("Retry-After"))
	require.False(t, strings.HasSuffix(w.Body.String(), "}\n"))
	require.Equal(t, `WrongContentType("text/html"), SplitEveryByte(), TruncateInside(0)`, s.Journal()[0].Fault)
	resp, err := http.Post(s.OpenAI()+"/chat/completions", "application/json",
		strings.NewReader(strings.Replace(hello, `"m"`, `"none"`, 1)))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotContains(t, resp.Header, "Content-Type")
}

func TestInvalidFaults(t *testing.T) {
	with := func(faults ...Fault) *Rule { return When().Reply().Fault(faults...) }
	const drip = "never ends or never waits: expected at least 1 byte, and a wait above 0"
	for _, c := range []struct {
		rule        *Rule
		fault, want string
	}{
		{with(ResetAfter(1), StallAfter(2)), "StallAfter(2)", "also ends the answer: expected one such fault"},
		{with(SplitEveryByte()).Fault(SplitAtRandom(1)), "SplitAtRandom(1)", "also splits events: expected one such fault"},
		{with(WrongContentType("a"), WrongContentType("b")),
			`WrongContentType("b")`, "is a second content type: expected one"},
		{with(StallAfter(-2)), "StallAfter(-2)", "comes after -2 events: expected at least 0"},
		{with(TruncateAfter(-1)), "TruncateAfter(-1)", "comes after -1 events: expected at least 0"},
		{with(ErrorAfter(1, &Error{Status: 200})), "ErrorAfter(1, 200)", "has the status 200: expected one from 400 to 599"},
		{with(ErrorAfter(1, nil)), "ErrorAfter(1, nil)", "has no error to send"},
		{with(Drip(0, time.Second)), "Drip(0, 1s)", drip},
		{with(Drip(1, 0)), "Drip(1, 0s)", drip},
		{with(Fault{}), "", "has a zero Fault: create one with a function such as StallAfter"},
		{When().Fault(StallAfter(0)), "", "says nothing: add Reply(…) or Fail(…)"},
		{When().Reply().Pace(Pace{Token: -1}), "", "has a Pace with a negative wait"},
		{When().Reply().Pace(Pace{Jitter: 1.5}), "", "has a Pace with a Jitter that is not from 0 to 1"},
	} {
		want := c.want
		if c.fault != "" {
			want = "has the fault " + c.fault + ", which " + c.want
		}
		_, err := Start(Options{}, c.rule)
		require.EqualError(t, err, "starting the model server: rule 1 of the server "+want)
	}
	_, err := Start(Options{Pace: Pace{FirstToken: -1}})
	require.EqualError(t, err, "starting the model server: the configuration has a Pace with a negative wait")
}

// These faults are in a rule's reply: the fault's name, the rule, and a part of the wire bytes.
func TestFaultsInReplies(t *testing.T) {
	for _, c := range []struct {
		name string
		rule *Rule
		want string
	}{
		{"malformed arguments", When().Reply(CallID("c", "t", `{"a":`)), `"arguments": "{\"a\":"`},
		{"stop beside calls", When().Reply(Call("t", `{}`)).StopReason(EndTurn), `"finish_reason": "stop"`},
		{"duplicate ids", When().Reply(CallID("c", "t", `{}`), CallID("c", "u", `{}`)), `"id": "c"`},
		{"a tool that is not offered", When().Reply(Call("nobody_offers_this", `{}`)), `"name": "nobody_offers_this"`},
		{"an empty completion", When().Reply(), `"content": ""`},
		{"a refusal", When().Reply(Text("no")).StopReason(StopRefusal), `"refusal": "no"`},
		{"a content filter", When().Reply(Text("n")).StopReason(StopContentFilter), `"finish_reason": "content_filter"`},
		{"a giant answer", When().Reply(Text(strings.Repeat("x", 5<<20))), strings.Repeat("x", 5<<20)},
	} {
		s := start(t, Options{}, c.rule)
		require.True(t, strings.Contains(post(s, chatPath, hello).Body.String(), c.want), c.name)
	}
}

func TestPace(t *testing.T) {
	pace := Pace{FirstToken: 3 * time.Second, Token: 100 * time.Millisecond}
	paced := func(t *testing.T, o Pace, rule *Rule) (at []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			network := memnet.New()
			listener, err := network.Listen("127.0.0.1:0")
			require.NoError(t, err)
			server, err := Start(Options{Listener: listener, Pace: o}, rule)
			require.NoError(t, err)
			defer server.Close()
			at, _ = arrivals(t, network, server, streamed)
		})
		return at
	}
	var steady []time.Duration
	for i := range 10 {
		steady = append(steady, 3*time.Second+time.Duration(i)*100*time.Millisecond)
	}
	require.Equal(t, steady, paced(t, pace, When().Reply(Text(story))), "the server's")
	require.Equal(t, steady, paced(t, Pace{FirstToken: time.Hour}, When().Reply(Text(story)).Pace(pace)),
		"the rule's, which goes before")

	pace.Jitter, pace.Seed = 0.5, 7
	varied := paced(t, pace, When().Reply(Text(story)))
	require.NotEqual(t, steady, varied)
	require.Equal(t, varied, paced(t, pace, When().Reply(Text(story))), "the same seed")
	pace.Seed = 8
	require.NotEqual(t, varied, paced(t, pace, When().Reply(Text(story))))
	for i := 1; i < len(varied); i++ {
		require.InDelta(t, 100*time.Millisecond, varied[i]-varied[i-1], float64(50*time.Millisecond))
	}
}

func FuzzSplitters(f *testing.F) {
	f.Add([]byte("data: {\"a\":\"18°C 💧\"}\n\n"), int64(1), 3)
	f.Add([]byte{}, int64(0), 1)
	f.Fuzz(func(t *testing.T, event []byte, seed int64, size int) {
		for _, fault := range []Fault{SplitEveryByte(), SplitAtRandom(seed), Drip(size, 1)} {
			d, err := deliver([]Fault{fault})
			if err != nil {
				require.Less(t, size, 1)
				continue
			}
			split := d.split()
			for range 2 {
				pieces := split(event)
				require.Equal(t, event, append([]byte{}, bytes.Join(pieces, nil)...))
				for _, p := range pieces {
					require.NotEmpty(t, p)
				}
			}
		}
	})
}

// A cut answer is a prefix of the whole one, and shorter.
func FuzzCuts(f *testing.F) {
	f.Add(3, 1, true, "abc")
	f.Add(1, 0, false, "")
	f.Fuzz(func(t *testing.T, n, after int, stream bool, chunk string) {
		if n < 1 || n > 50 {
			return
		}
		a := Answer{Status: 200, Header: http.Header{}, Stream: stream, Chunks: slices.Repeat([][]byte{[]byte(chunk)}, n)}
		all := bytes.Join(a.Chunks, nil)
		for _, make := range []func(int) Fault{StallAfter, ResetAfter, TruncateAfter, TruncateInside} {
			d, err := deliver([]Fault{make(after)})
			if err != nil {
				require.Less(t, after, 0)
				continue
			}
			o := outcome{Answer: a, delivery: d}
			o.cutShort(nil, nil, nil, nil)
			got := bytes.Join(o.Chunks, nil)
			require.True(t, bytes.HasPrefix(all, got), fmt.Sprint(d.names))
			require.True(t, len(got) < len(all) || len(all) == 0)
		}
	})
}

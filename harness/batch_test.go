package harness_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// incidents say what happens to a client when the server has received its call of a tool.
type incidents map[string]func(context.Context) error

// client is the correct client with the incidents.
func (i incidents) client(o ...harness.Option) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = &http.Client{Transport: incidentTransport{env.HTTP.Transport, i}}
		return correct(ctx, env)
	}, o...)
}

type incidentTransport struct {
	next      http.RoundTripper
	incidents incidents
}

func (i incidentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	next := i.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(r)
	for tool, incident := range i.incidents {
		if err == nil && bytes.Contains(body, []byte(`"tools/call"`)) && bytes.Contains(body, []byte(`"`+tool+`"`)) {
			if err = incident(r.Context()); err != nil {
				resp.Body.Close()
				resp = nil
			}
		}
	}
	return resp, err
}

func panics(context.Context) error { panic("out of range") }
func fails(context.Context) error  { return errors.New("out of luck") }
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestUnfinishedCasesOfADeadSessionRunAgainAlone(t *testing.T) {
	three := cases(question, "s/a", "s/b", "s/c")
	alike := [][]string{{"s/a", "s/b", "s/c"}, {"s/b"}, {"s/c"}}
	for name, c := range map[string]struct {
		incident func(context.Context) error
		cases    []harness.Case
		want     [][]string
		replayed []string
		unclean  []int
	}{
		"it panics": {panics, three, alike, []string{"s/b", "s/c"}, []int{0, 1}},
		"it fails":  {fails, three, alike, []string{"s/b", "s/c"}, []int{0, 1}},
		"it hangs":  {hangs, three, alike, []string{"s/b", "s/c"}, []int{0, 1}},
		"before a barrier": {panics, []harness.Case{barred(three[0]), three[1]},
			[][]string{{"s/a", "s/b", "barrier"}, {"s/a", "barrier"}, {"s/b"}}, []string{"s/a", "s/b", "barrier"}, []int{0, 2}},
		"a session of one case": {panics, three[1:2], [][]string{{"s/b"}}, nil, []int{0}},
		"isolated": {panics, []harness.Case{three[0], alone(three[1]), three[2]},
			[][]string{{"s/a", "s/c"}, {"s/b"}}, nil, []int{1}},
		"hostile": {panics, []harness.Case{three[0], hostile(three[1]), three[2]},
			[][]string{{"s/a", "s/c"}, {"s/b"}}, nil, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range both {
				traces := virtually(t, incidents{"s-b": c.incident}.client(), revision, c.cases...)
				require.Equal(t, c.want, sessions(traces), revision)
				require.Equal(t, c.replayed, replayed(traces[0]))
				require.Equal(t, c.unclean, unclean(t, traces), "only sessions with the case at fault")
			}
		})
	}
}

func TestOfHostileCasesTheRightOneIsBlamed(t *testing.T) {
	five := []harness.Case{question("s/plain")}
	for _, id := range []string{"s/a", "s/b", "s/c", "s/d", "s/e"} {
		five = append(five, hostile(barred(question(id))))
	}
	const all, apart = "a b c d e", "a b c d e|a|b|c|d|e"
	for name, c := range map[string]struct {
		incidents incidents
		sessions  string
		unclean   []int
	}{
		"nothing":       {nil, all, nil},
		"a panic":       {incidents{"s-c": panics}, all + "|a b|c|d e", []int{0, 2}},
		"a first panic": {incidents{"s-a": panics}, all + "|a|b c d e", []int{0, 1}},
		"a last panic":  {incidents{"s-e": fails}, all + "|a b c d|e", []int{0, 2}},
		"two panics":    {incidents{"s-b": panics, "s-d": panics}, all + "|a|b|c d e|c|d|e", []int{0, 2, 3, 5}},
		"only panics": {incidents{"s-a": panics, "s-b": panics, "s-c": panics, "s-d": panics, "s-e": panics},
			all + "|a|b c d e|b|c d e|c|d|e", []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"a hang":         {incidents{"s-c": hangs}, apart, []int{0, 3}},
		"at the barrier": {incidents{"barrier": panics}, apart, []int{0, 1, 2, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range both {
				traces := virtually(t, c.incidents.client(), revision, five...)
				require.Equal(t, [][]string{{"s/plain"}}, sessions(traces[:1]), "harmless cases are apart")
				traces = traces[1:]
				var got []string
				verdicts := map[string]int{}
				for i, ids := range sessions(traces) {
					require.Equal(t, harness.BarrierID, ids[len(ids)-1])
					got = append(got, strings.ReplaceAll(strings.Join(ids[:len(ids)-1], " "), "s/", ""))
					for _, one := range traces[i].Header.Cases {
						if !one.Replayed && one.ID != harness.BarrierID {
							verdicts[one.ID]++
						}
					}
				}
				require.Equal(t, c.sessions, strings.Join(got, "|"), revision)
				require.Equal(t, c.unclean, unclean(t, traces))
				require.Equal(t, map[string]int{"s/a": 1, "s/b": 1, "s/c": 1, "s/d": 1, "s/e": 1}, verdicts)
			}
		})
	}
}

func TestHostileCasesOfAClientThatNeverAnswersRunOnce(t *testing.T) {
	a, b := hostile(barred(question("s/a"))), hostile(barred(question("s/b")))
	for _, revision := range both {
		traces := virtually(t, mutant("refuses"), revision, a, b)
		require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}}, sessions(traces))
	}
	// A client that stops answering after a malformed request is found in sessions of single cases.
	a.Handler = func(s *server.Session) (any, error) { return s.Sample(s.Ask("Still there?")) }
	b.Handler = func(s *server.Session) (any, error) {
		message := map[string]any{"role": "user", "content": "text"}
		return s.Sample(map[string]any{"maxTokens": 1, "messages": []any{message}}, server.Hostile())
	}
	traces := virtually(t, mutant("deaf-after-malformed"), server.V20260728, a, b)
	require.Equal(t, [][]string{{"s/a", "s/b", "barrier"}, {"s/a", "barrier"}, {"s/b", "barrier"}}, sessions(traces))
}

func TestCasesThatABrokenClientDidNotServeRunAgain(t *testing.T) {
	for name, c := range map[string]struct {
		breaks   string // the cases behind which the client serves nothing more
		sessions string
		after    []string // for each session, the case behind which it served nothing
	}{
		"never":         {"", "abcdefgh", []string{""}},
		"at the end":    {"g", "abcdefgh", []string{""}},
		"near the end":  {"f", "abcdefgh g h", []string{"s/f", "", ""}},
		"in the middle": {"c", "abcdefgh d efgh", []string{"s/c", "", ""}},
		"twice":         {"bd", "abcdefgh c defgh e fgh", []string{"s/b", "", "s/d", "", ""}},
		"three times":   {"bdf", "abcdefgh c defgh e fgh", []string{"s/b", "", "s/d", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, revision := range both {
				var all []harness.Case
				for _, letter := range "abcdefgh" {
					one := question("s/" + string(letter))
					if strings.ContainsRune(c.breaks, letter) {
						one.Handler = func(s *server.Session) (any, error) {
							p := s.Ask("What is it?")
							audio := server.SamplingMessage{Role: "user", Content: server.Audio("audio/wav", []byte("x"))}
							p.Messages = append(p.Messages, audio)
							return s.Sample(p)
						}
					}
					all = append(all, one)
				}
				traces := virtually(t, mutant("deaf-after-audio"), revision, all...)
				require.Equal(t, c.sessions, letters(traces), revision)
				for i, after := range c.after {
					found := ""
					for _, one := range traces[i].Header.Cases {
						found += one.UnservedAfter
					}
					require.Equal(t, after, found, revision)
				}
			}
		})
	}
	traces := virtually(t, mutant("refuses"), server.V20251125, cases(question, "s/a", "s/b", "s/c")...)
	require.Len(t, traces, 1, "it never served anything")
	traces = virtually(t, mutant("refuses"), server.V20251125, cases(quiet, "s/a", "s/b", "s/c")...)
	require.Len(t, traces, 1, "nothing was asked")
}

// letters returns the letters of the cases, in a word for each session.
func letters(traces []*trace.Trace) string {
	var words []string
	for _, ids := range sessions(traces) {
		words = append(words, strings.ReplaceAll(strings.Join(ids, ""), "s/", ""))
	}
	return strings.Join(words, " ")
}

func TestToolsThatAClientDidNotCallRunAgain(t *testing.T) {
	client := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		env.HTTP = &http.Client{Transport: &twoCalls{next: env.HTTP.Transport}}
		_ = correct(ctx, env)
		return nil
	})
	traces := virtually(t, client, server.V20260728, cases(quiet, "s/a", "s/b", "s/c", "s/d")...)
	require.Equal(t, [][]string{{"s/a", "s/b", "s/c", "s/d"}, {"s/c"}, {"s/d"}}, sessions(traces))
	require.Equal(t, []string{"s/c", "s/d"}, replayed(traces[0]))
}

// twoCalls lets two calls of tools pass.
type twoCalls struct {
	next  http.RoundTripper
	calls int
}

func (l *twoCalls) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Mcp-Method") == "tools/call" {
		if l.calls++; l.calls > 2 {
			return nil, errors.New("two calls are enough")
		}
	}
	return l.next.RoundTrip(r)
}

func TestNothingRunsAgainForAClientThatNeverAskedForTheTools(t *testing.T) {
	for name, run := range map[string]func(context.Context, harness.Env) error{
		"it never connects": func(context.Context, harness.Env) error { return nil },
		"it fails at once":  func(context.Context, harness.Env) error { return errors.New("out of luck") },
		"it speaks another revision": func(ctx context.Context, env harness.Env) error {
			env.Revision = server.V20251125
			return correct(ctx, env)
		},
	} {
		t.Run(name, func(t *testing.T) {
			traces := virtually(t, harness.InProcess(run), server.V20260728, cases(quiet, "s/a", "s/b")...)
			require.Equal(t, [][]string{{"s/a", "s/b"}}, sessions(traces))
			require.Empty(t, replayed(traces[0]))
		})
	}
}

func TestCasesOfAClientThatAlwaysHangsAreNotPlayed(t *testing.T) {
	t.Parallel()
	var all []harness.Case
	hanging := incidents{}
	for i := range 8 {
		all = append(all, question(fmt.Sprintf("s/%d", i)))
		hanging[all[i].Tool()] = hangs
	}
	all = append(all, alone(question("s/8")))
	for _, parallel := range []int{1, 4} {
		t.Run(fmt.Sprint(parallel, " sessions at once"), func(t *testing.T) {
			t.Parallel()
			traces := play(t, harness.Runner{Client: hanging.client(harness.Loopback()), Revision: server.V20260728,
				Timeout: 1500 * time.Millisecond, CaseTimeout: 200 * time.Millisecond,
				Slots: make(chan struct{}, parallel)}, all...)
			ids := strings.Fields("s/0 s/1 s/2 s/3 s/4 s/5 s/6 s/7 s/8")
			require.Equal(t, [][]string{ids[:8], {"s/0"}, {"s/1"}, {"s/2"}, ids[3:8], {"s/8"}}, sessions(traces))
			require.Len(t, replayed(traces[0]), 8)
			require.Equal(t, 1500*time.Millisecond, traces[0].Header.Timeout)
			require.Equal(t, 200*time.Millisecond, traces[1].Header.Timeout)
			last := traces[4]
			require.True(t, last.Whole)
			require.Len(t, last.Events, 5, "nothing started")
			require.Equal(t, "s/3", last.Events[0].Case)
			require.Equal(t, trace.MarkNotPlayed, last.Events[0].Mark.Name)
			require.Contains(t, last.Events[0].Mark.Text, "the client hung")
		})
	}
}

func TestWaitingCasesOfAClientThatNeverComesAreNotPlayed(t *testing.T) {
	t.Parallel()
	var all []harness.Case
	for i := range 6 {
		c := question(fmt.Sprintf("s/%d", i))
		c.Wait = time.Millisecond
		all = append(all, c)
	}
	for _, parallel := range []int{1, 4} {
		client := harness.InProcess(func(context.Context, harness.Env) error { return errors.New("no configuration") },
			harness.Loopback())
		r := harness.Runner{Client: client, Revision: server.V20260728, Slots: make(chan struct{}, parallel)}
		traces := play(t, r, all...)
		require.Equal(t, [][]string{{"s/0"}, {"s/1"}, {"s/2"}, {"s/3", "s/4", "s/5"}}, sessions(traces))
		require.Equal(t, trace.Mark{Name: trace.MarkNotPlayed, Text: "3 sessions in a row made no progress; in the last " +
			"one the client never used the server"}, *traces[3].Events[0].Mark)

		comes := func(ctx context.Context, env harness.Env) error {
			if env.Decision == harness.Decline {
				return correct(ctx, env)
			}
			return nil
		}
		third := slices.Clone(all)
		third[2].Decision = harness.Decline
		traces = play(t, harness.Runner{Client: harness.InProcess(comes, harness.Loopback()), Revision: server.V20260728,
			Slots: make(chan struct{}, parallel)}, third...)
		require.Len(t, traces, 6, "never three in a row before the last")
	}
}

func TestNoCasesOfAClientThatNeverComesArePlayedAfterThreeSessions(t *testing.T) {
	t.Parallel()
	var all []harness.Case
	for i := range 10 {
		c := question(fmt.Sprintf("s/%d", i))
		c.Declare = fmt.Appendf(nil, `{"sampling":{},"roots":{"n":%d}}`, i/2) // two share a session
		all = append(all, c)
	}
	all = append(all, alone(question("s/10")), alone(question("s/11")))
	never := harness.InProcess(func(context.Context, harness.Env) error { return nil }, harness.Loopback())
	ids := strings.Fields("s/0 s/1 s/2 s/3 s/4 s/5 s/6 s/7 s/8 s/9 s/10 s/11")
	traces := play(t, harness.Runner{Client: never, Revision: server.V20260728, Slots: make(chan struct{}, 2)}, all...)
	require.Equal(t, [][]string{ids[:2], ids[2:4], ids[4:6], ids[6:10], ids[10:]}, sessions(traces))
	for _, left := range traces[3:] {
		require.Equal(t, trace.MarkNotPlayed, left.Events[0].Mark.Name)
		require.Contains(t, left.Events[0].Mark.Text, "the client never used the server")
	}

	comes := harness.InProcess(func(ctx context.Context, env harness.Env) error {
		if strings.Contains(string(env.Declare), `"n":2`) {
			return correct(ctx, env)
		}
		return nil
	}, harness.Loopback())
	traces = play(t, harness.Runner{Client: comes, Revision: server.V20260728, Slots: make(chan struct{}, 2)}, all...)
	require.Equal(t, [][]string{ids[:2], ids[2:4], ids[4:6], ids[6:8], ids[8:10], {"s/10"}, {"s/11"}}, sessions(traces))
}

func TestTheTraceHasTheEndOfAClientBeforeWhatFollowsFromIt(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		tr := virtually(t, incidents{"s-a": hangs}.client(), revision, alone(question("s/a")))[0]
		at := func(is func(*trace.Event) bool) int {
			return slices.IndexFunc(tr.Events, func(e trace.Event) bool { return is(&e) })
		}
		ending := at(func(e *trace.Event) bool { return e.Mark != nil && e.Mark.Name == trace.MarkEnding })
		require.Positive(t, ending)
		require.Greater(t, at(func(e *trace.Event) bool {
			return e.Frame != nil && e.Frame.Closed || e.Mark != nil && e.Mark.Name == trace.MarkHandlerEnded
		}), ending, revision)
		require.True(t, tr.Events[at(func(e *trace.Event) bool {
			return e.Process != nil && e.Process.State == trace.Ended
		})].Process.Deadline)
	}
}

func TestAfterCrashesTheOtherCasesStillRun(t *testing.T) {
	crashing := incidents{}
	var all []harness.Case
	for i := range 8 {
		all = append(all, alone(quiet(fmt.Sprintf("s/%d", i))))
		crashing[all[i].Tool()] = panics
	}
	traces := play(t, harness.Runner{Client: crashing.client(harness.Loopback())}, all...)
	require.Len(t, traces, 8)
	for _, tr := range traces {
		require.Equal(t, "out of range", ending(t, tr).Panic)
	}
}

func TestASessionHasALimitedNumberOfCases(t *testing.T) {
	var all []harness.Case
	for i := range 70 {
		all = append(all, quiet(fmt.Sprintf("s/%d", i)))
	}
	traces := virtually(t, right(), server.V20260728, all...)
	require.Len(t, traces, 2)
	require.Len(t, traces[0].Header.Cases, 64)
	require.Len(t, traces[1].Header.Cases, 6)
}

// flooding returns a client that sends so many notifications of a size in the case s/b.
func flooding(times, size int) harness.Client {
	return harness.InProcess(func(ctx context.Context, env harness.Env) error {
		flood := func(context.Context) error {
			data := strings.Repeat("x", size)
			body := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + data + `"}}`
			for range times {
				r, _ := http.NewRequest(http.MethodPost, env.URL, strings.NewReader(body))
				r.Header = http.Header{"Content-Type": {"application/json"},
					"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {string(env.Revision)}}
				resp, err := env.HTTP.Do(r)
				if err != nil {
					return err
				}
				resp.Body.Close()
			}
			return nil
		}
		flooding := env
		flooding.HTTP = &http.Client{Transport: incidentTransport{env.HTTP.Transport, incidents{"s-b": flood}}}
		return correct(ctx, flooding)
	})
}

func TestAFloodCostsOnlyItsOwnCase(t *testing.T) {
	r := harness.Runner{Client: flooding(20, 64<<10), Revision: server.V20260728, Bubble: inBubble(t), TraceLimit: 1 << 20}
	traces := play(t, r, cases(quiet, "s/a", "s/b", "s/c")...)
	require.Equal(t, [][]string{{"s/a", "s/b", "s/c"}, {"s/a"}, {"s/b"}, {"s/c"}}, sessions(traces))
	require.Equal(t, []string{"s/a", "s/b", "s/c"}, replayed(traces[0]))
	for i, whole := range []bool{false, true, false, true} {
		require.Equal(t, whole, traces[i].Whole, i)
	}
}

func TestLargeMessagesOfAllSessionsAreLimited(t *testing.T) {
	r := harness.Runner{Client: flooding(7, 10<<20), Revision: server.V20260728, Bubble: inBubble(t), TraceLimit: 1 << 30}
	traces := play(t, r, cases(quiet, "s/b")...)
	require.Len(t, traces, 1)
	require.False(t, traces[0].Whole)
	require.EqualValues(t, 1, traces[0].Dropped)
}

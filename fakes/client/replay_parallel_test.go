package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

const days = 4

// diary is a server whose tool asks what happened on a day, when all days have been called for. The days ask in an
// order, one after the other, and all calls end together.
func diary(order [days]int, amend func(*server.CreateMessageParams)) server.Tool {
	var called, asked sync.WaitGroup
	called.Add(days)
	asked.Add(days)
	turns := map[int]chan struct{}{}
	for _, day := range order {
		turns[day] = make(chan struct{})
	}
	close(turns[order[0]])
	return server.Tool{Name: "day", Handler: func(s *server.Session) (any, error) {
		var of struct{ Day int }
		if err := json.Unmarshal(s.Call().Arguments, &of); err != nil {
			return nil, err
		}
		called.Done()
		called.Wait()
		<-turns[of.Day]
		ask := s.Ask(fmt.Sprintf("What happened on day %d?", of.Day))
		amend(ask)
		answer, err := server.As[server.Answer](s.Sample(ask))
		if next := slices.Index(order[:], of.Day) + 1; next < days {
			close(turns[order[next]])
		}
		asked.Done()
		asked.Wait()
		return answer.Text(), err
	}}
}

var forwards, backwards = [days]int{0, 1, 2, 3}, [days]int{3, 2, 1, 0}

func asIs(*server.CreateMessageParams) {}

// Over stdio, nothing says which of several calls a sampling request is for. The recording guesses, and another server
// may ask in another order.
func TestReplayKnowsTheRequestsOfCallsAtOnce(t *testing.T) {
	for transport := range transports {
		t.Run(transport, func(t *testing.T) {
			connect := transports[transport]
			file := recordedTools(t, "pipe", server.V20251125, func(c *client.Client) {
				var calls sync.WaitGroup
				for n := range days {
					calls.Go(func() {
						result, err := c.CallTool(t.Context(), "day", map[string]any{"day": n})
						assert.NoError(t, err)
						assert.Equal(t, "1", result.Text())
					})
				}
				calls.Wait()
			}, diary(forwards, asIs))
			played := func(amend func(*server.CreateMessageParams)) []string {
				srv := server.New(t, diary(backwards, amend))
				found, err := client.PlayRecording(t.Context(), connect(t, srv), file)
				require.NoError(t, err)
				return found.Differences
			}
			require.Empty(t, played(asIs))

			differences := played(func(ask *server.CreateMessageParams) { ask.SystemPrompt = "Be brief." })
			require.Len(t, differences, days)
			for i, d := range differences {
				require.Contains(t, d, fmt.Sprintf("request %d of the server, sampling/createMessage, differs: "+
					`at params.systemPrompt the recording has nothing, found "Be brief."`, i+1), "nothing but what changed")
			}
		})
	}
}

// noisy is a connection whose server also prints to it.
type noisy struct {
	io.ReadWriteCloser
	once sync.Once
}

func (n *noisy) Write(b []byte) (int, error) {
	n.once.Do(func() { _, _ = io.WriteString(n.ReadWriteCloser, "connected to the database\n\n") })
	return n.ReadWriteCloser.Write(b)
}

// printing connects to a server that prints.
func printing(t *testing.T, srv *server.Server) client.Options {
	ours, theirs := net.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { srv.ServeConn(context.WithoutCancel(t.Context()), &noisy{ReadWriteCloser: theirs}) })
	t.Cleanup(serving.Wait)
	return client.Options{Conn: ours}
}

const printed = "the server wrote a line to its standard output that is not a message: connected to the database"

func TestReplayNamesALineThatIsNotAMessage(t *testing.T) {
	eachWire(t, func(t *testing.T, file, _ string, _ server.Revision) {
		found, err := client.PlayRecording(t.Context(), printing(t, server.New(t, quizTools(question)...)), file)
		require.NoError(t, err)
		require.Len(t, found.Differences, 1)
		require.Contains(t, found.Differences[0], printed)
		require.ErrorContains(t, found.Update(), "record the session again")
	})
}

func TestTheTestFailsForALineThatIsNotAMessage(t *testing.T) {
	tools := quizTools(question)
	for i := range tools {
		tools[i].Optional = true
	}
	srv := server.New(t, tools...)
	log := &failures{}
	client.New(log, printing(t, srv))
	require.Equal(t, printed, log.text())
}

func TestReplayNamesTheCallThatHangs(t *testing.T) {
	file := recorded(t, "http", server.V20251125)
	synctest.Test(t, func(t *testing.T) {
		tools := quizTools(question)
		tools[1].Handler = func(s *server.Session) (any, error) {
			<-s.Context().Done()
			return nil, s.Context().Err()
		}
		srv := server.New(t, tools...)
		ours, theirs := net.Pipe()
		go srv.ServeConn(context.WithoutCancel(t.Context()), theirs)
		log := &failures{}
		began := time.Now()
		client.Replay(log, file, client.Options{Conn: ours, Timeout: time.Hour})
		require.Equal(t, time.Hour, time.Since(began))
		text := log.text()
		require.Contains(t, text, "tools/call both: no response within the time limit")
		require.Contains(t, text, context.DeadlineExceeded.Error())
	})
}

// recordedTools records what a client does with a server. As a tap does, it leaves out the marks, and which call a
// message belongs to.
func recordedTools(
	t *testing.T, transport string, revision server.Revision, do func(*client.Client), tools ...server.Tool,
) string {
	t.Helper()
	recorder := trace.NewRecorder(trace.Header{Revision: string(revision)}, 0)
	srv := server.NewWith(t, server.Options{Record: func(e trace.Event) trace.Ref {
		if e.Mark != nil {
			return trace.Ref{}
		}
		e.Case, e.Call = "", 0
		return recorder.Record(e)
	}}, tools...)
	o := transports[transport](t, srv)
	o.Revision, o.Sampling = revision, answers("Paris")
	c, err := client.Connect(t.Context(), o)
	require.NoError(t, err)
	do(c)
	require.NoError(t, c.Close())
	require.NoError(t, srv.Close())
	file := filepath.Join(t.TempDir(), "session.ndjson")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, recorder.Stop().Write(f))
	require.NoError(t, f.Close())
	return file
}

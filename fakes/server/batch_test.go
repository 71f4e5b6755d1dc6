package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// asksInABatch samples twice in one batch and returns the ids, results and errors.
func asksInABatch(s *server.Session) (any, error) {
	pending, err := s.Transport().StartBatch(s.Ask("One?"), s.Ask("Two?"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, one := range pending {
		answer, err := one.Wait()
		all = append(all, fmt.Sprintf("%s %s %v", one.ID(), answer, err))
	}
	return strings.Join(all, "\n"), nil
}

// batchOf reads the messages of a batch.
func batchOf(t *testing.T, raw string) []message {
	t.Helper()
	var batch []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(raw), &batch), raw)
	var all []message
	for _, one := range batch {
		all = append(all, loosely(one))
	}
	return all
}

func batch(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

func TestSamplesOfABatchAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", asksInABatch))
		p := r.connect(server.V20250326, sampling)
		p.call(1, "ask")
		line, err := p.rest.ReadString('\n')
		require.NoError(t, err)
		asked := batchOf(t, line)
		require.Len(t, asked, 2)
		p.send(batch(asked[1].answer("two"), asked[0].answer("one")))
		require.Regexp(t, `(?s)^`+string(asked[0].ID)+` .*"one".*\n`+string(asked[1].ID)+` .*"two"`, p.next().text(t))
		r.requireStory("ask", "call, start, mark batch, sample, sample, client result, client result, end, server result")
	})
}

func TestSamplesOfABatchAreOneEvent(t *testing.T) {
	for _, responses := range []server.ResponseMode{server.Auto, server.JSON} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{ResponseMode: responses}, tool("ask", asksInABatch))
			c := r.client(server.V20250326, sampling)
			var stream *reply
			if responses == server.Auto {
				stream = c.call(1, "ask")
			} else {
				stream = c.listen("")
				called := make(chan struct{})
				go func() {
					defer close(called)
					c.call(1, "ask")
				}()
				defer func() { <-called }()
			}
			event, ok := stream.event()
			require.True(t, ok)
			asked := batchOf(t, event)
			require.Len(t, asked, 2)
			response := c.post(batch(asked[1].answer("two"), asked[0].answer("one")))
			require.Equal(t, http.StatusAccepted, response.StatusCode)
			r.until("ask", "end")
			require.Contains(t, r.story("ask"), "mark batch")
			require.Contains(t, r.story(""), "mark batch")
		})
	}
}

func TestOnly20250326HasBatches(t *testing.T) {
	inCall(t, server.AllRevisions()[1:], sampling, func(s *server.Session) {
		_, err := s.Transport().StartBatch(s.Ask("One?"))
		require.ErrorIs(t, err, server.ErrRevision)
	})
	inEach(t, server.AllRevisions()[1:3], func(t *testing.T, revision server.Revision) {
		start(t).client(revision, nothing).post(batch(request(2, "ping", "{}"))).requireError(400, -32600, "array")
	})
}

func TestBatchWithAnUndeclaredRequestIsNotSent(t *testing.T) {
	inCall(t, server.AllRevisions()[:1], nothing, func(s *server.Session) {
		_, err := s.Transport().StartBatch(s.Ask("One?"), s.Ask("Two?"))
		require.ErrorIs(t, err, server.ErrUndeclared)
	})
}

func TestConnectionServesEachMessageOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		p := r.connect(server.V20250326, nothing)
		p.send(" " + batch(request(1, "ping", "{}"), "7", `{"jsonrpc":"2.0","method":"notifications/no"}`,
			request(2, "tools/list", "{}")))
		require.Equal(t, "1", string(p.next().ID))
		require.Equal(t, "2", string(p.next().ID))
		require.Equal(t, []string{"mark batch", "client ping", "server result", `client "7"`, "client notifications/no",
			"client tools/list", "server result"}, r.story("")[4:])
		p.send("[]", request(3, "ping", "{}"))
		require.Equal(t, "3", string(p.next().ID), "an empty batch is invalid, and this revision has no error for it")
	})
}

func TestPostedBatchGetsOneStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", always("done", nil)))
		c := r.client(server.V20250326, nothing)
		before := len(r.story(""))
		reply := c.post(batch(request(1, "ping", "{}"), "7", `{"jsonrpc":"2.0","method":"notifications/no"}`,
			c.calls(2, "tool"), c.initialize(3)))
		require.Equal(t, http.StatusOK, reply.StatusCode)
		require.True(t, reply.isStream())
		responses := map[string]message{}
		for {
			event, more := reply.event()
			if !more {
				break
			}
			m := loosely([]byte(event))
			responses[string(m.ID)] = m
		}
		require.Len(t, responses, 4)
		require.Equal(t, fmt.Sprintf(pong, 1), responses["1"].raw)
		require.Equal(t, "done", responses["2"].text(t))
		responses["3"].requireError(t, -32600, "initialize must not be part of a batch")
		responses[""].requireError(t, -32600, "found 7")
		require.Equal(t, "mark batch", r.story("")[before])
		require.Contains(t, r.story(""), "client notifications/no")
		r.requireStory("tool", "call, start, end, server result")
	})
}

func TestPostedBatchGetsOneArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startWith(t, server.Options{ResponseMode: server.JSON}).client(server.V20250326, nothing)
		reply := c.post(batch(request(1, "ping", "{}"), request(2, "tools/list", "{}")))
		require.Equal(t, "application/json", reply.Header.Get("Content-Type"))
		require.Len(t, batchOf(t, reply.body()), 2)
	})
}

func TestCloseBreaksThePostOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait, begun := waiting()
		r := start(t, tool("wait", wait))
		c := r.client(server.V20250326, nothing)
		go func() {
			<-begun
			_ = r.Close()
		}()
		reply, err := c.try(t.Context(), http.MethodPost, batch(request(1, "ping", "{}"), c.calls(2, "wait")))
		if err == nil {
			_, err = io.ReadAll(reply.rest)
		}
		require.Error(t, err, "a partial response must not seem complete")
	})
}

func TestBatchHasAtMost1000Messages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		pings := func(n int) string {
			return batch(strings.Split(strings.Repeat(" "+request(1, "ping", "{}"), n), " ")[1:]...)
		}
		c := r.client(server.V20250326, nothing)
		c.post(pings(1001)).requireError(400, -32600, "1001 messages")
		require.Equal(t, http.StatusOK, c.post(pings(1000)).StatusCode)

		p := r.connect(server.V20250326, nothing)
		before := len(r.trace())
		p.send(pings(1001), request(2, "ping", "{}"))
		require.Equal(t, fmt.Sprintf(pong, 2), p.next().raw, "this revision has no error without an id")
		require.Len(t, r.trace(), before+3, "the batch, the ping and its response")
	})
}

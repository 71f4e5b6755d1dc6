package server_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestStartedSampleIsSentBeforeLaterMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			asked, err := s.Start(s.Ask("one?"))
			require.NoError(t, err)
			require.NoError(t, asked.Cancel("by mistake"))
			require.NoError(t, asked.Cancel(""))
			later, err := s.Sample(s.Ask("two?"))
			require.NoError(t, err)
			<-asked.Done()
			first, err := asked.Wait()
			return string(first) + string(later), err
		})).legacy(sampling)
		call := c.call(1, "ask")
		one := call.next()
		require.Equal(t, fmt.Sprintf(`{"requestId":%s,"reason":"by mistake"}`, one.ID), string(call.next().Params))
		require.Equal(t, fmt.Sprintf(`{"requestId":%s}`, one.ID), string(call.next().Params))
		two := call.next()
		c.post(two.answer("later"))
		c.post(one.answer("late"))
		require.Equal(t, sampled("late")+sampled("later"), call.text(), "Cancel does not end the request")
	})
}

func TestStartInAModernRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			require.Equal(t, "1", string(s.Call().ID))
			asked, err := s.Start(s.Ask("one?"))
			require.NoError(t, err)
			require.Nil(t, asked.ID())
			require.ErrorIs(t, asked.Cancel(""), server.ErrRevision)
			require.ErrorIs(t, asked.Resend(), server.ErrRevision)
			answer, err := asked.Wait()
			require.Equal(t, "2", string(s.Call().ID))
			return answer, err
		})).modern(sampling)
		require.Equal(t, sampled("yes"), c.converse("ask", says("yes")).text(t))
	})
}

func TestStartReturnsTheErrorOfARequestThatIsNotSent(t *testing.T) {
	inCall(t, bothProtocols, nothing, func(s *server.Session) {
		asked, err := s.Start(s.Ask("?"))
		require.Nil(t, asked)
		require.ErrorIs(t, err, server.ErrUndeclared)
	})
}

func TestCancelOfAnAbandonedCallUsesTheGETStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan error, 2)
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			asked, err := s.Start(s.Ask("?"))
			require.NoError(t, err)
			_, err = asked.Wait()
			over <- err
			over <- asked.Cancel("abandoned")
			_, err = s.Start(s.Ask("and now?"))
			return nil, err
		})).legacy(sampling)
		listening := c.listen("")
		sample := c.call(1, "ask").next()
		c.post(cancels(1))
		require.ErrorContains(t, <-over, "canceled")
		require.NoError(t, <-over)
		require.Contains(t, listening.next().raw, fmt.Sprintf(`"requestId":%s`, sample.ID))
	})
}

func TestRepeatSendsTheRequestTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			p, err := s.Start(s.Ask("?"))
			require.NoError(t, err)
			require.NoError(t, p.Resend())
			return p.Wait()
		}))
		c := r.legacy(sampling)
		call := c.call(1, "ask")
		first, second := call.next(), call.next()
		require.Equal(t, first.raw, second.raw)
		c.post(first.answer("a"))
		require.Equal(t, sampled("a"), call.text())
		c.post(first.answer("again"))
		require.Len(t, r.hostile(), 1)
	})
}

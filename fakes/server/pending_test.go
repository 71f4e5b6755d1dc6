package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestAStartedSampleIsOnItsWayBeforeWhatComesAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			asked, err := s.Start(s.Ask("one?"))
			require.NoError(t, err)
			require.NoError(t, s.Cancel(asked, "asked by mistake"))
			require.NoError(t, s.Cancel(asked, ""))
			later, err := s.Sample(s.Ask("two?"))
			require.NoError(t, err)
			<-asked.Done()
			first, err := asked.Answer()
			require.NoError(t, err)
			return string(first) + string(later), nil
		}})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		one := call.next()
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"asked by mistake"}}`, one.ID), call.next().raw)
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, one.ID), call.next().raw)
		two := call.next()
		w.post(two.response(sampled("later")))
		w.post(one.response(sampled("late, but a cancel is no end of it")))
		text := call.next().call(t).text(t)
		require.Contains(t, text, "later")
		require.Contains(t, text, "late, but")
	})
}

func TestAStartedSampleInTheSecondEraIsOneLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			require.Equal(t, "1", string(s.CallID()))
			asked, err := s.Start(s.Ask("one?"))
			require.NoError(t, err)
			require.Nil(t, asked.ID())
			require.ErrorIs(t, s.Cancel(asked, ""), server.ErrEra)
			answer, err := asked.Answer()
			require.Equal(t, "2", string(s.CallID()))
			return answer, err
		}})
		got := r.converse(server.V20260728, sampling, "ask", func(string) string { return sampled("so it is") })
		require.Contains(t, got.call(t).text(t), "so it is")
	})
}

func TestWhatIsNotSentIsNotPending(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				asked, err := s.Start(s.Ask("?"))
				require.Nil(t, asked)
				require.ErrorIs(t, err, server.ErrUndeclared)
				require.Equal(t, 1, s.Call())
				require.False(t, s.WantsProgress())
				return "nothing", nil
			}})
			require.Contains(t, r.converse(revision, nothing, "ask", nil).call(t).text(t), "nothing")
		})
	}
}

func TestACallThatIsGivenUpHasItsSampleCancelledOnTheOtherStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan error, 2)
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			asked, err := s.Start(s.Ask("?"))
			require.NoError(t, err)
			_, err = asked.Answer()
			over <- err
			over <- s.Cancel(asked, "the call was given up")
			_, err = s.Start(s.Ask("and now?"))
			return nil, err
		}})
		w := r.legacy(server.V20251125, sampling)
		listening := w.do(http.MethodGet, "")
		call := w.call(1, "ask")
		question := call.next()
		w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		require.ErrorContains(t, <-over, "canceled")
		require.NoError(t, <-over)
		require.Contains(t, listening.next().raw, fmt.Sprintf(`"requestId":%s`, question.ID))
	})
}

package llm

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/memnet"
)

// asking returns a chat completion request, plain or streamed.
func asking(question string, stream bool) string {
	return fmt.Sprintf(`{"model":"m","stream":%t,"messages":[{"role":"user","content":%q}]}`, stream, question)
}

func closedNow(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestGateHoldsTheAnswerAfterItsHeader(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var s seen
		gate := &Gate{}
		inMemory(t, &s, []*Rule{When().Reply(Text("late")).Hold(gate)},
			func(t *testing.T, server *Server, network *memnet.Network) {
				gate.Close("word")
				gate.Close("word")
				resp, err := send(t, t.Context(), network, server, asking("take your time, word", stream))
				require.NoError(t, err, "the header is there")
				require.True(t, closedNow(gate.Held("word")))
				<-time.After(time.Hour) // virtual time
				require.False(t, closedNow(gate.Ended("word")))
				gate.Open("word")
				gate.Open("word")
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Contains(t, string(body), "late")
				<-gate.Ended("word")
				require.Equal(t, 200, server.Journal()[0].Status)
				require.False(t, server.Journal()[0].HungUp)
			})
	}
}

func TestGateLetsOtherRequestsPass(t *testing.T) {
	var s seen
	gate := &Gate{}
	rules := []*Rule{When(LastUser("refuse")).Fail(&Error{Status: 400, Message: "no"}).Hold(gate),
		When().Reply(Text("at once")).Hold(gate)}
	inMemory(t, &s, rules, func(t *testing.T, server *Server, network *memnet.Network) {
		gate.Close("word")
		gate.Close("opened")
		gate.Open("opened")
		gate.Open("never closed")
		for _, question := range []string{"hello", "refuse, word", "opened", "never closed"} {
			resp, err := send(t, t.Context(), network, server, asking(question, false))
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err, question)
			require.NoError(t, resp.Body.Close())
		}
		require.False(t, closedNow(gate.Held("word")))
		gate.Idle(t.Context())
	})
}

func TestHangUpAtTheGateEndsTheRequest(t *testing.T) {
	var s seen
	gate := &Gate{}
	inMemory(t, &s, []*Rule{When().Reply(Text("at last")).Hold(gate)},
		func(t *testing.T, server *Server, network *memnet.Network) {
			gate.Close("word")
			ctx, hangUp := context.WithCancel(t.Context())
			_, err := send(t, ctx, network, server, asking("word", true))
			require.NoError(t, err)
			idle := make(chan struct{})
			go func() {
				gate.Idle(context.Background())
				close(idle)
			}()
			synctest.Wait()
			require.False(t, closedNow(idle))
			hangUp()
			<-gate.Ended("word")
			<-idle
			require.True(t, server.Journal()[0].HungUp, "its end is known by then")
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = send(t, t.Context(), network, server, asking("word", true))
			require.NoError(t, err)
			gate.Idle(ended) // must return at once
		})
}

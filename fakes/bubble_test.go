package fakes_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The code of docs/fakes.md.
func TestAnAnswerAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := llm.New(t, llm.When().Reply(llm.Text("18°C")).Pace(llm.Pace{FirstToken: time.Minute}))
		began := time.Now()
		resp, err := fake.Client().Post(fake.OpenAI()+"/chat/completions", "application/json", // your client
			strings.NewReader(`{"model":"gpt-4.1","messages":[{"role":"user","content":"How is the weather?"}]}`))
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, time.Minute, time.Since(began))
	})
}

// All three fakes in one bubble, with the client of either.
func TestFakesReachEachOtherInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := llm.Pace{FirstToken: 50 * time.Second}
		fake := llm.New(t, llm.When().Reply(llm.Text("Sunny")).Pace(slow))
		srv := server.New(t, server.Tool{Name: "weather", Handler: func(s *server.Session) (any, error) {
			return server.As[server.Answer](s.Sample(s.Ask("How is the weather?")))
		}})
		c := client.New(t, client.Options{URL: srv.URL, HTTP: srv.Client(), Fake: fake})
		_, err := c.CallTool(t.Context(), "weather", nil)
		require.NoError(t, err)
		require.Equal(t, slow.FirstToken, c.Samples()[0].Took)

		resp, err := fake.Client().Get(srv.URL + "/elsewhere")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
	})
}

func TestTheDefaultTransportGivesAdviceInABubble(t *testing.T) {
	outside := llm.New(t, llm.When().Reply(llm.Text("hi")).Optional())
	synctest.Test(t, func(t *testing.T) {
		for name, url := range map[string]string{
			"llm":    llm.New(t).OpenAI() + "/chat/completions",
			"server": server.New(t).URL,
		} {
			body := &closed{Reader: strings.NewReader("{}")}
			resp, err := http.Post(url, "application/json", body)
			if err == nil {
				resp.Body.Close()
			}
			require.ErrorContains(t, err, "is a fake in memory, since it was started in a synctest bubble: the default "+
				"transport cannot reach it. Use the *http.Client of its method Client", name)
			require.True(t, body.closed)
		}
	})
	resp, err := http.Get(outside.OpenAI() + "/models") // works as before
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

type closed struct {
	io.Reader
	closed bool
}

func (c *closed) Close() error { c.closed = true; return nil }

func TestClientOutsideOfABubble(t *testing.T) {
	fake, srv := llm.New(t), server.New(t)
	for url, h := range map[string]*http.Client{fake.OpenAI() + "/models": fake.Client(), srv.URL + "/x": srv.Client()} {
		resp, err := h.Get(url)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
}

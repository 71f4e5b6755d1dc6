package server_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestJournalHasCallsSamplesAndResults(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			answer, err := server.As[server.Answer](s.Sample(s.Ask("what is it?")))
			return "it is " + answer.Text(), err
		}), tool("fails", always(nil, errors.New("broken"))))
		c := r.client(revision, sampling)
		c.converse("ask", says("a cat"))
		c.call(2, "fails", `"arguments":{"a":1}`).last()
		journal := r.Journal()
		require.Len(t, journal, 2)
		require.Equal(t, []any{"ask", 1, revision, true, nil},
			[]any{journal[0].Tool, journal[0].Number, journal[0].Revision, journal[0].Ended, journal[0].Err})
		require.JSONEq(t, `{"content":[{"type":"text","text":"it is a cat"}]}`, string(journal[0].Result))
		require.Len(t, journal[0].Samples, 1)
		require.Contains(t, string(journal[0].Samples[0].Params), "what is it?")
		require.Contains(t, string(journal[0].Samples[0].Result), "a cat")
		require.JSONEq(t, `{"a":1}`, string(journal[1].Arguments))
		require.EqualError(t, journal[1].Err, "broken")
	})
}

func TestAnAnswerIsDecoded(t *testing.T) {
	raw := json.RawMessage(`{"role":"assistant","model":"m","stopReason":"toolUse","content":[{"type":"text","text":"so"},
		{"type":"tool_use","id":"u1","name":"add","input":{"a":2}},{"type":"text","text":"then"}]}`)
	answer, err := server.As[server.Answer](raw, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"assistant", "m", "toolUse", "so\nthen"},
		[]string{answer.Role, answer.Model, answer.StopReason, answer.Text()})
	require.Equal(t, "add", answer.ToolUses()[0].Name)
	answer, err = server.As[server.Answer](json.RawMessage(`{"content":{"type":"text","text":"one"}}`), nil)
	require.NoError(t, err)
	require.Equal(t, "one", answer.Text())

	_, err = server.As[server.Answer](json.RawMessage(`[]`), nil)
	require.ErrorContains(t, err, "reading the client's result as server.Answer")
	_, err = server.As[server.Answer](nil, server.ErrNoStream)
	require.ErrorIs(t, err, server.ErrNoStream)
}

func TestNewFailsTheTestOfAToolThatIsNeverCalled(t *testing.T) {
	tb := &recordedTB{}
	never, maybe := tool("never", ask), tool("maybe", ask)
	maybe.Optional = true
	server.NewWith(tb, server.Options{Name: "weather"}, never, maybe)
	for _, cleanup := range tb.cleanups {
		cleanup()
	}
	require.Equal(t, []string{"fake MCP server: tool never was never called"}, tb.failures)
}

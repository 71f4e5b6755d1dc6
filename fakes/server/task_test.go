package server_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const tasks = `{"sampling":{},"tasks":{"list":{},"requests":{"sampling":{"createMessage":{}}}}}`

// askForTask returns a sampling request for a task.
func askForTask(s *server.Session, ttl int) *server.CreateMessageParams {
	ask := s.Ask("?")
	ask.Task = &server.TaskMetadata{TTL: ttl}
	return ask
}

func TestTaskRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			made, err := s.Sample(askForTask(s, 60000))
			require.NoError(t, err)
			require.JSONEq(t, `{"task":{"taskId":"t1"}}`, string(made))
			asked, err := s.Start(server.TaskParams{TaskID: "t1"}, server.TasksResult)
			require.NoError(t, err)
			listed, err := s.Start(server.TaskParams{}, server.TasksList, server.OnGETStream())
			require.NoError(t, err)
			_, err = listed.Wait()
			require.ErrorContains(t, err, "no such cursor")
			return asked.Wait()
		})).legacy(tasks)
		listening := c.listen("")
		call := c.call(1, "ask")
		one := call.next()
		require.Equal(t, "sampling/createMessage", one.Method)
		require.Contains(t, one.raw, `"task":{"ttl":60000}`)
		c.post(one.response(`{"task":{"taskId":"t1"}}`))
		two := call.next()
		require.Equal(t, request(string(two.ID), "tasks/result", `{"taskId":"t1"}`), two.raw)
		three := listening.next()
		require.Equal(t, request(string(three.ID), "tasks/list", `{}`), three.raw)
		c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such cursor"}}`, three.ID))
		c.post(two.answer("yes"))
		require.Equal(t, sampled("yes"), call.text())
	})
}

func TestTaskRequestsNeedTheirCapabilityUnlessHostile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", does(func(s *server.Session) {
			_, err := s.Start(askForTask(s, 0))
			require.ErrorContains(t, err, ": tasks.requests.sampling.createMessage")
			for method, missing := range map[server.Method]string{
				server.TasksGet:    "tasks.requests.sampling.createMessage",
				server.TasksResult: "tasks.requests.sampling.createMessage",
				server.TasksCancel: "tasks.cancel", server.TasksList: "tasks.list",
			} {
				_, err := s.Start(map[string]any{"taskId": "t1"}, method)
				require.ErrorIs(t, err, server.ErrUndeclared)
				require.ErrorContains(t, err, ": "+missing)
			}
			_, err = s.Start(askForTask(s, 0), server.Hostile())
			require.NoError(t, err)
			_, err = s.Start(map[string]any{"taskId": 1}, server.TasksGet, server.Hostile())
			require.NoError(t, err)
		}))).legacy(sampling)
		call := c.call(1, "ask")
		require.Contains(t, call.next().raw, `"task":{}`)
		require.Contains(t, call.next().raw, `"params":{"taskId":1}`)
		require.Equal(t, "done", call.text())
	})
}

func TestInvalidTaskParamsAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", does(func(s *server.Session) {
			for _, params := range []any{nil, server.TaskParams{}, map[string]any{"taskId": 1}, []string{"t1"},
				math.NaN()} {
				_, err := s.Start(params, server.TasksGet)
				require.ErrorIs(t, err, server.ErrInvalid)
			}
			_, err := s.Start(map[string]any{"cursor": 1}, server.TasksList)
			require.ErrorIs(t, err, server.ErrInvalid)
		})))
		for range 5 {
			r.expected = append(r.expected, "invalid tasks/get")
		}
		r.expected = append(r.expected, "invalid tasks/list")
		require.Equal(t, "done", r.legacy(tasks).call(1, "ask").text())
	})
}

func TestOnly20251125HasTasks(t *testing.T) {
	inCall(t, []server.Revision{server.V20250618, server.V20260728}, tasks, func(s *server.Session) {
		_, err := s.Start(askForTask(s, 0))
		require.ErrorIs(t, err, server.ErrRevision)
		_, err = s.Start(server.TaskParams{TaskID: "t1"}, server.TasksGet)
		require.ErrorIs(t, err, server.ErrRevision)
	})
}

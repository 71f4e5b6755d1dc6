package server_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

const tasks = `{"sampling":{},"tasks":{"list":{},"requests":{"sampling":{"createMessage":{}}}}}`

func TestAPlayAsksForATaskAndAboutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("one?")
			ask.Task = &server.TaskMetadata{TTL: 60000}
			made, err := s.Sample(ask)
			require.NoError(t, err)
			require.JSONEq(t, `{"task":{"taskId":"t1"}}`, string(made))
			asked, err := s.StartTask(server.TasksResult, server.TaskParams{TaskID: "t1"})
			require.NoError(t, err)
			listed, err := s.StartTask(server.TasksList, server.OnGET(server.TaskParams{}))
			require.NoError(t, err)
			_, err = listed.Answer()
			require.ErrorContains(t, err, "no such cursor")
			return asked.Answer()
		}})
		w := r.legacy(server.V20251125, tasks)
		listening := w.do(http.MethodGet, "")
		call := w.call(1, "ask")
		one := call.next()
		require.Contains(t, one.raw, `"method":"sampling/createMessage"`)
		require.Contains(t, one.raw, `"task":{"ttl":60000}`)
		w.post(one.response(`{"task":{"taskId":"t1"}}`))
		two := call.next()
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tasks/result","params":{"taskId":"t1"}}`, two.ID), two.raw)
		three := listening.next()
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tasks/list","params":{}}`, three.ID), three.raw)
		w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such cursor"}}`, three.ID))
		w.post(two.response(sampled("so it is")))
		require.Contains(t, call.next().call(t).text(t), "so it is")
	})
}

func TestTasksAreAskedForWhereTheyAreDeclared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("?")
			ask.Task = &server.TaskMetadata{}
			_, err := s.Start(ask)
			require.EqualError(t, err, "the client has not declared the capability: tasks.requests.sampling.createMessage")
			for method, missing := range map[server.TaskMethod]string{
				server.TasksGet: "tasks.requests.sampling.createMessage", server.TasksResult: "tasks.requests.sampling.createMessage",
				server.TasksCancel: "tasks.cancel", server.TasksList: "tasks.list",
			} {
				_, err := s.StartTask(method, map[string]any{"taskId": "t1"})
				require.EqualError(t, err, "the client has not declared the capability: "+missing)
				require.ErrorIs(t, err, server.ErrUndeclared)
			}
			_, err = s.Start(server.Hostile(ask))
			require.NoError(t, err)
			_, err = s.StartTask(server.TasksGet, server.Hostile(map[string]any{"taskId": 1}))
			require.NoError(t, err)
			return "done", nil
		}})
		call := r.legacy(server.V20251125, sampling).call(1, "ask")
		require.Contains(t, call.next().raw, `"task":{}`)
		require.Contains(t, call.next().raw, `"params":{"taskId":1}`)
		require.Contains(t, call.next().call(t).text(t), "done")
	})
}

func TestParamsOfRequestsAboutTasksAreValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			for _, params := range []any{nil, server.TaskParams{}, map[string]any{"taskId": 1}, []string{"t1"}, math.NaN()} {
				_, err := s.StartTask(server.TasksGet, params)
				require.ErrorIs(t, err, server.ErrInvalid)
			}
			_, err := s.StartTask(server.TasksList, map[string]any{"cursor": 1})
			require.ErrorIs(t, err, server.ErrInvalid)
			return "done", nil
		}})
		for range 5 {
			r.expected = append(r.expected, "sends a tasks/get with invalid params")
		}
		r.expected = append(r.expected, "sends a tasks/list with invalid params")
		require.Contains(t, r.legacy(server.V20251125, tasks).call(1, "ask").next().call(t).text(t), "done")
	})
}

func TestTasksAreAMatterOfOneRevision(t *testing.T) {
	for _, revision := range []server.Revision{server.V20250618, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				ask := s.Ask("?")
				ask.Task = &server.TaskMetadata{}
				_, err := s.Start(ask)
				require.ErrorIs(t, err, server.ErrEra)
				_, err = s.StartTask(server.TasksGet, server.TaskParams{TaskID: "t1"})
				require.ErrorIs(t, err, server.ErrEra)
				return "done", nil
			}})
			require.Contains(t, r.converse(revision, tasks, "ask", nil).call(t).text(t), "done")
		})
	}
}

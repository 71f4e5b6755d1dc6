package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

func TestSendIsByteExact(t *testing.T) {
	for name, c := range map[string]struct{ sent, wire, read string }{
		"anything":       {`{"a": 1,  "a":2}x`, "data: {\"a\": 1,  \"a\":2}x\n\n", `{"a": 1,  "a":2}x`},
		"newlines":       {"{\n\"a\":\n\n1}\n", "data: {\ndata: \"a\":\ndata: \ndata: 1}\ndata: \n\n", "{\n\"a\":\n\n1}\n"},
		"CR":             {"{\r\"a\":1}", "data: {\ndata: \"a\":1}\n\n", "{\n\"a\":1}"},
		"CRLF":           {"{\r\n\"a\":1}\r\n\r", "data: {\ndata: \"a\":1}\ndata: \ndata: \n\n", "{\n\"a\":1}\n\n"},
		"no UTF-8":       {"\"\xff\xfe\xc3\"", "data: \"\xff\xfe\xc3\"\n\n", "\"\xff\xfe\xc3\""},
		"NUL":            {"\x00", "data: \x00\n\n", "\x00"},
		"leading space":  {"  {}", "data:   {}\n\n", "  {}"},
		"like a field":   {"a\nid: 7\nevent: x", "data: a\ndata: id: 7\ndata: event: x\n\n", "a\nid: 7\nevent: x"},
		"nothing":        {"", "data: \n\n", ""},
		"other line end": {"a\u2028b\u0085c", "data: a\u2028b\u0085c\n\n", "a\u2028b\u0085c"},
	} {
		for _, revision := range []server.Revision{server.V20250618, server.V20260728} {
			t.Run(name+" "+string(revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{}, server.Tool{Name: "send", Handler: func(s *server.Session) (any, error) {
						frame := []byte(c.sent)
						err := s.Send(frame)
						clear(frame) // it is the play's own again
						return nil, err
					}})
					call := func(id int) *reply {
						if revision.Modern() {
							return r.modern().callModern(id, "send", nothing, "")
						}
						return r.legacy(revision, nothing).call(id, "send")
					}
					whole := call(1).body()
					require.Equal(t, c.wire, whole[:len(c.wire)])
					again := call(2)
					data, ok := again.event()
					require.True(t, ok)
					require.Equal(t, c.read, data)
					require.Empty(t, again.last().call(t).Content)

					sent := hostileFrames(r)
					require.Len(t, sent, 2)
					require.Equal(t, c.sent, string(sent[0].Raw))
				})
			})
		}
	}
}

func hostileFrames(r *rig) []*trace.Frame {
	var frames []*trace.Frame
	for _, e := range r.trace() {
		if e.Frame != nil && e.Frame.Hostile {
			frames = append(frames, e.Frame)
		}
	}
	return frames
}

func TestHostileParamsAreSentAsTheyAreAndMarked(t *testing.T) {
	for name, c := range map[string]struct {
		params any
		want   string
	}{
		"map":        {map[string]any{"maxTokens": "<many>"}, `{"maxTokens":"<many>"}`},
		"undeclared": {toolParams, string(toolParams)},
		"raw":        {json.RawMessage(`{ "maxTokens": 1.50, "maxTokens":2 }`), `{ "maxTokens": 1.50, "maxTokens":2 }`},
		"no UTF-8":   {json.RawMessage("{\"a\":\"\xff\"}"), "{\"a\":\"\xff\"}"},
		"twice":      {server.Hostile([]int{2}), `[2]`},
		"array":      {[]int{1}, `[1]`},
		"null":       {nil, `null`},
		"no JSON":    {json.RawMessage(`{"a":`), `{"a":`},
		"asked for":  {server.CreateMessageParams{MaxTokens: 5}, `{"messages":null,"maxTokens":5}`},
		"meta":       {json.RawMessage(`{"_meta":7}`), `{"_meta":7}`},
		"nothing":    {json.RawMessage{}, ``},
		"newline":    {json.RawMessage("{\n\"a\":1}"), "{\n\"a\":1}"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) { return s.Sample(server.Hostile(c.params)) }})
				member := ""
				if c.want != "" {
					member = `,"params":` + c.want
				}
				w := r.legacy(server.V20251125, nothing)
				call := w.call(1, "ask")
				asked, _ := call.event()
				require.Equal(t, `{"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage"`+member+`}`, asked)
				w.post(`{"jsonrpc":"2.0","id":1000001,"result":"odd"}`)
				require.Equal(t, `"odd"`, call.last().call(t).text(t))

				body := r.modern().callModern(2, "ask", nothing, "").body()
				require.Contains(t, body, `"inputRequests":{"ask-1":{"method":"sampling/createMessage"`+member+`}}`)
				require.Len(t, hostileFrames(r), 2)
				require.Equal(t, body, string(hostileFrames(r)[1].Raw))
			})
		})
	}
}

func TestHostileDoesNotMendARequestThatCannotBeMade(t *testing.T) {
	eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
		r := start(server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			return s.Sample(server.Hostile(s.Ask("?").After(json.RawMessage(sampled("no tool")), nil)))
		}})
		require.Equal(t, "the client's answer has no tool use to go on from", call(r, "ask", "").call(t).text(t))
	})
}

func TestSendGoesOutOnTheGETStreamWhereResponsesArePlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{Responses: server.JSON}, server.Tool{Name: "send", Handler: func(s *server.Session) (any, error) { return nil, s.Send([]byte("hello")) }})
		w := r.legacy(server.V20251125, nothing)
		done := make(chan message)
		go func() { done <- w.call(1, "send").last() }()
		synctest.Wait()
		data, _ := w.do("GET", "").event()
		require.Equal(t, "hello", data)
		require.False(t, (<-done).call(t).IsError)
	})
}

func TestEachToolHasRequestIDsOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		twice := func(s *server.Session) (any, error) {
			s.SampleAll(s.Ask("one"), s.Ask("two"))
			return nil, nil
		}
		r := inMemory(t, server.Options{}, server.Tool{Name: "a", Handler: twice}, server.Tool{Name: "b", Handler: twice})
		var ids []string
		w := r.legacy(server.V20251125, sampling)
		for i, tool := range []string{"b", "a", "a"} {
			call := w.call(i, tool)
			for range 2 {
				question := call.next()
				ids = append(ids, string(question.ID))
				w.post(question.response(`{}`))
			}
			call.last()
		}
		require.Equal(t, "[2000001 2000002 1000001 1000002 1000003 1000004]", fmt.Sprint(ids), "the same whatever other plays do")
	})
}

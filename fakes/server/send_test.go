package server_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestSendIsByteExactInAnEvent(t *testing.T) {
	for name, c := range map[string]struct{ sent, wire, read string }{
		"anything":       {`{"a": 1,  "a":2}x`, "data: {\"a\": 1,  \"a\":2}x\n\n", `{"a": 1,  "a":2}x`},
		"newlines":       {"{\n\"a\":\n\n1}\n", "data: {\ndata: \"a\":\ndata: \ndata: 1}\ndata: \n\n", "{\n\"a\":\n\n1}\n"},
		"CR":             {"{\r\"a\":1}", "data: {\ndata: \"a\":1}\n\n", "{\n\"a\":1}"},
		"CRLF":           {"{\r\n\"a\":1}\r\n\r", "data: {\ndata: \"a\":1}\ndata: \ndata: \n\n", "{\n\"a\":1}\n\n"},
		"invalid UTF-8":  {"\"\xff\xfe\xc3\"", "data: \"\xff\xfe\xc3\"\n\n", "\"\xff\xfe\xc3\""},
		"NUL":            {"\x00", "data: \x00\n\n", "\x00"},
		"leading space":  {"  {}", "data:   {}\n\n", "  {}"},
		"like a field":   {"a\nid: 7\nevent: x", "data: a\ndata: id: 7\ndata: event: x\n\n", "a\nid: 7\nevent: x"},
		"empty":          {"", "data: \n\n", ""},
		"other line end": {"a\u2028b\u0085c", "data: a\u2028b\u0085c\n\n", "a\u2028b\u0085c"},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, []server.Revision{server.V20250618, server.V20260728},
				func(t *testing.T, revision server.Revision) {
					r := start(t, tool("send", func(s *server.Session) (any, error) {
						frame := []byte(c.sent)
						err := s.Transport().Send(frame)
						clear(frame) // the handler may reuse it
						return nil, err
					}))
					client := r.client(revision, nothing)
					require.Equal(t, c.wire, client.call(1, "send").body()[:len(c.wire)])
					again := client.call(2, "send")
					data, ok := again.event()
					require.True(t, ok)
					require.Equal(t, c.read, data)
					require.Empty(t, again.last().call(t).Content)
					sent := r.hostile()
					require.Len(t, sent, 2)
					require.Equal(t, c.sent, string(sent[0].Raw))
				})
		})
	}
}

func TestHostileParamsAreSentUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		params any
		want   string
	}{
		"map":           {map[string]any{"maxTokens": "<many>"}, `{"maxTokens":"<many>"}`},
		"undeclared":    {toolParams, string(toolParams)},
		"raw":           {json.RawMessage(`{ "maxTokens": 1.50, "maxTokens":2 }`), `{ "maxTokens": 1.50, "maxTokens":2 }`},
		"invalid UTF-8": {json.RawMessage("{\"a\":\"\xff\"}"), "{\"a\":\"\xff\"}"},
		"array":         {[]int{2}, `[2]`},
		"null":          {nil, `null`},
		"invalid JSON":  {json.RawMessage(`{"a":`), `{"a":`},
		"built":         {server.CreateMessageParams{MaxTokens: 5}, `{"messages":null,"maxTokens":5}`},
		"_meta":         {json.RawMessage(`{"_meta":7}`), `{"_meta":7}`},
		"empty":         {json.RawMessage{}, ``},
		"newline":       {json.RawMessage("{\n\"a\":1}"), "{\n\"a\":1}"},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := start(t, tool("ask", samples(c.params, server.Hostile())))
			member := ""
			if c.want != "" {
				member = `,"params":` + c.want
			}
			client := r.legacy(nothing)
			call := client.call(1, "ask")
			asked, _ := call.event()
			require.Equal(t, `{"jsonrpc":"2.0","id":1000001,"method":"sampling/createMessage"`+member+`}`, asked)
			client.post(`{"jsonrpc":"2.0","id":1000001,"result":"odd"}`)
			require.Equal(t, `"odd"`, call.text())

			body := r.modern(nothing).call(2, "ask").body()
			require.Contains(t, body, `"inputRequests":{"ask-1":{"method":"sampling/createMessage"`+member+`}}`)
			require.Len(t, r.hostile(), 2)
			require.Equal(t, body, string(r.hostile()[1].Raw))
		})
	}
}

func TestHostileDoesNotHideThatARequestCannotBeBuilt(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		_, got := callIn(t, revision, tool("ask", func(s *server.Session) (any, error) {
			return s.Sample(s.Ask("?").After(json.RawMessage(sampled("no tool")), nil), server.Hostile())
		}))
		require.Contains(t, got.text(t), "has no tool use")
	})
}

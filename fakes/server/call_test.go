package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// callIn starts a server of one revision, calls its tool with further params, and returns the response.
func callIn(t *testing.T, revision server.Revision, tool server.Tool, more ...string) (*rig, message) {
	t.Helper()
	r := startWith(t, server.Options{Revisions: []server.Revision{revision}}, tool)
	return r, r.client(revision, tools).call(`"a"`, tool.Name, more...).last()
}

func TestHandlerResultBecomesCallResult(t *testing.T) {
	structured := server.CallToolResult{Content: []any{server.Text("a")}, StructuredContent: map[string]any{"b": 1}}
	for name, c := range map[string]struct {
		value any
		err   error
		want  string
	}{
		"nil":    {nil, nil, `{"content":[]}`},
		"string": {"<sunny>", nil, `{"content":[{"type":"text","text":"<sunny>"}]}`},
		"value":  {map[string]int{"a": 1}, nil, `{"content":[{"type":"text","text":"{\"a\":1}"}]}`},
		"raw":    {json.RawMessage(`{"a": 1}`), nil, `{"content":[{"type":"text","text":"{\"a\": 1}"}]}`},
		"error": {"x", errors.New("no such city"),
			`{"content":[{"type":"text","text":"no such city"}],"isError":true}`},
		"result": {structured, nil, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"b":1}}`},
		"meta": {server.CallToolResult{Meta: map[string]any{"a.b/c": 1}}, nil,
			`{"content":[],"_meta":{"a.b/c":1}}`},
		"pointer":     {&server.CallToolResult{IsError: true}, nil, `{"content":[],"isError":true}`},
		"nil pointer": {(*server.CallToolResult)(nil), nil, `{"content":[{"type":"text","text":"null"}]}`},
		"not JSON":    {make(chan int), nil, "json: unsupported type: chan int"},
	} {
		t.Run(name, func(t *testing.T) {
			inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
				_, got := callIn(t, revision, tool("tool", always(c.value, c.err)))
				require.Equal(t, `"a"`, string(got.ID))
				if name == "not JSON" {
					require.True(t, got.call(t).IsError)
					require.Contains(t, got.text(t), c.want)
					return
				}
				var result map[string]any
				require.NoError(t, json.Unmarshal(got.Result, &result))
				if resultType, ok := result["resultType"]; ok {
					require.Equal(t, "complete", resultType)
					info := map[string]any{"name": "mcp-conform", "version": "1"}
					meta := result["_meta"].(map[string]any)
					require.Equal(t, info, meta["io.modelcontextprotocol/serverInfo"])
					delete(result, "resultType")
					if delete(meta, "io.modelcontextprotocol/serverInfo"); len(meta) == 0 {
						delete(result, "_meta")
					}
				}
				rest, err := json.Marshal(result)
				require.NoError(t, err)
				require.JSONEq(t, c.want, string(rest))
			})
		})
	}
}

func TestHandlerReturnsAnErrorResponse(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		_, got := callIn(t, revision, tool("tool", always(&server.RPCError{Code: -32603, Message: "no"}, nil)))
		require.Equal(t, `"a"`, string(got.ID))
		require.Nil(t, got.Result)
		require.Contains(t, got.raw, `"error":{"code":-32603,"message":"no"}`)
	})
}

func TestInvalidCallToolResultIsAProblemOfTheServer(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		r, got := callIn(t, revision, tool("tool", always(server.CallToolResult{Content: []any{7}}, nil)))
		r.expected = []string{"CallToolResult is not valid"}
		require.Contains(t, got.raw, `"content":[7]`)
		require.Contains(t, r.story("tool"), "mark harness-error")
		r.forget()
	})
}

func TestMalformedCallIsAProtocolError(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ body, name, want string }{
		{`"name":"nobody"`, "nobody", "unknown tool: nobody"},
		{`"name":7`, "", "name of tools/call must be a string, found 7"},
		{`"Name":"tool"`, "", "name of tools/call must be a string, found nothing"},
		{`"name":"tool","arguments":[1]`, "tool", "arguments of tools/call must be an object, found [1]"},
		{`"name":"tool","arguments":"a"`, "tool", `found "a"`},
		{`"name":"tool","arguments":null`, "tool", "found null"},
		{`"name":"` + long + `"`, long, "unknown tool: " + long[:80] + "…"},
	} {
		inBubble(t, c.body, func(t *testing.T) {
			r := start(t, tool("tool", always(nil, nil)))
			for _, revision := range bothProtocols {
				client := r.client(revision, nothing)
				header := c.name
				if header == "" {
					header = "=?base64??="
				}
				client.post(request(1, "tools/call", client.params(c.body)),
					client.routing(header)...).requireError(200, -32602, c.want)
			}
			if c.name == "tool" {
				r.requireStory("tool", "call, server error, call (call 2), server error (call 2)")
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := start(t).legacy(nothing)
		c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`).requireError(200, -32602,
			"params of tools/call must be an object, found nothing")
		c.post(request(1, "tools/call", "1")).requireError(200, -32602, "found 1")
	})
}

func TestInvalidArgumentsAreAnErrorResult(t *testing.T) {
	const schema = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},
		"days":{"type":"integer"},"hours":{"type":"array","items":{"type":"number"}}}}`
	for arguments, want := range map[string]string{
		``:                       "missing property 'city'",
		`"arguments":{}`:         "missing property 'city'",
		`"arguments":{"city":1}`: "arguments.city: expected string, found number",
		`"arguments":{"days":"1","hours":["a"]}`: "arguments.days: expected integer, found string; " +
			"arguments.hours.0: expected number, found string; arguments: missing property 'city'",
		`"arguments":{"city":"a","days":1e999999999}`:         "out of range: 1e999999999",
		`"arguments":{"city":"a","hours":[1,-1.5e-99999999]}`: "out of range: -1.5e-99999999",
	} {
		t.Run(arguments, func(t *testing.T) {
			inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
				weather := tool("weather", does(func(*server.Session) { t.Error("the handler was started") }))
				weather.InputSchema = json.RawMessage(schema)
				_, got := callIn(t, revision, weather, arguments)
				require.True(t, got.call(t).IsError)
				require.Contains(t, got.text(t), want)
			})
		})
	}
}

func TestSessionDescribesItsCall(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		var arguments []string
		r := start(t, tool("tool", func(s *server.Session) (any, error) {
			arguments = append(arguments, string(s.Call().Arguments))
			require.Len(t, arguments, s.Call().Number)
			require.True(t, s.Declares("sampling"))
			require.True(t, s.Declares("sampling", "tools"))
			require.False(t, s.Declares("sampling", "tools", "parallel"))
			require.False(t, s.Declares("roots"))
			require.Nil(t, s.Call().ProgressToken)
			s.Mark("note", string(s.Revision()))
			return string(s.Revision()), nil
		}))
		c := r.client(revision, tools)
		require.Equal(t, string(revision), c.call(1, "tool", `"arguments":{"a": 1}`).text())
		require.Equal(t, string(revision), c.call(2, "tool").text())
		require.Equal(t, []string{`{"a": 1}`, ""}, arguments)
		r.requireStory("tool", "call, start, mark note, end, server result, "+
			"call (call 2), start (call 2), mark note (call 2), end (call 2), server result (call 2)")
	})
}

func TestCapabilityIsDeclaredUnlessMissingOrNull(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{}`: false, `{"sampling":null}`: false, `{"Sampling":{}}`: false, `[]`: false, `{"sampling":{}}`: true,
		`{"sampling":true}`: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, tool("tool", func(s *server.Session) (any, error) { return s.Declares("sampling"), nil }))
			require.Equal(t, fmt.Sprint(want), r.legacy(capabilities).call(1, "tool").text(), capabilities)
		})
	}
}

func TestHandlerThatDoesNotReturnIsAProblemOfTheServer(t *testing.T) {
	var none *server.Session
	for want, handler := range map[string]server.Handler{
		"panicked: oh": func(*server.Session) (any, error) { panic("oh") },
		"panicked: runtime error: invalid memory address": func(*server.Session) (any,
			error) {
			return none.Declares("a"), nil
		},
		"runtime.Goexit": func(*server.Session) (any, error) { runtime.Goexit(); return nil, nil },
	} {
		t.Run(want, func(t *testing.T) {
			inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
				r, got := callIn(t, revision, tool("tool", handler))
				r.expected = []string{want}
				require.True(t, got.call(t).IsError)
				require.Contains(t, got.text(t), want)
				r.requireStory("tool", "call, start, mark harness-error, end, server result")
			})
		})
	}
}

func TestNotificationsAndResponsesAreAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		legacy, modern := r.legacy(nothing), r.modern(nothing)
		for body, clients := range map[string][]*httpClient{
			`{"jsonrpc":"2.0","method":"notifications/anything"}`:              {legacy, modern},
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`:             {legacy, modern},
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`: {legacy},
			cancels(`"no"`): {legacy},
			`{"jsonrpc":"2.0","id":1000001,"result":{}}`:                      {legacy},
			`{"jsonrpc":"2.0","id":"never","error":{"code":1,"message":"m"}}`: {legacy},
			`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`:    {legacy},
			`{"jsonrpc":"2.0","result":{}}`:                                   {legacy},
		} {
			for _, c := range clients {
				reply := c.post(body)
				require.Equal(t, http.StatusAccepted, reply.StatusCode, body)
				require.Empty(t, reply.body(), body)
			}
		}
	})
}

func TestPingAndUnknownMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t).legacy(nothing)
		for _, id := range []string{`0`, `-1`, `"a"`, `""`, `12345678901234567890`, `"<\u00e9>"`} {
			require.Equal(t, fmt.Sprintf(pong, id), c.ask(id, "ping").last().raw)
		}
		c.ask(3, "resources/list").requireError(200, -32601, "resources/list")
	})
}

func TestToolsAreListedInPages(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		c := startWith(t, server.Options{ToolsPerPage: 2}, tool("a", ask), tool("b", ask), tool("c", ask)).
			client(revision, nothing)
		type page struct {
			Tools      []server.Tool `json:"tools"`
			NextCursor string        `json:"nextCursor"`
		}
		list := func(cursor string) (p page) {
			quoted, err := json.Marshal(cursor)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(c.ask(1, "tools/list", `"cursor":`+string(quoted)).last().Result, &p))
			return p
		}
		first := list("") // some clients write what they do not have
		require.Len(t, first.Tools, 2)
		second := list(first.NextCursor)
		require.Equal(t, "c", second.Tools[0].Name)
		require.Empty(t, second.NextCursor)
		c.ask(2, "tools/list", `"cursor":"another"`).requireError(200, -32602, `unknown cursor "another"`)
	})
}

func TestToolsAreListedInOrder(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		r := start(t, server.Tool{Name: "zebra", Description: "Stripes & more.", Mark: "m", Handler: ask},
			server.Tool{Name: "ant", InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`), Handler: ask})
		var listed struct {
			Tools json.RawMessage `json:"tools"`
		}
		require.NoError(t, json.Unmarshal(r.client(revision, nothing).ask(1, "tools/list").last().Result, &listed))
		require.Equal(t, `[{"name":"zebra","description":"Stripes & more.","inputSchema":{"type":"object"}},`+
			`{"name":"ant","inputSchema":{"type":"object","required":["a"]}}]`, string(listed.Tools))
	})
}

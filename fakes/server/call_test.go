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

// eras runs a test in a bubble for each revision. Call calls a tool with further params and returns its one response.
func eras(t *testing.T, test func(t *testing.T, start func(...server.Tool) *rig, call func(r *rig, tool, more string) message)) {
	for _, revision := range server.Revisions() {
		t.Run(string(revision), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := func(tools ...server.Tool) *rig {
					return inMemory(t, server.Options{Revisions: []server.Revision{revision}}, tools...)
				}
				test(t, start, func(r *rig, tool, more string) message {
					t.Helper()
					if revision.Modern() {
						return r.modern().callModern(`"a"`, tool, tools, more).last()
					}
					w := r.legacy(revision, tools)
					return w.post(request(`"a"`, "tools/call", fmt.Sprintf(`{"name":%q%s}`, tool, more))).last()
				})
			})
		})
	}
}

// always is a play that returns what it is given.
func always(value any, err error) server.Handler {
	return func(*server.Session) (any, error) { return value, err }
}

func TestTheResultOfAPlayIsTheResultOfTheCall(t *testing.T) {
	for name, c := range map[string]struct {
		value any
		err   error
		want  string
	}{
		"nothing":         {nil, nil, `{"content":[]}`},
		"string":          {"<sunny>", nil, `{"content":[{"type":"text","text":"<sunny>"}]}`},
		"value":           {map[string]int{"a": 1}, nil, `{"content":[{"type":"text","text":"{\"a\":1}"}]}`},
		"raw":             {json.RawMessage(`{"a": 1}`), nil, `{"content":[{"type":"text","text":"{\"a\": 1}"}]}`},
		"error":           {"lost", errors.New("no such city"), `{"content":[{"type":"text","text":"no such city"}],"isError":true}`},
		"result":          {server.CallToolResult{Content: []any{server.Text("a")}, StructuredContent: map[string]any{"b": 1}}, nil, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"b":1}}`},
		"pointer":         {&server.CallToolResult{IsError: true}, nil, `{"content":[],"isError":true}`},
		"nothing at all":  {(*server.CallToolResult)(nil), nil, `{"content":[{"type":"text","text":"null"}]}`},
		"cannot be given": {make(chan int), nil, `{"content":[{"type":"text","text":"the play returned a chan int that is not JSON: json: unsupported type: chan int"}],"isError":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
				r := start(server.Tool{Name: "tool", Handler: always(c.value, c.err)})
				got := call(r, "tool", "")
				require.Equal(t, `"a"`, string(got.ID))
				var result map[string]any
				require.NoError(t, json.Unmarshal(got.Result, &result))
				if resultType, ok := result["resultType"]; ok {
					require.Equal(t, "complete", resultType)
					require.Equal(t, map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "mcp-conform", "version": "1"}}, result["_meta"])
					delete(result, "resultType")
					delete(result, "_meta")
				}
				rest, err := json.Marshal(result)
				require.NoError(t, err)
				require.JSONEq(t, c.want, string(rest))
			})
		})
	}
}

func TestAResultThatIsNoneIsOurProblem(t *testing.T) {
	eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
		r := start(server.Tool{Name: "tool", Handler: always(server.CallToolResult{Content: []any{7}}, nil)})
		r.expected = []string{"the server's own CallToolResult is not valid in "}
		require.Contains(t, call(r, "tool", "").raw, `"content":[7]`)
		require.Contains(t, r.story("tool"), "mark harness-error")
		r.forget() // what is not valid is what this is about
	})
}

func TestACallThatIsNoneIsAProtocolError(t *testing.T) {
	for body, want := range map[string]string{
		`"name":"nobody"`:                           "unknown tool: nobody",
		`"name":7`:                                  "name of tools/call must be a string, got 7",
		`"Name":"tool"`:                             "name of tools/call must be a string, got nothing",
		`"name":"tool","arguments":[1]`:             "arguments of tools/call must be an object, got [1]",
		`"name":"tool","arguments":"a"`:             `arguments of tools/call must be an object, got "a"`,
		`"name":"tool","arguments":null`:            "arguments of tools/call must be an object, got null",
		`"name":"` + strings.Repeat("x", 100) + `"`: "unknown tool: " + strings.Repeat("x", 80) + "…",
	} {
		t.Run(body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always(nil, nil)})
				reply := r.legacy(server.V20251125, nothing).post(request(1, "tools/call", "{"+body+"}"))
				require.Equal(t, http.StatusOK, reply.StatusCode)
				require.Equal(t, &server.RPCError{Code: -32602, Message: want}, reply.last().Error)

				var params struct{ Name string }
				_ = json.Unmarshal([]byte("{"+body+"}"), &params) // 7 is no name
				if strings.HasPrefix(body, `"Name"`) {
					params.Name = ""
				}
				headers := []string{"Mcp-Method", "tools/call", "Mcp-Name", params.Name}
				if params.Name == "" {
					headers[3] = "=?base64??="
				}
				reply = r.modern().post(request(1, "tools/call", "{"+body+","+meta(nothing, "")+"}"), headers...)
				require.Equal(t, http.StatusOK, reply.StatusCode)
				require.Equal(t, &server.RPCError{Code: -32602, Message: want}, reply.last().Error)

				if params.Name == "tool" { // the frames are the tool's all the same
					require.Equal(t, []string{"client tools/call", "server error", "client tools/call (call 2)", "server error (call 2)"}, r.story("tool"))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}).legacy(server.V20251125, nothing)
		require.Equal(t, "params of tools/call must be an object, got nothing", w.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`).last().Error.Message)
		require.Equal(t, "params of tools/call must be an object, got 1", w.post(request(1, "tools/call", "1")).last().Error.Message)
	})
}

func TestArgumentsThatDoNotFitAreForTheModelToMend(t *testing.T) {
	const schema = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"integer"},
		"hours":{"type":"array","items":{"type":"number"}}}}`
	for arguments, want := range map[string]string{
		``:                        "the arguments of weather do not fit its input schema: arguments: missing property 'city'",
		`,"arguments":{}`:         "the arguments of weather do not fit its input schema: arguments: missing property 'city'",
		`,"arguments":{"city":1}`: "the arguments of weather do not fit its input schema: arguments.city: got number, want string",
		`,"arguments":{"days":"1","hours":["a"]}`:              "the arguments of weather do not fit its input schema: arguments.days: got string, want integer; arguments.hours.0: got string, want number; arguments: missing property 'city'",
		`,"arguments":{"city":"a","days":1e999999999}`:         "the arguments of weather hold a number out of all bounds: 1e999999999",
		`,"arguments":{"city":"a","hours":[1,-1.5e-99999999]}`: "the arguments of weather hold a number out of all bounds: -1.5e-99999999",
	} {
		t.Run(arguments, func(t *testing.T) {
			eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
				r := start(server.Tool{Name: "weather", InputSchema: json.RawMessage(schema), Handler: func(*server.Session) (any, error) {
					t.Error("the play was started")
					return nil, nil
				}})
				got := call(r, "weather", arguments).call(t)
				require.True(t, got.IsError)
				require.Equal(t, want, got.text(t))
			})
		})
	}
}

func TestAPlaySeesItsCall(t *testing.T) {
	eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
		var arguments []string
		r := start(server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) {
			arguments = append(arguments, string(s.Arguments()))
			require.True(t, s.Declares("sampling"))
			require.True(t, s.Declares("sampling", "tools"))
			require.False(t, s.Declares("sampling", "tools", "parallel"))
			require.False(t, s.Declares("roots"))
			s.Mark("note", string(s.Revision()))
			return string(s.Revision()), nil
		}})
		revision := call(r, "tool", `,"arguments":{"a": 1}`).call(t).text(t)
		require.Equal(t, revision, call(r, "tool", "").call(t).text(t))
		require.Equal(t, []string{`{"a": 1}`, ""}, arguments)
		require.Equal(t, []string{"client tools/call", "mark handler-started", "mark note", "mark handler-ended", "server result",
			"client tools/call (call 2)", "mark handler-started (call 2)", "mark note (call 2)", "mark handler-ended (call 2)", "server result (call 2)"}, r.story("tool"))
	})
}

func TestDeclaredIsWhatIsThereAndNotNull(t *testing.T) {
	for capabilities, want := range map[string]bool{
		`{}`: false, `{"sampling":null}`: false, `{"Sampling":{}}`: false, `[]`: false, `{"sampling":{}}`: true, `{"sampling":true}`: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) { return s.Declares("sampling"), nil }})
			require.Equal(t, fmt.Sprint(want), r.legacy(server.V20251125, capabilities).call(1, "tool").last().call(t).text(t), capabilities)
		})
	}
}

func TestAPlayThatDoesNotReturnIsOurProblem(t *testing.T) {
	var nobody *server.Session
	for name, c := range map[string]struct {
		play server.Handler
		text string
	}{
		"panic":   {func(*server.Session) (any, error) { panic("oh") }, "the play panicked: oh"},
		"nil":     {func(*server.Session) (any, error) { return nobody.Declares("a"), nil }, "the play panicked: runtime error: invalid memory address or nil pointer dereference"},
		"FailNow": {func(*server.Session) (any, error) { runtime.Goexit(); return nil, nil }, "the play did not return: it called runtime.Goexit, as t.FailNow does"},
	} {
		t.Run(name, func(t *testing.T) {
			eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
				r := start(server.Tool{Name: "tool", Handler: c.play})
				r.expected = []string{"tool tool: " + c.text}
				got := call(r, "tool", "").call(t)
				require.True(t, got.IsError)
				require.Equal(t, c.text, got.text(t))
				require.Equal(t, []string{"client tools/call", "mark handler-started", "mark harness-error", "mark handler-ended", "server result"}, r.story("tool"))
			})
		})
	}
}

func TestNotificationsAndResponsesAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		legacy, modern := r.legacy(server.V20251125, nothing), r.modern()
		for body, wires := range map[string][]*wire{
			`{"jsonrpc":"2.0","method":"notifications/anything"}`:                              {legacy, modern},
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`:                             {legacy, modern},
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`:                 {legacy},
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"no"}}`: {legacy},
			`{"jsonrpc":"2.0","id":1000001,"result":{}}`:                                       {legacy},
			`{"jsonrpc":"2.0","id":"never","error":{"code":1,"message":"m"}}`:                  {legacy},
			`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`:                     {legacy},
			`{"jsonrpc":"2.0","result":{}}`:                                                    {legacy},
		} {
			for _, w := range wires {
				reply := w.post(body)
				require.Equal(t, http.StatusAccepted, reply.StatusCode, body)
				require.Empty(t, reply.body(), body)
			}
		}
	})
}

func TestPingAndMethodsThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}).legacy(server.V20251125, nothing)
		for _, id := range []string{`0`, `-1`, `"a"`, `""`, `12345678901234567890`, `"<\u00e9>"`} {
			require.Equal(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`, w.post(request(id, "ping", "{}")).last().raw)
		}
		reply := w.post(request(3, "resources/list", "{}"))
		require.Equal(t, http.StatusOK, reply.StatusCode)
		require.Equal(t, `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"method resources/list is not supported"}}`, reply.last().raw)
	})
}

func TestToolsAreListedInTheirOrder(t *testing.T) {
	for _, revision := range server.Revisions() {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{},
				server.Tool{Name: "zebra", Description: "Stripes & more.", Mark: "m", Handler: always(nil, nil)},
				server.Tool{Name: "ant", InputSchema: json.RawMessage(`{"type":"object","required":["a"]}`), Handler: always(nil, nil)})
			var got message
			if revision.Modern() {
				got = r.modern().post(request(1, "tools/list", "{"+meta(nothing, "")+"}"), "Mcp-Method", "tools/list").last()
			} else {
				got = r.legacy(revision, nothing).post(request(1, "tools/list", "{}")).last()
			}
			var listed struct {
				Tools json.RawMessage `json:"tools"`
			}
			require.NoError(t, json.Unmarshal(got.Result, &listed))
			require.Equal(t, `[{"name":"zebra","description":"Stripes & more.","inputSchema":{"type":"object"}},{"name":"ant","inputSchema":{"type":"object","required":["a"]}}]`, string(listed.Tools))
		})
	}
}

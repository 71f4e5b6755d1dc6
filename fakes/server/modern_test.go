package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestDiscoverTellsAllRevisionsNewestFirst(t *testing.T) {
	for _, c := range []struct {
		speaks []server.Revision
		want   string
	}{
		{nil, `["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`},
		{[]server.Revision{server.V20260728, server.V20260728}, `["2026-07-28"]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{Revisions: c.speaks})
			reply := r.modern().post(request(1, "server/discover", "{"+meta(nothing, "")+"}"), "Mcp-Method", "server/discover")
			require.Equal(t, http.StatusOK, reply.StatusCode)
			require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
			require.JSONEq(t, `{"supportedVersions":`+c.want+`,"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","resultType":"complete",
				"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}}`, string(reply.last().Result))
		})
	}
}

func TestHeadersAndBodyHaveToAgree(t *testing.T) {
	const (
		call   = "tools/call"
		good   = `{"name":"tool",` + versionMeta + `}`
		noMeta = `{"name":"tool"}`
	)
	type headers = map[string]string
	for _, c := range []struct {
		name    string
		method  string
		params  string
		headers headers // instead of those of a good call; "" for none
		status  int
		code    int
		message string
	}{
		{"all is well", call, good, nil, 200, 0, ""},
		{"name in base64", call, good, headers{"Mcp-Name": "=?base64?dG9vbA==?="}, 200, 0, ""},
		{"version missing", call, good, headers{"Mcp-Protocol-Version": ""}, 400, -32020, "header Mcp-Protocol-Version is missing"},
		{"method missing", call, good, headers{"Mcp-Method": ""}, 400, -32020, `header Mcp-Method is "", the body's method is "tools/call"`},
		{"name missing", call, good, headers{"Mcp-Name": ""}, 400, -32020, "header Mcp-Name is missing"},
		{"another version of ours", call, good, headers{"Mcp-Protocol-Version": "2025-11-25"}, 400, -32020, `header Mcp-Protocol-Version is "2025-11-25", _meta has "2026-07-28"`},
		{"another method", call, good, headers{"Mcp-Method": "tools/list"}, 400, -32020, `header Mcp-Method is "tools/list", the body's method is "tools/call"`},
		{"method in other letters", call, good, headers{"Mcp-Method": "Tools/Call"}, 400, -32020, `header Mcp-Method is "Tools/Call", the body's method is "tools/call"`},
		{"another name", call, good, headers{"Mcp-Name": "other"}, 400, -32020, `header Mcp-Name is "other", the body has "tool"`},
		{"another name in base64", call, good, headers{"Mcp-Name": "=?base64?b3RoZXI=?="}, 400, -32020, `header Mcp-Name is "other", the body has "tool"`},
		{"sentinel in capitals", call, good, headers{"Mcp-Name": "=?BASE64?dG9vbA==?="}, 400, -32020, `header Mcp-Name is "=?BASE64?dG9vbA==?=", the body has "tool"`},
		{"no base64", call, good, headers{"Mcp-Name": "=?base64?tool?="}, 400, -32020, `header Mcp-Name is "\xb6\x8a%", the body has "tool"`},
		{"really no base64", call, good, headers{"Mcp-Name": "=?base64?to-ol?="}, 400, -32020, "header Mcp-Name has the form =?base64?…?= and holds no base64"},
		{"name that is not ASCII", call, `{"name":"天気",` + versionMeta + `}`, headers{"Mcp-Name": "天気"}, 400, -32020, "header Mcp-Name holds a character that is not ASCII: it has to be sent as =?base64?…?="},
		{"name that is not ASCII, in base64", call, `{"name":"天気",` + versionMeta + `}`, headers{"Mcp-Name": "=?base64?5aSp5rCX?="}, 200, -32602, "unknown tool: 天気"},
		{"name like a sentinel, in base64", call, `{"name":"=?base64?literal?=",` + versionMeta + `}`, headers{"Mcp-Name": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}, 200, -32602, "unknown tool: =?base64?literal?="},
		{"prompt without a name", "prompts/get", `{"name":"p",` + versionMeta + `}`, headers{"Mcp-Name": "", "Mcp-Method": "prompts/get"}, 400, -32020, "header Mcp-Name is missing"},
		{"resource by its uri", "resources/read", `{"uri":"file:///a",` + versionMeta + `}`, headers{"Mcp-Name": "file:///b", "Mcp-Method": "resources/read"}, 400, -32020, `header Mcp-Name is "file:///b", the body has "file:///a"`},
		{"no _meta", call, noMeta, nil, 400, -32602, "_meta has no string io.modelcontextprotocol/protocolVersion"},
		{"null for a version", call, `{"name":"tool","_meta":{"io.modelcontextprotocol/protocolVersion":null}}`, nil, 400, -32602, "_meta has no string io.modelcontextprotocol/protocolVersion"},
		{"no capabilities", call, `{"name":"tool","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, nil, 400, -32602, "_meta has no object io.modelcontextprotocol/clientCapabilities"},
		{"null for capabilities", call, `{"name":"tool","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}}`, nil, 400, -32602, "_meta has no object io.modelcontextprotocol/clientCapabilities"},
		{"list for capabilities", call, `{"name":"tool","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]}}`, nil, 400, -32602, "_meta has no object io.modelcontextprotocol/clientCapabilities"},
		{"unknown method", "tools/dance", good, headers{"Mcp-Method": "tools/dance"}, 404, -32601, "method tools/dance is not supported"},
		{"ping is of the first era", "ping", good, headers{"Mcp-Method": "ping"}, 404, -32601, "method ping is not supported"},
		{"prompt that is not there", "prompts/get", `{"name":"tool",` + versionMeta + `}`, headers{"Mcp-Method": "prompts/get"}, 404, -32601, "method prompts/get is not supported"},
		{"unknown tool", call, `{"name":"nobody",` + versionMeta + `}`, headers{"Mcp-Name": "nobody"}, 200, -32602, "unknown tool: nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Revisions: []server.Revision{server.V20260728}}, server.Tool{Name: "tool", Handler: always("done", nil)})
				w := r.bare()
				w.header = http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {call}, "Mcp-Name": {"tool"}}
				for name, value := range c.headers {
					w.header.Set(name, value)
					if value == "" {
						w.header.Del(name)
					}
				}
				reply := w.post(request(`"x"`, c.method, c.params))
				require.Equal(t, c.status, reply.StatusCode)
				got := reply.last()
				require.Equal(t, `"x"`, string(got.ID))
				if c.code == 0 {
					require.Equal(t, "done", got.call(t).text(t))
					return
				}
				require.Equal(t, &server.RPCError{Code: c.code, Message: c.message}, got.Error)
			})
		})
	}
}

const versionMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestAHeaderThatCameTwiceIsNoneThatAgrees(t *testing.T) {
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
			w := r.modern()
			w.header.Set("Mcp-Method", "tools/call")
			w.header.Set("Mcp-Name", "tool")
			w.header.Add(name, w.header.Get(name))
			reply := w.post(modernCall(1, "tool", nothing, ""))
			require.Equal(t, http.StatusBadRequest, reply.StatusCode)
			require.Equal(t, -32020, reply.last().Error.Code, name)
		})
	}
}

func TestAVersionThatIsNotSpokenIsNamedWithThoseThatAre(t *testing.T) {
	both := []server.Revision{server.V20251125, server.V20260728}
	modern := both[1:]
	for _, c := range []struct {
		name      string
		speaks    []server.Revision
		header    string
		method    string
		params    string
		requested string
	}{
		{"unknown", both, "2027-01-01", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`, "2027-01-01"},
		{"unknown, only in the header", both, "2027-01-01", "server/discover", `{}`, "2027-01-01"},
		{"known, not spoken", modern, "2025-11-25", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`, "2025-11-25"},
		{"initialize", modern, "", "initialize", initializeParams(server.V20251125, nothing), "2025-11-25"},
		{"initialize with a header", modern, "2025-11-25", "initialize", initializeParams(server.V20251125, nothing), "2025-11-25"},
		{"initialize without a version", modern, "", "initialize", `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{Revisions: c.speaks})
				reply := r.bare().post(request(1, c.method, c.params), "Mcp-Protocol-Version", c.header, "Mcp-Method", c.method)
				require.Equal(t, http.StatusBadRequest, reply.StatusCode)
				got := reply.last()
				require.Equal(t, "1", string(got.ID))
				require.Equal(t, -32022, got.Error.Code)
				supported := `["2026-07-28","2025-11-25"]`
				if len(c.speaks) == 1 {
					supported = `["2026-07-28"]`
				}
				require.JSONEq(t, fmt.Sprintf(`{"supported":%s,"requested":%q}`, supported, c.requested), string(got.Error.Data))
			})
		})
	}
}

func TestAResponseIsNothingThatAClientOfTheSecondEraSends(t *testing.T) {
	for _, c := range []struct {
		speaks []server.Revision
		want   string
	}{
		{[]server.Revision{server.V20260728}, "a client sends no JSON-RPC responses in 2026-07-28"},
		{nil, `Mcp-Protocol-Version "2026-07-28" is not supported: want one of [2025-11-25 2025-06-18 2025-03-26]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{Revisions: c.speaks})
			reply := r.modern().post(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			require.Equal(t, http.StatusBadRequest, reply.StatusCode)
			got := reply.last()
			require.Equal(t, &server.RPCError{Code: -32600, Message: c.want}, got.Error)
			require.Nil(t, got.ID)
			require.Equal(t, []string{"client result", "server error 400"}, r.story(""))
		})
	}
}

func TestBothErasAreServedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("who?"))
			return fmt.Sprintf("%s %s", s.Revision(), result), err
		}})
		old, older, modern := r.legacy(server.V20251125, sampling), r.legacy(server.V20250326, sampling), r.modern()
		first, second := old.call(1, "ask"), older.call(2, "ask")
		third := modern.callModern(3, "ask", sampling, "").last()

		older.post(second.next().response(sampled("older")))
		old.post(first.next().response(sampled("old")))
		fourth := modern.callModern(4, "ask", sampling, retryOf(t, third, func(string) string { return sampled("modern") })).last()
		require.Equal(t, "2025-11-25 "+sampled("old"), first.last().call(t).text(t))
		require.Equal(t, "2025-03-26 "+sampled("older"), second.last().call(t).text(t))
		require.Equal(t, "2026-07-28 "+sampled("modern"), fourth.call(t).text(t))
	})
}

func TestAModernMessageIsKnownByItsMetaToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{})
		reply := r.bare().post(request(1, "tools/list", "{"+meta(nothing, "")+"}"))
		require.Equal(t, http.StatusBadRequest, reply.StatusCode)
		require.Equal(t, "header Mcp-Protocol-Version is missing", reply.last().Error.Message)
	})
}

func TestASessionHeaderIsIgnoredInTheSecondEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always("done", nil)})
		reply := r.modern().callModern(1, "tool", nothing, "", "Mcp-Session-Id", "mine", "Last-Event-ID", "7")
		require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
		require.Equal(t, "done", reply.last().call(t).text(t))
	})
}

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestDiscoverListsAllRevisionsNewestFirst(t *testing.T) {
	for want, speaks := range map[string][]server.Revision{
		newestFirst(t):   nil,
		`["2026-07-28"]`: {server.V20260728, server.V20260728},
	} {
		synctest.Test(t, func(t *testing.T) {
			reply := startWith(t, server.Options{Revisions: speaks}).modern(nothing).ask(1, "server/discover")
			require.Equal(t, http.StatusOK, reply.StatusCode)
			require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
			require.JSONEq(t, `{"supportedVersions":`+want+`,"capabilities":{"tools":{}},"ttlMs":0,`+
				`"cacheScope":"private",`+ourMeta+`}`, string(reply.last().Result))
		})
	}
}

func newestFirst(t *testing.T) string {
	t.Helper()
	all := server.AllRevisions()
	slices.Reverse(all)
	raw, err := json.Marshal(all)
	require.NoError(t, err)
	return string(raw)
}

// ourMeta is what every complete modern result has.
const ourMeta = `"resultType":"complete",` +
	`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}`

// requestWith sends a request with headers of a good call to "tool", but for one; "" leaves it out.
func requestWith(t *testing.T, method, params, header, value string) *reply {
	t.Helper()
	c := startWith(t, server.Options{Revisions: bothProtocols[1:]}, tool("tool", always("done", nil))).modern(nothing)
	c.header.Set("Mcp-Method", method)
	c.header.Set("Mcp-Name", "tool")
	return c.post(request(`"x"`, method, params), header, value)
}

func TestHeadersMustAgreeWithTheBody(t *testing.T) {
	for _, c := range []struct{ header, value, want string }{ // want is "" for a good call
		{"Mcp-Name", "tool", ""},
		{"Mcp-Name", "=?base64?dG9vbA==?=", ""},
		{"Mcp-Protocol-Version", "", "Mcp-Protocol-Version is missing"},
		{"Mcp-Protocol-Version", "2025-11-25", `is "2025-11-25", _meta has "2026-07-28"`},
		{"Mcp-Method", "", `Mcp-Method is ""`},
		{"Mcp-Method", "tools/list", `is "tools/list", the body's method is "tools/call"`},
		{"Mcp-Method", "Tools/Call", `is "Tools/Call"`},
		{"Mcp-Name", "", "Mcp-Name is missing"},
		{"Mcp-Name", "other", `is "other", the body has "tool"`},
		{"Mcp-Name", "=?base64?b3RoZXI=?=", `is "other"`},
		{"Mcp-Name", "=?BASE64?dG9vbA==?=", `is "=?BASE64?dG9vbA==?="`},
		{"Mcp-Name", "=?base64?tool?=", `is "\xb6\x8a%"`},
		{"Mcp-Name", "=?base64?to-ol?=", "invalid base64"},
		{"Mcp-Name", "天気", "not ASCII"},
	} {
		inBubble(t, c.header+" "+c.value, func(t *testing.T) {
			good := dialect{revision: server.V20260728, capabilities: nothing}.params(`"name":"tool"`)
			reply := requestWith(t, "tools/call", good, c.header, c.value)
			if c.want == "" {
				require.Equal(t, "done", reply.text())
				return
			}
			require.Equal(t, `"x"`, string(reply.requireError(400, -32020, c.want).ID))
		})
	}
}

func TestModernRequestErrors(t *testing.T) {
	const (
		version      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":`
		meta         = `,"_meta":{` + version + `,` + capabilities + `{}}}`
	)
	withMeta := func(meta string) string { return `{"name":"tool","_meta":{` + meta + `}}` }
	for name, c := range map[string]struct {
		method, params, header string
		status, code           int
		message                string
	}{
		"not ASCII": {"tools/call", `{"name":"天気"` + meta, "=?base64?5aSp5rCX?=", 200, -32602, "unknown tool: 天気"},
		"like a sentinel": {"tools/call", `{"name":"=?base64?a?="` + meta, "=?base64?PT9iYXNlNjQ/YT89?=", 200,
			-32602, "tool: =?base64?a?="},
		"unknown tool":          {"tools/call", `{"name":"nobody"` + meta, "nobody", 200, -32602, "unknown tool: nobody"},
		"prompt without a name": {"prompts/get", `{"name":"p"` + meta, "", 400, -32020, "Mcp-Name is missing"},
		"resource with other URI": {"resources/read", `{"uri":"file:///a"` + meta, "file:///b", 400, -32020,
			`"file:///b", the body has "file:///a"`},
		"no _meta": {"tools/call", `{"name":"tool"}`, "tool", 400, -32602, "protocolVersion"},
		"null version": {"tools/call", withMeta(`"io.modelcontextprotocol/protocolVersion":null`), "tool",
			400, -32602, "protocolVersion"},
		"no capabilities": {"tools/call", withMeta(version), "tool", 400, -32602, "clientCapabilities"},
		"null capabilities": {"tools/call", withMeta(version + "," + capabilities + "null"), "tool", 400, -32602,
			"clientCapabilities"},
		"array of capabilities": {"tools/call", withMeta(version + "," + capabilities + "[]"), "tool", 400, -32602,
			"clientCapabilities"},
		"unknown method":    {"tools/dance", `{"name":"tool"` + meta, "tool", 404, -32601, "tools/dance"},
		"legacy ping":       {"ping", `{"name":"tool"` + meta, "tool", 404, -32601, "ping"},
		"no prompt offered": {"prompts/get", `{"name":"tool"` + meta, "tool", 404, -32601, "prompts/get"},
	} {
		inBubble(t, name, func(t *testing.T) {
			got := requestWith(t, c.method, c.params, "Mcp-Name", c.header).requireError(c.status, c.code, c.message)
			require.Equal(t, `"x"`, string(got.ID))
		})
	}
}

func TestDuplicateHeaderDoesNotAgree(t *testing.T) {
	for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, tool("tool", always("done", nil))).modern(nothing)
			c.header.Set("Mcp-Method", "tools/call")
			c.header.Set("Mcp-Name", "tool")
			c.header.Add(name, c.header.Get(name))
			c.post(c.calls(1, "tool")).requireError(400, -32020, "")
		})
	}
}

func TestUnsupportedVersionErrorListsTheRevisions(t *testing.T) {
	modern := bothProtocols[1:]
	initialize := fmt.Sprintf(`{"protocolVersion":%q}`, server.V20251125)
	for name, c := range map[string]struct {
		speaks                            []server.Revision
		header, method, params, requested string
	}{
		"unknown": {bothProtocols, "2027-01-01", "tools/list",
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}`, "2027-01-01"},
		"unknown in the header only": {bothProtocols, "2027-01-01", "server/discover", `{}`, "2027-01-01"},
		"known": {modern, "2025-11-25", "tools/list",
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`, "2025-11-25"},
		"initialize":                 {modern, "", "initialize", initialize, "2025-11-25"},
		"initialize with a header":   {modern, "2025-11-25", "initialize", initialize, "2025-11-25"},
		"initialize without version": {modern, "", "initialize", `{}`, ""},
	} {
		inBubble(t, name, func(t *testing.T) {
			reply := startWith(t, server.Options{Revisions: c.speaks}).bare().post(request(1, c.method, c.params),
				"Mcp-Protocol-Version", c.header, "Mcp-Method", c.method)
			got := reply.requireError(400, -32022, "")
			require.Equal(t, "1", string(got.ID))
			supported := `["2026-07-28","2025-11-25"]`
			if len(c.speaks) == 1 {
				supported = `["2026-07-28"]`
			}
			require.JSONEq(t, fmt.Sprintf(`{"supported":%s,"requested":%q}`, supported, c.requested), string(got.Error.Data))
		})
	}
}

func TestLegacyServerMayListItsVersionsForModernClients(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{Revisions: server.AllRevisions()[1:3], ListVersionsToModern: lists},
				tool("ask", ask))
			p := r.pipe(t.Context())
			p.dialect = dialect{revision: server.V20260728, capabilities: sampling}
			for _, m := range []string{request(0, "server/discover", p.params()), p.calls(1, "ask")} {
				p.send(m)
				got := p.next()
				if !lists {
					got.requireError(t, -32600, "initialize comes first")
					continue
				}
				got.requireError(t, -32022, "")
				require.JSONEq(t, `{"requested":"2026-07-28","supported":["2025-11-25","2025-06-18"]}`, string(got.Error.Data))
			}
			p.send(dialect{revision: server.V20251125, capabilities: sampling}.initialize(2))
			require.Contains(t, p.next().raw, `"protocolVersion":"2025-11-25"`)
			r.forget()
		})
	}
}

func TestLegacyServerMayAnswerDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startWith(t, server.Options{Revisions: server.AllRevisions()[1:3], AnswerDiscover: true}, tool("ask", ask))
		p := r.pipe(t.Context())
		p.dialect = dialect{revision: server.V20260728, capabilities: sampling}
		p.send(request(0, "server/discover", p.params()))
		require.Contains(t, p.next().raw, `"supportedVersions":["2025-11-25","2025-06-18"]`)
		p.send(p.calls(1, "ask"))
		p.next().requireError(t, -32022, "")
		r.forget()
	})
}

func TestModernClientMustNotSendResponses(t *testing.T) {
	for want, speaks := range map[string][]server.Revision{
		"2026-07-28": bothProtocols[1:],
		"expected one of [2025-11-25 2025-06-18 2025-03-26]": nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{Revisions: speaks})
			got := r.modern(nothing).post(`{"jsonrpc":"2.0","id":1,"result":{}}`).requireError(400, -32600, want)
			require.Nil(t, got.ID)
			r.requireStory("", "client result, server error 400")
		})
	}
}

func TestLegacyAndModernClientsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("who?"))
			return fmt.Sprintf("%s %s", s.Revision(), result), err
		}))
		old, older, modern := r.legacy(sampling), r.client(server.V20250326, sampling), r.modern(sampling)
		first, second := old.call(1, "ask"), older.call(2, "ask")
		third := modern.call(3, "ask").last()
		older.post(second.next().answer("older"))
		old.post(first.next().answer("old"))
		fourth := modern.call(4, "ask", retry(t, third, says("modern")))
		require.Equal(t, "2025-11-25 "+sampled("old"), first.text())
		require.Equal(t, "2025-03-26 "+sampled("older"), second.text())
		require.Equal(t, "2026-07-28 "+sampled("modern"), fourth.text())
	})
}

func TestMetaMakesAMessageModern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t).modern(nothing)
		c.ask(1, "tools/list").last()
		c.header.Del("Mcp-Protocol-Version")
		c.ask(2, "tools/list").requireError(400, -32020, "Mcp-Protocol-Version is missing")
	})
}

func TestModernServerIgnoresTheSessionHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("tool", always("done", nil))).modern(nothing)
		c.header.Set("Mcp-Session-Id", "mine")
		c.header.Set("Last-Event-ID", "7")
		reply := c.call(1, "tool")
		require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
		require.Equal(t, "done", reply.text())
	})
}

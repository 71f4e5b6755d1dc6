package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestDiscoverListsAllRevisionsNewestFirst(t *testing.T) {
	for want, speaks := range map[string][]server.Revision{
		`["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`: nil,
		`["2026-07-28"]`: {server.V20260728, server.V20260728},
	} {
		synctest.Test(t, func(t *testing.T) {
			reply := startWith(t, server.Options{Revisions: speaks}).modern(nothing).ask(1, "server/discover")
			require.Equal(t, http.StatusOK, reply.StatusCode)
			require.Empty(t, reply.Header.Get("Mcp-Session-Id"))
			require.JSONEq(t, `{"supportedVersions":`+want+`,"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",`+ourMeta+`}`,
				string(reply.last().Result))
		})
	}
}

// ourMeta is what every complete modern result has.
const ourMeta = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}`

func TestHeadersMustAgreeWithTheBody(t *testing.T) {
	const (
		version      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		capabilities = `"io.modelcontextprotocol/clientCapabilities":`
		meta         = `"_meta":{` + version + `,` + capabilities + `{}}`
	)
	named := func(name string) string { return fmt.Sprintf(`{"name":%q,%s}`, name, meta) }
	withMeta := func(meta string) string { return `{"name":"tool","_meta":{` + meta + `}}` }
	for name, c := range map[string]struct {
		method, params string // "" is that of a good call
		header, value  string // instead of that of a good call; "" for none
		status, code   int
		message        string
	}{
		"good":                       {"", "", "", "", 200, 0, ""},
		"base64":                     {"", "", "Mcp-Name", "=?base64?dG9vbA==?=", 200, 0, ""},
		"no version":                 {"", "", "Mcp-Protocol-Version", "", 400, -32020, "Mcp-Protocol-Version is missing"},
		"no method":                  {"", "", "Mcp-Method", "", 400, -32020, `Mcp-Method is ""`},
		"no name":                    {"", "", "Mcp-Name", "", 400, -32020, "Mcp-Name is missing"},
		"other version":              {"", "", "Mcp-Protocol-Version", "2025-11-25", 400, -32020, `is "2025-11-25", _meta has "2026-07-28"`},
		"other method":               {"", "", "Mcp-Method", "tools/list", 400, -32020, `is "tools/list", the body's method is "tools/call"`},
		"method in capitals":         {"", "", "Mcp-Method", "Tools/Call", 400, -32020, `is "Tools/Call"`},
		"other name":                 {"", "", "Mcp-Name", "other", 400, -32020, `is "other", the body has "tool"`},
		"other name in base64":       {"", "", "Mcp-Name", "=?base64?b3RoZXI=?=", 400, -32020, `is "other"`},
		"sentinel in capitals":       {"", "", "Mcp-Name", "=?BASE64?dG9vbA==?=", 400, -32020, `is "=?BASE64?dG9vbA==?="`},
		"base64 of other bytes":      {"", "", "Mcp-Name", "=?base64?tool?=", 400, -32020, `is "\xb6\x8a%"`},
		"invalid base64":             {"", "", "Mcp-Name", "=?base64?to-ol?=", 400, -32020, "invalid base64"},
		"not ASCII":                  {"", named("天気"), "Mcp-Name", "天気", 400, -32020, "not ASCII"},
		"not ASCII in base64":        {"", named("天気"), "Mcp-Name", "=?base64?5aSp5rCX?=", 200, -32602, "unknown tool: 天気"},
		"sentinel in base64":         {"", named("=?base64?literal?="), "Mcp-Name", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", 200, -32602, "unknown tool: =?base64?literal?="},
		"prompt without a name":      {"prompts/get", named("p"), "Mcp-Name", "", 400, -32020, "Mcp-Name is missing"},
		"resource with other URI":    {"resources/read", `{"uri":"file:///a",` + meta + `}`, "Mcp-Name", "file:///b", 400, -32020, `is "file:///b", the body has "file:///a"`},
		"no _meta":                   {"", `{"name":"tool"}`, "", "", 400, -32602, "protocolVersion"},
		"null version":               {"", withMeta(`"io.modelcontextprotocol/protocolVersion":null`), "", "", 400, -32602, "protocolVersion"},
		"no capabilities":            {"", withMeta(version), "", "", 400, -32602, "clientCapabilities"},
		"null capabilities":          {"", withMeta(version + "," + capabilities + "null"), "", "", 400, -32602, "clientCapabilities"},
		"array of capabilities":      {"", withMeta(version + "," + capabilities + "[]"), "", "", 400, -32602, "clientCapabilities"},
		"unknown method":             {"tools/dance", "", "", "", 404, -32601, "tools/dance"},
		"legacy ping":                {"ping", "", "", "", 404, -32601, "ping"},
		"prompts/get without prompt": {"prompts/get", "", "", "", 404, -32601, "prompts/get"},
		"unknown tool":               {"", named("nobody"), "Mcp-Name", "nobody", 200, -32602, "unknown tool: nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startWith(t, server.Options{Revisions: bothProtocols[1:]}, tool("tool", always("done", nil)))
				if c.method == "" {
					c.method = "tools/call"
				}
				if c.params == "" {
					c.params = named("tool")
				}
				client := r.bare()
				client.header = http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {c.method}, "Mcp-Name": {"tool"}}
				reply := client.post(request(`"x"`, c.method, c.params), c.header, c.value)
				if c.code == 0 {
					require.Equal(t, "done", reply.text())
					return
				}
				require.Equal(t, `"x"`, string(reply.requireError(c.status, c.code, c.message).ID))
			})
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
		"unknown":                    {bothProtocols, "2027-01-01", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}`, "2027-01-01"},
		"unknown in the header only": {bothProtocols, "2027-01-01", "server/discover", `{}`, "2027-01-01"},
		"known":                      {modern, "2025-11-25", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}`, "2025-11-25"},
		"initialize":                 {modern, "", "initialize", initialize, "2025-11-25"},
		"initialize with a header":   {modern, "2025-11-25", "initialize", initialize, "2025-11-25"},
		"initialize without version": {modern, "", "initialize", `{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

func TestLegacyServerMayListItsVersionsForModernClients(t *testing.T) {
	for _, lists := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := startWith(t, server.Options{Revisions: server.Revisions()[1:3], TellsVersions: lists}, tool("ask", ask))
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

func TestModernClientMustNotSendResponses(t *testing.T) {
	for want, speaks := range map[string][]server.Revision{
		"2026-07-28": bothProtocols[1:],
		"want one of [2025-11-25 2025-06-18 2025-03-26]": nil,
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

package server_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// carriers returns a tool, a prompt and a resource that sample.
func carriers() []server.Tool {
	return []server.Tool{
		tool("tool", ask),
		{Name: "prompt", Description: "A prompt.", Carrier: server.PromptsGet, Handler: ask},
		{Name: "resource", Carrier: server.ResourcesRead, Handler: ask},
	}
}

// carry sends a request that names its prompt, resource or tool. More has further params.
func (c *httpClient) carry(id int, method, member, name, more string) *reply {
	c.t.Helper()
	return c.post(request(id, method, c.params(fmt.Sprintf("%q:%q", member, name), more)), "Mcp-Method", method,
		"Mcp-Name", name)
}

func TestPromptsAndResourcesHaveTheirOwnLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, carriers()...)
		modern, legacy := r.modern(nothing), r.legacy(nothing)
		list := func(method string) string { return string(modern.ask(1, method).last().Result) }
		require.Contains(t, list("server/discover"), `"capabilities":{"prompts":{},"resources":{},"tools":{}}`)
		const tools, rest = `"tools":[{"name":"tool","inputSchema":{"type":"object"}}]`,
			`,"ttlMs":0,"cacheScope":"private",` + ourMeta + `}`
		require.Contains(t, list("tools/list"), tools)
		require.JSONEq(t, `{"prompts":[{"name":"prompt","description":"A prompt."}]`+rest, list("prompts/list"))
		require.JSONEq(t, `{"resources":[{"name":"resource","uri":"mcp-conform:/resource"}]`+rest, list("resources/list"))

		require.Contains(t, legacy.ask(1, "tools/list").last().raw, tools)
		legacy.call(2, "prompt").requireError(200, -32602, "unknown tool: prompt")
		legacy.ask(3, "prompts/get", `"name":"prompt"`).requireError(200, -32601, "")
	})
}

func TestPromptsAndResourcesRunHandlers(t *testing.T) {
	for method, c := range map[string]struct{ member, name, tool, want string }{
		"prompts/get": {"name", "prompt", "prompt",
			`{"messages":[{"role":"user","content":{"type":"text","text":%q}}],` + ourMeta + `}`},
		"resources/read": {"uri", server.ResourceURI("resource"), "resource",
			`{"contents":[{"uri":"mcp-conform:/resource","mimeType":"text/plain","text":%q}],` +
				`"ttlMs":0,"cacheScope":"private",` + ourMeta + `}`},
	} {
		inBubble(t, method, func(t *testing.T) {
			r := start(t, carriers()...)
			client := r.modern(sampling)
			asked := client.carry(1, method, c.member, c.name, "").last()
			got := client.carry(2, method, c.member, c.name, retry(t, asked, says("hello"))).last()
			require.JSONEq(t, fmt.Sprintf(c.want, sampled("hello")), string(got.Result))
			r.requireStory(c.tool, fmt.Sprintf("client %s, start, input, client %[1]s, end, server result", method))
		})
	}
}

func TestMalformedCarrierIsAProtocolError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := start(t, carriers()...).modern(sampling)
		for _, c := range []struct{ method, member, name, more, want string }{
			{"prompts/get", "name", "tool", "", "unknown prompt: tool"},
			{"resources/read", "uri", "resource", "", "unknown resource: resource"},
			{"tools/call", "name", "prompt", "", "unknown tool: prompt"},
			{"prompts/get", "name", "prompt", `"arguments":[]`, "arguments of prompts/get must be an object"},
			{"prompts/get", "name", "prompt", `"inputResponses":[],"requestState":"s"`,
				"inputResponses of prompts/get must be an object"},
			{"resources/read", "uri", "mcp-conform:/resource", `"requestState":"s"`, unknownRetry},
		} {
			client.carry(1, c.method, c.member, c.name, c.more).requireError(200, -32602, c.want)
		}
	})
}

func TestErrorOfAPromptIsAnErrorResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, server.Tool{Name: "prompt", Carrier: server.PromptsGet,
			Handler: always(nil, errors.New("no luck"))}).modern(sampling)
		c.carry(1, "prompts/get", "name", "prompt", "").requireError(200, -32603, "no luck")
	})
}

func TestRawResultIsSentUnchanged(t *testing.T) {
	raw := server.RawResult(`{ "content":[],"resultType":"unheard-of" }`)
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("tool", always(raw, nil)))
		for _, revision := range bothProtocols {
			require.Equal(t, string(raw), string(r.client(revision, nothing).call(1, "tool").last().Result))
		}
		require.Len(t, r.hostile(), 2)
	})
}

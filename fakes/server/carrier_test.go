package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// offers are a tool, a prompt and a resource that ask one thing each.
func offers() []server.Tool {
	return []server.Tool{
		{Name: "tool", Handler: ask},
		{Name: "prompt", Description: "A prompt.", Carrier: server.PromptsGet, Handler: ask},
		{Name: "resource", Carrier: server.ResourcesRead, Handler: ask},
	}
}

// carried makes a request of a method that carries plays. More are further params, each with a comma before it.
func (w *wire) carried(id int, method, member, name, more string) *reply {
	w.t.Helper()
	return w.post(request(id, method, fmt.Sprintf(`{%q:%q%s,%s}`, member, name, more, meta(sampling, ""))), "Mcp-Method", method, "Mcp-Name", name)
}

const ourMeta = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}`

func TestPromptsAndResourcesAreListedApartFromTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, offers()...)
		list := func(method string) string {
			return string(r.modern().post(request(1, method, "{"+meta(nothing, "")+"}"), "Mcp-Method", method).last().Result)
		}
		require.Contains(t, list("server/discover"), `"capabilities":{"prompts":{},"resources":{},"tools":{}}`)
		require.Contains(t, list("tools/list"), `"tools":[{"name":"tool","inputSchema":{"type":"object"}}]`)
		require.JSONEq(t, `{"prompts":[{"name":"prompt","description":"A prompt."}],"ttlMs":0,"cacheScope":"private",`+ourMeta+`}`, list("prompts/list"))
		require.JSONEq(t, `{"resources":[{"name":"resource","uri":"mcp-conform:/resource"}],"ttlMs":0,"cacheScope":"private",`+ourMeta+`}`, list("resources/list"))
	})
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}, offers()...).legacy(server.V20251125, sampling)
		require.Contains(t, w.post(request(1, "tools/list", "{}")).last().raw, `"tools":[{"name":"tool","inputSchema":{"type":"object"}}]`)
		require.Equal(t, "unknown tool: prompt", w.call(2, "prompt").last().Error.Message)
		require.Equal(t, -32601, w.post(request(3, "prompts/get", `{"name":"prompt"}`)).last().Error.Code)
	})
}

func TestPromptsAndResourcesCarryPlaysToo(t *testing.T) {
	for method, c := range map[string]struct{ member, name, want string }{
		"prompts/get":    {"name", "prompt", `{"messages":[{"role":"user","content":{"type":"text","text":%q}}],` + ourMeta + `}`},
		"resources/read": {"uri", server.ResourceURI("resource"), `{"contents":[{"uri":"mcp-conform:/resource","mimeType":"text/plain","text":%q}],"ttlMs":0,"cacheScope":"private",` + ourMeta + `}`},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, offers()...)
				w := r.modern()
				asked := w.carried(1, method, c.member, c.name, "").last()
				got := w.carried(2, method, c.member, c.name, retryOf(t, asked, func(string) string { return sampled("hello") })).last()
				require.JSONEq(t, fmt.Sprintf(c.want, sampled("hello")), string(got.Result))
				tool := map[string]string{"prompts/get": "prompt", "resources/read": "resource"}[method]
				require.Equal(t, []string{"client " + method, "mark handler-started", "server input_required", "client " + method, "mark handler-ended", "server result"}, r.story(tool))
			})
		})
	}
}

func TestACarryingRequestThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ method, member, name, more, want string }{
		"an unknown prompt":             {"prompts/get", "name", "tool", "", "unknown prompt: tool"},
		"an unknown resource":           {"resources/read", "uri", "resource", "", "unknown resource: resource"},
		"a prompt that is no tool":      {"tools/call", "name", "prompt", "", "unknown tool: prompt"},
		"arguments that are none":       {"prompts/get", "name", "prompt", `,"arguments":[]`, "arguments of prompts/get must be an object, got []"},
		"responses that are none":       {"prompts/get", "name", "prompt", `,"inputResponses":[],"requestState":"s"`, "inputResponses of prompts/get must be an object, got []"},
		"a retry that nobody waits for": {"resources/read", "uri", "mcp-conform:/resource", `,"requestState":"s"`, notWaited},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, offers()...)
				require.Equal(t, &server.RPCError{Code: -32602, Message: c.want}, r.modern().carried(1, c.method, c.member, c.name, c.more).last().Error)
			})
		})
	}
}

func TestAPromptWhosePlayFailsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "prompt", Carrier: server.PromptsGet, Handler: always(nil, errors.New("no luck"))})
		reply := r.modern().carried(1, "prompts/get", "name", "prompt", "")
		require.Equal(t, http.StatusOK, reply.StatusCode)
		require.Equal(t, &server.RPCError{Code: -32603, Message: "no luck"}, reply.last().Error)
	})
}

func TestACarrierThatIsNoneIsNotOffered(t *testing.T) {
	_, err := server.Start(server.Options{}, server.Tool{Name: "tool", Carrier: "tools/list", Handler: always(nil, nil)})
	require.EqualError(t, err, `tool tool: no request "tools/list" carries a play: want prompts/get, resources/read, or "" for tools/call`)
}

func TestARawResultIsSentAsItIs(t *testing.T) {
	raw := server.RawResult(`{ "content":[],"resultType":"unheard-of" }`)
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: always(raw, nil)})
		require.Equal(t, string(raw), string(r.modern().callModern(1, "tool", nothing, "").last().Result))
		require.Equal(t, string(raw), string(r.legacy(server.V20251125, nothing).call(2, "tool").last().Result))
		require.Len(t, hostileFrames(r), 2)
	})
}

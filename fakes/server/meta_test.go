package server_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// asked calls a tool that samples once, with a _meta of further members, and returns the params of the sampling request.
func (r *rig) asked(revision server.Revision, members string) string {
	r.t.Helper()
	if revision.Modern() {
		if members != "" {
			members += ","
		}
		m := r.modern().post(request(1, "tools/call", fmt.Sprintf(`{"name":"ask",%s}`, meta(tools, members))), "Mcp-Method", "tools/call", "Mcp-Name", "ask").last()
		return string(loosely(m.call(r.t).InputRequests["ask-1"]).Params)
	}
	w := r.legacy(revision, tools)
	call := w.post(request(1, "tools/call", fmt.Sprintf(`{"name":"ask","_meta":{%s}}`, members)))
	question := call.next()
	w.post(question.response(`{}`))
	call.last()
	return string(question.Params)
}

func TestTheMetaOfTheCallIsEchoed(t *testing.T) {
	const raw = `{ "messages":[], "maxTokens":1.0,` + "\n" + `"x":"<>" }`
	for name, c := range map[string]struct {
		members string
		params  any
		want    string
	}{
		"nothing to echo, raw as it is": {``, json.RawMessage(raw), raw},
		"what the protocol reserves":    {`"progressToken":"p","io.modelcontextprotocol/related-task":{"taskId":"1"}`, json.RawMessage(raw), raw},
		"tied":                          {`"progressToken":"p","com.example/tie":{"a": 1},"io.modelcontextprotocol/x":1`, json.RawMessage(raw), `{"_meta":{"com.example/tie":{"a":1}},"maxTokens":1.0,"messages":[],"x":"<>"}`},
		"beside its own":                {`"a":1,"b":2`, json.RawMessage(`{"messages":[],"maxTokens":1,"_meta":{"b":3,"c":4}}`), `{"_meta":{"a":1,"b":3,"c":4},"maxTokens":1,"messages":[]}`},
		"trace context":                 {`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"`, json.RawMessage(`{"messages":[],"maxTokens":1}`), `{"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},"maxTokens":1,"messages":[]}`},
		"hostile, its own is wrong":     {`"a":1`, server.Hostile(json.RawMessage(`{"_meta":null}`)), `{"_meta":null}`},
		"hostile, no object":            {`"a":1`, server.Hostile(json.RawMessage(`[1]`)), `[1]`},
	} {
		for _, revision := range []server.Revision{server.V20250326, server.V20251125, server.V20260728} {
			t.Run(name+" "+string(revision), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
						_, err := s.Sample(c.params)
						return nil, err
					}})
					require.Equal(t, c.want, r.asked(revision, c.members))
				})
			})
		}
	}
}

func TestTheMetaOfTheCallIsNotEchoedWhereThatIsSwitchedOff(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{NoMetaEcho: true}, server.Tool{Name: "ask", Handler: ask})
			require.NotContains(t, r.asked(revision, `"a":1`), "_meta")
		})
	}
}

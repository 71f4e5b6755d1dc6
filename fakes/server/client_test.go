package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// The capabilities that clients declare.
const (
	nothing  = `{}`
	sampling = `{"sampling":{}}`
	tools    = `{"sampling":{"tools":{}}}`
)

// dialect is how a client words its requests.
type dialect struct {
	revision     server.Revision
	capabilities string
	meta         string // further members of _meta
}

// params returns the params of a request, with the _meta of the revision. More has further members.
func (d dialect) params(more ...string) string {
	members := slices.DeleteFunc(more, func(m string) bool { return m == "" })
	var meta []string
	if d.meta != "" {
		meta = append(meta, d.meta)
	}
	if d.revision.Modern() {
		meta = append(meta,
			fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s`,
				d.revision, d.capabilities))
	}
	if meta != nil {
		members = append(members, `"_meta":{`+strings.Join(meta, ",")+`}`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// calls returns a tools/call. More has further members of its params.
func (d dialect) calls(id any, tool string, more ...string) string {
	return request(id, "tools/call", d.params(append([]string{fmt.Sprintf(`"name":%q`, tool)}, more...)...))
}

func (d dialect) initialize(id any) string {
	return request(id, "initialize", fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"raw","version":"0"}}`, d.revision,
		d.capabilities))
}

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// cancels returns the cancellation of a request.
func cancels(id any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%v}}`, id)
}

// httpClient is an HTTP client of a revision. A legacy one has initialized its session.
type httpClient struct {
	wire
	dialect
}

// bare is an HTTP client that has sent nothing.
func (r *rig) bare() *httpClient {
	return &httpClient{wire: wire{t: r.t, url: r.URL, http: r.http, header: http.Header{}}}
}

// client returns a client of a revision.
func (r *rig) client(revision server.Revision, capabilities string) *httpClient {
	r.t.Helper()
	c := r.bare()
	c.dialect = dialect{revision: revision, capabilities: capabilities}
	if revision.Modern() {
		c.header.Set("Mcp-Protocol-Version", string(revision))
		return c
	}
	reply := c.post(c.initialize(`"init"`))
	require.Equal(r.t, http.StatusOK, reply.StatusCode)
	require.Contains(r.t, reply.last().raw, fmt.Sprintf(`"protocolVersion":%q`, revision))
	c.header.Set("Mcp-Session-Id", reply.Header.Get("Mcp-Session-Id"))
	if revision > server.V20250326 {
		c.header.Set("Mcp-Protocol-Version", string(revision))
	}
	require.Equal(r.t, http.StatusAccepted, c.post(initialized).StatusCode)
	return c
}

func (r *rig) legacy(capabilities string) *httpClient {
	return r.client(server.V20251125, capabilities)
}
func (r *rig) modern(capabilities string) *httpClient {
	return r.client(server.V20260728, capabilities)
}

// ask sends a request with the headers of the revision. More has further params.
func (c *httpClient) ask(id any, method string, more ...string) *reply {
	c.t.Helper()
	return c.post(request(id, method, c.params(more...)), "Mcp-Method", method)
}

// call calls a tool. More has further params.
func (c *httpClient) call(id any, tool string, more ...string) *reply {
	c.t.Helper()
	reply, err := c.tryCall(c.t.Context(), id, tool, more...)
	require.NoError(c.t, err)
	return reply
}

func (c *httpClient) tryCall(ctx context.Context, id any, tool string, more ...string) (*reply, error) {
	c.t.Helper()
	return c.try(ctx, "POST", c.calls(id, tool, more...), c.routing(tool)...)
}

// routing returns the headers that repeat the body of a modern call.
func (c *httpClient) routing(tool string) []string {
	if !c.revision.Modern() {
		return nil
	}
	return []string{"Mcp-Method", "tools/call", "Mcp-Name", tool}
}

// converse calls a tool, answers each sample, and returns the response of the call.
func (c *httpClient) converse(tool string, answer func(params string) string) message {
	c.t.Helper()
	call := c.call(1, tool)
	if !c.revision.Modern() {
		for {
			m := call.next()
			if m.Method == "" {
				return m
			}
			require.Equal(c.t, http.StatusAccepted, c.post(m.response(answer(string(m.Params)))).StatusCode)
		}
	}
	m := call.last()
	for id := 2; m.Error == nil && m.call(c.t).ResultType == "input_required"; id++ {
		m = c.call(id, tool, retry(c.t, m, answer)).last()
	}
	return m
}

// retry returns the params of a retry that responds to every input request.
func retry(t testing.TB, required message, answer func(params string) string) string {
	t.Helper()
	r := required.call(t)
	var responses []string
	for _, key := range slices.Sorted(maps.Keys(r.InputRequests)) {
		in := loosely(r.InputRequests[key])
		require.Equal(t, "sampling/createMessage", in.Method)
		responses = append(responses, fmt.Sprintf("%q:%s", key, answer(string(in.Params))))
	}
	name, state := stateIn(required.Result)
	return fmt.Sprintf(`"inputResponses":{%s},%q:%s`, strings.Join(responses, ","), name, state)
}

// stateIn returns the state of a result, and the name of its member in the revision.
func stateIn(result json.RawMessage) (string, json.RawMessage) {
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(result, &members)
	for _, r := range server.AllRevisions() {
		if state := members[r.StateMember()]; state != nil {
			return r.StateMember(), state
		}
	}
	return "", nil
}

// says answers every sample with a text.
func says(text string) func(string) string { return func(string) string { return sampled(text) } }

// echo answers a sample with the text of its last message.
func echo(t testing.TB) func(string) string {
	return func(params string) string {
		var p server.CreateMessageParams
		require.NoError(t, json.Unmarshal([]byte(params), &p))
		content, err := json.Marshal(p.Messages[len(p.Messages)-1].Content)
		require.NoError(t, err)
		return sampled("you said " + string(content))
	}
}

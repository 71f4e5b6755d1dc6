package badclients

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/mutants"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// messages are clients that break the rules of sessions and of JSON-RPC.
var messages = []Client{
	{Name: "wrong-session-id", Doc: "uses the id of a session that does not exist", Legacy: true,
		edit: connected(func(h http.Header) { h.Set(headerSession, "no-such-session") })},
	{Name: "no-session-id", Doc: "does not send the id of its session", Legacy: true,
		edit: connected(func(h http.Header) { h.Del(headerSession) })},
	{Name: "unknown-version", Doc: "asks for a revision that does not exist", edit: func(b *bad) mutants.Edit {
		unknown := "2019-01-01"
		if b.env.Revision.Modern() {
			unknown = "2026-12-31"
		}
		return mutants.Edit{Out: func(m *mutants.Message) {
			if m.Method() == "initialize" {
				m.Params()["protocolVersion"] = unknown
				return
			}
			m.Header.Set(headerVersion, unknown)
			if meta := m.Meta(); b.env.Revision.Modern() {
				meta["io.modelcontextprotocol/protocolVersion"] = unknown
			}
		}}
	}},
	{Name: "changes-its-version", Doc: "sends another revision in its headers than it agreed on", Legacy: true,
		edit: connected(func(h http.Header) { h.Set(headerVersion, "2024-11-05") })},
	{Name: "calls-before-initialize", Doc: "lists the tools before it initializes", Legacy: true,
		edit: func(b *bad) mutants.Edit {
			return mutants.Edit{Out: func(m *mutants.Message) {
				if m.Method() == "initialize" {
					b.wire.Request("tools/list", object{})
				}
			}}
		}},
	{Name: "initializes-twice", Doc: "initializes twice in one session", Legacy: true, opened: func(b *bad) {
		b.wire.Request("initialize", object{"protocolVersion": b.env.Revision, "capabilities": object{},
			"clientInfo": object{"name": "again", "version": "1"}})
	}},
	{Name: "deletes-in-the-middle", Doc: "ends the session when it gets a sampling request", Legacy: true,
		edit: func(b *bad) mutants.Edit {
			return mutants.Edit{Asked: func(s *mutants.Sample) {
				s.Withhold()
				b.end()
			}}
		}},
	{Name: "reconnects", Doc: "opens a new session for each call", Legacy: true, edit: func(b *bad) mutants.Edit {
		return mutants.Edit{Ended: func(*harness.Outcome) { b.end() }}
	}},
	{Name: "unknown-tool", Doc: "calls a tool that does not exist", opened: func(b *bad) {
		b.request("tools/call", object{"name": "no-such-tool", "arguments": object{}})
	}},
	{Name: "unknown-method", Doc: "calls a method that does not exist", opened: func(b *bad) {
		b.request("tools/destroy", object{})
	}},
	{Name: "params-of-another-type", Doc: "calls a tool with an array as params", opened: func(b *bad) {
		_ = b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": []int{1, 2}})
	}},
	{Name: "unknown-progress", Doc: "reports progress with an unknown token", opened: func(b *bad) {
		for method, params := range map[string]object{
			"notifications/progress":  {"progressToken": "none", "progress": -1},
			"notifications/cancelled": {"requestId": 12345},
		} {
			_ = b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "method": method, "params": params})
		}
	}},
	{Name: "calls-every-tool-twice", Doc: "runs its whole session twice", edit: func(*bad) mutants.Edit {
		return mutants.Edit{Run: func(_ *mutants.Wire, run func() error) error {
			if err := run(); err != nil {
				return err
			}
			return run()
		}}
	}},
	{Name: "calls-nothing", Doc: "connects and calls no tool", edit: func(*bad) mutants.Edit {
		return mutants.Edit{Env: func(env *harness.Env) { env.Tools = []string{} }}
	}},
}

// connected edits the headers of each message once the client is connected (legacy era).
func connected(f func(h http.Header)) func(*bad) mutants.Edit {
	return func(*bad) mutants.Edit {
		return mutants.Edit{Out: func(m *mutants.Message) {
			if m.Method() != "initialize" && m.Method() != "notifications/initialized" {
				f(m.Header)
			}
		}}
	}
}

// request sends a request of its own, as the client would.
func (b *bad) request(method string, params object) {
	if b.env.Revision.Modern() {
		params["_meta"] = b.meta()
	}
	b.wire.Request(method, params)
}

// meta is the _meta of a request of the modern era.
func (b *bad) meta() object {
	return object{"io.modelcontextprotocol/protocolVersion": b.env.Revision,
		"io.modelcontextprotocol/clientCapabilities": b.env.Declare,
		"io.modelcontextprotocol/clientInfo":         object{"name": "bad-client", "version": "1"}}
}

// end ends the session.
func (b *bad) end() {
	if resp, err := http.DefaultClient.Do(b.build(http.MethodDelete, "", "", nil)); err == nil {
		_ = resp.Body.Close()
	}
}

package badclients

import (
	"net/http"

	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
)

// messages are clients that break the rules of sessions and of JSON-RPC.
var messages = []Client{
	edits("wrong-session-id", legacy, connected(func(h http.Header) { h.Set(headerSession, "no-such-session") })),
	edits("no-session-id", legacy, connected(func(h http.Header) { h.Del(headerSession) })),
	edits("unknown-version", both, func(b *bad) mutants.Edit {
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
	}),
	edits("changes-its-version", legacy, connected(func(h http.Header) { h.Set(headerVersion, "2024-11-05") })),
	edits("calls-before-initialize", legacy, func(b *bad) mutants.Edit {
		return mutants.Edit{Out: func(m *mutants.Message) {
			if m.Method() == "initialize" {
				b.wire.Request("tools/list", object{})
			}
		}}
	}),
	opens("initializes-twice", legacy, func(b *bad) {
		b.wire.Request("initialize", object{"protocolVersion": b.env.Revision, "capabilities": object{},
			"clientInfo": object{"name": "again", "version": "1"}})
	}),
	edits("deletes-in-the-middle", legacy, func(b *bad) mutants.Edit {
		return mutants.Edit{Asked: func(s *mutants.Sample) {
			s.Withhold()
			b.end()
		}}
	}),
	edits("reconnects", legacy, func(b *bad) mutants.Edit {
		return mutants.Edit{Ended: func(*harness.Outcome) { b.end() }}
	}),
	opens("unknown-tool", both, func(b *bad) {
		b.request("tools/call", object{"name": "no-such-tool", "arguments": object{}})
	}),
	opens("unknown-method", both, func(b *bad) {
		b.request("tools/destroy", object{})
	}),
	opens("params-of-another-type", both, func(b *bad) {
		_ = b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": []int{1, 2}})
	}),
	opens("unknown-progress", both, func(b *bad) {
		for method, params := range map[string]object{
			"notifications/progress":  {"progressToken": "none", "progress": -1},
			"notifications/cancelled": {"requestId": 12345},
		} {
			_ = b.wire.Send(b.wire.Context, object{"jsonrpc": "2.0", "method": method, "params": params})
		}
	}),
	edits("calls-every-tool-twice", both, func(*bad) mutants.Edit {
		return mutants.Edit{Run: func(_ *mutants.Wire, run func() error) error {
			if err := run(); err != nil {
				return err
			}
			return run()
		}}
	}),
	edits("calls-nothing", both, func(*bad) mutants.Edit {
		return mutants.Edit{Env: func(env *harness.Env) { env.Tools = []string{} }}
	}),
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

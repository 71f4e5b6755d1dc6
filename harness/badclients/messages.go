package badclients

import (
	"fmt"
	"net/http"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// messages are clients that break the rules of sessions and of JSON-RPC.
var messages = []Client{
	{Name: "wrong-session-id", Doc: "names a session that nobody opened", Legacy: true, opened: func(w *wire) { w.session = "no-such-session" }},
	{Name: "no-session-id", Doc: "forgets the session after it was opened", Legacy: true, opened: func(w *wire) { w.session = "" }},
	{Name: "unknown-version", Doc: "asks for a revision that does not exist", wire: func(w *wire) { w.env.Revision = revisionOf(w, "2019-01-01") }},
	{Name: "changes-its-version", Doc: "names another revision in its headers than it agreed to", Legacy: true, opened: func(w *wire) {
		w.change = func(r *http.Request) { r.Header.Set("MCP-Protocol-Version", "2024-11-05") }
	}},
	{Name: "calls-before-initialize", Doc: "calls a tool before it has initialized", Legacy: true, first: func(w *wire) {
		_, err := w.request("tools/list", "", object{})
		fmt.Println("before initialize:", err)
	}},
	{Name: "initializes-twice", Doc: "initializes a second time in the same session", Legacy: true, opened: func(w *wire) {
		_, err := w.request("initialize", "", object{"protocolVersion": w.env.Revision, "capabilities": object{}, "clientInfo": object{"name": "again", "version": "1"}})
		fmt.Println("again:", err)
	}},
	{Name: "deletes-in-the-middle", Doc: "ends the session while it is asked to sample", Legacy: true, asked: func(w *wire, _ *sample) { _ = w.close() }},
	{Name: "reconnects", Doc: "opens a session of its own for each call", Legacy: true, asked: func(w *wire, s *sample) { w.give(s, w.ask(s)) }, opened: func(w *wire) {
		names, err := w.tools()
		if err != nil {
			return
		}
		for _, name := range names[1:] {
			if w.close() != nil {
				return
			}
			w.session = ""
			if w.open() != nil || w.call(name) != nil {
				return
			}
		}
		w.env.Tools = names[:1]
	}},
	{Name: "unknown-tool", Doc: "calls a tool that is not there", opened: func(w *wire) {
		fmt.Println("unknown tool:", w.call("no-such-tool"))
	}},
	{Name: "unknown-method", Doc: "calls methods that do not exist", opened: func(w *wire) {
		_, err := w.request("tools/destroy", "", object{})
		fmt.Println("unknown method:", err)
	}},
	{Name: "params-of-another-type", Doc: "calls a tool with an array for params", opened: func(w *wire) {
		resp, err := w.post(object{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": []int{1, 2}}, "x")
		if err == nil {
			resp.Body.Close()
		}
	}},
	{Name: "unknown-progress", Doc: "reports progress for a token that nobody gave", opened: func(w *wire) {
		_ = w.notify(object{"jsonrpc": "2.0", "method": "notifications/progress", "params": object{"progressToken": "none", "progress": -1}})
		_ = w.notify(object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": 12345}})
	}},
	{Name: "calls-every-tool-twice", Doc: "calls each tool two times", opened: func(w *wire) {
		names, err := w.tools()
		if err != nil {
			return
		}
		for _, name := range names {
			_ = w.call(name)
		}
	}},
	{Name: "calls-nothing", Doc: "connects, lists the tools and ends well", wire: func(w *wire) { w.env.Tools = []string{} }},
}

// revisionOf returns a revision of the same era, as far as the wire is concerned.
func revisionOf(w *wire, other server.Revision) server.Revision {
	if w.env.Revision.Modern() {
		return "2026-12-31"
	}
	return other
}

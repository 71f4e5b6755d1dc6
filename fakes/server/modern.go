package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// The reserved fields of _meta (2026-07-28, basic/index#meta).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// takeModern takes a message in a modern revision.
func (s *Server) takeModern(m *inbound) {
	switch {
	case m.isResponse():
		s.refuse(m, http.StatusBadRequest,
			rpcErrorf(codeInvalidRequest, "a client must not send JSON-RPC responses in %s", s.modern[0]))
	case m.isNotification():
		s.received(m.conn.cancels(m.message), "", m)
		m.accepted()
	default:
		s.takeRequest(m)
	}
}

func (s *Server) takeRequest(m *inbound) {
	var (
		p       callParams
		tool    *serverTool
		bad     *RPCError
		waiting *waiter
		of      scope
	)
	if s.replay != nil {
		s.replayModern(m)
		return
	}
	if s.carries(*m.Method) {
		p, tool, bad = s.readCall(m.message)
	}
	isRetry := p.isRetry() && !s.isStale(tool, p)
	if tool != nil && isRetry {
		of.tool = tool.Name
		if waiting = s.findWaiter(tool, p); waiting != nil {
			of = waiting.call.scope()
		}
	} else if tool != nil {
		of = scope{tool.Name, s.count(tool)}
	}
	s.received(of, "", m)
	x := newExchange(s, m, of, "")
	x.responses = s.responses(tool)
	if status, why := s.checkModern(m); why != nil {
		x.respond(status, errorFrame(m.ID, why), false)
		return
	}
	switch {
	case bad != nil:
		s.fail(x, m.ID, bad)
	case isRetry:
		s.retry(x, m.ID, waiting, p)
	case tool != nil:
		s.callModern(x, m, tool, p)
	default:
		s.serveModern(x, m)
	}
}

// serveModern responds to a request that starts no handler.
func (s *Server) serveModern(x *exchange, m *inbound) {
	switch {
	case *m.Method == "server/discover":
		revision := slices.Concat(s.modern, only(DefaultRevisions(), true))[0]
		s.result(x, m.ID, revision, schema.DiscoverResult, s.notCached(map[string]any{
			"supportedVersions": slices.Concat(s.modern, s.legacy), "capabilities": s.capabilities(),
		}))
	case *m.Method == "tools/list":
		page, why := s.toolList(m)
		if why != nil {
			x.respond(http.StatusOK, errorFrame(m.ID, why), false)
			return
		}
		s.result(x, m.ID, s.modern[0], schema.ListToolsResult, s.notCached(page))
	case *m.Method == "prompts/list" && s.carries(string(PromptsGet)):
		s.list(x, m.ID, "prompts", PromptsGet)
	case *m.Method == "resources/list" && s.carries(string(ResourcesRead)):
		s.list(x, m.ID, "resources", ResourcesRead)
	default:
		why := rpcErrorf(codeMethodNotFound, "method %s is not supported", clip([]byte(*m.Method)))
		x.respond(http.StatusNotFound, errorFrame(m.ID, why), false)
	}
}

func (s *Server) complete(result map[string]any) map[string]any {
	result["resultType"] = "complete"
	given, _ := result["_meta"].(map[string]any)
	meta := maps.Clone(given)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[metaServerInfo] = s.info()
	result["_meta"] = meta
	return result
}

// callModern runs the handler of a tool and waits until it has responded or requires input. It opens no stream before
// there is a message to send, because a missing capability needs an HTTP status.
func (s *Server) callModern(x *exchange, m *inbound, tool *serverTool, p callParams) {
	if why := tool.schema.Check(tool.Name, p.arguments); tool.Carrier == "" && why != "" {
		s.finish(x, m.ID, tool, s.modern[0], callResult(nil, errors.New(why)))
		return
	}
	version, _ := m.meta.text(metaVersion)
	ctx, cancel := context.WithCancel(s.ctx)
	c := &modernCall{x: x, id: m.ID, cancel: cancel, asking: make(chan struct{}, 1), resume: make(chan *Retry, 1),
		Session: &Session{server: s, tool: tool, number: x.scope.call, ctx: ctx, revision: Revision(version),
			meta: p.meta, declared: p.meta[metaCapabilities], lines: m.conn != nil}}
	c.protocol = c
	c.opened(m.ID, p.arguments)
	s.startHandler(x.scope, func() {
		defer cancel()
		c.run(c.finish)
	})
	// A client that disconnects has cancelled (2026-07-28, basic/transports/streamable-http#cancellation).
	x.wait(cancel)
}

// finish responds to the pending round, unless the call was abandoned.
func (c *modernCall) finish(result CallToolResult, err error) {
	c.mu.Lock()
	x, id := c.x, c.id
	c.ended = true
	c.mu.Unlock()
	var undeclared *undeclaredError
	switch {
	case c.ctx.Err() != nil:
		x.drop()
	case errors.As(err, &undeclared):
		x.respond(http.StatusBadRequest, errorFrame(id, undeclared.rpc()), false)
	case err != nil && c.tool.Carrier != "": // results of prompts and resources have no isError
		c.server.fail(x, id, rpcErrorf(codeInternal, "%v", err))
	default:
		c.server.finish(x, id, c.tool, c.revision, result)
	}
}

// finish responds to a modern call with its result.
func (s *Server) finish(x *exchange, id json.RawMessage, tool *serverTool, revision Revision, result CallToolResult) {
	switch {
	case result.raw != nil:
		s.respond(x, resultFrame(id, result.raw), true)
		return
	case result.refused != nil:
		s.fail(x, id, result.refused)
		return
	case tool.Carrier != "":
		s.finishOther(x, id, tool, revision, result.Content)
		return
	}
	full := s.complete(map[string]any{"content": result.Content, "_meta": result.Meta})
	if result.IsError {
		full["isError"] = true
	}
	if result.StructuredContent != nil {
		full["structuredContent"] = result.StructuredContent
	}
	s.result(x, id, revision, schema.CallToolResult, full)
}

// rpc returns the JSON-RPC error for a missing capability (2026-07-28, basic/index#meta).
func (e *undeclaredError) rpc() *RPCError {
	needed := any(map[string]any{})
	path := strings.Split(e.capability, ".")
	for _, name := range slices.Backward(path) {
		needed = map[string]any{name: needed}
	}
	err := rpcErrorf(codeMissingCapability, "%v", e)
	err.Data = mustEncode(map[string]any{"requiredCapabilities": needed})
	return err
}

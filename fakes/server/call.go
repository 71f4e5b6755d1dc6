package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/replay"
)

type callParams struct {
	method         string
	arguments      json.RawMessage
	meta           object
	inputResponses json.RawMessage
	stateMember    string // "" in legacy revisions
	state          json.RawMessage
}

func (p callParams) isRetry() bool { return p.state != nil || p.inputResponses != nil }

// readCall parses a call and finds its tool, prompt or resource, even when the call is otherwise invalid, so that the
// trace has it under that tool. An unknown tool and a malformed call are protocol errors. Arguments that do not fit the
// tool's schema are an error result, which the model can correct (2025-11-25, server/tools#error-handling).
func (s *Server) readCall(m *message) (callParams, *serverTool, *RPCError) {
	method := *m.Method
	member := replay.Carriers[method]
	name, named := m.params.text(member)
	tool := s.byName[method+" "+name]
	p := callParams{method: method, arguments: m.params["arguments"], meta: m.meta}
	if len(s.modern) > 0 {
		version, _ := m.meta.text(metaVersion)
		i := slices.IndexFunc(s.modern, func(r Revision) bool { return m.params[r.StateMember()] != nil })
		p.stateMember = cmp.Or(Revision(version).StateMember(), s.modern[max(0, i)].StateMember())
		p.inputResponses, p.state = m.params["inputResponses"], m.params[p.stateMember]
	}
	switch {
	case m.params == nil:
		return p, nil, notA("an object", "params", method, m.Params)
	case !named:
		return p, nil, notA("a string", member, method, m.params[member])
	case tool == nil:
		return p, nil, rpcErrorf(codeInvalidParams, "unknown %s: %s", kindOf[method], clip([]byte(name)))
	case p.arguments != nil && objectOf(p.arguments) == nil:
		return p, tool, notA("an object", "arguments", method, p.arguments)
	}
	return p, tool, nil
}

func notA(want, member, method string, got json.RawMessage) *RPCError {
	return rpcErrorf(codeInvalidParams, "%s of %s must be %s, found %s", member, method, want, show(got))
}

// toolList returns the result of tools/list: the page that its cursor names, or the first. With pages, an unknown
// cursor is an error.
func (s *Server) toolList(m *inbound) (map[string]any, *RPCError) {
	tools := []Tool{}
	for _, t := range s.tools {
		if t.Carrier == "" {
			tools = append(tools, t.Tool)
		}
	}
	per, from := cmp.Or(max(s.opts.ToolsPerPage, 0), max(len(tools), 1)), 0
	if cursor, _ := jsonvalue.TextOf(m.params["cursor"]); cursor != "" && s.opts.ToolsPerPage > 0 {
		for from = per; from < len(tools) && cursorAt(from) != cursor; {
			from += per
		}
		if from >= len(tools) {
			return nil, rpcErrorf(codeInvalidParams, "unknown cursor %s of tools/list", clip(m.params["cursor"]))
		}
	}
	page := map[string]any{"tools": tools[from:min(from+per, len(tools))]}
	if from+per < len(tools) {
		page["nextCursor"] = cursorAt(from + per)
	}
	return page, nil
}

// cursorAt is the cursor of the page that begins with a tool. It has what careless code changes.
func cursorAt(from int) string { return fmt.Sprintf(" tools from %d+ü/=&\"", from) }

func show(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return clip(raw)
}

func clip(b []byte) string {
	if len(b) > 80 {
		return string(b[:80]) + "…"
	}
	return string(b)
}

package server

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/internal/schema"
)

// Carrier is a request whose result may ask for input (2026-07-28, basic/patterns/mrtr#supported-requests).
type Carrier string

// The carriers besides tools/call.
const (
	PromptsGet    Carrier = "prompts/get"
	ResourcesRead Carrier = "resources/read"
)

var kindOf = map[string]string{"tools/call": "tool", string(PromptsGet): "prompt", string(ResourcesRead): "resource"}

// ResourceURI returns the URI of a [Tool] that is a resource.
func ResourceURI(name string) string { return "mcp-conform:/" + name }

// key returns the method that calls the tool, and the name or URI that the request gives.
func (t *serverTool) key() string {
	switch t.Carrier {
	case PromptsGet:
		return string(PromptsGet) + " " + t.Name
	case ResourcesRead:
		return string(ResourcesRead) + " " + ResourceURI(t.Name)
	}
	return "tools/call " + t.Name
}

// carries reports whether requests of the method start handlers: tools/call, and the carriers of the server's tools.
func (s *Server) carries(method string) bool {
	return method == "tools/call" ||
		slices.ContainsFunc(s.tools, func(t *serverTool) bool { return t.Carrier != "" && string(t.Carrier) == method })
}

func (s *Server) capabilities() map[string]any {
	can := map[string]any{"tools": map[string]any{}}
	if s.carries(string(PromptsGet)) {
		can["prompts"] = map[string]any{}
	}
	if s.carries(string(ResourcesRead)) {
		can["resources"] = map[string]any{}
	}
	return can
}

// notCached marks a result as one that the client must not cache, with what else every modern result has.
func (s *Server) notCached(result map[string]any) map[string]any {
	maps.Copy(result, map[string]any{"ttlMs": 0, "cacheScope": "private"})
	return s.complete(result)
}

// list responds with the prompts or resources, under the result's name for them.
func (s *Server) list(x *exchange, id json.RawMessage, name string, carrier Carrier) {
	listed := []any{}
	for _, t := range s.tools {
		if t.Carrier != carrier {
			continue
		}
		entry := map[string]any{"name": t.Name}
		if t.Description != "" {
			entry["description"] = t.Description
		}
		if carrier == ResourcesRead {
			entry["uri"] = ResourceURI(t.Name)
		}
		listed = append(listed, entry)
	}
	s.result(x, id, s.modern[0], "CacheableResult", s.notCached(map[string]any{name: listed}))
}

// finishOther responds to prompts/get or resources/read: each content block is a message of the prompt, or a text of
// the resource.
func (s *Server) finishOther(x *exchange, id json.RawMessage, tool *serverTool, revision Revision, content []any) {
	if tool.Carrier == PromptsGet {
		messages := []any{}
		for _, block := range content {
			messages = append(messages, map[string]any{"role": "user", "content": block})
		}
		s.result(x, id, revision, schema.GetPromptResult, s.complete(map[string]any{"messages": messages}))
		return
	}
	contents := []any{}
	for _, block := range content {
		text, _ := objectOf(mustEncode(block)).text("text")
		contents = append(contents, map[string]any{"uri": ResourceURI(tool.Name), "mimeType": "text/plain", "text": text})
	}
	s.result(x, id, revision, schema.ReadResourceResult, s.notCached(map[string]any{"contents": contents}))
}

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

// kindOf is what a carrying request is for.
var kindOf = map[string]string{"tools/call": "tool", string(PromptsGet): "prompt", string(ResourcesRead): "resource"}

// ResourceURI is where a [Tool] that is a resource is read.
func ResourceURI(name string) string { return "mcp-conform:/" + name }

// key is the request that calls what is offered, and the name by which it does.
func (t *offered) key() string {
	switch t.Carrier {
	case PromptsGet:
		return string(PromptsGet) + " " + t.Name
	case ResourcesRead:
		return string(ResourcesRead) + " " + ResourceURI(t.Name)
	}
	return "tools/call " + t.Name
}

// carries reports whether requests of the method may start a play: tools/call, and of the others what the server has something for.
func (s *Server) carries(method string) bool {
	return method == "tools/call" || slices.ContainsFunc(s.tools, func(t *offered) bool { return t.Carrier != "" && string(t.Carrier) == method })
}

// capabilities are those of the second era: what there is to list.
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

// list answers a request for the prompts or resources, under the name that the result has for them.
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
	s.result(x, id, s.modern[0], "CacheableResult", s.complete(map[string]any{name: listed, "ttlMs": 0, "cacheScope": "private"}))
}

// finishOther answers a prompts/get or a resources/read with what its play came to, as a prompt of one message for each block, or as a
// resource of one text for each.
func (s *Server) finishOther(x *exchange, id json.RawMessage, tool *offered, revision Revision, content []any) {
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
	full := s.complete(map[string]any{"contents": contents})
	maps.Copy(full, map[string]any{"ttlMs": 0, "cacheScope": "private"})
	s.result(x, id, revision, schema.ReadResourceResult, full)
}

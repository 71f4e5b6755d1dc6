package llm

import (
	"encoding/json"
	"maps"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// storage holds what requests can refer to, within a limit. The server's mutex guards it.
type storage struct {
	byID  map[string]json.RawMessage
	ids   []string // oldest first
	bytes int64
}

// complete completes a request of a stateful dialect with what it refers to.
func (s *Server) complete(codec dialect.Codec, x *Exchange) ([]byte, *Error) {
	stateful, ok := codec.(dialect.Stateful)
	if !ok {
		return x.Body, nil
	}
	body, refused := stateful.Complete(x.Body, func(id string) json.RawMessage {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.stored.byID[id]
	})
	if refused == nil && len(body) != len(x.Body) {
		x.completed = body
	}
	return body, refused
}

// keep stores what later requests can refer to. It drops the oldest beyond the limit of the journal.
func (s *Server) keep(codec dialect.Codec, req *Request, a Answer) {
	stateful, ok := codec.(dialect.Stateful)
	if !ok {
		return
	}
	kept := stateful.Keep(req, a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stored.byID == nil {
		s.stored.byID = map[string]json.RawMessage{}
	}
	maps.Copy(s.stored.byID, kept)
	for id, raw := range kept {
		s.stored.ids = append(s.stored.ids, id)
		s.stored.bytes += int64(len(raw))
	}
	for s.stored.bytes > s.options.MaxJournal && len(s.stored.ids) > len(kept) {
		oldest := s.stored.ids[0]
		s.stored.bytes -= int64(len(s.stored.byID[oldest]))
		delete(s.stored.byID, oldest)
		s.stored.ids = s.stored.ids[1:]
	}
}

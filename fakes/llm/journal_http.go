package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// JournalPath serves the journal to programs in any language: GET returns it as JSON, DELETE calls [Server.Reset]. The
// journal does not contain these requests. Credentials in headers appear as tokens, except [Options].Key.
const JournalPath = "/_journal"

func (s *Server) serveJournal(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.journalDocument()) // a caller that hung up does not need it
	case http.MethodDelete:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		a := (&routingError{status: http.StatusMethodNotAllowed, allow: "GET, DELETE",
			text: fmt.Sprintf("%s %s is not served: want GET or DELETE", r.Method, JournalPath)}).answer()
		for name, values := range a.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Chunks[0])
	}
}

// journalDocument returns the journal as JSON. Names follow the Go types, in JavaScript's style.
func (s *Server) journalDocument() json.RawMessage {
	exchanges := []json.RawMessage{}
	for _, x := range s.Journal() {
		exchanges = append(exchanges, s.exchangeDocument(&x))
	}
	unused := s.Unused()
	if unused == nil {
		unused = []string{}
	}
	return dialect.Ordered("exchanges", exchanges, "dropped", s.Dropped(), "unused", unused)
}

func (s *Server) exchangeDocument(x *Exchange) json.RawMessage {
	var ended, request any = dialect.Absent, dialect.Absent
	if !x.Ended.IsZero() {
		ended = x.Ended
	}
	if x.Request != nil {
		request = requestDocument(x.Request)
	}
	return dialect.Ordered("number", x.Number, "dialect", x.Dialect, "sideRequest", dialect.OrAbsent(x.SideRequest),
		"method", x.Method, "path", x.Path, "header", trace.SelectHeader(x.Header, s.options.planted), "body", asJSON(x.Body),
		"request", request, "owner", dialect.OrAbsent(x.Owner), "marks", listOrAbsent(x.Marks),
		"rule", dialect.OrAbsent(x.Rule), "miss", dialect.OrAbsent(x.Miss), "refused", dialect.OrAbsent(x.Refused),
		"fault", dialect.OrAbsent(x.Fault), "status", x.Status, "hungUp", dialect.OrAbsent(x.HungUp),
		"closed", dialect.OrAbsent(x.Closed), "began", x.Began, "ended", ended)
}

func requestDocument(r *Request) json.RawMessage {
	messages := []json.RawMessage{}
	for _, m := range r.Messages {
		messages = append(messages, dialect.Ordered("role", m.Role, "content", blockDocuments(m.Content), "path", m.Path))
	}
	var tools []json.RawMessage
	for _, t := range r.Tools {
		tools = append(tools, dialect.Ordered("name", t.Name, "description", dialect.OrAbsent(t.Description),
			"inputSchema", jsonOrAbsent(t.InputSchema), "path", t.Path))
	}
	return dialect.Ordered("dialect", r.Dialect, "model", r.Model, "system", dialect.OrAbsent(r.System),
		"messages", messages, "tools", listOrAbsent(tools), "toolChoice", dialect.OrAbsent(r.ToolChoice),
		"maxTokens", dialect.OrAbsent(r.MaxTokens), "temperature", dialect.OrAbsent(r.Temperature),
		"stopSequences", listOrAbsent(r.StopSequences), "stream", r.Stream, "turn", r.Turn())
}

func blockDocuments(blocks []Block) []json.RawMessage {
	all := []json.RawMessage{}
	for _, b := range blocks {
		var raw any = dialect.Absent
		if b.Type == dialect.Other {
			raw = jsonOrAbsent(b.Raw)
		}
		var content []json.RawMessage
		if b.Type == dialect.ToolResult {
			content = blockDocuments(b.Content)
		}
		all = append(all, dialect.Ordered("type", b.Type, "text", dialect.OrAbsent(b.Text),
			"signature", dialect.OrAbsent(b.Signature), "data", listOrAbsent(b.Data), "mimeType", dialect.OrAbsent(b.MimeType),
			"id", dialect.OrAbsent(b.ID), "name", dialect.OrAbsent(b.Name), "input", jsonOrAbsent(b.Input),
			"content", listOrAbsent(content), "isError", dialect.OrAbsent(b.IsError), "raw", raw, "path", b.Path))
	}
	return all
}

func listOrAbsent[T any](list []T) any {
	if len(list) == 0 {
		return dialect.Absent
	}
	return list
}

func jsonOrAbsent(data []byte) any {
	if data == nil {
		return dialect.Absent
	}
	return asJSON(data)
}

// asJSON returns JSON unchanged, other text as a string, and other bytes as base64.
func asJSON(data []byte) any {
	switch {
	case data == nil:
		return nil
	case json.Valid(data):
		return json.RawMessage(data)
	case utf8.Valid(data):
		return string(data)
	}
	return data
}

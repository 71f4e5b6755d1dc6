package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
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
		a := (&routingError{url: r.URL, status: http.StatusMethodNotAllowed, allow: "GET, DELETE",
			text: fmt.Sprintf("%s %s is not served: expected GET or DELETE", r.Method, JournalPath)}).answer()
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
	return jsonvalue.Ordered("exchanges", exchanges, "dropped", s.Dropped(), "unused", unused)
}

func (s *Server) exchangeDocument(x *Exchange) json.RawMessage {
	var ended, request any = jsonvalue.Absent, jsonvalue.Absent
	if !x.Ended.IsZero() {
		ended = x.Ended
	}
	if x.Request != nil {
		request = requestDocument(x.Request)
	}
	return jsonvalue.Ordered("number", x.Number, "dialect", x.Dialect, "sideRequest", jsonvalue.OrAbsent(x.SideRequest),
		"method", x.Method, "path", x.Path, "header", trace.SelectHeader(x.Header, s.options.planted), "body", asJSON(x.Body),
		"request", request, "owner", jsonvalue.OrAbsent(x.Owner), "marks", listOrAbsent(x.Marks),
		"rule", jsonvalue.OrAbsent(x.Rule), "miss", jsonvalue.OrAbsent(x.Miss), "refused", jsonvalue.OrAbsent(x.Refused),
		"fault", jsonvalue.OrAbsent(x.Fault), "status", x.Status, "hungUp", jsonvalue.OrAbsent(x.HungUp),
		"closed", jsonvalue.OrAbsent(x.Closed), "began", x.Began, "ended", ended)
}

func requestDocument(r *Request) json.RawMessage {
	messages := []json.RawMessage{}
	for _, m := range r.Messages {
		messages = append(messages, jsonvalue.Ordered("role", m.Role, "content", blockDocuments(m.Content), "path", m.Path))
	}
	var tools []json.RawMessage
	for _, t := range r.Tools {
		tools = append(tools, jsonvalue.Ordered("name", t.Name, "description", jsonvalue.OrAbsent(t.Description),
			"inputSchema", jsonOrAbsent(t.InputSchema), "path", t.Path))
	}
	return jsonvalue.Ordered("dialect", r.Dialect, "model", r.Model, "system", jsonvalue.OrAbsent(r.System),
		"messages", messages, "tools", listOrAbsent(tools), "toolChoice", jsonvalue.OrAbsent(r.ToolChoice),
		"maxTokens", jsonvalue.OrAbsent(r.MaxTokens), "temperature", jsonvalue.OrAbsent(r.Temperature),
		"stopSequences", listOrAbsent(r.StopSequences), "stream", r.Stream, "turn", r.Turn())
}

func blockDocuments(blocks []Block) []json.RawMessage {
	all := []json.RawMessage{}
	for _, b := range blocks {
		var raw any = jsonvalue.Absent
		if b.Type == dialect.Other {
			raw = jsonOrAbsent(b.Raw)
		}
		var content []json.RawMessage
		if b.Type == dialect.ToolResult {
			content = blockDocuments(b.Content)
		}
		all = append(all, jsonvalue.Ordered("type", b.Type, "text", jsonvalue.OrAbsent(b.Text),
			"signature", jsonvalue.OrAbsent(b.Signature), "data", listOrAbsent(b.Data),
			"mimeType", jsonvalue.OrAbsent(b.MimeType),
			"id", jsonvalue.OrAbsent(b.ID), "name", jsonvalue.OrAbsent(b.Name), "input", jsonOrAbsent(b.Input),
			"content", listOrAbsent(content), "isError", jsonvalue.OrAbsent(b.IsError), "raw", raw, "path", b.Path))
	}
	return all
}

func listOrAbsent[T any](list []T) any {
	if len(list) == 0 {
		return jsonvalue.Absent
	}
	return list
}

func jsonOrAbsent(data []byte) any {
	if data == nil {
		return jsonvalue.Absent
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

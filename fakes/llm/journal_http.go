package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
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
		_, _ = w.Write(dialect.Marshal(s.journalDocument())) // a caller that hung up does not need it
	case http.MethodDelete:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	default:
		a := (&misdirected{status: http.StatusMethodNotAllowed, allow: "GET, DELETE",
			text: fmt.Sprintf("%s %s is not served: want GET or DELETE", r.Method, JournalPath)}).answer()
		for name, values := range a.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Chunks[0])
	}
}

// The journal as JSON. Names follow the Go types, in JavaScript's style.
type journalDocument struct {
	Exchanges []exchangeDocument `json:"exchanges"`
	Dropped   int64              `json:"dropped"`
	Unused    []string           `json:"unused"`
}

type exchangeDocument struct {
	Number  int64             `json:"number"`
	Dialect string            `json:"dialect"`
	Aside   bool              `json:"sideRequest,omitempty"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Header  map[string]string `json:"header"`
	Body    any               `json:"body"` // JSON unchanged, otherwise a string
	Request *requestDocument  `json:"request,omitempty"`
	Owner   string            `json:"owner,omitempty"`
	Marks   []string          `json:"marks,omitempty"`
	Rule    string            `json:"rule,omitempty"`
	Miss    string            `json:"miss,omitempty"`
	Refused string            `json:"refused,omitempty"`
	Fault   string            `json:"fault,omitempty"`
	Status  int               `json:"status"`
	HungUp  bool              `json:"hungUp,omitempty"`
	Closed  bool              `json:"closed,omitempty"`
	Began   time.Time         `json:"began"`
	Ended   time.Time         `json:"ended,omitzero"`
}

type requestDocument struct {
	Dialect       string            `json:"dialect"`
	Model         string            `json:"model"`
	System        string            `json:"system,omitempty"`
	Messages      []messageDocument `json:"messages"`
	Tools         []toolDocument    `json:"tools,omitempty"`
	ToolChoice    string            `json:"toolChoice,omitempty"`
	MaxTokens     *int64            `json:"maxTokens,omitempty"`
	Temperature   *float64          `json:"temperature,omitempty"`
	StopSequences []string          `json:"stopSequences,omitempty"`
	Stream        bool              `json:"stream"`
	Turn          int               `json:"turn"`
}

type messageDocument struct {
	Role    dialect.Role    `json:"role"`
	Content []blockDocument `json:"content"`
	Path    string          `json:"path"`
}

type blockDocument struct {
	Type      dialect.BlockType `json:"type"`
	Text      string            `json:"text,omitempty"`
	Signature string            `json:"signature,omitempty"`
	Data      []byte            `json:"data,omitempty"`
	MimeType  string            `json:"mimeType,omitempty"`
	ID        string            `json:"id,omitempty"`
	Name      string            `json:"name,omitempty"`
	Input     any               `json:"input,omitempty"`
	Content   []blockDocument   `json:"content,omitempty"`
	IsError   bool              `json:"isError,omitempty"`
	Raw       any               `json:"raw,omitempty"` // of blocks without a neutral form
	Path      string            `json:"path"`
}

type toolDocument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	InputSchema any    `json:"inputSchema,omitempty"`
	Path        string `json:"path"`
}

func (s *Server) journalDocument() journalDocument {
	d := journalDocument{Exchanges: []exchangeDocument{}, Dropped: s.Dropped(), Unused: s.Unused()}
	if d.Unused == nil {
		d.Unused = []string{}
	}
	for _, x := range s.Journal() {
		d.Exchanges = append(d.Exchanges, exchangeDocument{
			x.Number, x.Dialect, x.SideRequest, x.Method, x.Path, trace.SelectHeader(x.Header, s.options.planted),
			asJSON(x.Body), documentOf(x.Request),
			x.Owner, x.Marks, x.Rule, x.Miss, x.Refused, x.Fault, x.Status, x.HungUp, x.Closed, x.Began, x.Ended,
		})
	}
	return d
}

func documentOf(r *Request) *requestDocument {
	if r == nil {
		return nil
	}
	d := &requestDocument{
		Dialect: r.Dialect, Model: r.Model, System: r.System, Messages: []messageDocument{}, ToolChoice: r.ToolChoice,
		MaxTokens:   r.MaxTokens,
		Temperature: r.Temperature, StopSequences: r.StopSequences, Stream: r.Stream, Turn: r.Turn(),
	}
	for _, m := range r.Messages {
		d.Messages = append(d.Messages, messageDocument{m.Role, blockDocuments(m.Content), m.Path})
	}
	for _, t := range r.Tools {
		d.Tools = append(d.Tools, toolDocument{t.Name, t.Description, asJSON(t.InputSchema), t.Path})
	}
	return d
}

func blockDocuments(blocks []Block) []blockDocument {
	all := []blockDocument{}
	for _, b := range blocks {
		d := blockDocument{Type: b.Type, Text: b.Text, Signature: b.Signature, Data: b.Data, MimeType: b.MimeType, ID: b.ID,
			Name:  b.Name,
			Input: asJSON(b.Input), IsError: b.IsError, Path: b.Path}
		if b.Type == dialect.ToolResult {
			d.Content = blockDocuments(b.Content)
		}
		if b.Type == dialect.Other {
			d.Raw = asJSON(b.Raw)
		}
		all = append(all, d)
	}
	return all
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

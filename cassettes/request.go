package cassettes

import (
	"crypto/sha256"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

type request struct {
	// kind is the dialect, or method, path and query for an address without a dialect.
	kind string
	// body is a JSON tree, or opaque.
	body any
	// written is the request of which this is the form; nil if the caller does not have it.
	written *Request
}

// opaque is a body that is not JSON.
type opaque string

func (o opaque) String() string { return string(o) }

// kindOf returns the kind of a request: the dialect, with model and method if the address holds them (Gemini).
func kindOf(method string, u *url.URL) string {
	if method == http.MethodPost {
		for i := range knownDialects {
			if rest, ok := knownDialects[i].serves(u); ok {
				return strings.TrimSpace(knownDialects[i].name + " " + rest)
			}
		}
	}
	kind := method + " " + u.EscapedPath()
	if query := withoutCredentials(u.Query()); len(query) > 0 {
		kind += "?" + query.Encode()
	}
	return kind
}

func kindOfDecoded(r *dialect.Request) string {
	if r.URL != nil {
		return kindOf(http.MethodPost, r.URL)
	}
	return r.Dialect
}

// newRequest normalizes a request body whose credentials have been removed. The header only says how the body is
// encoded.
func newRequest(kind string, header http.Header, body string) *request {
	tree := jsonvalue.Decode([]byte(body))
	if tree == nil && !json.Valid([]byte(body)) {
		return &request{kind: kind, body: opaque(withoutBoundary(header, body))}
	}
	if d := dialectOf(kind); d != nil {
		d.normalize(tree)
	}
	return &request{kind: kind, body: tree}
}

// withoutBoundary replaces the boundary between parts, which clients generate for each request.
func withoutBoundary(header http.Header, body string) string {
	mediaType, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" {
		return body
	}
	return strings.ReplaceAll(body, "--"+params["boundary"], "--boundary")
}

func (r *request) key() [sha256.Size]byte {
	return sha256.Sum256([]byte(r.kind + "\x00" + jsonvalue.Canonical(r.body)))
}

func objects(v any) []map[string]any {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var found []map[string]any
	for _, item := range list {
		if o, ok := item.(map[string]any); ok {
			found = append(found, o)
		}
	}
	return found
}

package cassettes

import (
	"crypto/sha256"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// request is a request as it is compared: what kind it is, and its body without what does not count.
type request struct {
	// kind is the dialect; for an address that is of none, the method, path and query.
	kind string
	// body is a JSON tree, or opaque.
	body any
}

// opaque is a body that is no JSON.
type opaque string

// kindOf returns the kind of a request to an address: the dialect, with the model and the method where the address names them (Gemini).
func kindOf(method string, u *url.URL) string {
	if method == http.MethodPost {
		for i := range dialects {
			if rest, ok := dialects[i].serves(u); ok {
				return strings.TrimSpace(dialects[i].name + " " + rest)
			}
		}
	}
	kind := method + " " + u.EscapedPath()
	if query := withoutCredentials(u.Query()); len(query) > 0 {
		kind += "?" + query.Encode()
	}
	return kind
}

// kindOfDecoded returns the same kind for a request that a server has decoded.
func kindOfDecoded(r *dialect.Request) string {
	if r.URL != nil {
		return kindOf(http.MethodPost, r.URL)
	}
	return r.Dialect
}

// newRequest reads a request's body, from which credentials have been taken out, and takes out what does not count in its kind. Of the header it
// is only how the body is written that is looked at.
func newRequest(kind string, header http.Header, body string) *request {
	tree, ok := readJSON([]byte(body))
	if !ok {
		return &request{kind, opaque(withoutBoundary(header, body))}
	}
	name, _, _ := strings.Cut(kind, " ")
	if params, isObject := tree.(map[string]any); isObject {
		for i := range dialects {
			if d := &dialects[i]; d.name == name {
				for _, member := range d.volatile {
					delete(params, member)
				}
				d.settle(params, &renamer{})
			}
		}
	}
	return &request{kind, tree}
}

// withoutBoundary returns a body without what is between its parts, if it has some: clients make that up for each request.
func withoutBoundary(header http.Header, body string) string {
	mediaType, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" {
		return body
	}
	return strings.ReplaceAll(body, "--"+params["boundary"], "--boundary")
}

// key is equal for requests that are the same.
func (r *request) key() [sha256.Size]byte {
	return sha256.Sum256(appendCanonical(append([]byte(r.kind), 0), r.body))
}

// objects returns the objects in an array, or the one that stands in place of an array.
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

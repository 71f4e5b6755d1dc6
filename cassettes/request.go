package cassettes

import (
	"crypto/sha256"
	"fmt"
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

// dialects are those whose requests are understood. The path is the end of an address, since gateways put their own before it.
var dialects = []struct {
	name, path string
	// volatile are members of the body that do not count.
	volatile []string
}{
	{dialect.OpenAIChat, "/chat/completions", []string{"user", "safety_identifier", "prompt_cache_key", "metadata"}},
	{dialect.Native, "/native", []string{"_meta", "metadata"}},
}

// kindOf returns the kind of a request to an address.
func kindOf(method string, u *url.URL) string {
	for _, d := range dialects {
		if method == http.MethodPost && strings.HasSuffix(u.Path, d.path) {
			return d.name
		}
	}
	kind := method + " " + u.EscapedPath()
	if query := withoutCredentials(u.Query()); len(query) > 0 {
		kind += "?" + query.Encode()
	}
	return kind
}

// newRequest reads a request's body, from which credentials have been taken out, and takes out what does not count in its kind.
func newRequest(kind, body string) *request {
	tree, ok := readJSON([]byte(body))
	if !ok {
		return &request{kind, opaque(body)}
	}
	for _, d := range dialects {
		if params, isObject := tree.(map[string]any); isObject && d.name == kind {
			for _, name := range d.volatile {
				delete(params, name)
			}
			settleCalls(params)
		}
	}
	return &request{kind, tree}
}

// key is equal for requests that are the same.
func (r *request) key() [sha256.Size]byte {
	return sha256.Sum256(appendCanonical(append([]byte(r.kind), 0), r.body))
}

// settleCalls gives tool calls new ids, by the order in which they come up, and their results with them: clients may mint ids of their own, but
// which result belongs to which call has to come out the same. Only where a dialect has ids is looked for them: what a tool's
// input calls an id is the user's.
func settleCalls(params map[string]any) {
	names := map[string]string{}
	rename := func(o map[string]any, member string) {
		if id, ok := o[member].(string); ok {
			if names[id] == "" {
				names[id] = fmt.Sprintf("call %d", len(names)+1)
			}
			o[member] = names[id]
		}
	}
	for _, m := range objects(params["messages"]) {
		for _, call := range objects(m["tool_calls"]) { // openai-chat
			rename(call, "id")
			if function, ok := call["function"].(map[string]any); ok {
				settleArguments(function)
			}
		}
		rename(m, "tool_call_id")
		for _, block := range objects(m["content"]) { // native; openai-chat has no such blocks
			switch block["type"] {
			case "tool_use":
				rename(block, "id")
			case "tool_result":
				rename(block, "toolUseId")
			}
		}
	}
}

// settleArguments writes arguments in one way: who reads the calls of a model and restates them has other spaces, or another order.
func settleArguments(function map[string]any) {
	if text, ok := function["arguments"].(string); ok {
		if tree, isJSON := readJSON([]byte(text)); isJSON {
			function["arguments"] = canonical(tree)
		}
	}
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

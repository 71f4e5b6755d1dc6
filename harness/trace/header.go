package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// keptHeaders are the headers that matter to the protocols, in canonical form.
var keptHeaders = map[string]bool{
	"Accept": true, "Content-Type": true, "Content-Encoding": true, "Host": true, "Origin": true, "Last-Event-Id": true,
	"Retry-After": true, "User-Agent": true, "Anthropic-Version": true, "Anthropic-Beta": true,
}

// secretHeaders are the headers whose values are credentials.
var secretHeaders = map[string]bool{
	"Authorization": true, "Proxy-Authorization": true, "X-Api-Key": true, "Api-Key": true, "X-Goog-Api-Key": true,
	"Cookie": true, "Set-Cookie": true, "Openai-Organization": true, "Openai-Project": true,
}

// SelectHeader returns the headers worth keeping, each with its values joined by ", ". It replaces credentials by
// their [Token]. It keeps planted secrets, which are fake; of a list, such as one of cookies, only the items that hold
// one, whatever the header. planted reports whether a text holds a planted secret; nil for none. Names must be in
// canonical form; h may be nil.
func SelectHeader(h http.Header, planted func(string) bool) map[string]string {
	selected := map[string]string{}
	for name, values := range h {
		value := strings.Join(values, ", ")
		switch {
		case keptHeaders[name] || strings.HasPrefix(name, "Mcp-"):
			selected[name] = value
		case planted != nil && planted(value):
			selected[name] = onlyPlanted(value, planted)
		case secretHeaders[name]:
			selected[name] = Token(value)
		}
	}
	return selected
}

// onlyPlanted replaces the items of a list that hold no planted secret by their tokens. If no single item holds one,
// the list as a whole does, and stays.
func onlyPlanted(list string, planted func(string) bool) string {
	items := strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' })
	found := false
	for i, item := range items {
		if item = strings.TrimSpace(item); planted(item) {
			found = true
		} else {
			item = Token(item)
		}
		items[i] = item
	}
	if !found {
		return list
	}
	return strings.Join(items, "; ")
}

// SelectAddress returns the query parameters that hold a planted secret, as they were written, or the whole path and
// query if no single parameter does; "" without such a secret. planted is as in [SelectHeader].
func SelectAddress(u *url.URL, planted func(string) bool) string {
	if planted == nil || !planted(u.RequestURI()) {
		return ""
	}
	parameters := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(p string) bool { return !planted(p) })
	if len(parameters) == 0 {
		return u.RequestURI()
	}
	return "?" + strings.Join(parameters, "&")
}

// Token returns a placeholder for a secret: equal for equal secrets, and useless to anybody else.
func Token(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "secret:" + hex.EncodeToString(sum[:6])
}

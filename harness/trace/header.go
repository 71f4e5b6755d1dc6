package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// kept are the headers that bear on the protocols, in canonical form.
var kept = map[string]bool{
	"Accept": true, "Content-Type": true, "Content-Encoding": true, "Host": true, "Origin": true, "Last-Event-Id": true,
	"Retry-After": true, "User-Agent": true, "Anthropic-Version": true, "Anthropic-Beta": true,
}

// secret are the headers whose values are credentials.
var secret = map[string]bool{
	"Authorization": true, "Proxy-Authorization": true, "X-Api-Key": true, "Api-Key": true, "X-Goog-Api-Key": true,
	"Cookie": true, "Set-Cookie": true, "Openai-Organization": true, "Openai-Project": true,
}

// SelectHeader returns the headers worth keeping, each with its values joined by ", ". A credential becomes a token that is
// the same for the same value and gives nothing away. What holds a planted secret, which is none, is kept: of a list, such as one of
// cookies, the items that do, whatever the header. planted says which text holds one; nil for none. Names are expected in canonical form;
// h may be nil.
func SelectHeader(h http.Header, planted func(string) bool) map[string]string {
	selected := map[string]string{}
	for name, values := range h {
		value := strings.Join(values, ", ")
		switch {
		case kept[name] || strings.HasPrefix(name, "Mcp-"):
			selected[name] = value
		case planted != nil && planted(value):
			selected[name] = onlyPlanted(value, planted)
		case secret[name]:
			selected[name] = Token(value)
		}
	}
	return selected
}

// onlyPlanted makes tokens of the items of a list that hold no planted secret. Where none does, it is the list that does.
func onlyPlanted(value string, planted func(string) bool) string {
	parts := strings.FieldsFunc(value, func(r rune) bool { return r == ';' || r == ',' })
	found := false
	for i, part := range parts {
		if part = strings.TrimSpace(part); planted(part) {
			found = true
		} else {
			part = Token(part)
		}
		parts[i] = part
	}
	if !found {
		return value
	}
	return strings.Join(parts, "; ")
}

// SelectAddress returns what of an address's path and query is worth keeping: the parameters that hold a planted secret, each as it was
// written, or all where none does by itself; "" where there is no such secret. planted says which text holds one; nil for none.
func SelectAddress(u *url.URL, planted func(string) bool) string {
	if planted == nil || !planted(u.RequestURI()) {
		return ""
	}
	parts := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(part string) bool { return !planted(part) })
	if len(parts) == 0 {
		return u.RequestURI()
	}
	return "?" + strings.Join(parts, "&")
}

// Token returns the stand-in for a secret: equal for equal secrets, and of no use to anybody.
func Token(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "secret:" + hex.EncodeToString(sum[:6])
}

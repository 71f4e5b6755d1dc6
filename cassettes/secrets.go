package cassettes

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// credentialHeaders and credentialParams (of an address, in lower case) hold credentials that must not appear
// elsewhere.
var (
	credentialHeaders = []string{
		"Authorization", "Proxy-Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key",
		"Openai-Organization", "Openai-Project",
	}
	credentialParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}
)

// minSecret is the length of the shortest credential, in bytes, that is searched for. Shorter ones occur by chance.
const minSecret = 8

// scrubber finds and removes secrets: those it knows and those that match a pattern.
type scrubber struct {
	known []string // in all their encodings
}

func newScrubber(h http.Header, u *url.URL, secrets ...string) *scrubber {
	c := &scrubber{}
	c.add(secrets...)
	c.addCredentials(h, u)
	c.addCookies((&http.Request{Header: h}).Cookies())
	return c
}

// addCredentials adds the credentials of a request, except cookies; u may be nil.
func (c *scrubber) addCredentials(h http.Header, u *url.URL) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !isCredentialHeader(name) {
			continue
		}
		for _, value := range h[name] {
			value = withoutScheme(value)
			c.add(value)
			if _, rest, found := strings.Cut(value, " "); found { // after an unknown scheme
				c.add(rest)
			}
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil { // Basic: user, colon, password
				if user, password, found := strings.Cut(string(plain), ":"); found {
					c.add(cmp.Or(password, user))
				}
			}
		}
	}
	if u == nil {
		return
	}
	for name, values := range u.Query() {
		if isCredential(name) {
			c.add(values...)
		}
	}
	password, _ := u.User.Password()
	c.add(cmp.Or(password, u.User.Username()))
}

// isCredentialHeader reports whether the name of a header says that it holds a credential. Gateways have their own
// names.
func isCredentialHeader(name string) bool {
	known := http.CanonicalHeaderKey(name)
	return slices.Contains(credentialHeaders, known) ||
		slices.ContainsFunc([]string{"-Key", "-Token", "-Secret", "-Password"}, func(end string) bool {
			return strings.HasSuffix(known, end)
		})
}

// add adds secrets, each as it is, URL-escaped and in base64. JSON escapes are undone when a text is searched.
func (c *scrubber) add(secrets ...string) {
	for _, secret := range secrets {
		if len(secret) < minSecret || strings.Contains(secret, redacted) || slices.Contains(c.known, secret) {
			continue
		}
		forms := append(inBase64(secret), url.QueryEscape(secret), url.PathEscape(secret))
		slices.Sort(forms)
		c.known = append(c.known, secret)
		for _, form := range slices.Compact(forms) {
			if form != secret {
				c.known = append(c.known, form)
			}
		}
	}
}

// inBase64 returns a secret in base64, alone or within a longer text, in both alphabets. It omits the characters at the
// ends that depend on the neighbouring bytes.
func inBase64(secret string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		short := encoding.WithPadding(base64.NoPadding)
		forms = append(forms, encoding.EncodeToString([]byte(secret)), short.EncodeToString([]byte(secret)))
		for before := range 3 { // bytes before it in its group of three
			text := short.EncodeToString(append(make([]byte, before), secret...))
			if before > 0 {
				text = text[before+1:]
			}
			if (before+len(secret))%3 != 0 {
				text = text[:len(text)-1]
			}
			forms = append(forms, text)
		}
	}
	return forms
}

func (c *scrubber) addCookies(cookies []*http.Cookie) {
	for _, cookie := range cookies {
		c.add(cookie.Value)
	}
}

// withoutScheme returns the credentials of a header such as Authorization.
func withoutScheme(value string) string {
	schemes := []string{"bearer", "basic", "token"}
	if scheme, rest, ok := strings.Cut(value, " "); ok && slices.Contains(schemes, strings.ToLower(scheme)) {
		return strings.TrimSpace(rest)
	}
	return value
}

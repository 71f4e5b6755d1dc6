package cassettes

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// credentialHeaders and credentialParams (of an address, in lower case) hold what must not stand anywhere else either.
var (
	credentialHeaders = []string{
		"Authorization", "Proxy-Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key", "Openai-Organization", "Openai-Project",
	}
	credentialParams = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}
)

// shortest is how long a credential must be to be looked for elsewhere: what is shorter is in bodies by chance.
const shortest = 8

// lookSecret are texts that are a secret by their looks, wherever they stand: keys, tokens and account ids of providers, and of what is often
// beside them.
var lookSecret = regexp.MustCompile(strings.Join([]string{
	`\bsk-[A-Za-z0-9_-]{16,}`,    // OpenAI, Anthropic, OpenRouter and who imitates them
	`\bAIza[A-Za-z0-9_-]{30,}`,   // Google
	`\bya29\.[A-Za-z0-9_-]{16,}`, // Google, of an account
	`\b(?:gsk|hf|ghp|gho|glpat)[_-][A-Za-z0-9]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\bxai-[A-Za-z0-9]{16,}`,
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, // Amazon
	`\borg-[A-Za-z0-9]{16,}`,        // OpenAI's organisations, projects and users, which its errors name
	`\bproj_[A-Za-z0-9]{16,}`,
	`\buser-[A-Za-z0-9]{20,}`,
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, // a JSON web token
	`-----BEGIN [A-Z ]*PRIVATE KEY-----`,
}, "|"))

// cleaning takes secrets out of texts.
type cleaning struct {
	pairs []string // what is known as a secret, and what stands in its place, in turns
	known *strings.Replacer
}

// cleaner returns a cleaning that knows the credentials of a request; u may be nil.
func cleaner(h http.Header, u *url.URL) *cleaning {
	c := &cleaning{}
	for _, name := range credentialHeaders {
		for _, value := range h.Values(name) {
			c.add(withoutScheme(value))
		}
	}
	for _, cookie := range (&http.Request{Header: h}).Cookies() {
		c.add(cookie.Value)
	}
	if u != nil {
		for name, values := range u.Query() {
			if isCredential(name) {
				c.add(values...)
			}
		}
		if password, ok := u.User.Password(); ok {
			c.add(password)
		}
	}
	return c
}

// add adds secrets. Each is known as it is and as it stands in JSON, in an address and in base64.
func (c *cleaning) add(secrets ...string) {
	for _, secret := range secrets {
		if len(secret) < shortest || strings.Contains(secret, redacted) {
			continue
		}
		inJSON := dialect.Marshal(secret)
		for _, form := range []string{secret, string(inJSON[1 : len(inJSON)-1]), url.QueryEscape(secret), url.PathEscape(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret))} {
			c.pairs = append(c.pairs, form, redacted)
		}
	}
	c.known = nil
}

// addSetCookies adds the values of cookies that an answer sets.
func (c *cleaning) addSetCookies(h http.Header) {
	for _, cookie := range (&http.Response{Header: h}).Cookies() {
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

// Replace returns the text without secrets.
func (c *cleaning) Replace(text string) string {
	if c.known == nil {
		c.known = strings.NewReplacer(c.pairs...)
	}
	return lookSecret.ReplaceAllString(c.known.Replace(text), redacted)
}

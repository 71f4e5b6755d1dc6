package cassettes

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
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

// look is a text that is a secret by its looks, wherever it stands: how it begins, at the beginning of a word, and what follows.
type look struct {
	begin string
	rest  *regexp.Regexp
}

// looks are those of keys, tokens and account ids of providers, and of what is often beside them.
var looks = []look{
	{"sk-", regexp.MustCompile(`^[A-Za-z0-9_-]{16,}`)},   // OpenAI, Anthropic, OpenRouter and who imitates them
	{"AIza", regexp.MustCompile(`^[A-Za-z0-9_-]{30,}`)},  // Google
	{"ya29.", regexp.MustCompile(`^[A-Za-z0-9_-]{16,}`)}, // Google, of an account
	{"gsk", separated}, {"hf", separated}, {"ghp", separated}, {"gho", separated}, {"glpat", separated},
	{"github_pat_", regexp.MustCompile(`^[A-Za-z0-9_]{16,}`)},
	{"xai-", regexp.MustCompile(`^[A-Za-z0-9]{16,}`)},
	{"AKIA", regexp.MustCompile(`^[A-Z0-9]{16}\b`)}, // Amazon
	{"ASIA", regexp.MustCompile(`^[A-Z0-9]{16}\b`)},
	{"org-", regexp.MustCompile(`^[A-Za-z0-9]{16,}`)}, // OpenAI's organisations, projects and users, which its errors name
	{"proj_", regexp.MustCompile(`^[A-Za-z0-9]{16,}`)},
	{"user-", regexp.MustCompile(`^[A-Za-z0-9]{20,}`)},
	{token, regexp.MustCompile(`^[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)}, // a JSON web token
	{"-----BEGIN ", regexp.MustCompile(`^[A-Z ]*PRIVATE KEY-----`)},
}

// token begins each of the first two parts of a JSON web token, tokenRun a part of one.
const token = "eyJ"

var tokenRun = regexp.MustCompile(`^[A-Za-z0-9_-]*`)

var separated = regexp.MustCompile(`^[_-][A-Za-z0-9]{16,}`)

// cleaning finds secrets in texts, and takes them out. What looks like one it knows without being told.
type cleaning struct {
	known []string // and how else they are written
}

// cleaner returns a cleaning that knows the secrets, and the credentials of a request; u may be nil.
func cleaner(h http.Header, u *url.URL, secrets ...string) *cleaning {
	c := &cleaning{}
	c.add(secrets...)
	c.addCredentials(h, u)
	c.addCookies((&http.Request{Header: h}).Cookies())
	return c
}

// addCredentials adds those of a request's header and address, but for cookies; u may be nil.
func (c *cleaning) addCredentials(h http.Header, u *url.URL) {
	for _, name := range sorted(h) {
		if !isCredentialHeader(name) {
			continue
		}
		for _, value := range h[name] {
			value = withoutScheme(value)
			c.add(value)
			if _, rest, found := strings.Cut(value, " "); found { // behind a scheme of somebody's own
				c.add(rest)
			}
			if plain, err := base64.StdEncoding.DecodeString(value); err == nil { // as in Basic, where the password is behind a colon
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

// isCredentialHeader reports whether a header holds a credential by what it is called: gateways have names of their own.
func isCredentialHeader(name string) bool {
	known := http.CanonicalHeaderKey(name)
	return slices.Contains(credentialHeaders, known) ||
		slices.ContainsFunc([]string{"-Key", "-Token", "-Secret", "-Password"}, func(end string) bool { return strings.HasSuffix(known, end) })
}

// add adds secrets. Each is known as it is and as it stands in an address and in base64; how it is escaped in JSON need not be known.
func (c *cleaning) add(secrets ...string) {
	for _, secret := range secrets {
		if len(secret) < shortest || strings.Contains(secret, redacted) || slices.Contains(c.known, secret) {
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

// inBase64 returns how a secret is written in base64, alone or within something longer, in both alphabets. Of the characters at its ends, which
// depend on what is beside it, only those of the secret alone are known.
func inBase64(secret string) []string {
	var forms []string
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(secret)), encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(secret)))
		for before := range 3 { // bytes before it in its group of three, which make up as many characters and a part of one more
			text := encoding.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, before), secret...))
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

func (c *cleaning) addCookies(cookies []*http.Cookie) {
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

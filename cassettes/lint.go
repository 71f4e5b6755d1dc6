package cassettes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Finding is something in a cassette that should not be there.
type Finding struct {
	// Interaction is the number of the interaction, from 0.
	Interaction int
	// Where is a part of it, such as "request header Authorization".
	Where string
	// What says what is wrong there, and never repeats a secret.
	What string
}

func (f Finding) String() string {
	return fmt.Sprintf("interaction %d: %s: %s", f.Interaction, f.Where, f.What)
}

// Lint finds secrets, and bodies that are not valid in the dialect that they claim to be of. Secrets are known by their looks, by the header
// or parameter that they stand in, and by being one of those that are given; also where a stream says them in pieces.
func (f *File) Lint(secrets ...string) []Finding {
	given := cleaner(nil, nil, secrets...)
	var found []Finding
	for n := range f.Interactions {
		i := &f.Interactions[n]
		say := func(where, format string, args ...any) {
			found = append(found, Finding{i.Number, where, fmt.Sprintf(format, args...)})
		}
		i.lintSecrets(given, say)
		i.lintBodies(say)
	}
	return found
}

// lintSecrets looks for secrets wherever they may stand.
func (i *Interaction) lintSecrets(given *cleaning, say func(where, format string, args ...any)) {
	q, r := &i.recorded.Request, &i.recorded.Response
	for _, part := range []struct{ where, text string }{{"request url", q.URL}, {"response status", r.Status}} {
		given.lint(part.where, part.text, (*cleaning).inText, say)
	}
	given.lint("request body", q.Body, (*cleaning).inRequest, say)
	given.lint("response body", r.Body, func(c *cleaning, body string) []edit { return c.inBody(body, i.Cut != wholeAnswer) }, say)
	if u, err := url.Parse(q.URL); err == nil {
		for name, values := range u.Query() {
			if isCredential(name) && !slices.Equal(values, []string{redacted}) {
				say("request url", "the parameter %s holds a credential: replace it by %s", name, redacted)
			}
		}
		if u.User != nil {
			say("request url", "it holds a user: take it out")
		}
	}
	for _, part := range []struct {
		where  string
		header http.Header
	}{{"request header", q.Headers}, {"request trailer", q.Trailer}, {"response header", r.Headers}, {"response trailer", r.Trailer}} {
		for _, name := range sorted(part.header) {
			values := part.header[name]
			if sensitive(name) && slices.ContainsFunc(values, func(v string) bool { return withoutScheme(v) != redacted && v != "" }) {
				say(part.where+" "+name, "it holds a credential, a cookie or an account: replace it by %s", redacted)
				continue
			}
			given.lint(part.where+" "+name, strings.Join(values, "\n"), (*cleaning).inText, say)
		}
	}
}

// lint looks for secrets in a text, as find finds them.
func (c *cleaning) lint(where, text string, find func(*cleaning, string) []edit, say func(where, format string, args ...any)) {
	if looks := find(&cleaning{}, text); looks != nil {
		stands, first := "stands", looks[0]
		if len(looks) > 1 && looks[1].with == "" {
			stands = "begins, in pieces,"
		}
		say(where, "at byte %d %s what looks like a secret: %s…", first.from, stands, text[first.from:min(first.from+4, first.to)])
		return
	}
	if find(c, text) != nil {
		say(where, "it holds one of the secrets of this machine's environment")
	}
}

// sensitive reports whether a header is one whose values are not kept.
func sensitive(name string) bool {
	known := http.CanonicalHeaderKey(name)
	return slices.Contains(credentialHeaders, known) || slices.Contains([]string{"Cookie", "Set-Cookie"}, known)
}

func sorted(h http.Header) []string {
	var names []string
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lintBodies holds the bodies against the dialect.
func (i *Interaction) lintBodies(say func(where, format string, args ...any)) {
	if i.Dialect == "" {
		return
	}
	if i.unread != nil {
		say("request body", "it is no request of %s: %v", i.Dialect, i.unread)
	}
	if i.Cut != wholeAnswer {
		return // what is there is a part
	}
	switch i.mediaType() {
	case "application/json":
		if !json.Valid([]byte(i.Response)) {
			say("response body", "it is not the JSON that it says it is")
		}
	case "text/event-stream", "application/x-ndjson":
		for n, chunk := range answerOf(&i.recorded.Response, nil).Chunks {
			if !isEvent(chunk) {
				say("response body", "event %d of the stream holds no JSON", n+1)
				return
			}
		}
	}
}

// isEvent reports whether a piece of a stream holds JSON, or is one of those without any: a comment, or the end of OpenAI's chat.
func isEvent(chunk []byte) bool {
	var data [][]byte
	isSSE := false
	for line := range bytes.SplitSeq(bytes.ReplaceAll(chunk, []byte("\r"), []byte("\n")), []byte("\n")) {
		field, value, ok := bytes.Cut(line, []byte(":"))
		switch string(field) {
		case "data":
			if ok {
				data = append(data, bytes.TrimPrefix(value, []byte(" ")))
			}
			isSSE = true
		case "", "event", "id", "retry":
			isSSE = isSSE || ok
		}
	}
	text := bytes.Join(data, []byte("\n"))
	if !isSSE {
		text = bytes.TrimSpace(chunk)
	}
	return len(text) == 0 || string(text) == "[DONE]" || json.Valid(text)
}

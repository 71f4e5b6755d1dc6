package cassettes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Finding is a defect of a cassette.
type Finding struct {
	// Interaction is the number of the interaction, from 0.
	Interaction int
	// Where is the part, such as "request header Authorization".
	Where string
	// What says what is wrong, without the secret.
	What string
}

func (f Finding) String() string {
	return fmt.Sprintf("interaction %d: %s: %s", f.Interaction, f.Where, f.What)
}

// Lint finds secrets, and bodies that are invalid in their dialect. A secret is one of those given, the value of a
// credential header or parameter, or a text that looks like a key. Lint also finds secrets in pieces of a stream.
func (f *File) Lint(secrets ...string) []Finding {
	given := newScrubber(nil, nil, secrets...)
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

type reporter func(where, format string, args ...any)

func (i *Interaction) lintSecrets(given *scrubber, say reporter) {
	q, r := &i.recorded.Request, &i.recorded.Response
	for _, part := range []struct{ where, text string }{{"request url", q.URL}, {"response status", r.Status}} {
		given.lint(part.where, part.text, (*scrubber).inText, say)
	}
	inAnswer := func(c *scrubber, body string) []edit { return c.inBody(body, i.Cut != wholeAnswer) }
	given.lint("request body", q.Body, (*scrubber).inRequest, say)
	given.lint("response body", r.Body, inAnswer, say)
	if u, err := url.Parse(q.URL); err == nil {
		for name, values := range u.Query() {
			if isCredential(name) && !slices.Equal(values, []string{redacted}) {
				say("request url", "the parameter %s holds a credential: replace it with %s", name, redacted)
			}
		}
		if u.User != nil {
			say("request url", "the address holds a user: remove it")
		}
	}
	for _, part := range []struct {
		where  string
		header http.Header
	}{
		{"request header", q.Headers}, {"request trailer", q.Trailer},
		{"response header", r.Headers}, {"response trailer", r.Trailer},
	} {
		for _, name := range slices.Sorted(maps.Keys(part.header)) {
			values := part.header[name]
			if sensitive(name) && slices.ContainsFunc(values, isSecretValue) {
				say(part.where+" "+name, "this header holds a credential, a cookie or an account: replace it with %s", redacted)
				continue
			}
			given.lint(part.where+" "+name, strings.Join(values, "\n"), (*scrubber).inText, say)
		}
	}
}

func isSecretValue(v string) bool { return v != "" && withoutScheme(v) != redacted }

func (c *scrubber) lint(where, text string, find func(*scrubber, string) []edit, say reporter) {
	if looks := find(&scrubber{}, text); looks != nil {
		verb, first := "found", looks[0]
		if len(looks) > 1 && looks[1].with == "" {
			verb = "found, in pieces,"
		}
		begin := text[first.From:min(first.From+4, first.To)]
		say(where, "%s what looks like a secret at byte %d: %s…", verb, first.From, begin)
		return
	}
	if find(c, text) != nil {
		say(where, "found a secret of this machine's environment")
	}
}

// sensitive reports whether the values of a header are always removed.
func sensitive(name string) bool {
	known := http.CanonicalHeaderKey(name)
	return slices.Contains(credentialHeaders, known) || slices.Contains([]string{"Cookie", "Set-Cookie"}, known)
}

func (i *Interaction) lintBodies(say reporter) {
	if i.Dialect == "" {
		return
	}
	if i.unread != nil {
		say("request body", "invalid %s request: %v", i.Dialect, i.unread)
	}
	if i.Cut != wholeAnswer {
		return // the body is incomplete
	}
	switch mediaTypeOf(i.recorded.Response.Headers) {
	case "application/json":
		if !json.Valid([]byte(i.Response)) {
			say("response body", "invalid JSON, but the content type is JSON")
		}
	case "text/event-stream", "application/x-ndjson":
		for n, chunk := range answerOf(&i.recorded.Response, nil).Chunks {
			if !isEvent(chunk) {
				say("response body", "event %d of the stream is not JSON", n+1)
				return
			}
		}
	}
}

// isEvent reports whether a piece of a stream is JSON, a comment, or the end of an OpenAI chat.
func isEvent(chunk []byte) bool {
	body := string(chunk)
	var data []string
	for _, line := range dataLines(body, 0, len(body)) {
		data = append(data, body[line.From:line.To])
	}
	text := strings.Join(data, "\n")
	if !eventField.MatchString(body) {
		text = strings.TrimSpace(body)
	}
	return text == "" || text == "[DONE]" || json.Valid([]byte(text))
}

package cassettes

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// redacted replaces what was removed. It is constant, so that two recordings of one conversation are equal.
const redacted = "REDACTED"

// plain lists headers that keep their values, plainPrefixes more of them. Any other header may hold a credential, an
// account or a machine name.
var (
	plain = []string{
		"Accept", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Type", "Transfer-Encoding",
		"Anthropic-Beta", "Anthropic-Version", "Openai-Beta", "Openai-Processing-Ms", "Openai-Version",
		"Retry-After", "Retry-After-Ms", "X-Should-Retry",
	}
	plainPrefixes = []string{"Anthropic-Ratelimit-", "X-Ratelimit-"}
)

// Headers with a value of their own in each answer, and their replacements, which SDKs can parse.
var (
	requestIDs = []string{"Request-Id", "X-Request-Id"}
	someDate   = "Sat, 01 Jan 2000 00:00:00 GMT"
)

// scrub removes secrets, and what differs between two recordings, from an interaction. It returns its edits of the
// answer's body. Besides the interaction's own secrets it knows those of the recording. It replaces headers and
// trailers and does not modify the old ones.
func scrub(i *cassette.Interaction, cut bool, secrets *scrubber) []edit {
	q, r := &i.Request, &i.Response
	clean := &scrubber{slices.Clone(secrets.known)}
	clean.addCookies((&http.Request{Header: q.Headers}).Cookies())
	clean.addCookies((&http.Response{Header: r.Headers}).Cookies())
	q.URL, q.Host = clean.Replace(addressWithoutCredentials(q.URL)), withoutPort(q.Host)
	q.Form = withoutCredentials(q.Form)
	for _, values := range q.Form {
		for n := range values {
			values[n] = clean.Replace(values[n])
		}
	}
	q.Headers = q.Headers.Clone()
	r.Headers = r.Headers.Clone()
	scrubBody(&q.Body, &q.ContentLength, q.Headers, clean.request(q.Body))
	edits := clean.inBody(r.Body, cut)
	scrubBody(&r.Body, &r.ContentLength, r.Headers, edited(r.Body, edits))
	for _, header := range []*http.Header{&q.Headers, &q.Trailer, &r.Headers, &r.Trailer} {
		*header = scrubHeader(*header, i.ID, clean)
	}
	r.Status = clean.Replace(r.Status)
	return edits
}

func isCredential(param string) bool {
	return slices.Contains(credentialParams, strings.ToLower(param))
}

func withoutCredentials(params url.Values) url.Values {
	kept := url.Values{}
	for name, values := range params {
		if isCredential(name) {
			values = []string{redacted}
		}
		kept[name] = slices.Clone(values)
	}
	return kept
}

// addressWithoutCredentials removes the credentials, the user and the local port of an address.
func addressWithoutCredentials(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return redacted
	}
	u.User = nil
	u.Host = withoutPort(u.Host)
	if params := u.Query(); u.RawQuery != "" {
		u.RawQuery = withoutCredentials(params).Encode()
	}
	return u.String()
}

// withoutPort removes the port of this machine, which changes with each run.
func withoutPort(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || ip != nil && ip.IsLoopback() && ip.To4() != nil:
		return host
	case ip != nil && ip.IsLoopback():
		return "[" + host + "]"
	}
	return hostport
}

// scrubBody sets a body and keeps its length correct, if it was.
func scrubBody(body *string, length *int64, header http.Header, clean string) {
	if *length == int64(len(*body)) {
		*length = int64(len(clean))
	}
	for name, values := range header {
		if http.CanonicalHeaderKey(name) == "Content-Length" && slices.Equal(values, []string{strconv.Itoa(len(*body))}) {
			header[name] = []string{strconv.Itoa(len(clean))}
		}
	}
	*body = clean
}

// scrubHeader returns all header names, with values only where they may be kept.
func scrubHeader(h http.Header, interaction int, clean *scrubber) http.Header {
	scrubbed := http.Header{}
	for name, values := range h {
		known := http.CanonicalHeaderKey(name)
		switch {
		case slices.Contains(plain, known),
			slices.ContainsFunc(plainPrefixes, func(p string) bool { return strings.HasPrefix(known, p) }):
			for _, value := range values {
				scrubbed[name] = append(scrubbed[name], clean.Replace(value))
			}
		case slices.Contains(requestIDs, known):
			scrubbed[name] = []string{fmt.Sprintf("req_%04d", interaction)}
		case known == "Location":
			for _, value := range values {
				scrubbed[name] = append(scrubbed[name], clean.Replace(addressWithoutCredentials(value)))
			}
		case known == "Date":
			scrubbed[name] = []string{someDate}
		default:
			scrubbed[name] = []string{redacted}
		}
	}
	return scrubbed
}

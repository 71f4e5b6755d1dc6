package cassettes

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// redacted stands for what was taken out. It is the same for everybody, so that a recording made again differs in nothing else.
const redacted = "REDACTED"

// plain are the headers whose values are kept, and plainPrefixes begin the names of more. All others may be a credential's, an
// account's or a machine's, and are not.
var (
	plain = []string{
		"Accept", "Cache-Control", "Content-Encoding", "Content-Length", "Content-Type", "Transfer-Encoding",
		"Anthropic-Beta", "Anthropic-Version", "Openai-Beta", "Openai-Processing-Ms", "Openai-Version",
		"Retry-After", "Retry-After-Ms", "X-Should-Retry",
	}
	plainPrefixes = []string{"Anthropic-Ratelimit-", "X-Ratelimit-"}
)

// Headers of which each answer has its own value, and what they get in its place: SDKs read them.
var (
	requestIDs = []string{"Request-Id", "X-Request-Id"}
	someDate   = "Sat, 01 Jan 2000 00:00:00 GMT"
)

// scrub takes out of an interaction what must not reach a file, and what differs from one recording to the next, and returns what it put into
// the answer's body. It knows the secrets of the recording beside those of the interaction. What the headers and trailers were is left as it is:
// they are replaced.
func scrub(i *cassette.Interaction, cut bool, secrets *cleaning) ([]edit, error) {
	q, r := &i.Request, &i.Response
	u, err := url.Parse(q.URL)
	if err != nil {
		return nil, err
	}
	clean := &cleaning{slices.Clone(secrets.known)} // which has the credentials of this request
	clean.addCookies((&http.Request{Header: q.Headers}).Cookies())
	clean.addCookies((&http.Response{Header: r.Headers}).Cookies())
	u.RawQuery = withoutCredentials(u.Query()).Encode()
	u.User = nil
	u.Host = withoutPort(u.Host)
	q.URL, q.Host = clean.Replace(u.String()), withoutPort(q.Host)
	q.Form = withoutCredentials(q.Form)
	for _, values := range q.Form {
		for n := range values {
			values[n] = clean.Replace(values[n])
		}
	}
	scrubBody(&q.Body, &q.ContentLength, clean.request(q.Body))
	edits := clean.inBody(r.Body, cut)
	scrubBody(&r.Body, &r.ContentLength, edited(r.Body, edits))
	for _, header := range []*http.Header{&q.Headers, &q.Trailer, &r.Headers, &r.Trailer} {
		*header = scrubHeader(*header, i.ID, clean)
	}
	r.Status = clean.Replace(r.Status)
	return edits, nil
}

func isCredential(param string) bool {
	return slices.Contains(credentialParams, strings.ToLower(param))
}

// withoutCredentials returns the parameters of an address with nothing in those that hold a credential.
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

// addressWithoutCredentials returns an address with nothing in its parameters that hold a credential, without a user and without a port of this
// machine.
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

// withoutPort leaves out the port on this machine, which is another one each time.
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

// scrubBody keeps the length true, if it was.
func scrubBody(body *string, length *int64, clean string) {
	if *length == int64(len(*body)) {
		*length = int64(len(clean))
	}
	*body = clean
}

// scrubHeader returns the header with all its names, and with values only where they may be kept.
func scrubHeader(h http.Header, interaction int, clean *cleaning) http.Header {
	scrubbed := http.Header{}
	for name, values := range h {
		known := http.CanonicalHeaderKey(name)
		switch {
		case slices.Contains(plain, known), slices.ContainsFunc(plainPrefixes, func(p string) bool { return strings.HasPrefix(known, p) }):
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

package llm

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Dialects returns the names of all dialects, in the order in which a server tries them.
func Dialects() []string {
	names := make([]string, len(codecs))
	for i, d := range codecs {
		names[i] = d.Name()
	}
	return names
}

// Decode reads a recorded request of a dialect; path is the URL path of the request. It does not apply the provider's
// rules. The request owns a copy of the body. The error reports an unknown dialect or an unreadable body.
func Decode(name, path string, body []byte) (*Request, error) {
	var known []string
	for _, d := range codecs {
		known = append(known, d.Name())
		if d.Name() != name {
			continue
		}
		r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path},
			Header: http.Header{"Content-Type": {"application/json"}}}
		req, bad := d.Decode(r, bytes.Clone(body))
		if bad != nil {
			return nil, bad
		}
		return req, nil
	}
	return nil, fmt.Errorf("dialect %q is unknown: want one of %s", name, strings.Join(known, ", "))
}

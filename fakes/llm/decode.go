package llm

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Dialects returns the names of what a server speaks, in the order in which it looks for one.
func Dialects() []string {
	names := make([]string, len(served))
	for i, d := range served {
		names[i] = d.Name()
	}
	return names
}

// Decode reads a recorded request of a dialect, as a server reads one that comes in; path is the URL path it was sent to. It does not hold the
// request against the provider's rules. The request has a copy of the body. The error says that the dialect is unknown or that the body cannot be
// read.
func Decode(name, path string, body []byte) (*Request, error) {
	var known []string
	for _, d := range served {
		known = append(known, d.Name())
		if d.Name() != name {
			continue
		}
		r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: path}, Header: http.Header{"Content-Type": {"application/json"}}}
		req, bad := d.Decode(r, bytes.Clone(body))
		if bad != nil {
			return nil, bad
		}
		return req, nil
	}
	return nil, fmt.Errorf("dialect %q is unknown: want one of %s", name, strings.Join(known, ", "))
}

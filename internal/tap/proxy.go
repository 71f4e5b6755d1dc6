package tap

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// Proxy passes requests on to the host of an address, and answers back as they come. Requests for the address itself,
// or below it if all is true, go through recorded, the others through plain. A slash at the end does not matter, since
// servers redirect from one to the other, and a redirect within the host stays within the proxy. Only programs of this
// machine may use it.
func Proxy(to *url.URL, all bool, recorded, plain http.RoundTripper) http.Handler {
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, ""
			if all {
				r.Out.URL.Path = strings.TrimSuffix(to.Path, "/") + r.Out.URL.Path
				r.Out.URL.RawPath = ""
			}
		},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if all || strings.TrimSuffix(r.URL.Path, "/") == strings.TrimSuffix(to.Path, "/") {
				return recorded.RoundTrip(r)
			}
			return plain.RoundTrip(r)
		}),
		ModifyResponse: func(r *http.Response) error {
			if at, err := r.Location(); err == nil && at.Host == to.Host {
				at.Scheme, at.Host = "", ""
				r.Header.Set("Location", at.String())
			}
			return nil
		},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // the client gets the error
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // otherwise the client is gone
				http.Error(w, "mcp-conform tap cannot reach "+to.Host+": "+err.Error(), http.StatusBadGateway)
			}
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "host "+r.Host+" is not this machine's loopback", http.StatusForbidden)
			return
		}
		reverse.ServeHTTP(w, r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

package cassettes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
)

// upstream is a provider of a proxy. Its name is the first part of the path.
type upstream struct {
	name, address, base string
	dialects            []string
}

var upstreams = func() (all []upstream) {
	for i := range knownDialects {
		d := &knownDialects[i]
		at := slices.IndexFunc(all, func(u upstream) bool { return u.name == d.Provider })
		if at < 0 {
			at, all = len(all), append(all, upstream{name: d.Provider, address: d.Address, base: d.Base})
		}
		all[at].dialects = append(all[at].dialects, d.name)
	}
	return all
}()

// WithUpstream sets the address of a proxy's provider: "openai", "anthropic", "gemini", "ollama", "cohere" or "native".
// It may end in the API's version, such as /v1. The default is the provider's public address; native has none.
func WithUpstream(provider, address string) Option {
	return func(s *settings) {
		if s.upstreams == nil {
			s.upstreams = map[string]string{}
		}
		s.upstreams[provider] = address
	}
}

// Proxy is a loopback server that answers for the providers as [Transport] does, for clients in any language. The
// client uses its address as the base URL. [NewProxy] and [StartProxy] make one. Its methods are safe for concurrent
// use.
type Proxy struct {
	// URL is the address, such as http://127.0.0.1:1234. [Proxy.Bases] has the base URL of each provider.
	URL string

	transport *Transport
	server    *http.Server
	served    chan struct{}
	hangUp    context.CancelFunc  // ends requests, including upgraded connections that the server no longer tracks
	addresses map[string]*url.URL // by provider
}

// NewProxy starts a proxy with the cassette of [Open] and closes it when the test ends. It fails the test for the same
// reasons.
func NewProxy(t llm.TB, name string, options ...Option) *Proxy {
	t.Helper()
	return openForTest(t, name, options, startProxy)
}

// StartProxy starts a proxy with the cassette at path, like [New]. The caller closes it.
func StartProxy(path string, options ...Option) (*Proxy, error) {
	return openFile(path, options, startProxy)
}

func startProxy(path string, s settings) (*Proxy, error) {
	p := &Proxy{served: make(chan struct{})}
	var err error
	if p.addresses, err = addressesOf(s); err != nil {
		return nil, err
	}
	if p.transport, err = open(path, s); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p.URL = "http://" + listener.Addr().String()
	quiet := log.New(io.Discard, "", 0) // errors are in the response and in the cassette
	var ctx context.Context
	ctx, p.hangUp = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: p.handler(quiet), ErrorLog: quiet,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // returns when it is closed
	}()
	return p, nil
}

// versionPath ends a base URL of the SDKs of some providers, but not of all.
var versionPath = regexp.MustCompile(`/v1(beta)?/?$`)

func addressesOf(s settings) (map[string]*url.URL, error) {
	addresses := map[string]*url.URL{}
	for _, u := range upstreams {
		address := u.address
		if given, ok := s.upstreams[u.name]; ok {
			address = given
		} else if address == "" && s.mode == ReplayOnly {
			address = "http://" + u.name + ".invalid" // never called
		}
		at, err := url.Parse(address)
		if err != nil || address != "" && (at.Scheme != "http" && at.Scheme != "https" || at.Host == "") {
			return nil, fmt.Errorf("the upstream of %s is %q: expected an address such as https://api.example.com",
				u.name, address)
		}
		at.Path, at.RawPath = versionPath.ReplaceAllString(at.Path, ""), "" // the request has it
		addresses[u.name] = at
	}
	for name := range s.upstreams {
		if addresses[name] == nil {
			return nil, fmt.Errorf("unknown provider %q: expected one of %s", name, strings.Join(providers(), ", "))
		}
	}
	return addresses, nil
}

func providers() []string {
	var names []string
	for _, u := range upstreams {
		names = append(names, u.name)
	}
	return names
}

// Bases returns the base URL of each dialect, as the provider's SDK expects it: OPENAI_BASE_URL (with /v1),
// ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST, CO_API_URL.
func (p *Proxy) Bases() map[string]string {
	bases := map[string]string{}
	for _, u := range upstreams {
		for _, d := range u.dialects {
			bases[d] = p.URL + "/" + u.name + u.base
		}
	}
	return bases
}

// handler forwards requests to their providers through the transport, and streams the answers back.
func (p *Proxy) handler(quiet *log.Logger) http.Handler {
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			provider, rest := split(r.In.URL.EscapedPath())
			to := p.addresses[provider]
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, ""
			path := strings.TrimSuffix(to.EscapedPath(), "/") + rest
			r.Out.URL.RawPath = path
			r.Out.URL.Path, _ = url.PathUnescape(path) // valid, because the server has parsed it
			r.Out.Header.Del("Accept-Encoding")        // the transport sets it, and decodes: cassettes are readable
		},
		Transport:     p.transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
		ModifyResponse: func(r *http.Response) error {
			p.leadBack(r)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // otherwise the client is gone
				fail(w, http.StatusBadGateway, "cannot reach the provider: "+err.Error())
			}
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		provider, _ := split(r.URL.EscapedPath())
		switch to := p.addresses[provider]; {
		case r.Host != strings.TrimPrefix(p.URL, "http://") && !strings.HasPrefix(r.Host, "localhost:"):
			fail(w, http.StatusForbidden, fmt.Sprintf("unknown host %q", r.Host))
		case to == nil:
			fail(w, http.StatusNotFound, fmt.Sprintf("no provider at %s: expected a path that begins with /%s/",
				r.URL.Path, strings.Join(providers(), "/, /")))
		case to.Host == "":
			fail(w, http.StatusNotFound, "the address of "+provider+" is not set")
		default:
			reverse.ServeHTTP(w, r)
		}
	})
}

// fail responds with an error of the proxy, which SDKs do not retry.
func fail(w http.ResponseWriter, status int, message string) {
	maps.Copy(w.Header(), doNotRetry)
	w.WriteHeader(status)
	_, _ = w.Write(errorBody("proxy_error", nil, message))
}

func split(path string) (provider, rest string) {
	provider, rest, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return provider, "/" + rest
}

// leadBack redirects to the proxy what a provider redirects to itself; otherwise the client would bypass the proxy.
func (p *Proxy) leadBack(r *http.Response) {
	location, err := r.Location() // resolved against the forwarded request
	if err != nil {
		return
	}
	for _, name := range providers() {
		to := p.addresses[name]
		path, within := strings.CutPrefix(location.EscapedPath(), strings.TrimSuffix(to.EscapedPath(), "/")+"/")
		if within && to.Host != "" && location.Scheme == to.Scheme && location.Host == to.Host {
			path = "/" + path
			if location.RawQuery != "" {
				path += "?" + location.RawQuery
			}
			r.Header.Set("Location", p.URL+"/"+name+path)
			return
		}
	}
}

// Close stops the proxy, cuts unfinished answers short, and returns the errors as [Transport.Close] does.
func (p *Proxy) Close() error { return errors.Join(p.finish()...) }

// KeepUnused makes Close keep unused interactions in the mode [Update], such as those of a program that failed.
func (p *Proxy) KeepUnused() { p.keepUnused() }

func (p *Proxy) keepUnused() { p.transport.keepUnused() }

func (p *Proxy) finish() []error {
	err := p.server.Close()
	<-p.served
	p.hangUp()
	return slices.DeleteFunc(append(p.transport.finish(), err), func(err error) bool { return err == nil })
}

package cassettes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// upstreams are the providers that a proxy stands before: the first part of the path, where the provider is when nothing else is said, what
// of a base URL is the SDK's to have, and the dialects.
var upstreams = []struct {
	name, address, base string
	dialects            []string
}{
	{"openai", "https://api.openai.com", "/v1", []string{dialect.OpenAIChat, dialect.OpenAIResponses}},
	{"anthropic", "https://api.anthropic.com", "", []string{dialect.Anthropic}},
	{"gemini", "https://generativelanguage.googleapis.com", "", []string{dialect.Gemini}},
	{"ollama", "http://127.0.0.1:11434", "", []string{dialect.Ollama}},
	{"native", "", "/native", []string{dialect.Native}},
}

// WithUpstream sets where a proxy finds a provider, which is "openai", "anthropic", "gemini", "ollama" or "native": an address without the /v1
// of SDKs for OpenAI. Without it, that is the provider's own; native has none.
func WithUpstream(provider, address string) Option {
	return func(s *settings) {
		if s.upstreams == nil {
			s.upstreams = map[string]string{}
		}
		s.upstreams[provider] = address
	}
}

// Proxy is a server on the loopback interface that answers for the providers as [Transport] does, for clients in any language: they are told its
// address in place of the provider's. It is made by [NewProxy] and [StartProxy]. Its methods are safe for concurrent use.
type Proxy struct {
	// URL is the address, such as http://127.0.0.1:1234. Each provider is at a path of its own, see [Proxy.Bases].
	URL string

	transport *Transport
	server    *http.Server
	served    chan struct{}
	hangUp    context.CancelFunc  // on who is answered, also by another protocol, whose connections the server does not know any more
	addresses map[string]*url.URL // by provider
}

// NewProxy starts a proxy for a test, with the cassette of [Open], and closes it at the test's end. The test fails for the same reasons.
func NewProxy(t llm.TB, name string, options ...Option) *Proxy {
	t.Helper()
	file, advice, s, err := ofTest(t, name, options)
	if err == nil {
		var p *Proxy
		if p, err = startProxy(file, s); err == nil {
			t.Cleanup(func() {
				t.Helper()
				for _, err := range p.finish() {
					t.Errorf("%v", err)
				}
			})
			return p
		}
	}
	t.Fatalf("opening the cassette: %v%s", err, advice)
	return nil // a TB of somebody else's may go on
}

// StartProxy starts a proxy with the cassette at path, as [New] has it. The caller closes it.
func StartProxy(path string, options ...Option) (*Proxy, error) {
	s, err := settled(options)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, extension) {
		return nil, fmt.Errorf("cassette %q: want the path of a file that ends in %s", path, extension)
	}
	return startProxy(path, s)
}

func startProxy(path string, s settings) (*Proxy, error) {
	p := &Proxy{addresses: map[string]*url.URL{}, served: make(chan struct{})}
	for _, u := range upstreams {
		address := u.address
		if given, ok := s.upstreams[u.name]; ok {
			address = given
		} else if address == "" && s.mode == ReplayOnly {
			address = "http://" + u.name + ".invalid" // where nobody goes
		}
		at, err := url.Parse(address)
		if err != nil || address != "" && (at.Scheme != "http" && at.Scheme != "https" || at.Host == "") {
			return nil, fmt.Errorf("the upstream of %s is %q: want an address such as https://api.example.com", u.name, address)
		}
		p.addresses[u.name] = at
	}
	for name := range s.upstreams {
		if p.addresses[name] == nil {
			return nil, fmt.Errorf("there is no provider %q: want one of %s", name, strings.Join(providers(), ", "))
		}
	}
	var err error
	if p.transport, err = open(path, s); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p.URL = "http://" + listener.Addr().String()
	quiet := log.New(io.Discard, "", 0) // what goes wrong is an answer, and in the cassette
	var ctx context.Context
	ctx, p.hangUp = context.WithCancel(context.Background())
	p.server = &http.Server{Handler: p.handler(quiet), ErrorLog: quiet, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // until it is closed
	}()
	return p, nil
}

func providers() []string {
	var names []string
	for _, u := range upstreams {
		names = append(names, u.name)
	}
	return names
}

// Bases returns the base URL of each dialect, as that provider's SDK wants it: OPENAI_BASE_URL with /v1, ANTHROPIC_BASE_URL,
// GOOGLE_GEMINI_BASE_URL, OLLAMA_HOST.
func (p *Proxy) Bases() map[string]string {
	bases := map[string]string{}
	for _, u := range upstreams {
		for _, d := range u.dialects {
			bases[d] = p.URL + "/" + u.name + u.base
		}
	}
	return bases
}

// handler sends each request on to its provider, by the transport, and the answer back as it comes.
func (p *Proxy) handler(quiet *log.Logger) http.Handler {
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			provider, rest := split(r.In.URL.EscapedPath())
			to := p.addresses[provider]
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, ""
			path := strings.TrimSuffix(to.EscapedPath(), "/") + rest
			r.Out.URL.RawPath = path
			r.Out.URL.Path, _ = url.PathUnescape(path) // which the server has read already
			r.Out.Header.Del("Accept-Encoding")        // the transport asks for what it undoes itself: a cassette is to be read
		},
		Transport:     p.transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
		ModifyResponse: func(r *http.Response) error {
			p.leadBack(r)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // else nobody listens
				fail(w, http.StatusBadGateway, "the provider was not reached: "+err.Error())
			}
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		provider, _ := split(r.URL.EscapedPath())
		switch to := p.addresses[provider]; {
		case r.Host != strings.TrimPrefix(p.URL, "http://") && !strings.HasPrefix(r.Host, "localhost:"):
			fail(w, http.StatusForbidden, fmt.Sprintf("the host %q is not this proxy's", r.Host))
		case to == nil:
			fail(w, http.StatusNotFound, fmt.Sprintf("there is no provider at %s: want a path that begins with /%s", r.URL.Path, strings.Join(providers(), "/, /")+"/"))
		case to.Host == "":
			fail(w, http.StatusNotFound, fmt.Sprintf("the proxy was not told where %s is", provider))
		default:
			reverse.ServeHTTP(w, r)
		}
	})
}

// fail answers with an error of the proxy's own, which SDKs do not try again.
func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = w.Write(dialect.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "proxy_error", "code": nil, "param": nil, "message": message}}))
}

// split returns the provider that a path names, and the path at the provider's.
func split(path string) (provider, rest string) {
	provider, rest, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return provider, "/" + rest
}

// leadBack has a redirect within a provider lead to the proxy again: else the client would go there by itself.
func (p *Proxy) leadBack(r *http.Response) {
	location, err := r.Location() // relative to the request that went out
	if err != nil {
		return
	}
	for _, name := range providers() {
		to := p.addresses[name]
		path, within := strings.CutPrefix(location.EscapedPath(), strings.TrimSuffix(to.EscapedPath(), "/")+"/")
		if within && to.Host != "" && location.Scheme == to.Scheme && location.Host == to.Host {
			path = "/" + path
			r.Header.Set("Location", p.URL+"/"+name+path+query(location))
			return
		}
	}
}

func query(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return "?" + u.RawQuery
}

// Close ends the proxy, writes what was recorded, and returns what went wrong, as [Transport.Close] does. Answers that are still coming are
// cut short.
func (p *Proxy) Close() error { return errors.Join(p.finish()...) }

func (p *Proxy) finish() []error {
	err := p.server.Close()
	<-p.served
	p.hangUp()
	return slices.DeleteFunc(append(p.transport.finish(), err), func(err error) bool { return err == nil })
}

package providers

import (
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// certificate is one of a chain: root, intermediate authority, server.
type certificate struct {
	der  []byte
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func issue(t *testing.T, name string, by *certificate) *certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true}
	if strings.HasSuffix(name, "authority") {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		template.IPAddresses, template.KeyUsage = []net.IP{net.IPv4(127, 0, 0, 1)}, x509.KeyUsageDigitalSignature
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	c := &certificate{key: key}
	parent := by
	if parent == nil {
		parent = &certificate{cert: template, key: key}
	}
	c.der, err = x509.CreateCertificate(rand.Reader, template, parent.cert, &key.PublicKey, parent.key)
	require.NoError(t, err)
	c.cert, err = x509.ParseCertificate(c.der)
	require.NoError(t, err)
	return c
}

// provider is a scripted model with what real ones have: TLS with a chain of certificates, HTTP/2, gzip, a redirect,
// and a limit that refuses the first request.
type provider struct {
	*httptest.Server
	transport   *http.Transport // trusts the root
	connections atomic.Int64
	limited     atomic.Bool
	zipped      atomic.Int64
}

func behindTLS(t *testing.T, model *llm.Server) *provider {
	t.Helper()
	root := issue(t, "root authority", nil)
	between := issue(t, "intermediate authority", root)
	leaf := issue(t, "server", between)
	p := &provider{}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ProtoMajor != 2:
			http.Error(w, "want HTTP/2", http.StatusHTTPVersionNotSupported)
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, p.URL+strings.TrimPrefix(r.URL.Path, "/moved"), http.StatusTemporaryRedirect)
		case r.Header.Get("X-Be-Limited") != "" && p.limited.CompareAndSwap(false, true):
			w.Header().Set("Retry-After-Ms", "1")
			http.Error(w, `{"type":"error","error":{"type":"rate_limit_error","message":"too fast"}}`,
				http.StatusTooManyRequests)
		default:
			p.zip(model.Handler(), w, r)
		}
	}))
	p.EnableHTTP2 = true
	p.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.der, between.der},
		PrivateKey: leaf.key}}}
	p.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			p.connections.Add(1)
		}
	}
	p.StartTLS()
	t.Cleanup(p.Close)
	roots := x509.NewCertPool()
	roots.AddCert(root.cert)
	p.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(p.transport.CloseIdleConnections)
	return p
}

// zip compresses answers, event by event, for clients that accept gzip.
func (p *provider) zip(h http.Handler, w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.ServeHTTP(w, r)
		return
	}
	p.zipped.Add(1)
	z := &zipper{ResponseWriter: w, z: gzip.NewWriter(w)}
	defer z.z.Close()
	h.ServeHTTP(z, r)
}

type zipper struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (z *zipper) WriteHeader(status int) {
	z.Header().Del("Content-Length")
	z.Header().Set("Content-Encoding", "gzip")
	z.ResponseWriter.WriteHeader(status)
}

func (z *zipper) Write(p []byte) (int, error) { return z.z.Write(p) }

func (z *zipper) Flush() {
	_ = z.z.Flush() // an error shows at the end
	z.ResponseWriter.(http.Flusher).Flush()
}

// talks lets the Go SDKs of OpenAI and Anthropic ask the model, plain and streamed, and returns the texts.
func talks(t *testing.T, bases map[string]string, client *http.Client) []string {
	t.Helper()
	var heard []string
	o := openai.NewClient(option.WithBaseURL(bases[dialect.OpenAIChat]), option.WithAPIKey("sk-live-abcdefghijklmnopqrst"),
		option.WithHTTPClient(client))
	plain, err := o.Chat.Completions.New(t.Context(), openAIChatParams(), option.WithHeader("X-Be-Limited", "yes"))
	require.NoError(t, err)
	heard = append(heard, plain.Choices[0].Message.Content)
	stream := o.Chat.Completions.NewStreaming(t.Context(), openAIChatParams())
	var text strings.Builder
	for stream.Next() {
		for _, c := range stream.Current().Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	require.NoError(t, stream.Err())
	heard = append(heard, text.String())

	a := anthropic.NewClient(anthropicoption.WithBaseURL(bases[dialect.Anthropic]),
		anthropicoption.WithAPIKey("sk-ant-abcdefghijklmnopqrst"), anthropicoption.WithHTTPClient(client))
	params := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("What is the weather?"))}}
	message, err := a.Messages.New(t.Context(), params)
	require.NoError(t, err)
	heard = append(heard, message.Content[0].Text)
	events := a.Messages.NewStreaming(t.Context(), params)
	var whole anthropic.Message
	for events.Next() {
		require.NoError(t, whole.Accumulate(events.Current()))
	}
	require.NoError(t, events.Err())
	return append(heard, whole.Content[0].Text)
}

var sunny = llm.When(llm.LastUser("weather")).Reply(llm.Text("sunny – 18°C 🗼, and so it stays"))

func TestSDKsAreRecordedThroughTheProxyBehindTLS(t *testing.T) {
	p := behindTLS(t, llm.New(t, sunny.Times(4)))
	path := filepath.Join(t.TempDir(), "talk.yaml")
	said := "sunny – 18°C 🗼, and so it stays"
	for _, c := range []struct {
		mode      cassettes.Mode
		transport http.RoundTripper
	}{
		{cassettes.RecordAnew, p.transport},
		{cassettes.ReplayOnly, nowhere{}},
	} {
		proxy, err := cassettes.StartProxy(path, cassettes.WithMode(c.mode), cassettes.WithTransport(c.transport),
			cassettes.WithUpstream("openai", p.URL+"/moved"), cassettes.WithUpstream("anthropic", p.URL))
		require.NoError(t, err)
		require.Equal(t, []string{said, said, said, said}, talks(t, proxy.Bases(), http.DefaultClient), c.mode)
		require.NoError(t, proxy.Close(), c.mode)
	}
	require.Equal(t, int64(1), p.connections.Load(), "the connection is reused")
	require.Equal(t, int64(4), p.zipped.Load())
	f, err := cassettes.Read(path)
	require.NoError(t, err)
	require.Empty(t, f.Lint("sk-live-abcdefghijklmnopqrst", "sk-ant-abcdefghijklmnopqrst"))
	var statuses []int
	for _, i := range f.Interactions {
		statuses = append(statuses, i.Status)
	}
	require.Equal(t, []int{307, 429, 307, 200, 307, 200, 200, 200}, statuses, "including redirects and the retry")
	require.Contains(t, f.Interactions[7].Response, "event: message_stop", "uncompressed")
}

// nowhere is a network that fails.
type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: context.Canceled}
}

func TestSDKsDoNotRetryAMiss(t *testing.T) {
	model := llm.New(t, sunny.Times(4))
	path := filepath.Join(t.TempDir(), "talk.yaml")
	recording, err := cassettes.New(path, cassettes.WithMode(cassettes.RecordAnew))
	require.NoError(t, err)
	talks(t, model.BaseURLs(), &http.Client{Transport: recording})
	require.NoError(t, recording.Close())
	transport, err := cassettes.New(path, cassettes.AllowUnused())
	require.NoError(t, err)
	client := openai.NewClient(option.WithBaseURL(model.OpenAI()), option.WithAPIKey("sk-test"),
		option.WithHTTPClient(&http.Client{Transport: transport}))
	params := openAIChatParams()
	params.Model = "gpt-5"
	_, err = client.Chat.Completions.New(t.Context(), params)
	var failed *openai.Error
	require.ErrorAs(t, err, &failed)
	require.Contains(t, failed.Message, `at model expected "gpt-4o", found "gpt-5"`)
	require.Equal(t, 1, strings.Count(transport.Close().Error(), "is not recorded"), "one request")
}

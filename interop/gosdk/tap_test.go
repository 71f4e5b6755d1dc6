package gosdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

//lint:file-ignore SA1019 sampling is deprecated since 2026-07-28, but supported.

// pair is a client and a server of the SDK that sample with each other, over HTTP.
type pair struct {
	revision server.Revision
	says     string // the last answer of the client
	suffix   string // behind the server's result
}

// handler returns the SDK's server: a tool that samples, one with a long text, and one that waits until it is
// cancelled.
func (p pair) handler() http.Handler {
	sample, options := askDirectly, &mcp.StreamableHTTPOptions{}
	if p.revision >= "2026-07-28" {
		sample, options = askByResult, &mcp.StreamableHTTPOptions{Stateless: true}
	}
	sdk := mcp.NewServer(&mcp.Implementation{Name: "go-sdk server"}, nil)
	add := func(name string, tool mcp.ToolHandler) {
		sdk.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, tool)
	}
	text := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	add("forecast", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := sample(ctx, req)
		if err == nil && result.InputRequests == nil {
			result.Content[0].(*mcp.TextContent).Text += p.suffix
		}
		return result, err
	})
	add("long", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("a long text, ", 10<<20/13)), nil
	})
	add("waits", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "waiting", Progress: 1})
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, options)
}

// converse calls the tools with the SDK's client. The error is that of a call that the client did not give up.
func (p pair) converse(t *testing.T, at string, tools ...string) (failed error) {
	waiting := make(chan struct{}, 1)
	sdk := mcp.NewClient(&mcp.Implementation{Name: "go-sdk client", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { waiting <- struct{}{} },
		CreateMessageWithToolsHandler: func(_ context.Context, r *mcp.CreateMessageWithToolsRequest,
		) (*mcp.CreateMessageWithToolsResult, error) {
			answer := &mcp.CreateMessageWithToolsResult{Model: "m", Role: "assistant", StopReason: "endTurn",
				Content: []mcp.Content{&mcp.TextContent{Text: p.says}}}
			if len(r.Params.Messages) == 1 {
				answer.StopReason = "toolUse"
				answer.Content = []mcp.Content{
					&mcp.ToolUseContent{ID: "1", Name: "get_weather", Input: map[string]any{"city": "Paris"}},
				}
			}
			return answer, nil
		},
	})
	session, err := sdk.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: at,
		DisableStandaloneSSE: true},
		&mcp.ClientSessionOptions{ProtocolVersion: string(p.revision)})
	require.NoError(t, err)
	for _, name := range tools {
		ctx, cancel := context.WithCancel(t.Context())
		params := &mcp.CallToolParams{Name: name}
		if name == "waits" {
			params.SetProgressToken("waiting")
			go func() { <-waiting; cancel() }()
		}
		if _, err := session.CallTool(ctx, params); ctx.Err() == nil {
			failed = errors.Join(failed, err)
		}
		cancel()
	}
	require.NoError(t, session.Close())
	return failed
}

// tapped plays the tools through a tap, and returns the folder with the trace.
func (p pair) tapped(t *testing.T, behind http.Handler, tools ...string) string {
	srv := httptest.NewServer(behind)
	defer srv.Close()
	at, err := url.Parse(srv.URL)
	require.NoError(t, err)
	r := tap.New(trace.Header{Tapped: true})
	front := httptest.NewServer(tap.Proxy(at, false, r.RoundTripper(http.DefaultTransport), http.DefaultTransport))
	defer front.Close()
	require.NoError(t, p.converse(t, front.URL, tools...))
	dir := t.TempDir()
	for i, one := range r.Traces() {
		file, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.ndjson", i)))
		require.NoError(t, err)
		require.NoError(t, one.Write(file))
		require.NoError(t, file.Close())
	}
	return dir
}

// failures collects what a replay reports.
type failures struct {
	testing.TB

	mu       sync.Mutex
	messages []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, fmt.Sprintf(format, args...))
}

// A recorded session of the SDK serves both sides: its server passes verify, its client passes replay, and one changed
// word of either is named.
func TestARecordedSessionOfTheSDKIsReplayedToBothSides(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			right := pair{revision: revision, says: "Mild everywhere."}
			dir := right.tapped(t, right.handler(), "forecast")
			verify := func(p pair) []string {
				found := &failures{TB: t}
				srv := httptest.NewServer(p.handler())
				defer srv.Close()
				client.Replay(found, dir, client.Options{URL: srv.URL})
				return found.messages
			}
			replay := func(p pair) []string {
				found := &failures{TB: t}
				srv := server.Replay(found, dir)
				err := p.converse(t, srv.URL, "forecast")
				require.NoError(t, srv.Close())
				return append(found.messages, fmt.Sprint(err))
			}
			require.Empty(t, verify(right))
			require.Equal(t, []string{"<nil>"}, replay(right))

			other := right
			other.suffix = " Or not."
			require.Contains(t, strings.Join(verify(other), "\n"), "Mild everywhere. Or not.")
			other = right
			other.says = "Mild somewhere."
			require.Contains(t, strings.Join(replay(other), "\n"), "Mild somewhere.")
		})
	}
}

// wire keeps the bodies of both directions as the server sees them.
type wire struct {
	next http.Handler

	mu     sync.Mutex
	bodies []string
}

func (w *wire) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	kept := &keeper{ResponseWriter: to}
	w.next.ServeHTTP(kept, r)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, "> "+r.Method+" "+string(body), "< "+ids.ReplaceAllString(kept.body.String(), "id"))
}

// ids are those of events, which differ in every session.
var ids = regexp.MustCompile(`[A-Z2-7]{26}_\d+_\d+|[A-Z2-7]{26}`)

type keeper struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (k *keeper) Unwrap() http.ResponseWriter { return k.ResponseWriter }

func (k *keeper) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// The tap changes nothing: server and client exchange the same bytes with it and without it, also in a long message
// and a call that the client gives up.
func TestTheTapChangesNothingForTheSDK(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			p := pair{revision: revision, says: "Mild everywhere."}
			tools := []string{"forecast", "long", "forecast"}
			if revision < "2026-07-28" { // there the SDK's server does not see that the client gave up
				tools = append(tools, "waits", "forecast")
			}
			direct := &wire{next: p.handler()}
			srv := httptest.NewServer(direct)
			require.NoError(t, p.converse(t, srv.URL, tools...))
			srv.Close()
			through := &wire{next: p.handler()}
			p.tapped(t, through, tools...)
			require.ElementsMatch(t, short(direct.bodies), short(through.bodies))
		})
	}
}

// short cuts long bodies, and keeps their length.
func short(bodies []string) []string {
	var all []string
	for _, b := range bodies {
		all = append(all, fmt.Sprintf("%.2000s (%d)", b, len(b)))
	}
	return all
}

package tap_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// weather is a tool of the model.
var weather = server.Tool{Name: "get_weather", InputSchema: json.RawMessage(
	`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}

// degrees are the results of the uses.
func degrees(uses []server.ToolUseContent) []server.ToolResultContent {
	var results []server.ToolResultContent
	for i, use := range uses {
		results = append(results, server.ToolResultContent{Type: "tool_result", ToolUseID: use.ID,
			Content: []any{server.TextContent{Type: "text", Text: fmt.Sprintf("%d degrees", 18-i)}}})
	}
	return results
}

// tools are tools that sample: in two rounds with tools, at once, and with a long text.
func tools() []server.Tool {
	return []server.Tool{
		{Name: "trip", Handler: func(s *server.Session) (any, error) {
			if err := s.Progress(1, 2); err != nil {
				return nil, err
			}
			ask := s.Ask("What is the weather in Paris and London?", weather)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			last, err := server.As[server.Answer](s.Sample(ask.After(first, degrees)))
			return last.Text(), err
		}},
		{Name: "both", Handler: func(s *server.Session) (any, error) {
			var texts []string
			for _, one := range s.SampleAll(s.Ask("One?"), s.Ask("Two?")) {
				answer, err := server.As[server.Answer](one.Result, one.Err)
				if err != nil {
					return nil, err
				}
				texts = append(texts, answer.Text())
			}
			return strings.Join(texts, " and "), nil
		}},
	}
}

func rules() []*llm.Rule {
	return []*llm.Rule{
		llm.When(llm.ToolResults(2)).Reply(llm.Text("Both are mild.")).Optional(),
		llm.When(llm.LastUser("weather")).Optional().
			Reply(llm.Call("get_weather", `{"city":"Paris"}`), llm.Call("get_weather", `{"city":"London"}`)),
		llm.When(llm.LastUser("One?")).Reply(llm.Text("1")),
		llm.When(llm.LastUser("Two?")).Reply(llm.Text("2")),
		llm.When(llm.LastUser("own")).Reply(llm.Text("mine")).Optional(),
	}
}

// serve serves a proxy to an address, and returns the address to use in place of it. Ended waits until it has passed
// everything on.
func serve(t *testing.T, to string, all bool, recorded http.RoundTripper) (base string, ended func()) {
	t.Helper()
	at, err := url.Parse(to)
	require.NoError(t, err)
	front := httptest.NewServer(tap.Proxy(at, all, recorded, http.DefaultTransport))
	t.Cleanup(front.Close)
	if all {
		return front.URL, front.Close
	}
	return front.URL + at.Path, front.Close
}

// session is a conversation through a tap, with what the server itself recorded.
type session struct {
	traces []*trace.Trace
	server []trace.Event
}

// converse plays a conversation through a tap. Change edits what the client returns; nil changes nothing.
func converse(t *testing.T, transport string, revision server.Revision, change func(result map[string]any)) session {
	t.Helper()
	var mu sync.Mutex
	var seen []trace.Event
	srv := server.NewWith(t, server.Options{Record: func(e trace.Event) trace.Ref {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e)
		return trace.Ref{}
	}}, tools()...)
	fake := llm.New(t, rules()...)
	header := trace.Header{Tapped: true}
	if transport == trace.Stdio {
		header.Transport = trace.Stdio
	}
	r := tap.New(header)
	base, modelEnded := serve(t, fake.BaseURLs()[dialect.OpenAIChat], true, r.Model(http.DefaultTransport))
	ask := model.New(model.Options{Dialect: dialect.OpenAIChat, Key: "sk-example", URL: base})
	options := client.Options{Revision: revision,
		Sampling: func(ctx context.Context, params map[string]any) (map[string]any, error) {
			result, err := ask.Sample(ctx, params)
			if err == nil && change != nil {
				change(result)
			}
			return result, err
		}}
	if transport == trace.Stdio {
		options.Conn = lines(t, srv, r)
	} else {
		options.URL, _ = serve(t, srv.URL, false, r.RoundTripper(http.DefaultTransport))
		options.HTTP = &http.Client{}
	}
	c, err := client.Connect(t.Context(), options)
	require.NoError(t, err)
	_, err = c.ListTools(t.Context())
	require.NoError(t, err)
	for _, name := range []string{"trip", "both"} { // old revisions have no tools in a sample: the trip fails
		_, err := c.CallTool(t.Context(), name, nil)
		require.NoError(t, err)
	}
	require.NoError(t, c.Close())
	require.NoError(t, srv.Close())
	modelEnded()
	return session{r.Traces(), seen}
}

// lines connects a client to a server through a tap of lines.
func lines(t *testing.T, srv *server.Server, r *tap.Recording) io.ReadWriteCloser {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	up, upTap := io.Pipe()
	down, downTap := io.Pipe()
	var running sync.WaitGroup
	r.Mark(trace.MarkConnection, "stdio 1")
	running.Go(func() {
		_ = r.Copy(upTap, fromClient, trace.FromClient, "stdio 1")
		_ = upTap.Close()
	})
	running.Go(func() {
		_ = r.Copy(toClient, down, trace.ToClient, "stdio 1")
		_ = toClient.Close()
	})
	running.Go(func() {
		srv.ServeConn(context.WithoutCancel(t.Context()), conn{up, downTap})
		_ = downTap.Close()
	})
	t.Cleanup(running.Wait)
	return conn{fromServer, toServer}
}

// conn is one side of a connection.
type conn struct {
	io.Reader
	io.WriteCloser
}

func eachWire(t *testing.T, test func(t *testing.T, transport string, revision server.Revision)) {
	t.Helper()
	for _, revision := range server.AllRevisions() {
		for _, transport := range []string{"http", trace.Stdio} {
			t.Run(transport+"/"+string(revision), func(t *testing.T) { test(t, transport, revision) })
		}
	}
}

// messages are the messages of one direction, in order.
func messages(events []trace.Event, dir trace.Direction) []string {
	var all []string
	for _, e := range events {
		if e.Frame != nil && e.Frame.Dir == dir && len(e.Frame.Raw) > 0 {
			all = append(all, string(e.Frame.Raw))
		}
	}
	return all
}

func TestTheTapSeesWhatTheServerSees(t *testing.T) {
	eachWire(t, func(t *testing.T, transport string, revision server.Revision) {
		s := converse(t, transport, revision, nil)
		require.Len(t, s.traces, 1)
		one := s.traces[0]
		require.Equal(t, string(revision), one.Header.Revision)
		require.NotEmpty(t, one.Header.Client)
		for _, dir := range []trace.Direction{trace.FromClient, trace.ToClient} {
			// Two answers at once may overtake each other.
			require.ElementsMatch(t, messages(s.server, dir), messages(one.Events, dir), dir)
		}
		require.Len(t, one.Header.Cases, 2)
		require.Equal(t, "tapped/trip", one.Header.Cases[0].ID)
		var requests []string
		for _, e := range one.Events {
			if e.Request != nil {
				requests = append(requests, e.Case)
			}
		}
		want := []string{"tapped/trip", "tapped/trip", "tapped/both", "tapped/both"}
		if revision < server.V20251125 {
			want = want[2:]
		}
		require.Equal(t, want, requests)
	})
}

// verdicts judges a session.
func verdicts(t *testing.T, s session) map[string]report.Verdict {
	t.Helper()
	results, err := conformance.Judge(s.traces...)
	require.NoError(t, err)
	all := map[string]report.Verdict{}
	for _, r := range results.Results {
		if all[r.ID()] = r.Verdict; r.Verdict != report.Pass {
			all[r.ID()+": "+r.Message] = r.Verdict
		}
	}
	require.Contains(t, strings.Join(results.Notes, "\n"), "had nothing to judge")
	return all
}

func TestACorrectClientPasses(t *testing.T) {
	eachWire(t, func(t *testing.T, transport string, revision server.Revision) {
		all := verdicts(t, converse(t, transport, revision, nil))
		for id, verdict := range all {
			require.Equal(t, report.Pass, verdict, id)
		}
		require.Contains(t, all, "always/valid-result")
		require.Contains(t, all, "always/server-was-given")
		require.Contains(t, all, "always/model-was-given")
	})
}

func TestAWrongAnswerIsNamed(t *testing.T) {
	eachWire(t, func(t *testing.T, transport string, revision server.Revision) {
		all := verdicts(t, converse(t, transport, revision, func(result map[string]any) {
			if content, ok := result["content"].(map[string]any); ok && content["text"] == "2" {
				content["text"] = "3"
			}
		}))
		require.Equal(t, report.Fail, all["always/server-was-given"], "%v", all)
	})
}

func TestARequestOfTheHostIsNotTheServers(t *testing.T) {
	r := tap.New(trace.Header{Tapped: true})
	fake := llm.New(t, rules()[4].Reply(llm.Text("mine")))
	base, _ := serve(t, fake.BaseURLs()[dialect.OpenAIChat], true, r.Model(http.DefaultTransport))
	for range 2 {
		resp, err := http.Post(base+"/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"my own question"}]}`))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	events := r.Traces()[0].Events
	require.Len(t, events, 6)
	require.True(t, events[0].Request.Host)
	require.Equal(t, 200, events[5].End.Status)
}

// A compatible server may take a request that the provider itself refuses: its answer counts.
func TestARequestThatTheModelTookIsNotRefused(t *testing.T) {
	s := converse(t, "http", server.V20251125, nil)
	for _, e := range s.traces[0].Events {
		if e.Request != nil {
			e.Request.Body = []byte(strings.Replace(string(e.Request.Body), `{`, `{"temperature":"warm",`, 1))
		}
	}
	require.Empty(t, failed(t, s.traces))
}

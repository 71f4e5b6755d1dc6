package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// failures is a test that notes its failures, and runs its cleanups when it is told.
type failures struct {
	said     []string
	cleanups []func()
}

func (*failures) Helper()             {}
func (f *failures) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}
func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }
func (f *failures) end() {
	for _, do := range slices.Backward(f.cleanups) {
		do()
	}
}

// researcher is a server under test: its tool samples with a tool, runs it, and samples again.
func researcher(t *testing.T, revision server.Revision) *server.Server {
	lookup := server.Tool{Name: "lookup", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"q":{"type":"string"}}}`)}
	return server.NewWith(t, server.Options{Revisions: []server.Revision{revision}}, server.Tool{Name: "research",
		Optional: true, Handler: func(s *server.Session) (any, error) {
			ask := s.Ask("What is the capital of France?", lookup)
			first, err := s.Sample(ask)
			if err != nil {
				return nil, err
			}
			answer, err := server.As[server.Answer](s.Sample(ask.After(first,
				func(uses []server.ToolUseContent) []server.ToolResultContent {
					return []server.ToolResultContent{uses[0].Result(server.Text("Paris"))}
				})))
			return "Found: " + answer.Text(), err
		}})
}

func TestNewKeepsWhatTheServerAsked(t *testing.T) {
	for _, revision := range server.DefaultRevisions() {
		srv := researcher(t, revision)
		c := client.New(t, client.Options{URL: srv.URL,
			Sampling: client.Script(t, client.ToolUse("lookup", `{"q":"capital"}`), client.Text("It is Paris."))})
		result, err := c.CallTool(t.Context(), "research", nil)
		require.NoError(t, err)
		require.Equal(t, "Found: It is Paris.", result.Text())
		asked := c.Samples()
		require.Len(t, asked, 2)
		require.EqualValues(t, 1000, *asked[0].Request.MaxTokens)
		require.Equal(t, "lookup", asked[0].Request.Tools[0].Name)
		require.Equal(t, "toolUse", asked[0].Result["stopReason"])
		llm.AssertConversation(t, asked[1].Request, "user: What is the capital of France?",
			`assistant uses lookup {"q":"capital"}`, "result of lookup: Paris")
	}
}

func handler(t *testing.T) http.Handler { return researcher(t, server.V20251125).Handler() }

// docs/fakes.md shows this test.
func TestResearch(t *testing.T) {
	c := client.New(t, client.Options{
		Handler:  handler(t), // your server, which serves MCP at /mcp
		Sampling: client.Script(t, client.ToolUse("lookup", `{"q":"capital"}`), client.Text("It is Paris.")),
	})
	result, err := c.CallTool(t.Context(), "research", nil)
	require.NoError(t, err)
	require.Equal(t, "Found: It is Paris.", result.Text())

	asked := c.Samples() // what the server asked, what it got, and how long it took
	require.EqualValues(t, 1000, *asked[0].Request.MaxTokens)
	llm.AssertConversation(t, asked[1].Request, "user: What is the capital of France?",
		`assistant uses lookup {"q":"capital"}`, "result of lookup: Paris")
}

func TestTheCauseOfAFailedSampleReachesTheTestOnly(t *testing.T) {
	srv := researcher(t, server.V20251125)
	for want, answers := range map[string][]any{
		"the handler's own cause":                      {fmt.Errorf("the handler's own cause")},
		"as the script has answers, 0, found one more": {},
		"is not a valid CreateMessageResult":           {map[string]any{"role": "assistant"}},
		"answer 1 of the script is int":                {7},
	} {
		test := &failures{}
		c := client.New(test, client.Options{URL: srv.URL, Sampling: client.Script(test, answers...)})
		_, err := c.CallTool(t.Context(), "research", nil)
		if err != nil {
			require.ErrorContains(t, err, want)
		}
		require.ErrorContains(t, c.Samples()[0].Err, want)
		require.Nil(t, c.Samples()[0].Result)
		test.end()
		require.Len(t, test.said, 1)
		require.Contains(t, test.said[0], want)
	}
	for _, call := range srv.Journal() {
		require.NotContains(t, fmt.Sprintf("%+v", call), "own cause")
	}
	test := &failures{}
	c := client.New(test, client.Options{URL: srv.URL, Sampling: client.Script(test, client.Decline())})
	_, _ = c.CallTool(t.Context(), "research", nil)
	test.end()
	require.Empty(t, test.said, "declining is an answer")
	require.ErrorContains(t, c.Samples()[0].Err, "declined")
	client.New(test, client.Options{})
	require.Contains(t, test.said[0], "set Options.URL, Handler, Conn or Launch")
}

func TestAnAnswerThatACancelEndedDoesNotFailTheTest(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		srv, test := researcher(t, revision), &failures{}
		ctx, cancel := context.WithCancel(t.Context())
		c := client.New(test, client.Options{URL: srv.URL,
			Sampling: func(ctx context.Context, _ map[string]any) (map[string]any, error) {
				cancel()
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		_, err := c.CallTool(ctx, "research", nil)
		require.ErrorIs(t, err, client.ErrAbandoned)
		test.end()
		require.Empty(t, test.said)
	}
}

// In 2026-07-28 a call fails with the sample: its error has the cause, which the server does not see.
func TestTheErrorOfACallWrapsTheCause(t *testing.T) {
	srv, test, cause := researcher(t, server.V20260728), &failures{}, errors.New("the handler's own cause")
	c := client.New(test, client.Options{URL: srv.URL, Sampling: client.Script(test, cause)})
	_, err := c.CallTool(t.Context(), "research", nil)
	require.ErrorIs(t, err, cause)
	test.end()
	require.Len(t, test.said, 1)
}

func TestAnUnusedAnswerOfAScriptFailsTheTest(t *testing.T) {
	test := &failures{}
	client.New(
		test,
		client.Options{Handler: handler(t), Sampling: client.Script(test, client.Text("a"), client.Text("b"))},
	)
	test.end()
	require.Equal(t, []string{"expected as many requests as the script has answers, 2, found 0"}, test.said)
}

// poll is a tool that asks for everything but a sample.
func poll(s *server.Session) (any, error) {
	if err := s.Progress(1, 2); err != nil {
		return nil, err
	}
	retry, err := s.InputRequired(server.InputRequiredResult{Requests: map[string]any{
		"name": map[string]any{"method": "elicitation/create", "params": map[string]any{"message": "Your name?"}},
		"dirs": map[string]any{"method": "roots/list"},
	}})
	if err != nil {
		return nil, err
	}
	return string(retry.Responses["name"]) + string(retry.Responses["dirs"]), nil
}

func named(_ context.Context, params map[string]any) (map[string]any, error) {
	if params["message"] != "Your name?" {
		return nil, fmt.Errorf("unexpected message %v", params["message"])
	}
	return map[string]any{"action": "accept", "content": map[string]any{"name": "Ann"}}, nil
}

const (
	elicited = `{"action":"accept","content":{"name":"Ann"}}`
	listed   = `{"roots":[{"uri":"file:///home"}]}`
)

func TestElicitationRootsAndProgressInTheNewestRevision(t *testing.T) {
	srv := server.New(t, server.Tool{Name: "poll", Handler: poll})
	var steps []client.Progress
	c := client.New(t, client.Options{URL: srv.URL, Elicitation: named, Roots: []string{"file:///home"},
		Progress: func(p client.Progress) { steps = append(steps, p) }})
	result, err := c.CallTool(t.Context(), "poll", nil)
	require.NoError(t, err)
	require.Equal(t, elicited+listed, result.Text())
	require.Equal(t, client.Progress{Progress: 1, Total: 2}, steps[0])
	methods := []string{c.Samples()[0].Method, c.Samples()[1].Method}
	require.ElementsMatch(t, []string{"elicitation/create", "roots/list"}, methods)
}

// In the older revisions the server sends requests.
func TestElicitationRootsAndProgressInASession(t *testing.T) {
	mine, its := net.Pipe()
	responses := make(chan json.RawMessage, 3)
	go func() {
		say := json.NewEncoder(its)
		for in := json.NewDecoder(its); ; {
			var m struct {
				ID             any
				Method         string
				Params, Result json.RawMessage
			}
			if in.Decode(&m) != nil {
				return
			}
			respond := func(result string) {
				_ = say.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": json.RawMessage(result)})
			}
			switch {
			case m.Method == "initialize":
				responses <- m.Params
				respond(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
			case m.Method == "tools/call":
				for _, sent := range []string{
					`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"message":"half"}}`,
					`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"Your name?"}}`,
				} {
					_ = say.Encode(json.RawMessage(sent))
				}
			case m.ID == "e":
				responses <- m.Result
				_ = say.Encode(json.RawMessage(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`))
			case m.ID == "r":
				responses <- m.Result
				m.ID = 2
				respond(`{"content":[{"type":"text","text":"done"}]}`)
			}
		}
	}()
	var steps []client.Progress
	c := client.New(t, client.Options{Conn: mine, Revision: server.V20251125, Elicitation: named,
		Roots: []string{"file:///home"}, Progress: func(p client.Progress) { steps = append(steps, p) }})
	require.Contains(t, string(<-responses), `"capabilities":{"elicitation":{},"roots":{}}`)
	result, err := c.CallTool(t.Context(), "poll", nil)
	require.NoError(t, err)
	require.Equal(t, "done", result.Text())
	require.JSONEq(t, elicited, string(<-responses))
	require.JSONEq(t, listed, string(<-responses))
	require.Equal(t, []client.Progress{{Progress: 1, Message: "half"}}, steps)
}

func TestServersInProcess(t *testing.T) {
	fake := llm.New(t, llm.When(llm.ToolResults(1)).Reply(llm.Text("Paris.")),
		llm.When(llm.LastUser("capital")).Reply(llm.Call("lookup", `{"q":"x"}`)))
	srv := researcher(t, server.V20251125)
	key := make(chan string, 1)
	refusing := &failures{}
	client.New(refusing, client.Options{Fake: fake, Header: http.Header{"Authorization": {"Bearer x"}},
		Revision: server.V20251125,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case key <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization"):
			default:
			}
			w.WriteHeader(http.StatusTeapot)
		})})
	require.Contains(t, refusing.said[0], "HTTP 418")
	require.Equal(t, "POST /mcp Bearer x", <-key)

	mine, its := net.Pipe()
	go srv.ServeConn(context.Background(), its)
	for _, options := range []client.Options{{Conn: mine}, {Handler: srv.Handler()}} {
		options.Fake, options.Revision = fake, server.V20251125
		c := client.New(t, options)
		result, err := c.CallTool(t.Context(), "research", nil)
		require.NoError(t, err)
		require.Equal(t, "Found: Paris.", result.Text())
	}
	require.Len(t, fake.Requests(), 4)
}

package tap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/tap"
)

// eachOf runs a test in two revisions over each transport.
func eachOf(t *testing.T, name string, test func(*testing.T, string, server.Revision)) {
	t.Helper()
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		for _, transport := range transports {
			t.Run(name+"/"+transport+"/"+string(revision), func(t *testing.T) { test(t, transport, revision) })
		}
	}
}

// warmth is a tool that asks about today's weather in a city, then about tomorrow's. before are texts of the last
// message before that question.
func warmth(name, city string, before ...any) server.Tool {
	return server.Tool{Name: name, Handler: func(s *server.Session) (any, error) {
		p := s.Ask("How warm is it in " + city + "?")
		p.Messages = append(p.Messages,
			server.SamplingMessage{Role: "assistant", Content: server.Text("Mild in " + city + ".")},
			server.SamplingMessage{Role: "user", Content: append(before, server.Text("And tomorrow?"))})
		_, err := s.Sample(p)
		return "done", err
	}}
}

func TestUnusualHosts(t *testing.T) {
	trip := tools()[0]
	for _, h := range []host{
		{name: "plain", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")}},
		{name: "own questions",
			tools: []server.Tool{asking("one", "What is one and one?"), asking("two", "And two and two?")},
			rules: []*llm.Rule{says("one and one", "two"), says("two and two", "four"), says("mine", "yours")},
			own:   []string{"mine", "mine too"}},
		{name: "system prompt", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				params = maps.Clone(params)
				params["systemPrompt"] = "You are in a host that is careful."
				return ask.Sample(ctx, params)
			}},
		{name: "moderated", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("Is this safe", "yes"), says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				if _, err := ask.Sample(ctx, question("Is this safe: What is one and one?")); err != nil {
					return nil, err
				}
				return ask.Sample(ctx, params)
			}},
		{name: "moderated after", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("Is this safe", "yes"), says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				result, err := ask.Sample(ctx, params)
				if err != nil {
					return nil, err
				}
				_, err = ask.Sample(ctx, question("Is this safe: two"))
				return result, err
			}},
		{name: "declines", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")},
			sample: func(context.Context, *model.Model, object) (object, error) {
				return nil, &client.Error{Code: -1, Message: "User rejected sampling request"}
			}},
		{name: "declines an answer",
			tools: []server.Tool{asking("one", "What is one and one?"), asking("two", "And two and two?")},
			rules: []*llm.Rule{says("one and one", "two"), says("two and two", "four")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				result, err := ask.Sample(ctx, params)
				if jsonvalue.Contains(params, "two and two") {
					return nil, &client.Error{Code: -1, Message: "User rejected the answer"}
				}
				return result, err
			}},
		{name: "the model fails once and is not tapped", noModel: true,
			tools: []server.Tool{asking("one", "What is one and one?"), asking("two", "And two and two?")},
			rules: []*llm.Rule{says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				if jsonvalue.Contains(params, "two and two") {
					return nil, &client.Error{Code: -32603, Message: "the model is not available"}
				}
				return ask.Sample(ctx, params)
			}},
		{name: "two conversations that end alike, of which one stays open",
			tools: []server.Tool{warmth("paris", "Paris"), warmth("rome", "Rome", server.Text("Is it dry?"))},
			rules: []*llm.Rule{says("And tomorrow", "Hot.")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				if jsonvalue.Contains(params, "Paris") {
					return nil, &client.Error{Code: -1, Message: "User rejected sampling request"}
				}
				params = maps.Clone(params)
				messages := slices.Clone(params["messages"].([]any))
				messages[2] = object{"role": "user", "content": []any{object{"type": "text", "text": "Answer: Is it dry?"},
					object{"type": "text", "text": "And tomorrow?"}}}
				params["messages"] = messages
				return ask.Sample(ctx, params)
			}},
		{name: "no model tapped", noModel: true, tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")}},
		{name: "answers by itself", noModel: true, tools: []server.Tool{asking("one", "What is one and one?"), trip},
			rules: []*llm.Rule{},
			sample: func(context.Context, *model.Model, object) (object, error) {
				return object{"role": "assistant", "model": "person", "content": object{"type": "text", "text": "two"},
					"stopReason": "endTurn"}, nil
			}},
		{name: "retries the model", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{llm.When(llm.LastUser("one and one")).Times(1).Fail(&llm.Error{Status: 500,
				Message: "no"}).Optional(), says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				if _, err := ask.Sample(ctx, params); err == nil {
					return nil, errors.New("no failure")
				}
				return ask.Sample(ctx, params)
			}},
		{name: "the model fails", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{llm.When(llm.LastUser("one and one")).Fail(&llm.Error{Status: 401,
				Message: "no key"}).Optional()}},
		{name: "equal questions",
			tools: []server.Tool{asking("one", "Same?"), asking("two", "Same?"),
				{Name: "at-once", Handler: func(s *server.Session) (any, error) {
					for _, one := range s.SampleAll(s.Ask("Same?"), s.Ask("Same?")) {
						if one.Err != nil {
							return nil, one.Err
						}
					}
					return "done", nil
				}}}, rules: []*llm.Rule{
				llm.When(llm.LastUser("Same?")).Times(1).Reply(llm.Text("first")),
				llm.When(llm.LastUser("Same?")).Times(1).Reply(llm.Text("second")),
				llm.When(llm.LastUser("Same?")).Times(1).Reply(llm.Text("third")),
				llm.When(llm.LastUser("Same?")).Reply(llm.Text("fourth"))}},
		{name: "a summary of the host", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("Answer only", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				messages := slices.Clone(params["messages"].([]any))
				params = maps.Clone(params)
				params["messages"] = append(messages,
					object{"role": "user", "content": object{"type": "text", "text": "Answer only what was asked."}})
				return ask.Sample(ctx, params)
			}},
		{name: "history of the host", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				params = maps.Clone(params)
				params["messages"] = append([]any{object{"role": "user", "content": object{"type": "text", "text": "Hello host"}},
					object{"role": "assistant", "content": object{"type": "text", "text": "Hello user"}}},
					params["messages"].([]any)...)
				return ask.Sample(ctx, params)
			}},
		{name: "a server that orphans a result",
			tools: []server.Tool{hostile("one", func(s *server.Session) *server.CreateMessageParams {
				p := s.Ask("What is one and one?", weather)
				p.Messages = append(p.Messages,
					server.SamplingMessage{Role: "user",
						Content: server.ToolResultContent{Type: "tool_result", ToolUseID: "x",
							Content: []any{server.TextContent{Type: "text", Text: "18"}}}})
				return p
			})}, rules: []*llm.Rule{llm.When().Reply(llm.Text("two")).Optional()}},
		{name: "the same, refused", tools: []server.Tool{hostile("one", func(s *server.Session) *server.CreateMessageParams {
			p := s.Ask("What is one and one?", weather)
			p.Messages = append(p.Messages,
				server.SamplingMessage{Role: "user",
					Content: server.ToolResultContent{Type: "tool_result", ToolUseID: "x",
						Content: []any{server.TextContent{Type: "text", Text: "18"}}}})
			return p
		})}, rules: []*llm.Rule{llm.When().Reply(llm.Text("two")).Optional()},
			sample: func(context.Context, *model.Model, object) (object, error) {
				return nil, &client.Error{Code: -32602, Message: "Tool result without a tool use"}
			}},
		{name: "a server without maxTokens, refused",
			tools: []server.Tool{hostile("one", func(s *server.Session) *server.CreateMessageParams {
				p := s.Ask("What is one and one?")
				p.MaxTokens = 0
				return p
			})}, rules: []*llm.Rule{says("one and one", "two")},
			sample: func(context.Context, *model.Model, object) (object, error) {
				return nil, &client.Error{Code: -32602, Message: "maxTokens is missing"}
			}},
		{name: "tools for a client without, ignored", undeclared: true,
			tools: []server.Tool{hostile("one", func(s *server.Session) *server.CreateMessageParams {
				return s.Ask("What is one and one?", weather)
			})}, rules: []*llm.Rule{says("one and one", "two")},
			sample: func(ctx context.Context, ask *model.Model, params object) (object, error) {
				params = maps.Clone(params)
				delete(params, "tools")
				return ask.Sample(ctx, params)
			}},
		{name: "the server cancels", tools: []server.Tool{{Name: "one", Handler: func(s *server.Session) (any, error) {
			if s.Revision() >= server.Revision("2026-07-28") {
				return "nothing", nil
			}
			asked, err := s.Start(s.Ask("What is one and one?"))
			if err != nil {
				return nil, err
			}
			_ = asked.Cancel("not needed")
			return "cancelled", nil
		}}}, rules: []*llm.Rule{says("one and one", "two")}},
		{name: "loops by itself", tools: []server.Tool{trip}, rules: rules()[:2]},
		{name: "only the end is tapped", late: true, tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")}},
		{name: "three clients at once", clients: 3, tools: []server.Tool{asking("one", "What is one and one?"), trip},
			rules: []*llm.Rule{rules()[0], rules()[1], says("one and one", "two")}},
		{name: "asks for the revision first", negotiates: true, tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")}},
		{name: "three that ask for the revision first", negotiates: true, clients: 3,
			tools: []server.Tool{asking("one", "What is one and one?")}, rules: []*llm.Rule{says("one and one", "two")}},
		{name: "abandons the call", gaveUp: true, tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{says("one and one", "two")}},
		{name: "an empty answer", tools: []server.Tool{asking("one", "What is one and one?")},
			rules: []*llm.Rule{llm.When().Reply(llm.Text("")).Optional()}},
	} {
		eachOf(t, h.name, func(t *testing.T, transport string, revision server.Revision) {
			if h.clients > 1 && transport == trace.Stdio {
				return // a server over stdio has one client
			}
			require.Empty(t, h.failures(t, transport, revision))
		})
	}
}

// A modern client, whose stream the server breaks off, and an older one, at a server that speaks both revisions.
func TestTheQuestionForTheRevisionStaysWithItsClient(t *testing.T) {
	srv := server.New(t, asking("one", "What is one and one?"), server.Tool{Name: "breaks-off",
		Handler: func(s *server.Session) (any, error) { return nil, s.Transport().CloseConnection() }})
	r := tap.New(trace.Header{Tapped: true})
	at, _ := serve(t, srv.URL, false, r.RoundTripper(http.DefaultTransport))
	answers := func(context.Context, object) (object, error) {
		return object{"role": "assistant", "model": "m", "content": object{"type": "text", "text": "two"}}, nil
	}
	for _, revision := range []server.Revision{"", server.V20251125} {
		c, err := client.Connect(t.Context(), client.Options{URL: at, Revision: revision, Sampling: answers})
		require.NoError(t, err)
		_, err = c.CallTool(t.Context(), "one", nil)
		require.NoError(t, err)
		if revision == "" {
			_, err = c.CallTool(t.Context(), "breaks-off", nil)
			require.Error(t, err)
		}
		require.NoError(t, c.Close())
	}
	var methods []string
	for _, one := range r.Traces() {
		methods = append(methods, one.Header.Revision+" "+trace.ReadMessage(one.Events[0].Frame.Raw).Method)
	}
	require.Equal(t, []string{"2026-07-28 server/discover", "2025-11-25 initialize"}, methods)
}

// older is a server of 2025-11-25, with a session id if it is not "". It refuses any other method with refuse.
func older(t *testing.T, session string, refuse http.HandlerFunc) *httptest.Server {
	t.Helper()
	results := map[string]string{
		"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}`,
		"tools/list": `{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}`,
		"tools/call": `{"content":[{"type":"text","text":"two"}]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		m := trace.ReadMessage(raw)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case results[m.Method] == "":
			refuse(w, r)
		default:
			w.Header().Set("Content-Type", "application/json")
			if m.Method == "initialize" && session != "" {
				w.Header().Set("Mcp-Session-Id", session)
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, results[m.Method])
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// However an older server refuses the question for its revision, it is in the session that the client begins then.
func TestARefusedQuestionIsInTheSessionThatFollows(t *testing.T) {
	for name, refuse := range map[string]http.HandlerFunc{
		"with a page":  http.NotFound,
		"with nothing": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
		"with an error": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}`)
		},
		"with a session id": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Mcp-Session-Id", "for-nothing")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := tap.New(trace.Header{Tapped: true})
			at, _ := serve(t, older(t, "s1", refuse).URL+"/mcp", false, r.RoundTripper(http.DefaultTransport))
			c, err := client.Connect(t.Context(), client.Options{URL: at})
			require.NoError(t, err)
			require.NoError(t, c.Close())
			require.Len(t, r.Traces(), 1)
			one := r.Traces()[0]
			require.Equal(t, "2025-11-25", one.Header.Revision)
			require.Equal(t, "server/discover", trace.ReadMessage(one.Events[0].Frame.Raw).Method)
			require.Empty(t, failed(t, r.Traces()))
		})
	}
}

// A server need not give a session an id. Two clients, one after the other, have the same ids of requests.
func TestAServerWithoutSessions(t *testing.T) {
	r := tap.New(trace.Header{Tapped: true})
	at, _ := serve(t, older(t, "", http.NotFound).URL+"/mcp", false, r.RoundTripper(http.DefaultTransport))
	for range 2 {
		c, err := client.Connect(t.Context(), client.Options{URL: at, Revision: server.V20251125})
		require.NoError(t, err)
		_, err = c.ListTools(t.Context())
		require.NoError(t, err)
		_, err = c.CallTool(t.Context(), "one", nil)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	require.Empty(t, failed(t, r.Traces()))
	judged, err := conformance.Judge(r.Traces()...)
	require.NoError(t, err)
	require.Regexp(t, "^recorded sessions: they have no sampling request, no request to the model, "+
		"no error of the client, no progress of the client: [0-9]+ checks had nothing to judge$", judged.Notes[0])
}

func TestBrokenHosts(t *testing.T) {
	trip, both := tools()[0], tools()[1]
	oneRule := []*llm.Rule{says("one and one", "two")}
	one := []server.Tool{asking("one", "What is one and one?")}
	two := []server.Tool{asking("one", "What is one and one?"), asking("two", "What is two and two?")}
	twoRules := []*llm.Rule{says("one and one", "two"), says("two and two", "four")}
	after := func(f func(object)) sampler {
		return func(ctx context.Context, ask *model.Model, params object) (object, error) {
			result, err := ask.Sample(ctx, params)
			if err == nil {
				f(result)
			}
			return result, err
		}
	}
	before := func(f func(object)) sampler {
		return func(ctx context.Context, ask *model.Model, params object) (object, error) {
			params = maps.Clone(params)
			f(params)
			return ask.Sample(ctx, params)
		}
	}
	var kept, last object
	for _, h := range []host{
		{name: "cuts the answer", fails: "server-was-given", tools: one, rules: oneRule,
			sample: after(func(r object) { r["content"].(object)["text"] = "tw" })},
		{name: "empty answer", fails: "server-was-given", tools: one, rules: oneRule,
			sample: after(func(r object) { r["content"].(object)["text"] = "" })},
		{name: "user role", fails: "role-assistant", tools: one, rules: oneRule,
			sample: after(func(r object) { r["role"] = "user" })},
		{name: "no model", fails: "has-model", tools: one, rules: oneRule,
			sample: after(func(r object) { delete(r, "model") })},
		{name: "wrong stop", fails: "server-was-given", tools: one, rules: oneRule,
			sample: after(func(r object) { r["stopReason"] = "maxTokens" })},
		{name: "twice", fails: "one-model-call", tools: one, rules: oneRule,
			sample: func(ctx context.Context, ask *model.Model, p object) (object, error) {
				_, _ = ask.Sample(ctx, p)
				return ask.Sample(ctx, p)
			}},
		{name: "question changed", fails: "model-was-given", tools: one, rules: oneRule, sample: before(func(p object) {
			p["messages"] = []any{object{"role": "user", "content": object{"type": "text", "text": "Q: one and one"}}}
		})},
		{name: "tokens ignored", fails: "max-tokens", tools: one, rules: oneRule,
			sample: before(func(p object) { p["maxTokens"] = 100000 })},
		{name: "lost result", fails: "model-was-given", tools: []server.Tool{trip},
			rules: append(rules()[:2], llm.When(llm.ToolResults(1)).Optional().Reply(llm.Text("ok"))),
			sample: before(func(p object) {
				ms := p["messages"].([]any)
				if len(ms) == 3 {
					c := ms[2].(object)["content"].([]any)
					ms = slices.Clone(ms)
					u := ms[1].(object)["content"].([]any)
					ms[1] = object{"role": "assistant", "content": u[:1]}
					ms[2] = object{"role": "user", "content": c[:1]}
					p["messages"] = ms
				}
			})},
		{name: "swapped results", fails: "model-was-given", tools: []server.Tool{trip}, rules: rules()[:2],
			sample: before(func(p object) {
				ms := p["messages"].([]any)
				if len(ms) == 3 {
					c := ms[2].(object)["content"].([]any)
					a, b := maps.Clone(c[0].(object)), maps.Clone(c[1].(object))
					a["content"], b["content"] = b["content"], a["content"]
					ms = slices.Clone(ms)
					ms[2] = object{"role": "user", "content": []any{a, b}}
					p["messages"] = ms
				}
			})},
		{name: "first use only", fails: "server-was-given", tools: []server.Tool{trip},
			rules: append(rules()[:2], llm.When(llm.ToolResults(1)).Optional().Reply(llm.Text("ok"))),
			sample: after(func(r object) {
				if c, ok := r["content"].([]any); ok {
					r["content"] = c[:1]
				}
			})},
		{name: "use input as text", fails: "valid-result", tools: []server.Tool{trip}, rules: rules()[:2],
			sample: after(func(r object) {
				if c, ok := r["content"].([]any); ok {
					c[0].(object)["input"] = `{"city":"Paris"}`
				}
			})},
		{name: "end turn beside uses", fails: "server-was-given", tools: []server.Tool{trip}, rules: rules()[:2],
			sample: after(func(r object) {
				if _, ok := r["content"].([]any); ok {
					r["stopReason"] = "endTurn"
				}
			})},
		{name: "tools dropped", fails: "model-was-given", tools: []server.Tool{trip},
			rules:  []*llm.Rule{llm.When().Reply(llm.Text("mild")).Optional()},
			sample: before(func(p object) { delete(p, "tools") })},
		{name: "answer of the one before", fails: "server-was-given", tools: two, rules: twoRules,
			sample: func(ctx context.Context, ask *model.Model, p object) (object, error) {
				r, err := ask.Sample(ctx, p)
				if old := last; old != nil {
					last = nil
					return old, err
				}
				last = r
				return r, err
			}},
		{name: "cached", fails: "one-model-call", tools: []server.Tool{one[0], asking("again", "What is one and one?")},
			rules: []*llm.Rule{llm.When().Times(1).Reply(llm.Text("two")).Optional(),
				llm.When().Reply(llm.Text("deux")).Optional()},
			sample: func(ctx context.Context, ask *model.Model, p object) (object, error) {
				if kept != nil {
					r := kept
					kept = nil
					return r, nil
				}
				r, err := ask.Sample(ctx, p)
				kept = r
				return r, err
			}},
		{name: "first message only", fails: "model-was-given", tools: []server.Tool{trip},
			rules:  append(rules()[:2], llm.When().Reply(llm.Text("x")).Optional()),
			sample: before(func(p object) { p["messages"] = p["messages"].([]any)[:1] })},
		{name: "failure as answer", fails: "one-model-call", tools: one,
			rules: []*llm.Rule{llm.When().Fail(&llm.Error{Status: 500, Message: "no"})},
			sample: func(ctx context.Context, ask *model.Model, p object) (object, error) {
				_, err := ask.Sample(ctx, p)
				return object{"role": "assistant", "model": "gpt-4o", "content": object{"type": "text", "text": fmt.Sprint(err)},
					"stopReason": "endTurn"}, nil
			}},
		{name: "parallel answers swapped", fails: "server-was-given", tools: []server.Tool{both}, rules: rules()[2:],
			sample: after(func(r object) {
				c := r["content"].(object)
				c["text"] = map[string]string{"1": "2", "2": "1"}[c["text"].(string)]
			})},
		{name: "foreign context", fails: "model-was-given", tools: two, rules: twoRules, sample: func() sampler {
			var before []any
			return func(ctx context.Context, ask *model.Model, p object) (object, error) {
				p = maps.Clone(p)
				ms := p["messages"].([]any)
				p["messages"] = append(slices.Clone(before), ms...)
				r, err := ask.Sample(ctx, p)
				if err == nil {
					before = append(before, append(ms, object{"role": "assistant", "content": r["content"]})...)
				}
				return r, err
			}
		}()},
	} {
		eachOf(t, h.name, func(t *testing.T, transport string, revision server.Revision) {
			require.Contains(t, h.failures(t, transport, revision), "always/"+h.fails)
		})
	}
}

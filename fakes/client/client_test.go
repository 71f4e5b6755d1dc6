package client_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// paris answers every sampling request.
func paris(context.Context, map[string]any) (map[string]any, error) {
	return client.Text("Paris."), nil
}

// ask is a tool that samples once.
var ask = server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
	result, err := s.Sample(s.Ask("Which city?"))
	return client.Result(result).Text(), err
}}

func connect(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // some tests have closed it or its server
	return c
}

func TestTheNewestCommonRevisionIsNegotiated(t *testing.T) {
	for _, r := range server.AllRevisions() {
		for _, o := range []server.Options{{}, {ListVersionsToModern: true}, {AnswerDiscover: true}} {
			o.Revisions = []server.Revision{r}
			srv, err := server.Start(o, ask)
			require.NoError(t, err)
			c := connect(t, client.Options{URL: srv.URL, Sampling: paris})
			require.Equal(t, r, c.Revision())
			result, err := c.CallTool(t.Context(), "ask", nil)
			require.NoError(t, err)
			require.Equal(t, "Paris.", result.Text())
			require.NoError(t, c.Close())
			require.NoError(t, srv.Close())
		}
	}
}

func TestARevisionThatTheServerDoesNotSpeakIsAnError(t *testing.T) {
	srv, err := server.Start(server.Options{Revisions: []server.Revision{server.V20250618}})
	require.NoError(t, err)
	defer srv.Close()
	_, err = client.Connect(t.Context(), client.Options{URL: srv.URL, Revision: server.V20251125})
	require.ErrorContains(t, err, `the server speaks "2025-06-18", this client was started for 2025-11-25`)
}

func TestInvalidCapabilitiesAreAnError(t *testing.T) {
	for declared, want := range map[string]string{
		`{"sampling":{}}`: "set Options.Sampling", `[]`: "not a JSON object", `null`: "not a JSON object",
	} {
		_, err := client.Connect(t.Context(), client.Options{URL: "http://127.0.0.1:1",
			Capabilities: json.RawMessage(declared)})
		require.ErrorContains(t, err, want)
	}
}

func TestTheServerSeesOnlyTheErrorsThatAreForIt(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*client.Options)
		code int
		text string
	}{
		{"a failure of the handler", func(o *client.Options) {
			o.Sampling = func(context.Context, map[string]any) (map[string]any, error) { return nil, errors.New("key sk-1") }
		}, client.CodeInternal, "the model did not answer"},
		{"an error for the server", func(o *client.Options) {
			o.Sampling = func(context.Context, map[string]any) (map[string]any, error) {
				return nil, &client.Error{Code: 7, Message: "seven"}
			}
		}, 7, "seven"},
		{"a missing result", func(o *client.Options) {
			o.Sampling = func(context.Context, map[string]any) (map[string]any, error) { return nil, nil }
		}, client.CodeInternal, "the model did not answer"},
		{"a declined request", func(o *client.Options) {
			o.Consent = func(context.Context, map[string]any, map[string]any) error { return errors.New("no") }
		}, client.CodeDeclined, "the user declined the request"},
		{"a declined answer", func(o *client.Options) {
			o.Consent = func(_ context.Context, _, result map[string]any) error {
				if result != nil {
					return errors.New("no")
				}
				return nil
			}
		}, client.CodeDeclined, "the user declined the answer"},
		{"an invalid request", func(o *client.Options) {
			o.Validate = func(map[string]any) error { return errors.New("too long") }
		}, client.CodeInvalidParams, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := client.Options{Revision: server.V20251125, Sampling: paris}
			c.edit(&o)
			refused := make(chan *server.RPCError, 1)
			asked := server.New(t, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				_, err := s.Sample(s.Ask("Which city?"))
				var e *server.RPCError
				errors.As(err, &e)
				refused <- e
				return nil, err
			}})
			o.URL = asked.URL
			_, err := connect(t, o).CallTool(t.Context(), "ask", nil)
			require.NoError(t, err, "the tool reports the failure in its result")
			got := <-refused
			require.NotNil(t, got)
			require.Equal(t, c.code, got.Code)
			require.Equal(t, c.text, got.Message)

			o.Revision = server.V20260728
			var input *client.InputError
			_, err = connect(t, o).CallTool(t.Context(), "ask", nil)
			require.ErrorAs(t, err, &input)
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestACallIsAbandonedWhenItsContextEnds(t *testing.T) {
	for _, r := range server.AllRevisions() {
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("the test has seen enough")
		srv := server.New(t, ask)
		c := connect(t, client.Options{URL: srv.URL, Revision: r,
			Sampling: func(ctx context.Context, _ map[string]any) (map[string]any, error) {
				cancel(stop)
				<-ctx.Done()
				ended <- ctx.Err()
				return nil, ctx.Err()
			}})
		_, err := c.CallTool(ctx, "ask", nil)
		require.ErrorIs(t, err, client.ErrAbandoned, r)
		require.ErrorIs(t, err, stop, r)
		require.ErrorIs(t, <-ended, context.Canceled, r)
		result, err := c.ListTools(t.Context())
		require.NoError(t, err, "the client goes on")
		require.Len(t, result, 1)
	}
}

func TestCallsRunAtTheSameTime(t *testing.T) {
	for _, r := range server.AllRevisions() {
		const n = 8
		srv := server.New(t, ask)
		var all sync.WaitGroup
		all.Add(n)
		c := connect(t, client.Options{URL: srv.URL, Revision: r,
			Sampling: func(ctx context.Context, params map[string]any) (map[string]any, error) {
				all.Done()
				all.Wait()
				return paris(ctx, params)
			}})
		var calls sync.WaitGroup
		for range n {
			calls.Go(func() {
				result, err := c.CallTool(t.Context(), "ask", nil)
				if err != nil || result.Text() != "Paris." {
					t.Errorf("%s: %q, %v", r, result.Text(), err)
				}
			})
		}
		calls.Wait()
	}
}

func TestACallThatAsksForInputForEverIsAbandoned(t *testing.T) {
	rounds := 0
	srv := server.New(t, server.Tool{Name: "again", Handler: func(s *server.Session) (any, error) {
		for {
			rounds++
			if _, err := s.Sample(s.Ask("And?")); err != nil {
				return nil, err
			}
		}
	}})
	c := connect(t, client.Options{URL: srv.URL, Revision: server.V20260728, Sampling: paris, MaxRounds: 3})
	_, err := c.CallTool(t.Context(), "again", nil)
	require.ErrorIs(t, err, client.ErrAbandoned)
	require.GreaterOrEqual(t, rounds, 3)
}

// overPipe launches a server in this process.
func overPipe(srv *server.Server, launched *int) func(context.Context, io.Writer) (io.ReadWriteCloser, error) {
	return func(context.Context, io.Writer) (io.ReadWriteCloser, error) {
		*launched++
		ours, its := net.Pipe()
		go srv.ServeConn(context.Background(), its)
		return ours, nil
	}
}

func TestALaunchedServerIsAskedForItsRevision(t *testing.T) {
	unknown := `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}` + "\n"
	for name, first := range map[string]func(net.Conn){
		"goes on":                   nil,
		"ends at the question":      func(net.Conn) {},
		"ends after a refusal":      func(c net.Conn) { _, _ = io.WriteString(c, unknown) },
		"ends after a part of it":   func(c net.Conn) { _, _ = io.WriteString(c, unknown[:9]) },
		"ends after another answer": func(c net.Conn) { _, _ = io.WriteString(c, "Usage: server\n") },
	} {
		t.Run(name, func(t *testing.T) {
			srv := server.NewWith(t, server.Options{Revisions: []server.Revision{server.V20251125}}, ask)
			launched, launch := 0, 1
			o := client.Options{Launch: overPipe(srv, &launched), Sampling: paris}
			if first != nil {
				again := o.Launch
				launch = 2
				o.Launch = func(ctx context.Context, stderr io.Writer) (io.ReadWriteCloser, error) {
					if launched > 0 {
						return again(ctx, stderr)
					}
					launched++
					ours, its := net.Pipe()
					go func() {
						_, _ = bufio.NewReader(its).ReadString('\n')
						first(its)
						_ = its.Close()
					}()
					return ours, nil
				}
			}
			c := connect(t, o)
			require.Equal(t, server.V20251125, c.Revision())
			result, err := c.CallTool(t.Context(), "ask", nil)
			require.NoError(t, err)
			require.Equal(t, "Paris.", result.Text())
			require.Equal(t, launch, launched)
		})
	}
}

func TestAConnectionThatEndsAtTheQuestionIsAnError(t *testing.T) {
	ours, its := net.Pipe()
	go func() {
		_, _ = bufio.NewReader(its).ReadString('\n')
		_ = its.Close()
	}()
	_, err := client.Connect(t.Context(), client.Options{Conn: ours, Sampling: paris})
	require.EqualError(t, err, "the server ended the connection")
}

// A server whose message does not end takes no more memory than the longest message.
func TestAMessageThatDoesNotEndIsAnError(t *testing.T) {
	const want = "the server sent a message of more than 64 MB"
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	ours, its := net.Pipe()
	go func() {
		_, _ = bufio.NewReader(its).ReadString('\n')
		for {
			if _, err := its.Write(spaces); err != nil {
				return
			}
		}
	}()
	_, err := client.Connect(t.Context(), client.Options{Conn: ours, Sampling: paris})
	require.EqualError(t, err, want)
	require.NoError(t, its.Close())

	_, err = client.Connect(t.Context(), client.Options{Sampling: paris,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range 65 {
				_, _ = w.Write(spaces)
			}
		})})
	require.ErrorContains(t, err, want)
}

// A proxy may write the type of the body in another way, or a wrong one.
func TestTheTypeOfABodyDecidesHowItIsRead(t *testing.T) {
	opened := func(kind string) error {
		c, err := client.Connect(t.Context(), client.Options{Revision: server.V20251125, Sampling: paris,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPost {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				if body, _ := io.ReadAll(r.Body); !bytes.Contains(body, []byte(`"initialize"`)) {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", kind)
				_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",`+
					`"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`+"\n\n")
			})})
		if err == nil {
			c.Close()
		}
		return err
	}
	require.NoError(t, opened("TEXT/Event-Stream ; charset=UTF-8"))
	require.EqualError(t, opened("text/plain"), `initialize: the body with the Content-Type "text/plain" is not a `+
		`message: invalid character 'd' looking for beginning of value`)
}

// Clients read events of the type message only.
func TestAnEventOfAnotherTypeIsSkipped(t *testing.T) {
	style := server.SSEStyle{ExtraLines: []string{"event: ping", "data: not a message", "", "event: message"}}
	beside := server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
		if err := s.Transport().SetSSEStyle(style); err != nil {
			return nil, err
		}
		return ask.Handler(s)
	}}
	srv := server.NewWith(t, server.Options{Revisions: []server.Revision{server.V20251125}}, beside)
	c := connect(t, client.Options{URL: srv.URL, Sampling: paris})
	result, err := c.CallTool(t.Context(), "ask", nil)
	require.NoError(t, err)
	require.Equal(t, "Paris.", result.Text())
}

func TestALaunchedServerIsRestarted(t *testing.T) {
	for r, lost := range map[server.Revision]bool{server.V20251125: true, server.V20260728: false} {
		calls, launched := 0, 0
		srv := server.New(t, ask, server.Tool{Name: "die", Handler: func(s *server.Session) (any, error) {
			if calls++; calls == 1 {
				return nil, s.Transport().CloseConnection()
			}
			return "alive", nil
		}})
		c := connect(t, client.Options{Launch: overPipe(srv, &launched), Revision: r, Sampling: paris})
		result, err := c.CallTool(t.Context(), "die", nil)
		if lost {
			require.ErrorIs(t, err, client.ErrServerLost)
		} else {
			require.NoError(t, err)
			require.Equal(t, "alive", result.Text())
		}
		result, err = c.CallTool(t.Context(), "ask", nil)
		require.NoError(t, err)
		require.Equal(t, "Paris.", result.Text())
		require.Equal(t, 2, launched)
	}
}

func TestALostSessionIsReplaced(t *testing.T) {
	srv := server.New(t, ask, server.Tool{Name: "end", Handler: func(s *server.Session) (any, error) {
		return "ended", s.Transport().EndSession()
	}})
	c := connect(t, client.Options{URL: srv.URL, Revision: server.V20251125, Sampling: paris})
	_, _ = c.CallTool(t.Context(), "end", nil) // the result may arrive or not
	result, err := c.CallTool(t.Context(), "ask", nil)
	require.NoError(t, err)
	require.Equal(t, "Paris.", result.Text())
}

func TestAnUnknownToolIsAnError(t *testing.T) {
	c := connect(t, client.Options{URL: server.New(t).URL})
	_, err := c.CallTool(t.Context(), "none", nil)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, client.CodeInvalidParams, refused.Code)
}

package client_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// quizTools is a server whose tools sample: one after the other, at once, with progress, and with structured text.
func quizTools(question string) []server.Tool {
	ask := func(s *server.Session, text string) (string, error) {
		answer, err := server.As[server.Answer](s.Sample(s.Ask(text)))
		return answer.Text(), err
	}
	return []server.Tool{
		{Name: "quiz", Handler: func(s *server.Session) (any, error) {
			if err := s.Progress(1, 2); err != nil {
				return nil, err
			}
			first, err := ask(s, question)
			if err != nil {
				return nil, err
			}
			second, err := ask(s, "Is "+first+" large?")
			return map[string]any{"first": first, "second": second}, err
		}},
		{Name: "both", Handler: func(s *server.Session) (any, error) {
			var texts []string
			for _, response := range s.SampleAll(s.Ask("One?"), s.Ask("Two?")) {
				answer, err := server.As[server.Answer](response.Result, response.Err)
				if err != nil {
					return nil, err
				}
				texts = append(texts, answer.Text())
			}
			return strings.Join(texts, " and "), nil
		}},
	}
}

// answers answers by the text of the request, so that concurrent requests get their own answers.
func answers(capital string) client.Handler {
	return func(_ context.Context, params map[string]any) (map[string]any, error) {
		text := fmt.Sprint(params["messages"])
		for part, answer := range map[string]string{"capital": capital, "large": "Yes.", "One": "1", "Two": "2", "day": "1"} {
			if strings.Contains(text, part) {
				return client.Text(answer), nil
			}
		}
		return nil, client.Decline()
	}
}

const question = "What is the capital of France?"

// conversation is what the client does in each test.
func conversation(t *testing.T, c *client.Client) []string {
	t.Helper()
	_, err := c.ListTools(t.Context())
	require.NoError(t, err)
	var results []string
	for _, name := range []string{"quiz", "both", "quiz"} {
		result, err := c.CallTool(t.Context(), name, map[string]any{})
		if err != nil {
			result = client.Result(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, err.Error()))
		}
		results = append(results, result.Text())
	}
	return results
}

var wantResults = []string{`{"first":"Paris","second":"Yes."}`, "1 and 2", `{"first":"Paris","second":"Yes."}`}

// transports connect a client to a server.
var transports = map[string]func(*testing.T, *server.Server) client.Options{
	"http": func(_ *testing.T, srv *server.Server) client.Options { return client.Options{URL: srv.URL} },
	"pipe": func(t *testing.T, srv *server.Server) client.Options {
		ours, theirs := net.Pipe()
		var serving sync.WaitGroup
		serving.Go(func() { srv.ServeConn(context.WithoutCancel(t.Context()), theirs) })
		t.Cleanup(serving.Wait)
		return client.Options{Conn: ours}
	},
}

// recorded records the conversation of the client and the server, and returns the file.
func recorded(t *testing.T, transport string, revision server.Revision) string {
	t.Helper()
	return recordedTools(t, transport, revision, func(c *client.Client) {
		require.Equal(t, wantResults, conversation(t, c))
	}, quizTools(question)...)
}

// eachWire runs a test with a recording of each revision over each transport.
func eachWire(t *testing.T, test func(t *testing.T, file, transport string, revision server.Revision)) {
	t.Helper()
	for _, revision := range server.AllRevisions() {
		for transport := range transports {
			t.Run(string(revision)+"/"+transport, func(t *testing.T) {
				test(t, recorded(t, transport, revision), transport, revision)
			})
		}
	}
}

// text ends the test and returns what it said.
func (f *failures) text() string {
	f.end()
	return strings.Join(f.said, "\n")
}

// replayTo replays a recording to a client that answers with a capital, and returns the results and what the test says.
func replayTo(
	t *testing.T, file, transport string, revision server.Revision, capital string, ignore ...string,
) ([]string, string) {
	t.Helper()
	log := &failures{}
	srv := server.Replay(log, file, ignore...)
	o := transports[transport](t, srv)
	o.Revision, o.Sampling = revision, answers(capital)
	c, err := client.Connect(t.Context(), o)
	require.NoError(t, err)
	results := conversation(t, c)
	require.NoError(t, c.Close())
	return results, log.text()
}

// With a test in place of a log, as users write it.
func TestARecordingServesBothSides(t *testing.T) {
	file := recorded(t, "http", server.V20251125)
	srv := server.Replay(t, file)
	c, err := client.Connect(t.Context(), client.Options{URL: srv.URL, Sampling: answers("Paris")})
	require.NoError(t, err)
	require.Equal(t, wantResults, conversation(t, c))
	require.NoError(t, c.Close())

	again := server.New(t, quizTools(question)...)
	client.Replay(t, file, client.Options{URL: again.URL})
}

func TestReplayServesTheServer(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, revision server.Revision) {
		results, wrong := replayTo(t, file, transport, revision, "Paris")
		require.Empty(t, wrong)
		require.Equal(t, wantResults, results)
	})
}

func TestReplayNamesAnotherAnswer(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, revision server.Revision) {
		results, wrong := replayTo(t, file, transport, revision, "Lyon")
		require.Contains(t, wrong, `content.text the recording has "Paris", found "Lyon"`)
		require.Contains(t, results[0], `"Lyon"`, "the client gets the reason, too")
		_, wrong = replayTo(t, file, transport, revision, "Lyon", "result.content.text")
		require.Empty(t, wrong)
	})
}

func TestReplayNamesAnotherCall(t *testing.T) {
	file := recorded(t, "http", server.V20251125)
	log := &failures{}
	srv := server.Replay(log, file)
	c, err := client.Connect(t.Context(), client.Options{URL: srv.URL, Sampling: answers("Paris")})
	require.NoError(t, err)
	_, err = c.CallTool(t.Context(), "both", map[string]any{"limit": 3})
	require.ErrorContains(t, err, `the nearest is tools/call both (request 4 of the recording); `+
		`at params.arguments.limit the recording has nothing, found 3`)
	_, err = c.ReadResource(t.Context(), "file:///a")
	require.ErrorContains(t, err, "the recording has no resources/read in 2025-11-25; it has initialize in 2025-11-25, ")
	for range 2 {
		_, err = c.CallTool(t.Context(), "both", nil)
	}
	require.ErrorContains(t, err, "tools/call both was recorded once, and this is one more")
	require.NoError(t, c.Close())
	wrong := log.text()
	assert.Contains(t, wrong, "tools/call quiz (request 3 of the recording) was never made")
	assert.Contains(t, wrong, "tools/call quiz (request 5 of the recording) was never made")
	assert.Contains(t, wrong, "params.arguments.limit")
}

func TestReplayPlaysTheClient(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, _ server.Revision) {
		srv := server.New(t, quizTools(question)...)
		log := &failures{}
		client.Replay(log, file, transports[transport](t, srv))
		require.Empty(t, log.text())
		require.Len(t, srv.Journal(), 3)
	})
}

func TestReplayNamesAnotherRequest(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, _ server.Revision) {
		changed := strings.Replace(question, "France", "Italy", 1)
		played := func(ignore ...string) *client.Replayed {
			srv := server.New(t, quizTools(changed)...)
			found, err := client.PlayRecording(t.Context(), transports[transport](t, srv), file, ignore...)
			require.NoError(t, err)
			return found
		}
		found := played()
		require.Len(t, found.Differences, 2, "in both calls")
		require.Contains(t, found.Differences[0], "tools/call quiz: request 1 of the server, sampling/createMessage, "+
			`differs: at params.messages[0].content.text the recording has "What is the capital of France?", `+
			`found "What is the capital of Italy?"`)
		require.Empty(t, played("params.messages.content.text").Differences)
		require.NoError(t, found.Update())
		require.Empty(t, played().Differences)
	})
}

func TestReplayNamesAnotherResponse(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, _ server.Revision) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		changed := bytes.ReplaceAll(raw, []byte(`{\\\"first\\\":\\\"Paris\\\"`), []byte(`{\\\"first\\\":\\\"Rome\\\"`))
		require.NotEqual(t, raw, changed)
		require.NoError(t, os.WriteFile(file, changed, 0o600))
		srv := server.New(t, quizTools(question)...)
		log := &failures{}
		client.Replay(log, file, transports[transport](t, srv))
		require.Contains(t, log.text(), `tools/call quiz: the response differs: `+
			`at result.content[0].text.first the recording has "Rome", found "Paris"`)
	})
}

func TestReplayNamesWhatIsMissingAndMore(t *testing.T) {
	eachWire(t, func(t *testing.T, file, transport string, _ server.Revision) {
		tools := quizTools(question)
		tools[0].Handler = func(*server.Session) (any, error) { return nil, nil }
		tools[1].Handler = func(s *server.Session) (any, error) {
			return "", s.SampleAll(s.Ask("One?"), s.Ask("Two?"), s.Ask("Three?"))[0].Err
		}
		srv := server.New(t, tools...)
		found, err := client.PlayRecording(t.Context(), transports[transport](t, srv), file)
		require.NoError(t, err)
		text := strings.Join(found.Differences, "\n")
		require.Contains(t, text, "the server did not ask for sampling/createMessage, which was its request 2")
		require.Contains(t, text, "tools/call both: the server asked for sampling/createMessage, which it did not then: {")
		require.ErrorContains(t, found.Update(), "record the session again")
	})
}

func TestReplayRefusesWhatIsNoRecording(t *testing.T) {
	dir := t.TempDir()
	file := recorded(t, "http", server.V20251125)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	onlyClient := bytes.Join(lines[:2], nil)
	onlyClient = append(onlyClient, []byte(`{"footer":{"events":1,"whole":true}}`+"\n")...)
	for name, test := range map[string]struct{ content, says string }{
		"text":   {"hello\n", "not a trace"},
		"cut":    {string(raw[:len(raw)-20]), "truncated"},
		"newer":  {strings.Replace(string(raw), `"mcpConformTrace":1`, `"mcpConformTrace":9`, 1), "format version 9"},
		"one":    {string(onlyClient), "expected a recording of both sides"},
		"edited": {strings.Join(strings.SplitAfter(string(raw), "\n")[1:], ""), "not a trace"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name+".ndjson")
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			_, err := server.StartReplay(server.Options{}, path, server.ReplayOptions{})
			require.ErrorContains(t, err, test.says)
			require.ErrorContains(t, err, path)
			_, err = client.PlayRecording(t.Context(), client.Options{URL: "http://127.0.0.1:1"}, path)
			require.ErrorContains(t, err, test.says)
		})
	}
	_, err = server.StartReplay(server.Options{}, filepath.Join(dir, "none"), server.ReplayOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = server.StartReplay(server.Options{}, file, server.ReplayOptions{Ignore: []string{"$.a"}})
	require.ErrorContains(t, err, `cannot ignore "$.a"`)
}

package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

func TestHandlerWorksInEveryRevision(t *testing.T) {
	handler := func(s *server.Session) (any, error) {
		var answers []string
		for _, text := range []string{"one", "two", "three"} {
			result, err := s.Sample(s.Ask(text))
			require.NoError(t, err)
			answers = append(answers, string(result))
		}
		return strings.Join(answers, "\n"), nil
	}
	for _, responses := range []server.ResponseMode{server.Auto, server.SSE} {
		inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
			r := startWith(t, server.Options{ResponseMode: responses}, tool("three", handler))
			var asked, answers []string
			got := r.client(revision, sampling).converse("three", func(params string) string {
				asked = append(asked, params)
				answers = append(answers,
					fmt.Sprintf(`{"role":"assistant","model":"m","content":[],"extra":[1.0, %d]}`, len(asked)))
				return answers[len(answers)-1]
			})
			require.Len(t, asked, 3)
			require.Equal(t, `{"messages":[{"role":"user","content":{"type":"text","text":"two"}}],"maxTokens":1000}`,
				asked[1])
			require.Equal(t, strings.Join(answers, "\n"), got.text(t), "byte for byte")
		})
	}
}

func TestOnlyAnErrorResponseIsARefusal(t *testing.T) {
	for response, want := range map[string]string{
		`"error":{"code":-1,"message":"User rejected","data":[1]}`: "User rejected (code -1)",
		`"error":{"code":-1,"message":"both"},"result":{}`:         "both (code -1)",
		`"error":"no"`: `unreadable error "no"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen error
			c := start(t, tool("ask", func(s *server.Session) (any, error) {
				_, seen = s.Sample(s.Ask("?"))
				return nil, seen
			})).legacy(sampling)
			call := c.call(1, "ask")
			c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, call.next().ID, response))
			got := call.last()
			require.True(t, got.call(t).IsError)
			require.Contains(t, got.text(t), want)
			require.True(t, server.Refused(seen))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", ask)).legacy(sampling)
		call := c.call(1, "ask")
		c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":null,"result":%s}`, call.next().ID, sampled("fine")))
		require.Equal(t, sampled("fine"), call.text(), "a null error is not an error")
	})
}

func TestResponseMatchesByItsIDInAnyForm(t *testing.T) {
	for _, format := range []string{`%d`, `"%d"`, `%d.0`, `%de0`, ` %d `} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, tool("ask", ask))
			c := r.legacy(sampling)
			call := c.call(1, "ask")
			require.Equal(t, "1000001", string(call.next().ID))
			c.post(`{"jsonrpc":"2.0","id":1000002,"result":{}}`)
			for _, text := range []string{"first", "again", "again"} {
				c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":`+format+`,"result":%s}`, 1000001, sampled(text)))
			}
			require.Equal(t, sampled("first"), call.text())
			require.Equal(t, 3, strings.Count(strings.Join(r.story("ask"), "\n"), "client result"),
				"duplicates belong to the tool")
		})
	}
}

// asksThrice samples three times at once.
func asksThrice(s *server.Session) (any, error) {
	var texts []string
	third := json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"three"}}],"maxTokens":1}`)
	for _, answer := range s.SampleAll(s.Ask("one"), s.Ask("two"), third) {
		if answer.Err != nil {
			return nil, answer.Err
		}
		var result server.SamplingMessage
		if err := json.Unmarshal(answer.Result, &result); err != nil {
			return nil, err
		}
		texts = append(texts, result.Content.(map[string]any)["text"].(string))
	}
	return strings.Join(texts, "\n"), nil
}

// threeEchoes is the result of asksThrice when the client echoes.
const threeEchoes = `you said {"text":"one","type":"text"}
you said {"text":"two","type":"text"}
you said {"text":"three","type":"text"}`

func TestSampleAllSendsConcurrentRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("all", asksThrice)).legacy(sampling)
		call := c.call(1, "all")
		requests := []message{call.next(), call.next(), call.next()}
		slices.Reverse(requests)
		for _, m := range requests {
			c.post(m.response(echo(t)(string(m.Params))))
		}
		require.Equal(t, threeEchoes, call.text())
	})
}

func TestSampleAllIsOneModernRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("all", asksThrice)).modern(sampling)
		first := c.call(1, "all").last()
		require.Equal(t, []string{"all-1", "all-2", "all-3"}, slices.Sorted(maps.Keys(first.call(t).InputRequests)))
		require.Equal(t, threeEchoes, c.call(2, "all", retry(t, first, echo(t))).text())
	})
}

func TestSampleAllReturnsAnErrorForEachRequest(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		var answers []server.Response
		r := start(t, tool("some", does(func(s *server.Session) {
			require.Empty(t, s.SampleAll())
			answers = s.SampleAll(s.Ask("one", server.Tool{Name: "t"}), s.Ask("two"), s.Ask("three").After(nil, nil),
				s.Ask("four"))
		})))
		r.client(revision, sampling).converse("some", echo(t))
		require.Len(t, answers, 4)
		require.ErrorIs(t, answers[0].Err, server.ErrUndeclared)
		require.Contains(t, string(answers[1].Result), "two")
		require.ErrorContains(t, answers[2].Err, "must be an object")
		require.Contains(t, string(answers[3].Result), "four")
	})
}

func TestSampleIsSafeForConcurrentUse(t *testing.T) {
	inEach(t, bothProtocols, func(t *testing.T, revision server.Revision) {
		r := start(t, server.Tool{Name: "many", Mark: "m", Handler: func(s *server.Session) (any, error) {
			var all sync.WaitGroup
			answers := make([]string, 5)
			for i := range answers {
				all.Go(func() {
					result, err := s.Sample(s.Ask(fmt.Sprintf("number %d", i)))
					answers[i] = fmt.Sprint(string(result), err)
				})
			}
			all.Wait()
			return strings.Join(answers, "\n"), nil
		}})
		text := r.client(revision, sampling).converse("many", echo(t)).text(t)
		for i, line := range strings.Split(text, "\n") {
			require.Contains(t, line, fmt.Sprintf("number %d", i))
		}
	})
}

func TestSampleAsUsesItsIDUnlessTaken(t *testing.T) {
	ids := []string{`1`, `"1"`, `"a-b"`, `9007199254740991`}
	asks := tool("ask", func(s *server.Session) (any, error) {
		for _, id := range ids {
			_, err := s.Sample(s.Ask("?"), server.WithID(id))
			require.NoError(t, err)
		}
		return "done", nil
	})
	used := func(c *httpClient, callID int) (ids []string) {
		for call := c.call(callID, "ask"); ; {
			m := call.next()
			if m.Method == "" {
				require.Equal(t, "done", m.text(t))
				return ids
			}
			ids = append(ids, string(m.ID))
			require.Equal(t, http.StatusAccepted, c.post(m.answer("!")).StatusCode)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, asks)
		c := r.legacy(sampling)
		require.Equal(t, ids, used(c, 7))
		require.Equal(t, []string{"1000005", "1000006", "1000007", "1000008"}, used(c, 8), "a session uses no id twice")
		require.Equal(t, []string{"1000001", "1000002", `"a-b"`, "9007199254740991"}, used(r.legacy(sampling), 1),
			"the call has id 1")
		require.Equal(t, "done", r.modern(sampling).converse("ask", echo(t)).text(t), "modern samples have no id")
	})
}

func TestSampleAsRejectsOtherIDs(t *testing.T) {
	inEach(t, server.AllRevisions(), func(t *testing.T, revision server.Revision) {
		ids := []string{"", "null", "{}", "[1]", "true", "1a"}
		r, got := callIn(t, revision, tool("ask", does(func(s *server.Session) {
			for _, id := range ids {
				_, err := s.Sample(s.Ask("?"), server.WithID(id))
				require.ErrorIs(t, err, server.ErrInvalid)
			}
		})))
		for range ids {
			r.expected = append(r.expected, "the request id must be a string or a number")
		}
		require.Equal(t, "done", got.text(t))
	})
}

func TestEachToolHasItsOwnRequestIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		twice := does(func(s *server.Session) { s.SampleAll(s.Ask("one"), s.Ask("two")) })
		c := start(t, tool("a", twice), tool("b", twice)).legacy(sampling)
		var ids []string
		for i, tool := range []string{"b", "a", "a"} {
			call := c.call(i, tool)
			for range 2 {
				m := call.next()
				ids = append(ids, string(m.ID))
				c.post(m.response(`{}`))
			}
			call.last()
		}
		require.Equal(t, "[2000001 2000002 1000001 1000002 1000003 1000004]", fmt.Sprint(ids))
	})
}

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

// converse calls a tool and has each sample that is asked for answered, until the response of the call is there.
func (r *rig) converse(revision server.Revision, capabilities, tool string, answer func(params string) string) message {
	r.t.Helper()
	if !revision.Modern() {
		w := r.legacy(revision, capabilities)
		call := w.call(1, tool)
		for {
			m := call.next()
			if m.Method == "" {
				return m
			}
			require.Equal(r.t, http.StatusAccepted, w.post(m.response(answer(string(m.Params)))).StatusCode)
		}
	}
	w := r.modern()
	m := w.callModern(1, tool, capabilities, "").last()
	for id := 2; ; id++ {
		asked := m
		if m.Error != nil || m.call(r.t).ResultType != "input_required" {
			return m
		}
		m = w.callModern(id, tool, capabilities, retryOf(r.t, asked, answer)).last()
	}
}

// retryOf is what the retry of a call adds to its params when every input request is answered.
func retryOf(t testing.TB, required message, answer func(params string) string) string {
	t.Helper()
	r := required.call(t)
	var responses []string
	for _, key := range slices.Sorted(maps.Keys(r.InputRequests)) {
		in := loosely(r.InputRequests[key])
		require.Equal(t, "sampling/createMessage", in.Method)
		responses = append(responses, fmt.Sprintf("%q:%s", key, answer(string(in.Params))))
	}
	return fmt.Sprintf(`,"inputResponses":{%s},"requestState":%q`, strings.Join(responses, ","), *r.RequestState)
}

// echo answers a sample with the text of its last message.
func echo(t testing.TB) func(string) string {
	return func(params string) string {
		var p server.CreateMessageParams
		require.NoError(t, json.Unmarshal([]byte(params), &p))
		content, err := json.Marshal(p.Messages[len(p.Messages)-1].Content)
		require.NoError(t, err)
		return sampled("you said " + string(content))
	}
}

func TestAPlayDoesNotKnowItsEra(t *testing.T) {
	play := func(s *server.Session) (any, error) {
		var said []string
		for _, text := range []string{"one", "two", "three"} {
			result, err := s.Sample(s.Ask(text))
			if err != nil {
				return nil, err
			}
			said = append(said, string(result))
		}
		return strings.Join(said, "\n"), nil
	}
	for _, revision := range server.Revisions() {
		for responses, name := range []string{"auto", "stream"} {
			t.Run(string(revision)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{Responses: server.Responses(responses)}, server.Tool{Name: "three", Handler: play})
					var asked []string
					got := r.converse(revision, sampling, "three", func(params string) string {
						asked = append(asked, params)
						return fmt.Sprintf(`{"role":"assistant","model":"m","content":{"type":"text","text":"%d"},"extra":[1.0, 2e3]}`, len(asked))
					})
					require.Len(t, asked, 3)
					require.Equal(t, `{"messages":[{"role":"user","content":{"type":"text","text":"two"}}],"maxTokens":1000}`, asked[1])
					require.Equal(t, `{"role":"assistant","model":"m","content":{"type":"text","text":"1"},"extra":[1.0, 2e3]}
{"role":"assistant","model":"m","content":{"type":"text","text":"2"},"extra":[1.0, 2e3]}
{"role":"assistant","model":"m","content":{"type":"text","text":"3"},"extra":[1.0, 2e3]}`, got.call(t).text(t), "answers come as they were sent")
				})
			})
		}
	}
}

func TestARefusalIsAnErrorInTheFirstEra(t *testing.T) {
	for response, want := range map[string]string{
		`"error":{"code":-1,"message":"User rejected","data":[1]}`: "User rejected (code -1)",
		`"error":{"code":-1,"message":"both"},"result":{}`:         "both (code -1)",
		`"error":"no"`: "unreadable error \"no\": ",
	} {
		synctest.Test(t, func(t *testing.T) {
			var seen error
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
				_, seen = s.Sample(s.Ask("?"))
				return nil, seen
			}})
			w := r.legacy(server.V20251125, sampling)
			call := w.call(1, "ask")
			w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, call.next().ID, response))
			got := call.last().call(t)
			require.True(t, got.IsError)
			require.Contains(t, got.text(t), want)
			require.True(t, server.Refused(seen))
		})
	}
}

func TestAResultBesideANullErrorIsAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "ask")
		w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":null,"result":%s}`, call.next().ID, sampled("fine")))
		require.Equal(t, sampled("fine"), call.last().call(t).text(t))
	})
}

func TestAnAnswerIsKnownByItsIDAlsoWhereThatCameBackChanged(t *testing.T) {
	for _, format := range []string{`%d`, `"%d"`, `%d.0`, `%de0`, ` %d `} {
		synctest.Test(t, func(t *testing.T) {
			r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
			w := r.legacy(server.V20251125, sampling)
			call := w.call(1, "ask")
			require.Equal(t, "1000001", string(call.next().ID))
			w.post(`{"jsonrpc":"2.0","id":1000002,"result":{}}`) // nobody's
			w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":`+format+`,"result":%s}`, 1000001, sampled("first")))
			for range 3 {
				w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":`+format+`,"result":%s}`, 1000001, sampled("again")))
			}
			require.Equal(t, sampled("first"), call.last().call(t).text(t))
			story := r.story("ask")
			require.Equal(t, "server sampling/createMessage", story[2])
			require.Equal(t, 4, strings.Count(strings.Join(story, "\n"), "client result"), "what came after the first is the tool's as well")
		})
	}
}

func TestSampleAllHasAllRequestsInFlightTogetherInTheFirstEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "all", Handler: all})
		w := r.legacy(server.V20251125, sampling)
		call := w.call(1, "all")
		questions := []message{call.next(), call.next(), call.next()}
		synctest.Wait()
		slices.Reverse(questions)
		for _, q := range questions {
			w.post(q.response(echo(t)(string(q.Params))))
		}
		require.Equal(t, everything, call.last().call(t).text(t))
	})
}

func TestSampleAllIsOneRoundInTheSecondEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "all", Handler: all})
		w := r.modern()
		first := w.callModern(1, "all", sampling, "").last()
		require.Equal(t, []string{"all-1", "all-2", "all-3"}, slices.Sorted(maps.Keys(first.call(t).InputRequests)))
		last := w.callModern(2, "all", sampling, retryOf(t, first, echo(t))).last()
		require.Equal(t, everything, last.call(t).text(t))
	})
}

// all is a play that samples three times at once; everything is what it returns when its samples are echoed.
func all(s *server.Session) (any, error) {
	var texts []string
	for _, answer := range s.SampleAll(s.Ask("one"), s.Ask("two"), json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"three"}}],"maxTokens":1}`)) {
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

const everything = `you said {"text":"one","type":"text"}
you said {"text":"two","type":"text"}
you said {"text":"three","type":"text"}`

func TestSampleAllAnswersEachForItself(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		synctest.Test(t, func(t *testing.T) {
			var answers []server.Answer
			r := inMemory(t, server.Options{}, server.Tool{Name: "some", Handler: func(s *server.Session) (any, error) {
				require.Empty(t, s.SampleAll())
				answers = s.SampleAll(s.Ask("one", server.Tool{Name: "t"}), s.Ask("two"), s.Ask("three").After(nil, nil), s.Ask("four"))
				return nil, nil
			}})
			r.converse(revision, sampling, "some", echo(t))
			require.Len(t, answers, 4)
			require.ErrorIs(t, answers[0].Err, server.ErrUndeclared)
			require.Contains(t, string(answers[1].Result), "two")
			require.ErrorContains(t, answers[2].Err, "the client's answer cannot be read")
			require.Contains(t, string(answers[3].Result), "four")
		})
	}
}

func TestSamplesOnGoroutinesOfTheirOwn(t *testing.T) {
	for _, revision := range []server.Revision{server.V20251125, server.V20260728} {
		t.Run(string(revision), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "many", Mark: "m", Handler: func(s *server.Session) (any, error) {
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
				text := r.converse(revision, sampling, "many", echo(t)).call(t).text(t)
				for i, line := range strings.Split(text, "\n") {
					require.Contains(t, line, fmt.Sprintf("number %d", i))
				}
			})
		})
	}
}

func TestAPlayMayChooseItsRequestIDs(t *testing.T) {
	ids := []string{`1`, `"1"`, `"a-b"`, `9007199254740991`}
	ask := server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
		for _, id := range ids {
			if _, err := s.SampleAs(json.RawMessage(id), s.Ask("?")); err != nil {
				return nil, err
			}
		}
		return "done", nil
	}}
	asked := func(w *wire, callID int) []string {
		var got []string
		for call := w.call(callID, "ask"); ; {
			m := call.next()
			if m.Method == "" {
				require.Equal(t, "done", m.call(t).text(t))
				return got
			}
			got = append(got, string(m.ID))
			require.Equal(t, http.StatusAccepted, w.post(m.response(`{"role":"assistant","model":"m","content":{"type":"text","text":"!"}}`)).StatusCode)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}, ask).legacy(server.V20251125, sampling)
		require.Equal(t, ids, asked(w, 7))
		require.Equal(t, []string{"1000005", "1000006", "1000007", "1000008"}, asked(w, 8), "in a session, no id is used twice")
	})
	synctest.Test(t, func(t *testing.T) {
		w := inMemory(t, server.Options{}, ask).legacy(server.V20251125, sampling)
		require.Equal(t, []string{"1000001", "1000002", `"a-b"`, "9007199254740991"}, asked(w, 1), "1 is what the client itself waits for")
	})
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, ask)
		require.Equal(t, "done", r.converse(server.V20260728, sampling, "ask", echo(t)).call(t).text(t), "the second era has no ids to choose")
	})
}

func TestARequestIDIsAStringOrANumber(t *testing.T) {
	eras(t, func(t *testing.T, start func(...server.Tool) *rig, call func(*rig, string, string) message) {
		ids := []string{"", "null", "{}", "[1]", "true", "1a"}
		r := start(server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			for _, id := range ids {
				_, err := s.SampleAs(json.RawMessage(id), s.Ask("?"))
				require.ErrorIs(t, err, server.ErrInvalid)
			}
			return nil, nil
		}})
		for range ids {
			r.expected = append(r.expected, "the request id must be a string or a number, got ")
		}
		require.Empty(t, call(r, "ask", "").call(t).Content)
	})
}

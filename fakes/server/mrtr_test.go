package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
)

// sampleRequest is an input request that is valid.
var sampleRequest = json.RawMessage(`{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":1}}`)

// requires is a play that asks for input once and returns what the retry brought.
func requires(in server.Input) server.Handler {
	return func(s *server.Session) (any, error) {
		retry, err := s.InputRequired(in)
		if err != nil {
			return nil, err
		}
		return fmt.Sprintf("%s state %s", retry.Responses["k"], retry.State), nil
	}
}

func state(s string) *string { return &s }

func TestInputRequiredIsSentAsItIs(t *testing.T) {
	for name, c := range map[string]struct {
		in      server.Input
		want    string // the result, without its _meta
		hostile bool
		retry   string
		got     string
	}{
		"request and state": {server.Input{Requests: map[string]any{"k": sampleRequest}, State: state("s")},
			`"inputRequests":{"k":` + string(sampleRequest) + `},"requestState":"s"`, false, `,"inputResponses":{"k":1},"requestState":"s"`, `1 state "s"`},
		"no state, known by its key": {server.Input{Requests: map[string]any{"k": sampleRequest}},
			`"inputRequests":{"k":` + string(sampleRequest) + `}`, false, `,"inputResponses":{"k":{"a":1}}`, `{"a":1} state `},
		"no state, other keys beside it": {server.Input{Requests: map[string]any{"k": sampleRequest, "l": sampleRequest}},
			`"inputRequests":{"k":` + string(sampleRequest) + `,"l":` + string(sampleRequest) + `}`, false, `,"inputResponses":{"x":0,"l":2,"k":1}`, `1 state `},
		"empty state": {server.Input{State: state("")}, `"requestState":""`, false, `,"requestState":""`, ` state ""`},
		"state only, strange": {server.Input{State: state("日本 \"\\\u2028<&>\x00😀" + strings.Repeat("x", 1<<16))},
			`"requestState":"日本 \"\\\u2028<&>\u0000😀` + strings.Repeat("x", 1<<16) + `"`, false,
			`,"requestState":"日本 \"\\\u2028<&>\u0000\ud83d\ude00` + strings.Repeat("x", 1<<16) + `"`,
			` state "日本 \"\\\u2028<&>\u0000\ud83d\ude00` + strings.Repeat("x", 1<<16) + `"`},
		"state that is no UTF-8": {server.Input{State: state("a\xffb")}, `"requestState":"a\ufffdb"`, false, `,"requestState":"a\ufffdb"`, ` state "a\ufffdb"`},
		"undeclared": {server.Input{Requests: map[string]any{"k": json.RawMessage(`{"method":"roots/list"}`)}, State: state("s")},
			`"inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"`, true, `,"inputResponses":{"k":1},"requestState":"s"`, `1 state "s"`},
		"invalid": {server.Input{Requests: map[string]any{"k": nil, "j": json.RawMessage(`{ }`)}, State: state("s")},
			`"inputRequests":{"j":{ },"k":null},"requestState":"s"`, true, `,"inputResponses":{},"requestState":"s"`, ` state "s"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, responses := range []server.Responses{server.Auto, server.SSE} {
				synctest.Test(t, func(t *testing.T) {
					r := inMemory(t, server.Options{Responses: responses}, server.Tool{Name: "tool", Handler: requires(c.in)})
					w := r.modern()
					reply := w.callModern(1, "tool", sampling, "")
					require.Equal(t, responses == server.SSE, reply.isStream())
					asked := reply.last()
					require.Equal(t, `{"resultType":"input_required",`+c.want+`,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}}`, string(asked.Result))
					require.Equal(t, c.hostile, len(hostileFrames(r)) == 1)
					got := w.callModern(2, "tool", sampling, c.retry).last()
					require.Equal(t, "2", string(got.ID))
					require.Equal(t, c.got, got.call(t).text(t))
				})
			}
		})
	}
}

func TestInputThatCannotBeWrittenIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: requires(server.Input{Requests: map[string]any{"k": make(chan int)}})})
		got := r.modern().callModern(1, "tool", sampling, "").last().call(t)
		require.True(t, got.IsError)
		require.Equal(t, "input request k: "+server.ErrInvalid.Error()+": json: unsupported type: chan int", got.text(t))
	})
}

func TestAnInputRequiredThatAsksForNothingEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var plays atomic.Int32
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: func(s *server.Session) (any, error) {
			plays.Add(1)
			_, err := s.InputRequired(server.Input{})
			require.True(t, server.Refused(err))
			return nil, err
		}})
		w := r.modern()
		require.Equal(t, `{"resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-conform","version":"1"}}}`,
			string(w.callModern(1, "tool", sampling, "").last().Result))
		w.callModern(2, "tool", sampling, "").last() // nothing tells a retry of it from another call
		require.EqualValues(t, 2, plays.Load())
		require.NotNil(t, w.callModern(3, "tool", sampling, `,"inputResponses":{}`).last().Error)
	})
}

const notWaited = "no call waits for this retry: its requestState or input keys are unknown, or were used before"

func TestARetryThatNoCallWaitsForIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ retry, want string }{
		"unknown state":                  {`,"inputResponses":{"k":1},"requestState":"t"`, notWaited},
		"state left out":                 {`,"inputResponses":{"k":1}`, notWaited},
		"null for a state":               {`,"inputResponses":{"k":1},"requestState":null`, notWaited},
		"no string for a state":          {`,"inputResponses":{"k":1},"requestState":["s"]`, notWaited},
		"responses that are no object":   {`,"inputResponses":[1],"requestState":"s"`, "inputResponses of tools/call must be an object, got [1]"},
		"responses that are null":        {`,"inputResponses":null,"requestState":"s"`, "inputResponses of tools/call must be an object, got null"},
		"an object's worth of no string": {`,"inputResponses":{},"requestState":{"s":1}`, notWaited},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: requires(server.Input{Requests: map[string]any{"k": sampleRequest}, State: state("s")})},
					server.Tool{Name: "empty", Handler: requires(server.Input{Requests: map[string]any{"k": sampleRequest}, State: state("")})})
				w := r.modern()
				w.callModern(0, "empty", sampling, "").last()
				w.callModern(1, "tool", sampling, "").last()
				for _, tool := range []string{"tool", "empty"} {
					reply := w.callModern(2, tool, sampling, c.retry)
					require.Equal(t, http.StatusOK, reply.StatusCode)
					require.Equal(t, &server.RPCError{Code: -32602, Message: c.want}, reply.last().Error)
				}
				right := w.callModern(3, "tool", sampling, `,"inputResponses":{"k":1},"requestState":"s"`).last()
				require.Equal(t, `1 state "s"`, right.call(t).text(t), "the call still waits")
			})
		})
	}
}

func TestARetryBelongsToTheCallThatItContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: ask})
		w := r.modern()
		w.callModern(1, "ask", sampling, "").last()
		second := w.callModern(2, "ask", sampling, "").last()
		w.callModern(3, "ask", sampling, retryOf(t, second, echo(t))).last()
		require.Equal(t, []string{"client tools/call", "mark handler-started", "server input_required",
			"client tools/call (call 2)", "mark handler-started (call 2)", "server input_required (call 2)", "client tools/call (call 2)", "mark handler-ended (call 2)", "server result (call 2)"}, r.story("ask"))
	})
}

func TestAStateThatNobodySentIsNoWayBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: requires(server.Input{Requests: map[string]any{"k": sampleRequest}})})
		w := r.modern()
		w.callModern(1, "tool", sampling, "").last()
		for _, invented := range []string{`""`, `"k"`, `null`} {
			require.Equal(t, notWaited, w.callModern(2, "tool", sampling, `,"inputResponses":{"k":1},"requestState":`+invented).last().Error.Message, invented)
		}
		require.Equal(t, "1 state ", w.callModern(3, "tool", sampling, `,"inputResponses":{"k":1}`).last().call(t).text(t))
	})
}

func TestARetryCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "tool", Handler: requires(server.Input{Requests: map[string]any{"k": sampleRequest}, State: state("s")})})
		w := r.modern()
		w.callModern(1, "tool", sampling, "").last()
		retry := `,"inputResponses":{"k":1},"requestState":"s"`
		require.Nil(t, w.callModern(2, "tool", sampling, retry).last().Error)
		for id := 3; id < 5; id++ {
			require.Equal(t, &server.RPCError{Code: -32602, Message: notWaited}, w.callModern(id, "tool", sampling, retry).last().Error)
		}
		require.Equal(t, []string{"client tools/call", "mark handler-started", "server input_required", "client tools/call", "mark handler-ended", "server result",
			"client tools/call", "server error", "client tools/call", "server error"}, r.story("tool"), "the duplicates are the call's, not calls of their own")
	})
}

func TestARetryForAnotherToolIsNotTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := server.Input{Requests: map[string]any{"k": sampleRequest}, State: state("s")}
		r := inMemory(t, server.Options{}, server.Tool{Name: "one", Handler: requires(in)}, server.Tool{Name: "other", Handler: always(nil, nil)})
		w := r.modern()
		w.callModern(1, "one", sampling, "").last()
		retry := `,"inputResponses":{"k":1},"requestState":"s"`
		require.Equal(t, notWaited, w.callModern(2, "other", sampling, retry).last().Error.Message)
		require.Equal(t, []string{"client tools/call", "server error"}, r.story("other"))
		require.Equal(t, `1 state "s"`, w.callModern(3, "one", sampling, retry).last().call(t).text(t))
	})
}

func TestToolsMayUseTheSameStatesAndKeys(t *testing.T) {
	for name, in := range map[string]server.Input{
		"state": {Requests: map[string]any{"k": sampleRequest}, State: state("")},
		"key":   {Requests: map[string]any{"k": sampleRequest}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, server.Options{}, server.Tool{Name: "one", Handler: requires(in)}, server.Tool{Name: "other", Handler: requires(in)})
				w := r.modern()
				calls := []string{"one", "other", "one"}
				for i, tool := range calls {
					w.callModern(i, tool, sampling, "").last()
				}
				for i, tool := range calls {
					retry := fmt.Sprintf(`,"inputResponses":{"k":%d}`, i)
					if in.State != nil {
						retry += `,"requestState":""`
					}
					require.Contains(t, w.callModern(10+i, tool, sampling, retry).last().call(t).text(t), fmt.Sprint(i))
				}
			})
		})
	}
}

func TestAMissingKeyIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []server.Answer
		r := inMemory(t, server.Options{}, server.Tool{Name: "two", Handler: func(s *server.Session) (any, error) {
			answers = s.SampleAll(s.Ask("one"), s.Ask("two"))
			return nil, nil
		}})
		w := r.modern()
		asked := w.callModern(1, "two", sampling, "").last().call(t)
		w.callModern(2, "two", sampling, fmt.Sprintf(`,"inputResponses":{"two-2":{}},"requestState":%q`, *asked.RequestState)).last()
		require.EqualError(t, answers[0].Err, "the client did not fulfil the input request: the retry has no response under two-1")
		require.True(t, server.Refused(answers[0].Err))
		require.NoError(t, answers[1].Err)
	})
}

func TestACallThatIsNeverRetriedEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("?"))
			ended <- err
			return nil, err
		}})
		r.modern().callModern(1, "ask", sampling, "").last()
		synctest.Wait()
		require.Empty(t, ended)
		require.NoError(t, r.Close())
		err := <-ended
		require.EqualError(t, err, "the client did not fulfil the input request: no retry came")
		require.True(t, server.Refused(err))
	})
}

func TestOfManyCallsThatAreNeverRetriedTheOldestEnd(t *testing.T) {
	const most = 1000
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("?"))
			if err != nil {
				require.True(t, server.Refused(err))
				ended.Add(1)
			}
			return string(result), err
		}})
		w := r.modern()
		first := w.callModern(1, "ask", sampling, "").last()
		second := w.callModern(2, "ask", sampling, "").last()
		for id := 3; id <= most+1; id++ {
			w.callModern(id, "ask", sampling, "").last()
		}
		synctest.Wait()
		require.EqualValues(t, 1, ended.Load())
		retry := func(id int, of message) message {
			return w.callModern(id, "ask", sampling, retryOf(t, of, func(string) string { return sampled("yes") })).last()
		}
		require.Equal(t, notWaited, retry(most+2, first).Error.Message)
		require.Equal(t, sampled("yes"), retry(most+3, second).call(t).text(t))
	})
}

func TestEachRoundHasWhatItsRequestSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			if _, err := s.Sample(s.Ask("one")); err != nil {
				return nil, err
			}
			if err := s.Progress(1, 0); err != nil {
				return nil, err
			}
			_, err := s.Sample(s.Ask("two"))
			return nil, err
		}})
		w := r.modern()
		call := func(id int, capabilities, more, tied string) *reply {
			return w.post(request(id, "tools/call", fmt.Sprintf(`{"name":"ask"%s,%s}`, more, meta(capabilities, `"tied":`+tied+`,"progressToken":`+tied+`,`))),
				"Mcp-Method", "tools/call", "Mcp-Name", "ask")
		}
		first := call(1, sampling, "", "1").last()
		require.Contains(t, first.raw, `"_meta":{"tied":1}`)
		second := call(2, sampling, retryOf(t, first, echo(t)), "2")
		require.Equal(t, `{"progressToken":2,"progress":1}`, string(second.next().Params), "the token is the retry's")
		asked := second.last()
		require.Contains(t, asked.raw, `"_meta":{"tied":2}`)

		third := call(3, nothing, retryOf(t, asked, echo(t)), "3")
		require.Nil(t, third.last().Error)
	})
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			_, _ = s.Sample(s.Ask("one"))
			return s.Sample(s.Ask("two"))
		}})
		w := r.modern()
		first := w.callModern(1, "ask", sampling, "").last()
		reply := w.callModern(2, "ask", nothing, retryOf(t, first, echo(t)))
		require.Equal(t, http.StatusBadRequest, reply.StatusCode, "the capability is gone: no request relies on an earlier one")
		got := reply.last()
		require.Equal(t, -32021, got.Error.Code)
		require.Equal(t, "2", string(got.ID))
	})
}

func TestAPlayThatReturnsWhileItIsParkedAnswersNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{})
		r := inMemory(t, server.Options{}, server.Tool{Name: "ask", Handler: func(s *server.Session) (any, error) {
			go func() {
				_, err := s.Sample(s.Ask("?"))
				require.True(t, server.Refused(err))
				close(asked)
			}()
			synctest.Wait()
			return "I go", nil
		}})
		w := r.modern()
		first := w.callModern(1, "ask", sampling, "").last()
		<-asked
		require.Equal(t, notWaited, w.callModern(2, "ask", sampling, retryOf(t, first, echo(t))).last().Error.Message)
		require.Equal(t, []string{"client tools/call", "mark handler-started", "server input_required", "mark handler-ended", "server result lost", "client tools/call", "server error"}, r.story("ask"))
	})
}

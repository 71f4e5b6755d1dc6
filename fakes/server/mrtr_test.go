package server_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/trace"
)

// sampleRequest is a valid input request.
const sampleRequest = `{"method":"sampling/createMessage","params":{` + oneMessage + `}}`

// requires is a handler that requires input once and returns what the retry brings.
func requires(in server.InputRequiredResult) server.Handler {
	return func(s *server.Session) (any, error) {
		retry, err := s.InputRequired(in)
		if err != nil {
			return nil, err
		}
		return fmt.Sprintf("%s state %s", retry.Responses["k"], retry.State), nil
	}
}

// input is an InputRequiredResult with a valid input request under each key. State may be nil.
func input(state any, keys ...string) server.InputRequiredResult {
	in := server.InputRequiredResult{}
	if s, ok := state.(string); ok {
		in.State = &s
	}
	if keys != nil {
		in.Requests = map[string]any{}
	}
	for _, key := range keys {
		in.Requests[key] = json.RawMessage(sampleRequest)
	}
	return in
}

func TestInputRequiredIsSentUnchanged(t *testing.T) {
	roots, invalid := input("s"), input("s")
	roots.Requests = map[string]any{"k": json.RawMessage(`{"method":"roots/list"}`)}
	invalid.Requests = map[string]any{"k": nil, "j": json.RawMessage(`{ }`)}
	long := strings.Repeat("x", 1<<16)
	for name, c := range map[string]struct {
		in      server.InputRequiredResult
		want    string // the result, without resultType and _meta
		hostile bool
		retry   string
		got     string
	}{
		"request and state": {input("s", "k"), `"inputRequests":{"k":` + sampleRequest + `},"requestState":"s"`, false,
			`"inputResponses":{"k":1},"requestState":"s"`, `1 state "s"`},
		"key without state": {input(nil, "k"), `"inputRequests":{"k":` + sampleRequest + `}`, false,
			`"inputResponses":{"k":{"a":1}}`, `{"a":1} state `},
		"one of several keys": {input(nil, "k", "l"),
			`"inputRequests":{"k":` + sampleRequest + `,"l":` + sampleRequest + `}`, false,
			`"inputResponses":{"x":0,"l":2,"k":1}`, `1 state `},
		"empty state": {input(""), `"requestState":""`, false, `"requestState":""`, ` state ""`},
		"odd state": {input("日本 \"\\\u2028<&>\x00😀" + long),
			`"requestState":"日本 \"\\\u2028<&>\u0000😀` + long + `"`, false,
			`"requestState":"日本 \"\\\u2028<&>\u0000\ud83d\ude00` + long + `"`,
			` state "日本 \"\\\u2028<&>\u0000\ud83d\ude00` + long + `"`},
		"state with invalid UTF-8": {input("a\xffb"), `"requestState":"a\ufffdb"`, false, `"requestState":"a\ufffdb"`,
			` state "a\ufffdb"`},
		"undeclared": {roots, `"inputRequests":{"k":{"method":"roots/list"}},"requestState":"s"`, true,
			`"inputResponses":{"k":1},"requestState":"s"`, `1 state "s"`},
		"invalid": {invalid, `"inputRequests":{"j":{ },"k":null},"requestState":"s"`, true,
			`"inputResponses":{},"requestState":"s"`, ` state "s"`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, responses := range []server.ResponseMode{server.Auto, server.SSE} {
				synctest.Test(t, func(t *testing.T) {
					r := startWith(t, server.Options{ResponseMode: responses}, tool("tool", requires(c.in)))
					client := r.modern(sampling)
					reply := client.call(1, "tool")
					require.Equal(t, responses == server.SSE, reply.isStream())
					require.Equal(t, `{"resultType":"input_required",`+c.want+strings.TrimPrefix(ourMeta,
						`"resultType":"complete"`)+`}`,
						string(reply.last().Result))
					require.Equal(t, c.hostile, len(r.hostile()) == 1)
					got := client.call(2, "tool", c.retry).last()
					require.Equal(t, "2", string(got.ID))
					require.Equal(t, c.got, got.text(t))
				})
			}
		})
	}
}

func TestInputThatDoesNotMarshalIsInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unencodable := server.InputRequiredResult{Requests: map[string]any{"k": make(chan int)}}
		c := start(t, tool("tool", requires(unencodable))).modern(sampling)
		got := c.call(1, "tool").last()
		require.True(t, got.call(t).IsError)
		require.Contains(t, got.text(t), "input request k: "+server.ErrInvalid.Error())
	})
}

func TestInputRequiredWithoutRequestsOrStateWaitsForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int32
		c := start(t, tool("tool", func(s *server.Session) (any, error) {
			runs.Add(1)
			_, err := s.InputRequired(server.InputRequiredResult{})
			require.True(t, server.Refused(err))
			return nil, err
		})).modern(sampling)
		c.call(1, "tool").last()
		c.call(2, "tool").last() // its retry would look like another call
		require.EqualValues(t, 2, runs.Load())
		require.NotNil(t, c.call(3, "tool", `"inputResponses":{}`).last().Error)
	})
}

const unknownRetry = "no call waits for this retry"

// requireUnknownRetry requires the error for a retry without a call.
func (c *httpClient) requireUnknownRetry(id int, tool, retry string) {
	c.t.Helper()
	c.call(id, tool, retry).requireError(200, -32602, unknownRetry)
}

func TestUnknownRetryIsAnError(t *testing.T) {
	for name, c := range map[string]struct{ retry, want string }{
		"unknown state": {`"inputResponses":{"k":1},"requestState":"t"`, unknownRetry},
		"no state":      {`"inputResponses":{"k":1}`, unknownRetry},
		"null state":    {`"inputResponses":{"k":1},"requestState":null`, unknownRetry},
		"array state":   {`"inputResponses":{"k":1},"requestState":["s"]`, unknownRetry},
		"object state":  {`"inputResponses":{},"requestState":{"s":1}`, unknownRetry},
		"array of responses": {`"inputResponses":[1],"requestState":"s"`,
			"inputResponses of tools/call must be an object, found [1]"},
		"null responses": {`"inputResponses":null,"requestState":"s"`, "found null"},
	} {
		inBubble(t, name, func(t *testing.T) {
			client := start(t, tool("tool", requires(input("s", "k"))),
				tool("empty", requires(input("", "k")))).modern(sampling)
			client.call(0, "empty").last()
			client.call(1, "tool").last()
			for _, tool := range []string{"tool", "empty"} {
				client.call(2, tool, c.retry).requireError(200, -32602, c.want)
			}
			require.Equal(t, `1 state "s"`, client.call(3, "tool",
				`"inputResponses":{"k":1},"requestState":"s"`).text(), "the call still waits")
		})
	}
}

func TestRetryWithAStateIsNotMatchedByItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("tool", requires(input(nil, "k")))).modern(sampling)
		c.call(1, "tool").last()
		for _, state := range []string{`""`, `"k"`, `null`} {
			c.requireUnknownRetry(2, "tool", `"inputResponses":{"k":1},"requestState":`+state)
		}
		require.Equal(t, "1 state ", c.call(3, "tool", `"inputResponses":{"k":1}`).text())
	})
}

func TestRetryBelongsToItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", ask))
		c := r.modern(sampling)
		c.call(1, "ask").last()
		second := c.call(2, "ask").last()
		again := retry(t, second, echo(t))
		c.call(3, "ask", again).last()
		c.requireUnknownRetry(4, "ask", again)
		r.requireStory("ask", "call, start, input, call (call 2), start (call 2), input (call 2), "+
			"call (call 2), end (call 2), server result (call 2), call (call 2), server error (call 2)",
			"a duplicate is not a call of its own")
	})
}

func TestRetryOfAnotherToolIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("one", requires(input("s", "k"))), tool("other", always(nil, nil)))
		c := r.modern(sampling)
		c.call(1, "one").last()
		const retry = `"inputResponses":{"k":1},"requestState":"s"`
		c.requireUnknownRetry(2, "other", retry)
		r.requireStory("other", "call, server error")
		require.Equal(t, `1 state "s"`, c.call(3, "one", retry).text())
	})
}

func TestToolsMayUseTheSameStatesAndKeys(t *testing.T) {
	for _, in := range []server.InputRequiredResult{input("", "k"), input(nil, "k")} {
		synctest.Test(t, func(t *testing.T) {
			c := start(t, tool("one", requires(in)), tool("other", requires(in))).modern(sampling)
			calls := []string{"one", "other", "one"}
			for i, tool := range calls {
				c.call(i, tool).last()
			}
			for i, tool := range calls {
				retry := fmt.Sprintf(`"inputResponses":{"k":%d}`, i)
				if in.State != nil {
					retry += `,"requestState":""`
				}
				require.Contains(t, c.call(10+i, tool, retry).text(), fmt.Sprint(i))
			}
		})
	}
}

func TestMissingKeyIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers []server.Response
		c := start(t, tool("two",
			does(func(s *server.Session) { answers = s.SampleAll(s.Ask("one"), s.Ask("two")) }))).modern(sampling)
		asked := c.call(1, "two").last().call(t)
		c.call(2, "two", fmt.Sprintf(`"inputResponses":{"two-2":{}},"requestState":%q`, *asked.RequestState)).last()
		require.ErrorContains(t, answers[0].Err, "two-1")
		require.True(t, server.Refused(answers[0].Err))
		require.NoError(t, answers[1].Err)
	})
}

func TestOldestOfManyCallsWithoutARetryEnds(t *testing.T) {
	const most = 1000
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Int32
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			result, err := s.Sample(s.Ask("?"))
			if err != nil {
				require.True(t, server.Refused(err))
				ended.Add(1)
			}
			return string(result), err
		})).modern(sampling)
		first, second := c.call(1, "ask").last(), c.call(2, "ask").last()
		for id := 3; id <= most+1; id++ {
			c.call(id, "ask").last()
		}
		synctest.Wait()
		require.EqualValues(t, 1, ended.Load())
		c.requireUnknownRetry(most+2, "ask", retry(t, first, says("yes")))
		require.Equal(t, sampled("yes"), c.call(most+3, "ask", retry(t, second, says("yes"))).text())
	})
}

func TestEachRoundUsesTheMetaOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, tool("ask", func(s *server.Session) (any, error) {
			_, err := s.Sample(s.Ask("one"))
			require.NoError(t, err)
			require.NoError(t, s.Progress(1, 0))
			return s.Sample(s.Ask("two"))
		})).modern(sampling)
		call := func(id int, more ...string) *reply {
			c.meta = fmt.Sprintf(`"tied":%d,"progressToken":%d`, id, id)
			return c.call(id, "ask", more...)
		}
		first := call(1).last()
		require.Contains(t, first.raw, `"_meta":{"tied":1}`)
		round := call(2, retry(t, first, echo(t)))
		require.Equal(t, `{"progressToken":2,"progress":1}`, string(round.next().Params))
		second := round.last()
		require.Contains(t, second.raw, `"_meta":{"tied":2}`)
		require.Nil(t, call(3, retry(t, second, echo(t))).last().Error)

		other := call(4).last()
		c.capabilities = nothing
		got := call(5, retry(t, other, echo(t)))
		got.next() // progress
		require.Equal(t, -32021, got.last().Error.Code, "capabilities of an earlier round do not count")
	})
}

func TestHandlerThatReturnsBeforeTheRetryLeavesItUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{})
		r := start(t, tool("ask", does(func(s *server.Session) {
			go func() {
				_, err := s.Sample(s.Ask("?"))
				require.True(t, server.Refused(err))
				close(asked)
			}()
			synctest.Wait()
		})))
		c := r.modern(sampling)
		first := c.call(1, "ask").last()
		<-asked
		c.requireUnknownRetry(2, "ask", retry(t, first, echo(t)))
		r.requireStory("ask", "call, start, input, end, server result lost, call, server error")
	})
}

func TestARetryWithoutAVersionIsOneOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, tool("ask", ask))
		c := r.modern(sampling)
		asked := c.call(1, "ask").last()
		reply := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask",` +
			retry(t, asked, says("a cat")) + `}}`)
		require.Equal(t, 400, reply.StatusCode)
		events := r.trace()
		i := slices.IndexFunc(events, func(e trace.Event) bool {
			return e.Frame != nil && strings.Contains(string(e.Frame.Raw), "inputResponses")
		})
		require.Equal(t, 1, events[i].Call, "the retry belongs to the call")
	})
}

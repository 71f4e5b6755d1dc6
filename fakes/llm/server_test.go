package llm

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

const (
	chatPath = "/v1/chat/completions"
	hello    = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`
)

// start starts a server until the end of the test.
func start(t testing.TB, o Options, rules ...*Rule) *Server {
	t.Helper()
	s, err := Start(o, rules...)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// post sends a request to a server's handler without a network.
func post(s *Server, path, body string) *httptest.ResponseRecorder {
	return serve(s, httptest.NewRequest("POST", "http://127.0.0.1"+path, strings.NewReader(body)))
}

func serve(s *Server, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestEachDialectHasItsOwnShape(t *testing.T) {
	s := start(t, Options{}, When(LastUser("hello")).Reply(Text("hi")).Model("big"))
	require.Equal(t, s.URL+"/native", s.Native())
	require.Equal(t, s.URL+"/v1", s.OpenAI())
	require.Equal(t, s.URL, s.Anthropic())
	require.Equal(t, s.URL+"/ollama", s.Ollama())
	require.Equal(t, s.URL, s.Gemini())
	require.Len(t, s.BaseURLs(), len(dialects.Codecs))
	require.Equal(t, s.Native(), s.BaseURLs()["native"])

	ask := func(url, body string) (string, *http.Response) {
		r, err := http.NewRequest("POST", url, strings.NewReader(body))
		require.NoError(t, err)
		r.Header = http.Header{"X-Api-Key": {"sk"}, "Anthropic-Version": {"2023-06-01"}}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(answer), resp
	}
	body, _ := ask(s.Native(), `{"messages":[{"role":"user","content":{"type":"text","text":"hello"}}]}`)
	require.Equal(t, `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"big","stopReason":"endTurn"}`,
		body)
	body, resp := ask(s.OpenAI()+"/chat/completions", hello)
	require.Contains(t, body, `"content": "hi"`)
	require.EqualValues(t, len(body), resp.ContentLength)
	body, resp = ask(s.OpenAI()+"/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1))
	require.Contains(t, body, `"delta":{"content":"hi"}`)
	require.True(t, strings.HasSuffix(body, "data: [DONE]\n\n"))
	require.Equal(t, "text/event-stream; charset=utf-8", resp.Header.Get("Content-Type"))
	body, _ = ask(s.Anthropic()+"/v1/messages", strings.Replace(hello, "{", `{"max_tokens":7,`, 1))
	require.Contains(t, body, `"content":[{"type":"text","text":"hi"}]`)

	requests := s.Requests()
	var dialects []string
	for _, request := range requests {
		dialects = append(dialects, request.Dialect)
	}
	require.Equal(t, []string{"native", "openai-chat", "openai-chat", "anthropic"}, dialects)
	require.Empty(t, s.Unused())
	for i, x := range s.Journal() {
		require.EqualValues(t, i+1, x.Number)
		require.Equal(t, `rule 1, When(LastUser("hello")) of the server`, x.Rule)
		require.Equal(t, 200, x.Status)
		require.False(t, x.HungUp || x.Began.IsZero() || x.Ended.IsZero())
		require.Equal(t, "POST", x.Method)
		require.Equal(t, string(requests[i].Body), string(x.Body))
	}
}

var longRequest = `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 2000) + `"}]}`

func chatError(text string) string { return `"message": "` + text }

var unserved = []struct {
	name, method, path, host string
	header                   http.Header
	body                     string
	status                   int
	want                     string
}{
	{"another path", "POST", "/v1/v1/chat/completions", "127.0.0.1", nil, hello, 404,
		chatError("POST /v1/v1/chat/completions is not served: is the base URL wrong? That of openai-chat is the " +
			"address of this server/v1")},
	{"an unknown path", "POST", "/v1/images", "127.0.0.1", nil, hello, 404, chatError("POST /v1/images is not served: " +
		"there are POST /v1/chat/completions (openai-chat), POST /v1/responses (openai-responses), ")},
	{"an unknown path of Anthropic", "POST", "/v1/messages/batches", "127.0.0.1", nil, hello, 404,
		`{"type":"error","error":{"type":"not_found_error","message":"POST /v1/messages/batches is not served`},
	{"an unknown path with its header", "GET", "/v1/files", "127.0.0.1", http.Header{"Anthropic-Version": {"x"}}, "", 404,
		`{"type":"error","error":{"type":"not_found_error","message":"GET /v1/files is not served`},
	{"an unknown path of Gemini", "GET", "/v1beta/files", "127.0.0.1", nil, "", 404, `"status": "NOT_FOUND"`},
	{"an unknown path of Ollama", "POST", "/api/generate", "127.0.0.1", nil, hello, 404,
		`{"error":"POST /api/generate is not served: there are POST /api/chat (ollama; its base URL ends in /ollama)"}`},
	{"an unknown path of xAI", "POST", "/xai/v1/images", "127.0.0.1", nil, hello, 404, `"code": "not_served"`},
	{"a path of no API", "POST", "/images", "127.0.0.1", nil, hello, 404,
		chatError("POST /images is not served: paths begin with /native, /v1, ")},
	{"a path that is not clean", "POST", "/v1//chat/completions", "127.0.0.1", nil, hello, 404,
		"POST /v1//chat/completions is not served"},
	{"a slash too many", "POST", chatPath + "/", "127.0.0.1", nil, hello, 404, "is not served: there are"},
	{"another method", "GET", chatPath, "127.0.0.1", nil, "", 405,
		chatError("GET /v1/chat/completions is not served: expected POST")},
	{"another host", "POST", chatPath, "evil.example:80", nil, hello, 403,
		`host \"evil.example:80\" is not served: this is a test's model server`},
	{"localhost", "POST", chatPath, "LocalHost:80", nil, hello, 200, ""},
	{"IPv6", "POST", chatPath, "[::1]:80", nil, hello, 200, ""},
	{"IPv6 without a port", "POST", chatPath, "[::1]", nil, hello, 200, ""},
	{"no JSON", "POST", chatPath, "127.0.0.1", nil, "hello", 400,
		chatError("We could not parse the JSON body")},
	{"no JSON, native", "POST", "/native", "127.0.0.1", nil, "hello", 400,
		`{"error":{"code":-32602,"message":"the body is not a JSON object`},
	{"compressed", "POST", chatPath, "127.0.0.1", http.Header{"Content-Encoding": {"gzip"}}, "\x1f\x8b", 415,
		chatError(`the body has the content encoding \"gzip\", which the scripted model does not undo`)},
	{"called uncompressed", "POST", chatPath, "127.0.0.1", http.Header{"Content-Encoding": {"identity"}}, hello, 200, ""},
	{"too large", "POST", chatPath, "127.0.0.1", nil, longRequest, 413,
		chatError("the body is larger than the scripted model's limit of 1000 bytes")},
	{"too large, native", "POST", "/native", "127.0.0.1", nil, longRequest, 413,
		`{"error":{"code":-32603,"message":"the body is larger`},
	{"refused", "POST", chatPath, "127.0.0.1", nil, `{"model":"m","messages":[{"role":"human","content":"hello"}]}`, 400,
		chatError(`Invalid value: 'human'.`)},
	{"missed", "POST", chatPath, "127.0.0.1", nil, `{"model":"m","messages":[{"role":"user","content":"bye"}]}`, 404,
		chatError(`no rule of the server matches this request; the nearest of 1 is rule 1, When(LastUser(\"hello\")): ` +
			`the last user turn is \"bye\", expected it to contain \"hello\"`)},
	{"missed, native", "POST", "/native", "127.0.0.1", nil, `{}`, 404,
		`{"error":{"code":-32603,"message":"no rule of the server matches`},
}

func TestUnservedRequests(t *testing.T) {
	for _, c := range unserved {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, Options{MaxBody: 1000}, When(LastUser("hello")).Reply())
			r := httptest.NewRequest(c.method, "http://x"+c.path, strings.NewReader(c.body))
			r.Host = c.host
			for name, values := range c.header {
				r.Header[name] = values
			}
			w := serve(s, r)
			require.Equal(t, c.status, w.Code)
			require.Contains(t, w.Body.String(), c.want)
			require.True(t, strings.HasPrefix(w.Header().Get("Content-Type"), "application/json"))
			x := s.Journal()[0]
			require.Equal(t, c.status, x.Status)
			require.Equal(t, c.status == 200, x.Rule != "")
			require.Equal(t, c.status == 413, x.Body == nil && c.body != "", "nothing of a large body is kept")
			require.Equal(t, strings.HasPrefix(c.name, "missed"), x.Miss != "")
			require.Equal(t, c.status != 200 && x.Miss == "", x.Refused != "")
			require.Equal(t, c.status == 405, w.Header().Get("Allow") == "POST")
			if c.status != 200 && (x.Dialect != "native" || x.Miss != "") {
				require.Equal(t, "false", w.Header().Get("X-Should-Retry"))
			}
			if x.Dialect == "" {
				require.Nil(t, x.Request)
			}
		})
	}
}

func TestLenientServerSkipsTheProvidersRules(t *testing.T) {
	s := start(t, Options{Lenient: true}, When().Reply(Text("fine")))
	require.Contains(t, post(s, chatPath, `{"messages":[{"role":"human"}],"unheard_of":1}`).Body.String(), "fine")
	require.Equal(t, 400, post(s, chatPath, `{"messages":7}`).Code, "what cannot be read cannot be answered")
}

func TestFailRules(t *testing.T) {
	s := start(t, Options{},
		When().Fail(&Error{Status: 429, Message: "slow down", Header: http.Header{"retry-after": {"3"}}}).Times(1))
	w := post(s, chatPath, hello)
	require.Equal(t, 429, w.Code)
	require.Contains(t, w.Body.String(), `"message": "slow down"`)
	require.Equal(t, "3", w.Header().Get("Retry-After"))
	require.Empty(t, w.Header().Get("X-Should-Retry"), "SDKs try again after a real 429")
	x := s.Journal()[0]
	require.Equal(t, "rule 1, When() of the server", x.Rule)
	require.Empty(t, x.Refused+x.Miss)
}

func TestReplyFollowsTheRule(t *testing.T) {
	s := start(t, Options{},
		When(Model("late")).Reply(CallID("c1", "t", `{"a":1}`)).LateUse(),
		When().Reply(Text("a"), Call("t", `{"a`)).StopReason(StopMaxTokens).Model("other"))
	plain := post(s, chatPath, hello).Body.String()
	for _, want := range []string{`"finish_reason": "length"`, `"model": "other"`, `"content": "a"`,
		`"arguments": "{\"a"`} {
		require.Contains(t, plain, want)
	}
	late := post(s, chatPath, strings.Replace(hello, `"m"`, `"late","stream":true`, 1)).Body.String()
	_, after, found := strings.Cut(late, `"finish_reason":"tool_calls"`)
	require.True(t, found)
	require.Contains(t, after, `"arguments":":1}"`)
}

func TestReplyToQuotesTheRequest(t *testing.T) {
	quotes := func(r *Request) []Block { return []Block{Text("You ask " + r.Model + ".")} }
	s := start(t, Options{}, When().ReplyFunc(quotes))
	require.Contains(t, post(s, chatPath, hello).Body.String(), `"You ask m."`)
}

// source always returns the same answer.
type source struct {
	answer Answer
	err    error
}

func (s source) Answer(*Request) (Answer, error) { return s.answer, s.err }

func TestSourceReplacesRules(t *testing.T) {
	recorded := Answer{Status: 201, Header: http.Header{"content-type": {"text/plain"}},
		Chunks: [][]byte{[]byte("a"), []byte("b")}}
	for _, c := range []struct {
		source Source
		status int
		body   string
		miss   string
	}{
		{source{answer: recorded}, 201, "ab", ""},
		{source{answer: Answer{Status: 204}}, 204, "", ""},
		{source{err: errors.New("nothing recorded for it")}, 404, `"message": "nothing recorded for it"`,
			"nothing recorded for it"},
		{source{}, 404, "the source answered with the status 0",
			"the source answered with the status 0: expected one from 200 to 599"},
	} {
		s := start(t, Options{Source: c.source})
		require.NoError(t, s.Script("aaaaaa"))
		require.EqualError(t, s.Script("bbbbbb", When().Reply()),
			`script of mark "bbbbbb": both rules and a Source are given: expected one of them`)
		w := post(s, chatPath, strings.Replace(hello, "hello", "aaaaaa", 1))
		require.Equal(t, c.status, w.Code)
		require.Contains(t, w.Body.String(), c.body)
		x := s.Journal()[0]
		require.Equal(t, c.miss, x.Miss)
		require.Equal(t, "aaaaaa", x.Owner)
		require.Equal(t, c.status, x.Status)
		require.False(t, x.Ended.IsZero())
		if c.status == 201 {
			require.Equal(t, "text/plain", w.Header().Get("Content-Type"))
		}
	}
	_, err := Start(Options{Source: source{}}, When().Reply())
	require.EqualError(t, err, "starting the model server: both rules and a Source are given: expected one of them")
}

func TestServerUsesTheGivenListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err := Start(Options{Listener: l}, When().Reply())
	require.NoError(t, err)
	require.Equal(t, "http://"+l.Addr().String(), s.URL)
	s.Close()
	s.Close()
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = http.Post(s.Native(), "application/json", strings.NewReader("{}"))
	require.Error(t, err)
	require.Equal(t, 200, post(s, "/native", "{}").Code, "a handler mounted elsewhere goes on")
}

func TestErrorFormFollowsTheRequest(t *testing.T) {
	s := start(t, Options{}, When().Fail(&Error{Status: 503, Message: "busy"}))
	const to, ask = "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
		`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	for _, body := range []string{ask, "{", `{"contents":[]}`} { // failed, unreadable, refused
		require.Equal(t, "[{", post(s, to, body).Body.String()[:2])
		require.Equal(t, "{\n", post(s, to+"?alt=sse", body).Body.String()[:2])
	}
}

func TestListenerHostIsServed(t *testing.T) {
	s := &Server{host: "model.test"}
	require.True(t, s.local("model.test:80"))
	require.True(t, s.local("model.test"))
	require.True(t, s.local("127.8.8.8:1"))
	for _, foreign := range []string{"", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1",
		"[fe80::1]:80"} {
		require.False(t, s.local(foreign), foreign)
	}
}

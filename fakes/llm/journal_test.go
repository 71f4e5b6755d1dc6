package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

func numbers(s *Server) (n []int64) {
	for _, x := range s.Journal() {
		n = append(n, x.Number)
	}
	return n
}

func TestJournalKeepsTheNewest(t *testing.T) {
	s := start(t, Options{MaxExchanges: 3}, When().Reply())
	for range 5 {
		post(s, chatPath, hello)
	}
	require.Equal(t, []int64{3, 4, 5}, numbers(s))
	require.EqualValues(t, 2, s.Dropped())
	require.Len(t, s.Requests(), 3)

	s = start(t, Options{MaxJournal: 5000}, When().Reply())
	for range 3 {
		post(s, chatPath, hello) // about 2,000 bytes each
	}
	require.Equal(t, []int64{2, 3}, numbers(s))
	post(s, chatPath, strings.Replace(hello, "hello", strings.Repeat("x", 9000), 1))
	require.Equal(t, []int64{4}, numbers(s), "the last one stays, however large")
	require.EqualValues(t, 3, s.Dropped())
}

func TestNewReportsDroppedMisses(t *testing.T) {
	var tb fakeTB
	s := New(&tb, When(LastUser("hello")).Reply())
	s.options.MaxExchanges = 1
	post(s, chatPath, strings.Replace(hello, "hello", "bye", 1))
	post(s, chatPath, hello)
	post(s, chatPath, hello)
	tb.end()
	require.Equal(t, []string{
		"log: the journal is full: it dropped the oldest 2 model requests",
		"error: no rule matched 1 model request that the journal has dropped",
	}, tb.said)
}

func TestDroppedMissesAreCounted(t *testing.T) {
	s := start(t, Options{MaxExchanges: 1})
	first, second := &Exchange{url: &url.URL{}}, &Exchange{url: &url.URL{}}
	s.open(first)
	s.open(second)
	s.miss(dialects.Codecs[0], first, http.ErrNoCookie)
	require.EqualValues(t, 1, s.journal.misses)
}

func TestResetEmptiesJournalAndCounts(t *testing.T) {
	s := start(t, Options{MaxExchanges: 1}, When().Reply(Call("t", "{}")).Times(1))
	require.NoError(t, s.Script("aaaaaa", When().Reply(Text("marked")).Times(1)))
	marked := strings.Replace(hello, "hello", "aaaaaa", 1)
	first, other := post(s, chatPath, hello), post(s, chatPath, marked)
	require.Equal(t, 404, post(s, chatPath, hello).Code)
	require.EqualValues(t, 2, s.Dropped())
	s.Reset()
	require.Empty(t, s.Journal())
	require.Zero(t, s.Dropped())
	require.Len(t, s.Unused(), 2)
	require.Equal(t, first.Body.String(), post(s, chatPath, hello).Body.String(), "ids, too")
	require.Equal(t, other.Body.String(), post(s, chatPath, marked).Body.String())
	require.Equal(t, []int64{5}, numbers(s), "numbers go on, as the trace does")
}

func TestJournalOverHTTP(t *testing.T) {
	s := start(t, Options{Key: "planted"}, When(LastUser("hello")).Reply(Text("hi")).Fault(SplitEveryByte()),
		When().Reply(Text("never")))
	ask := func(method, host string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://"+host+JournalPath, nil)
		return serve(s, r)
	}
	require.JSONEq(t, `{"exchanges":[],"dropped":0,"unused":[
		"rule 1, When(LastUser(\"hello\")) of the server was never used","rule 2, When() of the server was never used"]}`,
		ask("GET", "127.0.0.1").Body.String())

	r := httptest.NewRequest("POST", "http://127.0.0.1"+chatPath, strings.NewReader(
		`{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"},
		{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"hello"}],"tools":[{"type":"function","function":{"name":"t",
		"parameters":{"type":"object","properties":{}}}}]}`))
	r.Header = http.Header{"Authorization": {"Bearer planted"}, "X-Api-Key": {"real"}}
	serve(s, r)
	post(s, chatPath, "no JSON")
	post(s, "/native", "\xff")

	w := ask("GET", "127.0.0.1")
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.NotContains(t, w.Body.String(), "real")
	var got struct{ Exchanges []map[string]any }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	require.Len(t, got.Exchanges, 3, "and not those for the journal itself")
	x := got.Exchanges[0]
	require.Equal(t, "be brief", x["body"].(map[string]any)["messages"].([]any)[0].(map[string]any)["content"], "raw")
	require.Equal(t, map[string]any{"Authorization": "Bearer planted", "X-Api-Key": trace.Token("real")}, x["header"])
	for _, volatile := range []string{"began", "ended"} {
		require.NotEmpty(t, x[volatile])
	}
	neutral, err := json.Marshal(x["request"])
	require.NoError(t, err)
	require.JSONEq(t, `{"dialect":"openai-chat","model":"m","system":"be brief","maxTokens":9,"stream":false,"turn":2,
		"tools":[{"name":"t","inputSchema":{"type":"object","properties":{}},"path":"tools[0]"}],
		"messages":[{"role":"user","path":"messages[1]","content":[{"type":"text","text":"hello",
		"path":"messages[1].content"}]},
		{"role":"assistant","path":"messages[2]","content":[{"type":"tool_use","id":"c1","name":"t","input":{"a":1},
		"path":"messages[2].tool_calls[0]"}]},
		{"role":"user","path":"messages[3]","content":[{"type":"tool_result","id":"c1","path":"messages[3]",
			"content":[{"type":"text","text":"hello","path":"messages[3].content"}]}]}]}`, string(neutral))
	require.Equal(t, []any{`rule 1, When(LastUser("hello")) of the server`, "SplitEveryByte()", 200.0},
		[]any{x["rule"], x["fault"], x["status"]})
	require.Equal(t, "no JSON", got.Exchanges[1]["body"])
	require.Contains(t, got.Exchanges[1]["refused"], "could not parse")
	require.Equal(t, "/w==", got.Exchanges[2]["body"], "what is no text is in base64")

	require.Equal(t, 405, ask("POST", "127.0.0.1").Code)
	require.Equal(t, "GET, DELETE", ask("POST", "127.0.0.1").Header().Get("Allow"))
	require.Equal(t, 403, ask("GET", "evil.example").Code)
	require.Equal(t, 204, ask("DELETE", "127.0.0.1").Code)
	require.Contains(t, ask("GET", "127.0.0.1").Body.String(), `"exchanges":[]`)
}

// Only the heap grows with the requests; a process needs about 15 MB more.
func TestManyRequestsNeedLittleMemory(t *testing.T) {
	s := start(t, Options{}, When().Reply(Text(benchReply)))
	for range 6_000 {
		post(s, chatPath, benchRequest+"}")
	}
	measure := func() int64 {
		runtime.GC()
		runtime.GC() // the second collection empties the pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := measure()
	for range 6_000 {
		post(s, chatPath, benchRequest+"}")
	}
	require.Less(t, measure()-before, int64(1<<20), "the journal is full: it grows no more")
	require.Less(t, before, int64(16<<20))
	require.Positive(t, s.Dropped())
}

// A caller without a network, or another handler, may change a request afterwards.
func TestJournalDoesNotChange(t *testing.T) {
	s := New(t, When().Reply(Text("a")))
	r := httptest.NewRequest("POST", s.URL+chatPath+"?to=one", strings.NewReader(hello))
	for range 2 {
		r.Body = io.NopCloser(strings.NewReader(hello))
		r.Header.Set("X-Name", "one")
		serve(s, r)
		r.Header.Set("X-Name", "two")
		r.URL.RawQuery = "to=two"
	}
	require.Equal(t, "to=one", s.journal.kept[0].url.RawQuery)
	require.Equal(t, "to=two", s.journal.kept[1].url.RawQuery)
	for _, x := range s.Journal() {
		require.Equal(t, "one", x.Header.Get("X-Name"))
	}
}

// Equal parts of requests share memory; different ones do not.
func TestJournalSharesEqualParts(t *testing.T) {
	s := New(t, When().Reply(Text("a")))
	for _, name := range []string{"one", "one", "two", "one"} {
		r := httptest.NewRequest("POST", s.URL+chatPath+"?to="+name, strings.NewReader(hello))
		r.Header.Set("X-Name", name)
		serve(s, r)
	}
	var names []string
	for _, x := range s.Journal() {
		names = append(names, x.Header.Get("X-Name")+x.url.RawQuery)
	}
	require.Equal(t, []string{"oneto=one", "oneto=one", "twoto=two", "oneto=one"}, names)
	kept := s.journal.kept
	require.Same(t, kept[0].url, kept[1].url)
	kept[0].Header.Set("X-Name", "shared")
	require.Equal(t, "shared", kept[1].Header.Get("X-Name"))
	require.Equal(t, "one", kept[3].Header.Get("X-Name"))
}

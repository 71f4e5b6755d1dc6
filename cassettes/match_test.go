package cassettes

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// recordedChat writes a cassette of chat requests, whose answers count them.
func recordedChat(t *testing.T, bodies ...string) (path string) {
	t.Helper()
	path = talkFile(t)
	tr := recordAnew(t, path, &counting{})
	for _, body := range bodies {
		asks(t, tr, body)
	}
	require.NoError(t, tr.Close())
	return path
}

func TestIgnoredMembersDoNotMatter(t *testing.T) {
	path := recordedChat(t,
		`{"max_tokens":1,"thinking":{"budget_tokens":5,"type":"on"},"messages":[{"name":"a","role":"user"}]}`)
	tr := opened(t, path, Ignore("max_tokens", "thinking.budget_tokens"), Ignore("messages.name"))
	require.Contains(t, asks(t, tr, `{"thinking":{"type":"on"},"messages":[{"name":"b","role":"user"}],"max_tokens":2}`),
		`"asked":1`)
	require.Contains(t, asks(t, tr, `{"thinking":{"type":"off"},"messages":[{"role":"user"}]}`), "not_recorded")
	require.ErrorContains(t, tr.Close(), `at thinking.type expected "on", found "off" (differences: 1)`)
	for _, member := range []string{"messages[0].name", "", "a..b", "$.max_tokens"} {
		_, err := New(path, Ignore(member))
		require.ErrorContains(t, err, strconv.Quote(member))
	}
}

func TestNormalizedPromptsReplay(t *testing.T) {
	prompt := func(date, folder string) string {
		return `{"model":"m","messages":[{"role":"system","content":"Today is ` + date + `. You work in ` + folder + `."}]}`
	}
	path := recordedChat(t, prompt("2026-01-02", "/home/ann/a"))
	varying := regexp.MustCompile(`\d{4}-\d\d-\d\d|/(?:home|tmp)/[\w/]+`)
	normalize := Normalize(func(r *Request) {
		require.Equal(t, "openai-chat", r.Dialect())
		r.Body = varying.ReplaceAll(r.Body, []byte("…"))
	})
	tr := opened(t, path, normalize)
	require.Contains(t, asks(t, tr, prompt("2026-12-31", "/tmp/x/y")), `"asked":1`)
	require.Contains(t, asks(t, tr, prompt("tomorrow", "/tmp")), "not_recorded")
	require.Error(t, tr.Close())
	was := loaded(t, path).interactions[0].Request.Body
	provider := &counting{}
	tr = opened(t, path, normalize, WithMode(RecordMissing), WithTransport(provider))
	asks(t, tr, prompt("2027-01-01", "/tmp/z"))
	require.NoError(t, tr.Close())
	require.Zero(t, provider.asked)
	require.Equal(t, was, loaded(t, path).interactions[0].Request.Body)
}

func TestOwnMatcherFindsInteractionsInOrder(t *testing.T) {
	path := recordedChat(t, `{"messages":[{"role":"user","content":"one, please"}]}`,
		`{"messages":[{"role":"user","content":"two"}]}`, `{"messages":[{"role":"user","content":"one more"}]}`)
	word := func(r *Request) string {
		decoded, err := r.Decode()
		require.NoError(t, err)
		first, _, _ := strings.Cut(decoded.Messages[0].Content[0].Text, " ")
		return strings.Trim(first, ",")
	}
	tr := opened(t, path, WithMatcher(func(recorded, sent *Request) bool { return word(recorded) == word(sent) }))
	for _, c := range [][2]string{{"one", "1"}, {"one", "3"}, {"one", "3"}, {"two", "2"}, {"three", "not_recorded"}} {
		require.Contains(t, asks(t, tr, `{"messages":[{"role":"user","content":"`+c[0]+` is what I want"}]}`), c[1])
	}
	require.ErrorContains(t, tr.Close(), "the matcher accepts no interaction: this openai-chat request is not recorded")
	require.Empty(t, tr.player.unused())
}

func TestNearestOfEqualCountsHasTheMostSimilarText(t *testing.T) {
	said := func(text string) string { return `{"messages":[{"role":"user","content":"` + text + `"}]}` }
	p := newPlayer(rules{}, tape(said("Book a flight from Rome"), "", said("How is the weather in Oslo today?"), "",
		said("How is everybody?"), ""))
	_, err := ask(p, said("And how is the weather in Paris today?"))
	require.ErrorContains(t, err, "the nearest is interaction 1 of tape")
}

func TestRedactedAnswerHasItsLength(t *testing.T) {
	path := talkFile(t)
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	provider := roundTrip(func(*http.Request) (*http.Response, error) {
		resp := answer("application/json", `{"key":"`+key+`"}`)
		resp.Header.Set("Content-Length", strconv.FormatInt(resp.ContentLength, 10))
		return resp, nil
	})
	tr := recordAnew(t, path, provider)
	require.Contains(t, asks(t, tr, `{"a":1}`), key)
	require.NoError(t, tr.Close())
	r := loaded(t, path).interactions[0].Response
	want := strconv.Itoa(len(`{"key":"REDACTED"}`))
	require.Equal(t, []string{want}, r.Headers["Content-Length"])
	tr = opened(t, path)
	req, err := http.NewRequest(http.MethodPost, chat, strings.NewReader(`{"a":1}`))
	require.NoError(t, err)
	resp, body := exchanged(t, tr, req)
	require.Equal(t, `{"key":"REDACTED"}`, body)
	require.Equal(t, want, resp.Header.Get("Content-Length"))
	require.EqualValues(t, len(body), resp.ContentLength)
	require.NoError(t, tr.Close())
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMissingContentTypeIsThatOfTheBody(t *testing.T) {
	for body, c := range map[string]struct {
		mediaType string
		chunks    int
	}{
		"data: {}\n\ndata: [DONE]\n\n":      {"text/event-stream", 2},
		"event: a\r\ndata: {}\r\n\r\n":      {"text/event-stream", 1},
		": wait\n\ndata: {}\n\n":            {"text/event-stream", 2},
		"{\"a\":1}\n{\"done\":true}\n":      {"application/x-ndjson", 2},
		"{\n \"data\": 1\n}":                {"application/json", 1},
		"[{\"candidates\":[]},\n{}]":        {"application/json", 1},
		"data protection: an ordinary text": {"", 1},
	} {
		a := answerOf(&cassette.Response{Code: 200, Body: body}, nil)
		require.Equal(t, c.mediaType, a.Header.Get("Content-Type"), body)
		require.Len(t, a.Chunks, c.chunks, body)
		require.Equal(t, c.mediaType != "" && c.mediaType != "application/json", a.Stream, body)
	}
	a := answerOf(&cassette.Response{Code: 200, Body: "data: 1\n\n",
		Headers: http.Header{"content-type": {"text/plain"}}}, nil)
	require.False(t, a.Stream, "the provider's own type counts")
}

func TestIgnoreBesideAMatcherIsAnError(t *testing.T) {
	_, err := New(talkFile(t), Ignore("max_tokens"), WithMatcher(func(_, _ *Request) bool { return true }))
	require.ErrorContains(t, err, "Ignore has no effect beside WithMatcher")
}

// Of several requests that differ, the nearest is an unused one with a similar text.
func TestTheNearestIsUnusedAndSimilar(t *testing.T) {
	asked := func(text string) string { return `{"messages":[{"role":"user","content":"` + text + `"}]}` }
	path := talkFile(t)
	tr := opened(t, path, WithMode(RecordAnew), WithTransport(&counting{}))
	for _, text := range []string{"What is the weather in Paris today?", "What is the weather in London today?",
		"Translate this letter"} {
		asks(t, tr, asked(text))
	}
	require.NoError(t, tr.Close())
	tr = opened(t, path, AllowUnused())
	asks(t, tr, asked("What is the weather in Paris today?"))
	asks(t, tr, asked("What is the weather in Paris now?"))
	err := tr.Close()
	require.ErrorContains(t, err, "the nearest is interaction 1 of", "interaction 0 is used, 2 is another text")
}

package cassettes

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// counting is a provider that says how many requests it got.
type counting struct {
	mu    sync.Mutex
	asked int
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.asked++
	said := fmt.Sprintf(`{"asked":%d,"of":%d}`, c.asked, len(body))
	c.mu.Unlock()
	return answer("application/json", said), nil
}

// answer is a provider's response.
func answer(mediaType, body string) *http.Response {
	return &http.Response{StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)),
		Body:          io.NopCloser(strings.NewReader(body)), Header: http.Header{"Content-Type": {mediaType}}}
}

const chat = "https://api.openai.com/v1/chat/completions"

// asks posts an OpenAI chat request and returns the answer.
func asks(t *testing.T, rt http.RoundTripper, body string) string {
	t.Helper()
	_, answer := send(t, rt, chat, body, http.Header{"Content-Type": {"application/json"}})
	return answer
}

// send posts a request and returns the status and the whole answer.
func send(t *testing.T, rt http.RoundTripper, url, body string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header = header
	resp, answer := exchanged(t, rt, req)
	return resp.StatusCode, answer
}

// exchanged sends a request and returns the response and its whole body.
func exchanged(t *testing.T, rt http.RoundTripper, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp, string(body)
}

func talkFile(t *testing.T) string { return filepath.Join(t.TempDir(), "talk.yaml") }

func recordAnew(t *testing.T, path string, real http.RoundTripper) *Transport {
	t.Helper()
	return opened(t, path, WithMode(RecordAnew), WithTransport(real))
}

func opened(t *testing.T, path string, options ...Option) *Transport {
	t.Helper()
	tr, err := New(path, options...)
	require.NoError(t, err)
	return tr
}

func loaded(t *testing.T, path string) *recording {
	t.Helper()
	r, err := load(path)
	require.NoError(t, err)
	return r
}

func inspected(t *testing.T, path string) *File {
	t.Helper()
	f, err := Read(path)
	require.NoError(t, err)
	return f
}

// zip returns the gzip form of a text.
func zip(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

func TestModeSaysWhatIsReplayedAndRecorded(t *testing.T) {
	path := talkFile(t)
	provider := &counting{}
	open := func(mode Mode) *Transport {
		tr := opened(t, path, WithMode(mode), WithTransport(provider))
		return tr
	}

	tr := open(Passthrough)
	require.Equal(t, `{"asked":1,"of":7}`, asks(t, tr, `{"a":1}`))
	require.NoError(t, tr.Close())
	require.NoFileExists(t, path)

	tr = open(RecordMissing)
	require.Equal(t, `{"asked":2,"of":7}`, asks(t, tr, `{"a":1}`), "new file")
	require.NoError(t, tr.Close())

	tr = open(RecordMissing)
	require.Equal(t, `{"asked":2,"of":7}`, asks(t, tr, `{"a":1}`), "from the file")
	require.Equal(t, `{"asked":3,"of":8}`, asks(t, tr, `{"b":22}`), "from the provider")
	require.NoError(t, tr.Close())

	was, err := os.ReadFile(path)
	require.NoError(t, err)
	tr = open(RecordMissing)
	require.Equal(t, `{"asked":2,"of":7}`, asks(t, tr, `{"a":1}`))
	require.EqualError(t, tr.Close(), "interaction 1 of "+path+" was not used: no such request was made")
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(was), string(is))

	tr = open(ReplayOnly)
	require.Equal(t, `{"asked":3,"of":8}`, asks(t, tr, `{"b":22}`))
	require.Equal(t, `{"asked":2,"of":7}`, asks(t, tr, `{"a":1}`))
	require.Contains(t, asks(t, tr, `{"a":2}`), "not_recorded")
	require.ErrorContains(t, tr.Close(), "the nearest is interaction 0 of "+path+": at a expected 1, found 2")
	require.Equal(t, 3, provider.asked)

	tr = open(RecordAnew)
	require.Equal(t, `{"asked":4,"of":7}`, asks(t, tr, `{"a":1}`))
	require.NoError(t, tr.Close())
	r := loaded(t, path)
	require.Len(t, r.interactions, 1)
}

func TestEnvironmentSetsTheMode(t *testing.T) {
	t.Chdir(t.TempDir())
	provider := &counting{}
	var tb fakeTB
	t.Setenv(ModeVariable, string(RecordMissing))
	asks(t, Open(&tb, "a/talk", WithTransport(provider)), `{"a":1}`)
	tb.end()
	require.Empty(t, tb.said)
	require.FileExists(t, filepath.Join("testdata", "cassettes", "a", "talk.yaml"))

	t.Setenv(ModeVariable, "")
	tb = fakeTB{}
	require.Equal(t, `{"asked":1,"of":7}`, asks(t, Open(&tb, "a/talk"), `{"a":1}`))
	tb.end()
	require.Empty(t, tb.said)

	t.Setenv(ModeVariable, "rekord")
	tb = fakeTB{}
	require.Nil(t, Open(&tb, "a/talk"))
	require.Equal(t, []string{"fatal: opening the cassette: the variable MCP_CONFORM_CASSETTES is \"rekord\": " +
		"expected one of [replay record-missing update record passthrough]"}, tb.said)
	_, err := New("a.yaml", WithMode("no"))
	require.EqualError(t, err, `the mode is "no": expected one of [replay record-missing update record passthrough]`)
	_, err = New("a", WithMode(RecordAnew))
	require.EqualError(t, err, `cassette "a": use the path of a file that ends in .yaml`)
}

func TestConcurrentWritersOfOneFileLoseNothing(t *testing.T) {
	const writers = 8
	path := talkFile(t)
	var open []*Transport
	for n := range writers {
		tr := opened(t, path, WithMode(RecordAnew), WithTransport(&counting{}))
		asks(t, tr, fmt.Sprintf(`{"n":%d}`, n))
		open = append(open, tr)
	}
	var all sync.WaitGroup
	said := make([]error, writers)
	for n, tr := range open {
		all.Go(func() { said[n] = tr.Close() })
	}
	all.Wait()
	found := map[string]string{}
	for n, err := range said {
		file := path
		if err != nil {
			before := "recording to " + path +
				": another program changed the file since the recording began: this recording is in "
			require.Contains(t, err.Error(), before)
			file = strings.TrimPrefix(err.Error(), before)
			require.Regexp(t, `^talk\.conflict-[1-7]\.yaml$`, filepath.Base(file))
		}
		r := loaded(t, file)
		require.Equal(t, fmt.Sprintf(`{"n":%d}`, n), r.interactions[0].Request.Body)
		found[file] = file
	}
	require.Len(t, found, writers)
	require.Contains(t, found, path)
}

func TestRecordingsKeepTheOrderOfRequests(t *testing.T) {
	path := talkFile(t)
	rec := recordAnew(t, path, &counting{})
	var open []*http.Response
	for i := range 5 {
		open = append(open, post(t, rec, chat, fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range open {
		_, err := io.ReadAll(open[len(open)-1-i].Body)
		require.NoError(t, err)
	}
	require.NoError(t, rec.Close())
	r := loaded(t, path)
	for i, it := range r.interactions {
		require.Equal(t, fmt.Sprintf(`{"n":%d}`, i), it.Request.Body)
	}
}

// replying is a provider that ignores the request.
type replying func() (*http.Response, error)

func (r replying) RoundTrip(*http.Request) (*http.Response, error) { return r() }

func TestUnrecordableExchangesAreReportedAndTheRestIsKept(t *testing.T) {
	defer func(most int64) { maxBody = most }(maxBody)
	maxBody = 1 << 20
	long := strings.Repeat("x", 1<<20+1)
	encoded := func(encoding, body string) replying {
		return func() (*http.Response, error) {
			resp := answer("application/json", body)
			resp.Header.Set("Content-Encoding", encoding)
			return resp, nil
		}
	}
	for name, c := range map[string]struct {
		provider replying
		request  string
		want     string // in the file
		err      string // or ""
	}{
		"gzip":         {encoded("gzip", zip(`{"said":"in a zip"}`)), `{}`, `{"said":"in a zip"}`, ""},
		"invalid gzip": {encoded("gzip", "no zip"), `{}`, "", "the answer is not valid gzip: unexpected EOF"},
		"brotli":       {encoded("br", "?"), `{}`, "", `the answer has the content encoding "br"`},
		"long answer": {func() (*http.Response, error) { return answer("text/plain", long), nil }, `{}`, "",
			"the answer is larger than 1 MiB"},
		"long request": {func() (*http.Response, error) { return answer("text/plain", "ok"), nil }, long, "",
			"the request body is larger than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			path := talkFile(t)
			turn := 0
			rec := recordAnew(t, path, transportFunc(func(r *http.Request) (*http.Response, error) {
				if turn++; turn == 1 {
					return answer("application/json", `{"first":true}`), nil
				}
				n, err := io.Copy(io.Discard, r.Body)
				require.NoError(t, err)
				require.Equal(t, int64(len(c.request)), n, "the provider gets the whole request")
				return c.provider()
			}))
			asks(t, rec, `{"a":1}`)
			live, err := c.provider()
			require.NoError(t, err)
			want, err := io.ReadAll(live.Body)
			require.NoError(t, err)
			require.Equal(t, string(want), asks(t, rec, c.request), "the caller gets the original answer")
			err = rec.Close()
			r, loaded := load(path)
			require.NoError(t, loaded)
			if c.err != "" {
				require.ErrorContains(t, err, "recording to "+path+": request 2, POST "+chat+", was not recorded: "+c.err)
				require.Len(t, r.interactions, 1)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, r.interactions[1].Response.Body)
			require.Empty(t, r.interactions[1].Response.Headers.Get("Content-Encoding"))
		})
	}
}

// Requests may cost money, so an unwritable path is an error before the first one.
func TestUnwritablePathIsReportedFirst(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), nil, 0o600))
	path := filepath.Join(folder, "a", "talk.yaml")
	_, err := New(path, WithMode(RecordAnew))
	require.ErrorContains(t, err, "recording to "+path+": cannot create files in the folder "+filepath.Join(folder, "a"))

	path = filepath.Join(folder, "talk.yaml")
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = New(path, WithMode(RecordAnew))
	require.EqualError(t, err, "recording to "+path+": the path is a folder")

	_, err = New(filepath.Join(folder, "b", "c", "talk.yaml"), WithMode(RecordAnew))
	require.NoError(t, err, "the folder is created later")
	require.NoDirExists(t, filepath.Join(folder, "b"))
}

func TestFailedRequestIsNotRecorded(t *testing.T) {
	path := talkFile(t)
	gone := errors.New("connection refused")
	rec := recordAnew(t, path, replying(func() (*http.Response, error) { return nil, gone }))
	req, err := http.NewRequest(http.MethodPost, chat, strings.NewReader(`{}`))
	require.NoError(t, err)
	_, err = rec.RoundTrip(req)
	require.ErrorIs(t, err, gone)
	require.EqualError(t, rec.Close(), "recording to "+path+": nothing was recorded: no request was answered")
	require.NoFileExists(t, path)
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

package cassettes

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

const asked = `{"model":"m","messages":[{"role":"user","content":"Is it café-warm, sk-live-0123456789abcdef?"}]}`

// The formats of other recorders, each with the same two interactions: a chat, and an error that was sent as gzip.
var formats = map[string]string{
	"vcrpy": `interactions:
- request:
    body: '{"model":"m","messages":[{"role":"user","content":"Is it café-warm, sk-live-0123456789abcdef?"}]}'
    headers:
      authorization: [Bearer sk-live-0123456789abcdef]
      content-type: [application/json]
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
    body: {string: "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"}
    headers:
      Content-Type: [text/event-stream]
    status: {code: 200, message: OK}
- request:
    body: null
    headers: {}
    method: GET
    uri: https://api.openai.com/v1/models?limit=1
  response:
    body:
      string: !!binary |
        GZIP
    headers: {Content-Encoding: [gzip], Content-Type: [application/json]}
    status: {code: 401, message: Unauthorized}
version: 1
`,
	"vcrpy, LangChain": `requests:
- body: !!binary |
    QUESTION
  headers:
    Authorization: Bearer sk-live-0123456789abcdef
    Content-Length: '**REDACTED**'
  method: POST
  uri: https://api.openai.com/v1/chat/completions
- body: null
  headers: {}
  method: GET
  uri: https://api.openai.com/v1/models?limit=1
responses:
- body: {string: "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"}
  headers: {Content-Type: '**REDACTED**', Content-Encoding: ['**REDACTED**']}
  status: {code: 200, message: OK}
- body:
    string: !!binary |
      GZIP
  headers: {}
  status: {code: 401, message: Unauthorized}
`,
	"Ruby VCR": `---
http_interactions:
- request:
    method: post
    uri: https://api.openai.com/v1/chat/completions
    body:
      encoding: UTF-8
      string: '{"model":"m","messages":[{"role":"user","content":"Is it café-warm, sk-live-0123456789abcdef?"}]}'
    headers: &a
      Authorization:
      - Bearer sk-live-0123456789abcdef
  response:
    status:
      code: 200
      message: OK
    headers:
      Content-Type:
      - text/event-stream
    body:
      encoding: ASCII-8BIT
      string: |+
        data: {"choices":[]}

        data: [DONE]

  recorded_at: Wed, 19 Aug 2026 14:34:57 GMT
- request:
    method: get
    uri: https://api.openai.com/v1/models?limit=1
    body: {encoding: US-ASCII, string: ''}
    headers: *a
  response:
    status: {code: 401, message: }
    headers: {Content-Type: [application/json], Content-Encoding: [gzip]}
    body: {encoding: ASCII-8BIT, base64_string: GZIP}
recorded_with: VCR 6.4.0
`,
	"go-vcr v1": `---
version: 1
interactions:
- request:
    body: '{"model":"m","messages":[{"role":"user","content":"Is it café-warm, sk-live-0123456789abcdef?"}]}'
    form: {}
    headers: {Authorization: [Bearer sk-live-0123456789abcdef]}
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    body: "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"
    headers: {Content-Type: [text/event-stream]}
    status: 200 OK
    code: 200
    duration: 12ms
- request:
    body: ""
    headers: {}
    url: https://api.openai.com/v1/models?limit=1
    method: GET
  response:
    body: !!binary GZIP
    headers: {Content-Encoding: [gzip], Content-Type: [application/json]}
    status: 401 Unauthorized
    code: 401
    duration: ""
`,
}

func httprrFile() string {
	message := func(lines ...string) string { return strings.Join(lines, "\r\n") }
	pairs := [][2]string{
		{message("POST https://api.openai.com/v1/chat/completions HTTP/1.1", "Host: api.openai.com",
			"Authorization: Bearer sk-live-0123456789abcdef", fmt.Sprintf("Content-Length: %d", len(asked)), "", asked),
			message("HTTP/1.1 200 OK", "Content-Type: text/event-stream", "Transfer-Encoding: chunked", "",
				"17", "data: {\"choices\":[]}\n\nd", "d", "ata: [DONE]\n\n", "0", "", "")},
		{message("GET https://api.openai.com/v1/models?limit=1 HTTP/1.1", "Host: api.openai.com", "", ""),
			message("HTTP/2.0 401 Unauthorized", "Content-Encoding: gzip", "Content-Type: application/json",
				"Content-Length: 999", "", zip(`{"error":"no key"}`))},
	}
	file := httprrBegin
	for _, p := range pairs {
		file += fmt.Sprintf("%d %d\n%s%s", len(p[0]), len(p[1]), p[0], p[1])
	}
	return file
}

func foreignPath(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.yml")
	text = strings.ReplaceAll(text, "GZIP", base64.StdEncoding.EncodeToString([]byte(zip(`{"error":"no key"}`))))
	text = strings.ReplaceAll(text, "QUESTION", base64.StdEncoding.EncodeToString([]byte(asked)))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestRecordingsOfOtherRecordersAreImported(t *testing.T) {
	formats["httprr"] = httprrFile()
	formats["httprr, gzip"] = zip(httprrFile())
	for name, text := range formats {
		t.Run(name, func(t *testing.T) {
			path := talkFile(t)
			n, err := Import(foreignPath(t, text), path)
			require.NoError(t, err)
			require.Equal(t, 2, n)
			f := inspected(t, path)
			require.Equal(t, Imported, f.Origin)
			require.Empty(t, f.Lint())
			require.Equal(t, "openai-chat", f.Interactions[0].Dialect)
			require.Equal(t, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n", f.Interactions[0].Response)
			require.Equal(t, 2, f.Interactions[0].Events)
			first := f.Interactions[0].recorded
			require.Equal(t, "200 OK", first.Response.Status)
			require.Equal(t, "Is it café-warm, REDACTED?", f.Interactions[0].Decoded.Messages[0].Content[0].Text)
			require.Equal(t, []string{"REDACTED"}, first.Request.Headers["Authorization"])
			second := f.Interactions[1]
			require.Equal(t, "GET https://api.openai.com/v1/models?limit=1", second.Method+" "+second.URL)
			require.Equal(t, `{"error":"no key"}`, second.Response)
			require.Equal(t, "401 Unauthorized", second.recorded.Response.Status)
			require.Empty(t, second.recorded.Response.Headers.Get("Content-Encoding"))

			tr := opened(t, path)
			again := `{"messages":[{"content":"Is it café-warm, sk-test-abcdefgh?","role":"user"}],"model":"m"}`
			require.Contains(t, asks(t, tr, again), "[DONE]")
			_, err = Import(foreignPath(t, text), path)
			require.ErrorContains(t, err, "exists: remove it, or choose another folder")
		})
	}
}

func TestInvalidImportsNameLineAndColumn(t *testing.T) {
	vcrpy, httprr := formats["vcrpy"], httprrFile()
	for name, c := range map[string]struct{ file, want string }{
		"empty": {"", ":1:1: no interactions: expected a file of vcrpy, Ruby VCR, go-vcr v1 or httprr\n" +
			"    1 | \n        ^"},
		"not YAML":   {"a: [\n", ":2:1: invalid YAML: "},
		"other YAML": {"- 1\n", ":1:1: no interactions"},
		"our own": {small, ":2:10: this is a cassette of go-vcr v4: use it as it is\n" +
			"    2 | version: 2\n                 ^"},
		"no list":     {"interactions: 7\n", ":1:15: expected a list"},
		"half a list": {"requests: []\nresponses: {}\n", ":2:12: expected a list"},
		"unequal lists": {"requests: [{}, {}]\nresponses: [{}]\n",
			":2:12: expected as many responses as requests: 2, found 1"},
		"only requests": {"requests: [{}]\n", ":1:1: no interactions"},
		"removed URL": {strings.Replace(vcrpy, "https://api.openai.com/v1/chat/completions", "'**REDACTED**'", 1),
			":2:3: interaction 0: expected the URL of the request, found **REDACTED**: write the provider's URL there"},
		"truncated": {vcrpy[:strings.Index(vcrpy, "  response:")], ":2:3: the member response is missing"},
		"null":      {"interactions:\n- null\n", ":1:1: the member request is missing"},
		"no status": {strings.Replace(vcrpy, "{code: 200, message: OK}", "{}", 1), ":13:13: expected the status"},
		"word":      {strings.Replace(vcrpy, "code: 200", "code: fine", 1), ":13:20: expected the status"},
		"no method": {strings.Replace(vcrpy, "method: POST", "method: ''", 1),
			`:2:3: interaction 0: invalid request method ""`},
		"body":   {strings.Replace(vcrpy, "body: null", "body: [1]", 1), ":15:11: expected a text"},
		"cycle":  {strings.Replace(vcrpy, "body: null", "body: &a {string: *a}", 1), ":15:11: expected a text"},
		"base64": {strings.Replace(vcrpy, "GZIP", "?", 1), ":21:15: invalid base64"},
		"broken gzip": {strings.Replace(vcrpy, "GZIP", "H4sIAAAA", 1),
			":14:3: interaction 1: the response body is not valid gzip"},
		"brotli": {strings.Replace(strings.Replace(vcrpy, "GZIP", "/////w==", 1), "[gzip]", "[br]", 1),
			`encoding "br"`},
		"unknown member": {strings.Replace(vcrpy, "body: {string", "content_text: {string", 1),
			":10:19: unknown member content_text of the response"},
		"lost body": {strings.Replace(vcrpy, "headers: {}", "headers: {Content-Length: ['7']}", 1),
			":14:3: interaction 1: the request has no body, but its Content-Length is 7"},
		"not a number of JSON": {strings.Replace(vcrpy, "body: null", "parsed_body: [.inf]", 1),
			":15:19: .inf is not a number"},
		"random":     {"\x00\x93\xff", ":1:1: invalid YAML"},
		"two files":  {vcrpy + "---\n" + vcrpy, "second YAML document"},
		"no lengths": {httprrBegin + "337\n", ":2:1: expected the lengths"},
		"cut":        {httprr[:len(httprr)-30], ":22:1: the file is truncated"},
		"cut at start": {httprrBegin + "12 13\nGET",
			":2:1: the file is truncated: expected 25 bytes after this line, found 3"},
		"not HTTP": {httprrBegin + "3 3\nabcdef", ":3:1: interaction 0: invalid request"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := foreignPath(t, c.file), talkFile(t)
			_, err := Import(from, to)
			require.ErrorContains(t, err, from+":")
			require.ErrorContains(t, err, c.want)
			require.Contains(t, err.Error(), "^")
			require.NoFileExists(t, to)
		})
	}
	_, err := Import(filepath.Join(t.TempDir(), "missing"), talkFile(t))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The serializer of pydantic-ai writes JSON bodies as YAML. Their members keep their order and their types.
func TestParsedBodiesAreImported(t *testing.T) {
	path := talkFile(t)
	_, err := Import(foreignPath(t, `interactions:
- request:
    headers: {content-type: [application/json], content-length: ['9']}
    method: POST
    parsed_body:
      model: &m gpt-4o
      messages: [{role: user, content: "1"}]
      stop: null
      temperature: 0.5
    uri: https://api.openai.com/v1/chat/completions
  response:
    headers: {content-type: [application/json], content-length: ['1916']}
    parsed_body: {choices: [], n: 1, ok: true, model: *m, empty: {}, said: "line\nline <b>"}
    status: {code: 200, message: OK}
version: 1
`), path)
	require.NoError(t, err)
	it := loaded(t, path).interactions[0]
	require.Equal(t, `{"model":"gpt-4o","messages":[{"role":"user","content":"1"}],"stop":null,"temperature":0.5}`,
		it.Request.Body)
	require.Equal(t, `{"choices":[],"n":1,"ok":true,"model":"gpt-4o","empty":{},"said":"line\nline <b>"}`,
		it.Response.Body)
	require.EqualValues(t, len(it.Response.Body), it.Response.ContentLength)
}

// Every foreign recording of the shared traffic is imported whole, and replays.
func TestSharedTrafficIsImported(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.httprr", "*.yml", "*.yaml"} {
		found, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "traffic"), "*", pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	imported := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text := string(data)
		if strings.Contains(text, "\nversion: 2\n") {
			continue
		}
		imported++
		path := talkFile(t)
		n, err := Import(file, path)
		require.NoError(t, err)
		require.Equal(t, max(strings.Count(text, " uri: "), strings.Count(text, "HTTP/1.1\r\nHost")), n, file)
		original, err := foreign(file, data)
		require.NoError(t, err)
		tr := opened(t, path)
		for i, it := range original {
			status, body := send(t, tr, it.Request.URL, it.Request.Body, it.Request.Headers)
			require.Equal(t, it.Response.Code, status, "%s %d", file, i)
			require.Equal(t, loaded(t, path).interactions[i].Response.Body, body)
		}
		require.NoError(t, tr.Close(), file)
	}
	require.NotZero(t, imported)
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(httprrFile()))
	for _, text := range formats {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := foreign("x.yml", data)
		if err != nil && !strings.HasPrefix(err.Error(), "x.yml:") {
			t.Fatalf("without the place: %v", err)
		}
		if err != nil {
			return
		}
		document, err := encode("x.yaml", all)
		require.NoError(t, err)
		_, err = parse("x.yaml", withComments(Imported, len(all), false, document))
		require.NoError(t, err)
	})
}

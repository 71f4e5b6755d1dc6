package sharedtest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	rawRequest = "POST https://m.test/v1?x=1 HTTP/1.1\r\nHost: m.test\r\nX-Version: 1\r\nContent-Length: " +
		"7\r\n\r\n{\"a\":1}"
	rawAnswer = "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n{\"b\":2}"
)

func TestEveryFormatIsRead(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"b":2}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	base := base64.StdEncoding.EncodeToString(packed.Bytes())
	whole := Exchange{URL: "https://m.test/v1?x=1", Header: http.Header{"X-Version": {"1"}}, Request: `{"a":1}`,
		Status: 201, ContentType: "text/plain", Answer: `{"b":2}`}
	named := func(name string) Exchange { x := whole; x.Name = name; return x }
	for name, c := range map[string]struct {
		data string
		want Exchange
	}{
		"go.yaml": {`version: 2
interactions:
  - request: {body: '{"a":1}', url: 'https://m.test/v1?x=1', headers: {x-version: ["1"]}}
    response: {body: '{"b":2}', code: 201, status: 201 Created, headers: {Content-Type: [text/plain]}}
`, named("go.yaml/0")},
		"python.yaml": {`interactions:
- request: {body: '{"a":1}', uri: 'https://m.test/v1?x=1', headers: {x-version: ["1"]}}
  response: {body: {string: '` + base + `'}, status: {code: 201, message: Created}, headers: {content-type: text/plain}}
`, named("python.yaml/0")},
		"ruby.yml": {`http_interactions:
- request: {body: {encoding: UTF-8, string: '{"a":1}'}, uri: 'https://m.test/v1?x=1', headers: {X-Version: ["1"]}}
  response: {body: {encoding: ASCII-8BIT, string: "eyJi\nIjoyfQ=="}, status: {code: 201, message: Created},
headers: {Content-Type: [text/plain]}}
`, named("ruby.yml/0")},
		"raw.httprr": {fmt.Sprintf("httprr trace v1\n%d %d\n%s%s", len(rawRequest), len(rawAnswer), rawRequest, rawAnswer),
			Exchange{
				Name: "raw.httprr", URL: "https://m.test/v1?x=1", Header: http.Header{"X-Version": {"1"}, "Content-Length": {"7"}},
				Request: `{"a":1}`,
				Status:  201, ContentType: "text/plain", Answer: `{"b":2}`}},
		"bare.json":         {`{"b":2}`, Exchange{Name: "bare.json", Answer: `{"b":2}`}},
		"stream.chunks.txt": {"{}\n{}\n", Exchange{Name: "stream.chunks.txt", Status: 200, Answer: "{}\n{}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parse(name, []byte(c.data))
			require.NoError(t, err)
			require.Equal(t, []Exchange{c.want}, got)
		})
	}
}

func TestUnreadableRecordingsAreErrors(t *testing.T) {
	for name, data := range map[string]string{
		"a.yaml": "interactions: 7", "b.yaml": "interactions: [{request: {body: [1]}}]",
		"c.yml":    "http_interactions: [{request: {body: ''}, response: {body: 7}}]",
		"d.httprr": "no dump", "e.httprr": "httprr trace v1\n99 1\nGET", "f.httprr": "httprr trace v1\n3 1\nGETx",
	} {
		_, err := parse(name, []byte(data))
		require.Error(t, err, name)
	}
}

func TestReadReturnsNothingWithoutTheVariable(t *testing.T) {
	t.Setenv(Variable, "")
	require.Empty(t, Read(t, "anthropic"))
}

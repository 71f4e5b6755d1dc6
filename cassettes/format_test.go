package cassettes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// small is a cassette of go-vcr without its optional parts.
const small = `---
version: 2
interactions:
    - id: 0
      request:
        body: '{"messages":[]}'
        url: http://127.0.0.1/v1/chat/completions
        method: POST
      response:
        body: '{}'
        headers: {}
        code: 200
`

func TestInvalidFilesAreRejected(t *testing.T) {
	ours := "# origin: recorded\n" + small
	for name, c := range map[string]struct{ file, want string }{
		"empty":        {"", "no version"},
		"a number":     {"interactions: 7", "cassette x.yaml:1:15: expected a list, found a whole number"},
		"other YAML":   {"[]", "cassette x.yaml:1:1: expected a mapping, found a list"},
		"invalid YAML": {"version: 2\n\tinteractions: []\n", "cassette x.yaml:2:1: found a tab character"},
		"wrong type": {strings.Replace(small, "200", "OK", 1),
			"cassette x.yaml:12:15: expected a whole number, found a text"},
		"other version": {strings.Replace(small, "version: 2", "version: 1", 1),
			"unsupported format version 1: expected 2"},
		"other recorder": {"interactions:\n- request: {body: {string: '{}'}, uri: 'http://h/'}\nversion: 1\n",
			"unsupported format version 1"},
		"no interactions": {"version: 2\ninteractions: []\n", "no interactions"},
		"null":            {"version: 2\ninteractions: [null]\n", "cassette x.yaml:2:16: interaction 0: found null"},
		"no method":       {strings.Replace(small, "POST", "''", 1), `interaction 0: invalid request method ""`},
		"broken address": {strings.Replace(small, "http://127.0.0.1", "'::'", 1),
			"cassette x.yaml:7:18: did not find expected key"},
		"invalid address":      {strings.Replace(small, "http://127.0.0.1", ":", 1), "interaction 0: request url: parse"},
		"informational status": {strings.Replace(small, "200", "100", 1), "interaction 0: invalid response code 100"},
		"cut in an interaction": {strings.Replace(small, "        code: 200\n", "", 1),
			"cassette x.yaml:4:7: interaction 0: the response has no code"},
		"two documents":            {small + small, "second YAML document"},
		"cut after an interaction": {ours, `truncated: its last line is "        code: 200"`},
		"cut in the last line":     {ours + "# end: 1 inter", `found 1 interactions, but the last line is "# end: 1 inter"`},
		"removed interaction": {ours + "# end: 2 interactions\n",
			`found 1 interactions, but the last line is "# end: 2 interactions"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("x.yaml", []byte(c.file))
			require.ErrorContains(t, err, "cassette x.yaml:")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFilesOfGoVCRAndOfWindowsAreRead(t *testing.T) {
	r, err := parse("x.yaml", []byte(small))
	require.NoError(t, err, "a file of go-vcr")
	require.Equal(t, Origin(""), r.origin)
	require.Equal(t, 200, r.interactions[0].Response.Code)

	windows := strings.ReplaceAll(string(withComments(Recorded, 1, false, []byte(small))), "\n", "\r\n")
	r, err = parse("x.yaml", []byte(windows))
	require.NoError(t, err, "CRLF line ends")
	require.Equal(t, Recorded, r.origin)
}

// A truncated recording is an error wherever it ends.
func TestTruncatedRecordingIsAnError(t *testing.T) {
	whole := withComments(Scripted, 1, false, []byte(small))
	for n := range len(whole) - len("\n") {
		_, err := parse("x.yaml", whole[:n])
		require.Error(t, err, "%q", whole[:n])
	}
}

func TestMissingFileIsNamed(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "wether.yaml")
	_, err := Replay(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, missing+" not found: its folder contains none: ")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "weather.yaml"), []byte(small), 0o600))
	_, err = Replay(missing)
	require.ErrorContains(t, err, "its folder contains weather.yaml: ")
	_, err = Replay(folder + extension)
	require.Error(t, err)
	_, err = Replay()
	require.EqualError(t, err, "nothing to replay: name the cassettes by their paths")
	require.NoError(t, os.Mkdir(filepath.Join(folder, "folder.yaml"), 0o700))
	_, err = Replay(filepath.Join(folder, "folder.yaml"))
	require.ErrorContains(t, err, "cassette "+filepath.Join(folder, "folder.yaml")+": ")
}

// A cassette may be embedded.
func TestTextsAreReplayed(t *testing.T) {
	f, err := Parse("weather", []byte(small))
	require.NoError(t, err)
	require.Equal(t, "weather", f.Path)
	require.Len(t, f.Interactions, 1)
	require.Len(t, ReplayFiles(f, f).interactions, 2)
	_, err = Parse("weather", []byte("version: 1"))
	require.ErrorContains(t, err, "cassette weather: ")
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add(withComments(Scripted, 1, false, []byte(small)))
	f.Add(
		[]byte(
			"version: 2\ninteractions: [{request: {method: GET, url: 'http://h/a?key=b'}, response: {code: 204, headers: " +
				"{a: []}}}]",
		),
	)
	f.Add([]byte("version: 2\ninteractions: [{request: {method: POST, url: /native, body: " +
		"'{\"messages\":{\"content\":{\"type\":\"tool_use\",\"id\":\"a\"}}}'}, " +
		"response: {code: 200, headers: {content-type: [text/event-stream]}, body: \"a\\r\\n\\r\\n\\n\"}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse("x.yaml", data)
		if err != nil {
			return
		}
		// Each recorded request finds its answer; an unknown one gets a one-line error.
		p := newPlayer(rules{}, r)
		for _, i := range p.interactions {
			if _, err := p.find(i.request); err != nil {
				t.Fatalf("%v not found: %v", i, err)
			}
		}
		if left := p.unused(); len(left) > 0 {
			t.Fatalf("%v was not used", left[0])
		}
		if _, err := p.find(newRequest("openai-chat", nil, `{"not":"there"}`)); err == nil {
			t.Skip("this request is recorded")
		} else if strings.Contains(err.Error(), "\n") {
			t.Fatalf("more than one line: %v", err)
		}
	})
}

package cassettes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// small is a cassette as go-vcr alone would write it, less what it may leave out.
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

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	ours := "# origin: recorded\n" + small
	for name, c := range map[string]struct{ file, want string }{
		"nothing":                     {"", "cassette x.yaml: there is no version: want a cassette of go-vcr, version 2"},
		"another file":                {"[]", "cassette x.yaml: yaml: construct errors: line 1: cannot construct !!seq into cassettes.document"},
		"no YAML":                     {"version: 2\n\tinteractions: []\n", "cassette x.yaml: yaml: line 2: found a tab character that violates indentation"},
		"a wrong type":                {strings.Replace(small, "200", "OK", 1), "cassette x.yaml: yaml: construct errors: line 12: cannot construct !!str `OK` into int"},
		"another version":             {strings.Replace(small, "version: 2", "version: 1", 1), "cassette x.yaml: the format is version 1: want 2, that of go-vcr v4; record it again"},
		"another recorder's":          {"interactions:\n- request: {body: {string: '{}'}, uri: 'http://h/'}\nversion: 1\n", "cassette x.yaml: the format is version 1: want 2, that of go-vcr v4; record it again"},
		"no interactions":             {"version: 2\ninteractions: []\n", "cassette x.yaml: there are no interactions in it: record it again"},
		"a null":                      {"version: 2\ninteractions: [null]\n", "cassette x.yaml: interaction 0: it is null: want a request and a response"},
		"no method":                   {strings.Replace(small, "POST", "''", 1), "cassette x.yaml: interaction 0: the request has the method \"\": want one of HTTP"},
		"no address":                  {strings.Replace(small, "http://127.0.0.1", "'::'", 1), "cassette x.yaml: yaml: line 7: did not find expected key"},
		"a bad address":               {strings.Replace(small, "http://127.0.0.1", ":", 1), `cassette x.yaml: interaction 0: the request's url: parse ":/v1/chat/completions": missing protocol scheme`},
		"a status that ends nothing":  {strings.Replace(small, "200", "100", 1), "cassette x.yaml: interaction 0: the response has the code 100: want one from 200 to 599"},
		"cut within an interaction":   {strings.Replace(small, "        code: 200\n", "", 1), "cassette x.yaml: interaction 0: the response has no code: the file may be cut short; restore it, or record it again"},
		"two in one":                  {small + small, "cassette x.yaml: there is another document behind the first: want one cassette to a file"},
		"cut at an interaction's end": {ours, `cassette x.yaml: the file is cut short: its last line should begin with "# end: " and is "        code: 200"; restore it, or record it again`},
		"cut within the last line":    {ours + "# end: 1 inter", `cassette x.yaml: the file holds 1 interactions, and its last line has it as "# end: 1 inter": restore it, or record it again`},
		"an interaction taken out":    {ours + "# end: 2 interactions\n", `cassette x.yaml: the file holds 1 interactions, and its last line has it as "# end: 2 interactions": restore it, or record it again`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse("x.yaml", []byte(c.file))
			require.EqualError(t, err, c.want)
		})
	}
}

func TestAFileIsRead(t *testing.T) {
	r, err := parse("x.yaml", []byte(small))
	require.NoError(t, err, "of go-vcr's own")
	require.Equal(t, Origin(""), r.origin)
	require.Equal(t, 200, r.interactions[0].Response.Code)

	windows := strings.ReplaceAll(string(frame(Recorded, 1, false, []byte(small))), "\n", "\r\n")
	r, err = parse("x.yaml", []byte(windows))
	require.NoError(t, err, "with the line ends of Windows")
	require.Equal(t, Recorded, r.origin)
}

// Half a recording must never be taken for one, wherever it ends.
func TestARecordingCutAnywhereIsAnError(t *testing.T) {
	whole := frame(Scripted, 1, false, []byte(small))
	for n := range len(whole) - len("\n") {
		_, err := parse("x.yaml", whole[:n])
		require.Error(t, err, "%q", whole[:n])
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	folder := t.TempDir()
	missing := filepath.Join(folder, "wether.yaml")
	_, err := Replay(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "there is no cassette "+missing+": its folder has none: ")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "weather.yaml"), []byte(small), 0o600))
	_, err = Replay(missing)
	require.ErrorContains(t, err, "its folder has weather.yaml: ")
	_, err = Replay(folder + extension)
	require.Error(t, err)
	_, err = Replay("wether")
	require.EqualError(t, err, `there is no recording "wether": want a scenario and a form, such as parallel.native, of which there are 60; `+
		`or the path of a file that ends in .yaml`)
	require.NoError(t, os.Mkdir(filepath.Join(folder, "folder.yaml"), 0o700))
	_, err = Replay(filepath.Join(folder, "folder.yaml"))
	require.ErrorContains(t, err, "cassette "+filepath.Join(folder, "folder.yaml")+": ")
}

// What we embed is for everybody: whoever has go-vcr alone can load it.
func TestGoVCRLoadsTheRecordings(t *testing.T) {
	require.Equal(t, []string{"balance", "basic", "loop", "parallel", "tool-use"}, Scenarios())
	for _, name := range Names() {
		stock, err := cassette.Load(embeddedFolder + name)
		require.NoError(t, err)
		ours, err := load(name)
		require.NoError(t, err)
		require.Equal(t, Scripted, ours.origin)
		require.Equal(t, stock.Interactions, ours.interactions)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add(frame(Scripted, 1, false, []byte(small)))
	f.Add([]byte("version: 2\ninteractions: [{request: {method: GET, url: 'http://h/a?key=b'}, response: {code: 204, headers: {a: []}}}]"))
	f.Add([]byte("version: 2\ninteractions: [{request: {method: POST, url: /native, body: '{\"messages\":{\"content\":{\"type\":\"tool_use\",\"id\":\"a\"}}}'}, " +
		"response: {code: 200, headers: {content-type: [text/event-stream]}, body: \"a\\r\\n\\r\\n\\n\"}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parse("x.yaml", data)
		if err != nil {
			return
		}
		// What is read can be played: each request finds an answer, and a foreign one is told what is near it.
		p := newPlayer(r)
		for _, i := range p.interactions {
			if _, err := p.find(i.request); err != nil {
				t.Fatalf("%v is not found: %v", i, err)
			}
		}
		if left := p.unused(); len(left) > 0 {
			t.Fatalf("%v was not played", left[0])
		}
		if _, err := p.find(newRequest("openai-chat", nil, `{"not":"there"}`)); err == nil {
			t.Skip("it was there")
		} else if strings.Contains(err.Error(), "\n") {
			t.Fatalf("more than one line: %v", err)
		}
	})
}

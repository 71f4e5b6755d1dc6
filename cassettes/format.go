package cassettes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// Origin says where a recording comes from.
type Origin string

// The origins. A file written by go-vcr alone has none.
const (
	// Scripted is a recording of a scripted model: no provider was called for it.
	Scripted Origin = "scripted"
	// Recorded is a recording of a real provider.
	Recorded Origin = "recorded"
	// Imported is a recording of another recorder, which may be of either kind.
	Imported Origin = "imported"
)

// Comments at the beginning and the end of a file. YAML alone does not show that a list ends too early.
const (
	originComment = "# origin: "
	endComment    = "# end: %d interactions"
	timedComment  = "# end: %d timed interactions" // with timings in a file beside it
)

type recording struct {
	name         string
	origin       Origin // "": unknown
	interactions []*cassette.Interaction
	timed        bool     // has timings beside it
	timings      []timing // by interaction, or nil
}

// allTimings returns a timing for each interaction. Without a timing file only its ID is set.
func (r *recording) allTimings() []timing {
	if r.timings != nil {
		return slices.Clone(r.timings)
	}
	all := make([]timing, len(r.interactions))
	for i := range all {
		all[i].ID = i
	}
	return all
}

const anotherVersion = "unsupported format version %d: expected %d (go-vcr v4); " + importIt

const importIt = "convert it with mcp-conform cassette import, or record it again"

// document is go-vcr's YAML. Unlike go-vcr's own struct it shows a missing version.
type document struct {
	Version      *int
	Interactions []*cassette.Interaction
}

func withComments(origin Origin, n int, timed bool, document []byte) []byte {
	var b bytes.Buffer
	end := endComment
	if timed {
		end = timedComment
	}
	fmt.Fprintf(&b, originComment+"%s\n%s"+end+"\n", origin, document, n)
	return b.Bytes()
}

// parse decodes a file. Its error starts with the name, and names the line or interaction.
func parse(name string, data []byte) (*recording, error) {
	r, err := decode(data)
	var at *yaml.LoadError
	if errors.As(err, &at) {
		line, column := max(1, at.Mark.Line), max(1, at.Mark.Column) // 0 for bytes that are not text
		return nil, placed(name, data, line, column, errors.New(plainWords(at.Message)))
	}
	if err != nil {
		return nil, fmt.Errorf("cassette %s: %w", name, err)
	}
	r.name = name
	for i, it := range r.interactions {
		if err := check(it); err != nil {
			var lines struct{ Interactions []yaml.Node }
			_ = yaml.Unmarshal(data, &lines) // has been read before
			begin := lines.Interactions[i]
			return nil, placed(name, data, begin.Line, begin.Column, fmt.Errorf("interaction %d: %w", i, err))
		}
	}
	return r, nil
}

// mistyped matches the YAML package's message about a value of another type.
var mistyped = regexp.MustCompile("^cannot construct !!(\\w+)(?: `(?s:.*)`)? into (.*)$")

var kindWords = map[string]string{"int": "a whole number", "str": "a text", "string": "a text", "bool": "true or false",
	"float": "a number", "null": "nothing", "seq": "a list", "map": "a mapping", "time.Duration": "a duration"}

func plainWords(message string) string {
	found := mistyped.FindStringSubmatch(message)
	if found == nil {
		return message
	}
	wanted := strings.TrimRight(strings.TrimLeft(found[2], "*u"), "0123456789")
	switch {
	case strings.HasPrefix(wanted, "[]"):
		wanted = "seq"
	case kindWords[wanted] == "":
		wanted = "map"
	}
	return fmt.Sprintf("expected %s, found %s", kindWords[wanted], cmp.Or(kindWords[found[1]], found[1]))
}

// placed is an error about a place of a cassette. It shows the line.
func placed(name string, data []byte, line, column int, err error) error {
	return fmt.Errorf("cassette %s:%d:%d: %w\n%s", name, line, column, err, excerpt(string(data), line, column))
}

// decode decodes a file without a look at its interactions.
func decode(data []byte) (*recording, error) {
	r := &recording{}
	first, _, _ := strings.Cut(string(data), "\n")
	if origin, ours := strings.CutPrefix(first, originComment); ours {
		r.origin = Origin(strings.TrimSpace(origin))
	}
	end := lastLine(data)
	if r.origin != "" && !strings.HasPrefix(end, "# end: ") {
		return nil, fmt.Errorf("the file is truncated: its last line is %q, expected %q; restore it or record it again",
			clip(end), "# end: ")
	}
	d, err := decodeYAML(data)
	if err != nil {
		return nil, err
	}
	r.interactions = d.Interactions
	n := len(r.interactions)
	r.timed = end == fmt.Sprintf(timedComment, n)
	switch {
	case d.Version == nil:
		return nil, fmt.Errorf("no version: expected a go-vcr cassette of version %d; "+importIt,
			cassette.CassetteFormatVersion)
	case *d.Version != cassette.CassetteFormatVersion:
		return nil, fmt.Errorf(anotherVersion, *d.Version, cassette.CassetteFormatVersion)
	case n == 0:
		return nil, errors.New("no interactions: record it again")
	case r.origin != "" && !r.timed && end != fmt.Sprintf(endComment, n):
		return nil, fmt.Errorf("found %d interactions, but the last line is %q: restore the file or record it again",
			n, clip(end))
	}
	return r, nil
}

func decodeYAML(data []byte) (*document, error) {
	var d document
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		var other struct{ Version *int } // another version may have other interactions
		if yaml.Unmarshal(data, &other) == nil && other.Version != nil && *other.Version != cassette.CassetteFormatVersion {
			return nil, fmt.Errorf(anotherVersion, *other.Version, cassette.CassetteFormatVersion)
		}
		return nil, err
	}
	switch err := dec.Decode(&yaml.Node{}); {
	case err == nil:
		return nil, errors.New("found a second YAML document: expected one cassette per file")
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return &d, nil
}

// check finds an interaction that cannot be replayed. A go-vcr file that was truncated within one has no status.
func check(it *cassette.Interaction) error {
	if it == nil {
		return errors.New("found null: expected a request and a response")
	}
	if _, err := url.Parse(it.Request.URL); err != nil {
		return fmt.Errorf("request url: %w", err)
	}
	switch code := it.Response.Code; {
	case !isMethod(it.Request.Method):
		return fmt.Errorf("invalid request method %q", it.Request.Method)
	case code == 0:
		return errors.New("the response has no code: the file may be truncated; restore it or record it again")
	case code < http.StatusOK || code > 599:
		return fmt.Errorf("invalid response code %d: expected 200 to 599", code)
	}
	return nil
}

func isMethod(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

func lastLine(data []byte) string {
	text := strings.TrimRight(string(data), "\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

package cassettes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// Origin says where a recording comes from.
type Origin string

// The origins. A file that go-vcr alone has written has none.
const (
	// Scripted is a recording of a scripted model: no provider was called for it.
	Scripted Origin = "scripted"
	// Recorded is a recording of a real provider.
	Recorded Origin = "recorded"
)

// The comments of our own, at the beginning and at the end of a file. They say to whoever opens it what it is, and YAML does not
// notice when a list ends too early.
const (
	originComment = "# origin: "
	endComment    = "# end: %d interactions"
	timedComment  = "# end: %d timed interactions" // of a cassette with timings beside it
)

// recording is a file that was read.
type recording struct {
	name         string
	origin       Origin // "" where the file does not say
	interactions []*cassette.Interaction
	timed        bool     // whether it has timings beside it
	timings      []timing // of each interaction; nil where there are none
}

// allTimings returns a timing for each interaction, of which nothing but the ID is known where the file has none.
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

const anotherVersion = "the format is version %d: want %d, that of go-vcr v4; record it again"

// document is the YAML of go-vcr. Its own struct has version 2 where the file has none.
type document struct {
	Version      *int
	Interactions []*cassette.Interaction
}

// frame puts the comments around a cassette of n interactions.
func frame(origin Origin, n int, timed bool, document []byte) []byte {
	var b bytes.Buffer
	end := endComment
	if timed {
		end = timedComment
	}
	fmt.Fprintf(&b, originComment+"%s\n%s"+end+"\n", origin, document, n)
	return b.Bytes()
}

// parse reads a file. Its error begins with the name, and says in which line or interaction what is wrong.
func parse(name string, data []byte) (*recording, error) {
	wrong := func(format string, args ...any) (*recording, error) {
		return nil, fmt.Errorf("cassette "+name+": "+format, args...)
	}
	r := &recording{name: name}
	first, _, _ := strings.Cut(string(data), "\n")
	if origin, ours := strings.CutPrefix(first, originComment); ours {
		r.origin = Origin(strings.TrimSpace(origin))
	}
	end := lastLine(data)
	if r.origin != "" && !strings.HasPrefix(end, "# end: ") {
		return wrong("the file is cut short: its last line should begin with %q and is %q; restore it, or record it again", "# end: ", clip(end))
	}
	var d document
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil && !errors.Is(err, io.EOF) {
		var other struct{ Version *int } // whose interactions look otherwise
		if yaml.Unmarshal(data, &other) == nil && other.Version != nil && *other.Version != cassette.CassetteFormatVersion {
			return wrong(anotherVersion, *other.Version, cassette.CassetteFormatVersion)
		}
		return wrong("%w", err)
	}
	switch err := dec.Decode(&yaml.Node{}); {
	case err == nil:
		return wrong("there is another document behind the first: want one cassette to a file")
	case !errors.Is(err, io.EOF):
		return wrong("%w", err)
	}
	r.interactions = d.Interactions
	n := len(r.interactions)
	r.timed = end == fmt.Sprintf(timedComment, n)
	switch {
	case d.Version == nil:
		return wrong("there is no version: want a cassette of go-vcr, version %d", cassette.CassetteFormatVersion)
	case *d.Version != cassette.CassetteFormatVersion:
		return wrong(anotherVersion, *d.Version, cassette.CassetteFormatVersion)
	case n == 0:
		return wrong("there are no interactions in it: record it again")
	case r.origin != "" && !r.timed && end != fmt.Sprintf(endComment, n):
		return wrong("the file holds %d interactions, and its last line has it as %q: restore it, or record it again", n, clip(end))
	}
	for i, it := range r.interactions {
		if err := check(it); err != nil {
			return wrong("interaction %d: %w", i, err)
		}
	}
	return r, nil
}

// check finds what cannot be played back. A file of go-vcr's own that was cut within an interaction ends without its status.
func check(it *cassette.Interaction) error {
	if it == nil {
		return errors.New("it is null: want a request and a response")
	}
	if _, err := url.Parse(it.Request.URL); err != nil {
		return fmt.Errorf("the request's url: %w", err)
	}
	switch code := it.Response.Code; {
	case !isMethod(it.Request.Method):
		return fmt.Errorf("the request has the method %q: want one of HTTP", it.Request.Method)
	case code == 0:
		return errors.New("the response has no code: the file may be cut short; restore it, or record it again")
	case code < http.StatusOK || code > 599:
		return fmt.Errorf("the response has the code %d: want one from 200 to 599", code)
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

// clip shortens a text for a message of one line.
func clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

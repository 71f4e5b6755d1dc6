package cassettes

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// File is a cassette to be looked at. It is read by [Read].
type File struct {
	Path string
	// Origin is "" for a file that does not say it, such as one of go-vcr's own.
	Origin Origin
	// Timed is true where it is known when the pieces of its answers came.
	Timed        bool
	Interactions []Interaction
}

// Interaction is a recorded request and its answer.
type Interaction struct {
	// Number is its place in the file, from 0.
	Number      int
	Method, URL string
	// Dialect is the model's wire format; "" for an address that is of none.
	Dialect string
	// Asked is the request in neutral form; nil where it is of no dialect, or cannot be read.
	Asked *dialect.Request
	// Status is that of HTTP.
	Status int
	// Stream is true for an answer that is a stream, and Events counts its events or lines.
	Stream bool
	Events int
	// Request and Response are the bodies.
	Request, Response string
	// First is the time to the head of the answer, and Took to its end; 0 where they are not known.
	First, Took time.Duration
	// Cut is who cut the answer short, "caller" or "provider"; "" for one that is whole.
	Cut string

	recorded *cassette.Interaction
	unread   error // why Asked is nil, for one that is of a dialect
}

// Read reads the cassette at a path, which ends in .yaml, or an embedded recording by its name. Its error says where the file is wrong.
func Read(path string) (*File, error) {
	r, err := load(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Origin: r.origin, Timed: r.timed}
	for n, it := range r.interactions {
		i := Interaction{Number: n, Method: it.Request.Method, URL: it.Request.URL, Status: it.Response.Code, Request: it.Request.Body, Response: it.Response.Body, recorded: it}
		if r.timings != nil {
			i.time(&r.timings[n])
		}
		i.read()
		f.Interactions = append(f.Interactions, i)
	}
	return f, nil
}

func (i *Interaction) time(t *timing) {
	i.Cut, i.First = t.Cut, time.Duration(t.First)*time.Millisecond
	i.Took = i.First
	for _, p := range t.Pieces {
		i.Took += time.Duration(p[1]) * time.Millisecond
	}
}

// read finds out what is asked and how it is answered.
func (i *Interaction) read() {
	u, err := url.Parse(i.URL)
	if err != nil {
		panic(err) // parse has read it
	}
	name, _, _ := strings.Cut(kindOf(i.Method, u), " ")
	for k := range dialects {
		if dialects[k].name == name {
			i.Dialect = name
			i.Asked, i.unread = llm.Decode(name, pathOf(&dialects[k], u), []byte(i.Request))
		}
	}
	answer := answerOf(&i.recorded.Response, nil)
	if i.Stream = answer.Stream; i.Stream {
		i.Events = len(answer.Chunks)
	}
}

// pathOf is the path by which the model server knows the dialect: without what a gateway puts before it.
func pathOf(d *understood, u *url.URL) string {
	if d.name == dialect.Gemini {
		return "/v1beta" + u.Path[strings.LastIndex(u.Path, d.path):]
	}
	return u.Path
}

// mediaType is the answer's, without parameters.
func (i *Interaction) mediaType() string {
	for name, values := range i.recorded.Response.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" && len(values) > 0 {
			mediaType, _, _ := mime.ParseMediaType(values[0])
			return mediaType
		}
	}
	return ""
}

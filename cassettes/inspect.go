package cassettes

import (
	"net/url"
	"time"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
)

// File is a cassette to be inspected. [Read] makes one.
type File struct {
	Path string
	// Origin is "" if the file does not say it, such as a file of go-vcr.
	Origin Origin
	// Timed is true if the arrival times of the answers are known.
	Timed        bool
	Interactions []Interaction

	recording *recording
}

// Interaction is a recorded request and its answer.
type Interaction struct {
	// Number is the place in the file, from 0.
	Number      int
	Method, URL string
	// Dialect is the model's wire format; "" if the address has none.
	Dialect string
	// Decoded is the request in neutral form; nil without a dialect, or if it is invalid.
	Decoded *dialect.Request
	// Status is the HTTP status.
	Status int
	// Stream is true for a streamed answer; Events counts its events or lines.
	Stream bool
	Events int
	// Request and Response are the bodies.
	Request, Response string
	// First is the time to the head of the answer, Duration the time to its end; 0 if unknown.
	First, Duration time.Duration
	// Cut says who cut the answer short: "caller", "provider" or "" (complete).
	Cut string

	recorded *cassette.Interaction
	unread   error // why Decoded is nil although there is a dialect
}

// Read reads a cassette by its path. Its error says where the file is wrong.
func Read(path string) (*File, error) {
	r, err := load(path)
	if err != nil {
		return nil, err
	}
	return inspect(r), nil
}

// Parse is [Read] for the text of a cassette, such as an embedded one. Its timings are unknown.
func Parse(name string, text []byte) (*File, error) {
	r, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	return inspect(r), nil
}

func inspect(r *recording) *File {
	f := &File{Path: r.name, Origin: r.origin, Timed: r.timed, recording: r}
	for n, it := range r.interactions {
		i := Interaction{
			Number: n, Method: it.Request.Method, URL: it.Request.URL, Status: it.Response.Code,
			Request: it.Request.Body, Response: it.Response.Body, recorded: it,
		}
		if r.timings != nil {
			i.time(&r.timings[n])
		}
		i.read()
		f.Interactions = append(f.Interactions, i)
	}
	return f
}

func (i *Interaction) time(t *timing) {
	i.Cut, i.First = t.Cut, time.Duration(t.First)*time.Millisecond
	i.Duration = i.First
	for _, p := range t.Pieces {
		i.Duration += time.Duration(p[1]) * time.Millisecond
	}
}

func (i *Interaction) read() {
	u, err := url.Parse(i.URL)
	if err != nil {
		panic(err) // parse has checked it
	}
	if d := dialectOf(kindOf(i.Method, u)); d != nil {
		i.Dialect = d.name
		i.Decoded, i.unread = dialects.Decode(d.name, u.Path, []byte(i.Request))
	}
	answer := answerOf(&i.recorded.Response, nil)
	if i.Stream = answer.Stream; i.Stream {
		i.Events = len(answer.Chunks)
	}
}

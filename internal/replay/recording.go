// Package replay reads a trace as a conversation: what the client requested, what the server asked meanwhile, how the
// client answered, and the response. It compares that with another conversation, and finds the recorded request that
// another one is like.
//
// Here belongs what both sides of a replay need. How the server's side is served is in fakes/server, and how the
// client's side is played in fakes/client. The package needs no marks: what happened during which request is read from
// the streams and ids of the wire.
package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Recording is the conversation of one trace.
type Recording struct {
	// File is where the trace was read from.
	File string
	// Requests are the client's requests, in their order.
	Requests []*Request
	// Stray is how many lines of the server were not messages.
	Stray int
	// Revision is what client and server spoke first; "" if they agreed on none.
	Revision string

	models []*model
}

// Request is a request of the client, with all that belongs to it.
type Request struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	// Revision is that of the session or of the request.
	Revision string
	// Steps are what happened before the response, in order.
	Steps []Step
	// Result and Error are the response. Both are nil if none was seen.
	Result, Error json.RawMessage
	// Status is the HTTP status of a response in a body of its own; 0 for any other.
	Status int
	// After are the requests that had their response when this one was sent.
	After []*Request

	session, caseID string
	call            int
	sent, event     int // of the request and its response, in the trace
}

// Step is one message besides a request and its response. One member is set.
type Step struct {
	Asked    *Ask            // the server asks
	Answered *Ask            // the client answers
	Notified json.RawMessage // the server notifies
	Canceled bool            // the client cancels the request, or leaves it
}

// Ask is a request of the server, or an input request of a result.
type Ask struct {
	ID     json.RawMessage // of the request
	Key    string          // of the input request
	Method string
	Params json.RawMessage
	// Result and Error are the client's answer. Both are nil if none was seen.
	Result, Error json.RawMessage
	// Shared says that several calls were under way, and the wire does not tell which one the server asked for.
	Shared bool

	of    *Request
	event int    // in the trace
	ended int    // the event of the answer; 0 for none
	path  string // of the params in the event's message
}

// IsAnswered reports whether the client answered.
func (a *Ask) IsAnswered() bool { return a.Result != nil || a.Error != nil }

// HasResponse reports whether the server responded.
func (r *Request) HasResponse() bool { return r.Result != nil || r.Error != nil }

// Files returns the traces of a path: a file, a folder of traces, or a folder of run --out.
func Files(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, nil // an error is that of opening it
	}
	for _, dir := range []string{filepath.Join(path, "traces"), path} {
		files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
		if err != nil {
			return nil, err
		}
		if files != nil {
			slices.SortStableFunc(files, func(a, b string) int { return len(a) - len(b) }) // -2 before -10
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s: expected traces (*.ndjson), found none", path)
}

// Read reads the recordings of a path. A recording without a request that the server answered is an error: there is
// nothing to play.
func Read(path string) ([]*Recording, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	var all []*Recording
	found := false
	for _, file := range files {
		recording, err := readFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		found = found || slices.ContainsFunc(recording.Requests, (*Request).HasResponse)
		all = append(all, recording)
	}
	if !found {
		return nil, fmt.Errorf("%s: no request of a client with its response: expected a recording of both sides", path)
	}
	return all, nil
}

func readFile(file string) (*Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err // the caller names the file
		}
		return nil, err
	}
	defer f.Close()
	r := newReader()
	r.recording.File = file
	if err := trace.Scan(f, r.look); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return r.recording, trace.Scan(f, r.take)
}

// New reads the recording of a trace in memory.
func New(t *trace.Trace) *Recording {
	r := newReader()
	_, _ = r.look(t), r.take(t) // never fail
	return r.recording
}

// Client returns what the client said of itself: its name and version, and its capabilities as a JSON object.
func (r *Recording) Client() (info map[string]any, capabilities json.RawMessage) {
	capabilities = json.RawMessage("{}")
	for _, q := range r.Requests {
		said := q.Params
		names := [2]string{"clientInfo", "capabilities"}
		if q.Method != "initialize" {
			said = jsonvalue.Part(q.Params, "_meta")
			names = [2]string{metaPrefix + "clientInfo", metaPrefix + "clientCapabilities"}
		}
		var o map[string]json.RawMessage
		if json.Unmarshal(said, &o) != nil || o[names[1]] == nil {
			continue
		}
		info, _ = jsonvalue.ReadObject(o[names[0]])
		if declared, err := jsonvalue.ReadObject(o[names[1]]); err == nil {
			capabilities = jsonvalue.Marshal(declared)
		}
		return info, capabilities
	}
	return nil, capabilities
}

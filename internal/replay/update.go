package replay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Change is what the server says now in place of a recorded part of a message.
type Change struct {
	event int
	path  string // of the part in the message
	value json.RawMessage
}

// Now returns the change of a response.
func (r *Request) Now(result, err json.RawMessage) Change {
	if err != nil {
		return Change{r.event, "error", err}
	}
	return Change{r.event, "result", result}
}

// Now returns the change of an ask.
func (a *Ask) Now(params json.RawMessage) Change { return Change{a.event, a.path, params} }

// Update writes changes into the file of a trace.
func Update(file string, changes []Change) (err error) {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	t, err := trace.Read(f)
	_ = f.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range changes {
		frame := t.Events[c.event].Frame
		start, end, found := jsonvalue.Locate(frame.Raw, c.path)
		if !found {
			return fmt.Errorf("%s: event %d has no %s to replace: record the session again", file, c.event+1, c.path)
		}
		frame.Raw = slices.Concat(frame.Raw[:start], trace.Bytes(c.value), frame.Raw[end:])
	}
	out, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return err
	}
	if err = t.Write(out); err == nil {
		err = out.Chmod(0o644)
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(out.Name())
		return err
	}
	return os.Rename(out.Name(), file)
}

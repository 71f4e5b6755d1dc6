package malformed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// File is a frame that broke a client, as it is kept.
type File struct {
	// Revision is the one in which it did.
	Revision string
	// From says where the frame comes from, such as "seed 7, frame 31".
	From string
	// Broken says what was done to a valid request to make the frame that this one was shrunk from.
	Broken string
	// Check is the check that failed, and Says what it said.
	Check, Says string
	// Params are those of the request, in which [Conversation] stands for the word of the conversation.
	Params json.RawMessage
}

// fileKind is what the member mcp-conform of a file says.
const fileKind = "frame"

// Write writes the frame as a file, its params byte for byte.
func (f *File) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range [][2]string{{"mcp-conform", fileKind}, {"revision", f.Revision}, {"from", f.From}, {"broken", f.Broken}, {"check", f.Check}, {"says", f.Says}} {
		fmt.Fprintf(&b, "  %s: %s,\n", quoted(m[0]), quoted(m[1]))
	}
	fmt.Fprintf(&b, "  \"params\": %s\n}\n", f.Params)
	_, err := io.WriteString(w, b.String())
	return err
}

// Keep writes the frame into a folder, which is made where it is not there, and returns the path. The name tells the revision, the check and
// name apart; a file that is there already gives way. It appears whole or not at all.
func (f *File) Keep(dir, name string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keeping a frame: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return "", fmt.Errorf("keeping a frame: %w", err)
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-%s.json", f.Revision, name))
	if err = errors.Join(f.Write(tmp), tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("keeping a frame as %s: %w", path, errors.Join(err, os.Remove(tmp.Name())))
	}
	return path, nil
}

// Open reads a file that Keep has written, or that was written in its place.
func Open(path string) (*File, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Read reads the text of a file.
func Read(raw []byte) (*File, error) {
	var said struct {
		Kind     string          `json:"mcp-conform"`
		Revision string          `json:"revision"`
		From     string          `json:"from"`
		Broken   string          `json:"broken"`
		Check    string          `json:"check"`
		Says     string          `json:"says"`
		Params   json.RawMessage `json:"params"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&said); err != nil {
		return nil, fmt.Errorf("this is no frame: %w", notWhole(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("this is no frame: there is more behind its end")
	}
	switch {
	case said.Kind != fileKind:
		return nil, fmt.Errorf(`this is no frame: want a member "mcp-conform": %q, got %q`, fileKind, said.Kind)
	case said.Params == nil:
		return nil, errors.New("the frame has no params")
	case said.Revision == "":
		return nil, errors.New("the frame has no revision")
	}
	return &File{said.Revision, said.From, said.Broken, said.Check, said.Says, said.Params}, nil
}

// notWhole says of a text that ends too soon that it does.
func notWhole(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the text ends too early")
	}
	return err
}

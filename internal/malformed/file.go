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

// File is a request that broke a client, as it is kept.
type File struct {
	// Revision is the protocol revision of the session.
	Revision string `json:"revision"`
	// From says where the frame comes from, such as "seed 7, frame 31".
	Source string `json:"from"`
	// Broken says what was done to a valid request; the params were shrunk afterwards.
	Broken string `json:"broken"`
	// Check is the id of the failed check, and Says its message.
	Check   string `json:"check"`
	Message string `json:"says"`
	// Params are the params of the request. They contain [Conversation].
	Params json.RawMessage `json:"params"`
}

// fileKind is the value of the member mcp-conform.
const fileKind = "frame"

// Write writes the file, with the params byte for byte.
func (f *File) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("{\n")
	for _, m := range [][2]string{
		{"mcp-conform", fileKind}, {"revision", f.Revision}, {"from", f.Source},
		{"broken", f.Broken}, {"check", f.Check}, {"says", f.Message},
	} {
		fmt.Fprintf(&b, "  %s: %s,\n", quoted(m[0]), quoted(m[1]))
	}
	fmt.Fprintf(&b, "  \"params\": %s\n}\n", f.Params)
	_, err := io.WriteString(w, b.String())
	return err
}

// Keep writes the file into dir, which it creates if needed, and returns the path REVISION-NAME.json. It replaces an
// existing file, and writes all of it or nothing.
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

// Open reads a file that Keep has written.
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

// Read decodes a file.
func Read(raw []byte) (*File, error) {
	var said struct {
		Kind string `json:"mcp-conform"`
		File
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&said); err != nil {
		return nil, fmt.Errorf("invalid frame: %w", notWhole(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("invalid frame: unexpected text after its end")
	}
	switch {
	case said.Kind != fileKind:
		return nil, fmt.Errorf(`invalid frame: expected "mcp-conform": %q, found %q`, fileKind, said.Kind)
	case said.Params == nil:
		return nil, errors.New("invalid frame: no params")
	case said.Revision == "":
		return nil, errors.New("invalid frame: no revision")
	}
	return &said.File, nil
}

// notWhole returns a plain error for a truncated text.
func notWhole(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the text is truncated")
	}
	return err
}

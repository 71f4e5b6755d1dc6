package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// A file begins with its kind and the version of its format.
const (
	fileKind    = "conversation"
	fileVersion = 1
)

// MarkPlaceholder is replaced with the mark of the conversation in hostile params.
const MarkPlaceholder = "CONVERSATION"

// Write writes the conversation as a file, with hostile params byte for byte.
func (c *Conversation) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"mcp-conform\": %q,\n  \"version\": %d,\n", fileKind, fileVersion)
	for _, m := range [][2]string{{"revision", c.Revision}, {"from", c.Source}, {"check", c.Check}, {"says", c.Message}} {
		if m[1] != "" {
			fmt.Fprintf(&b, "  %q: %s,\n", m[0], jsonvalue.Quote(m[1]))
		}
	}
	b.WriteString("  \"steps\": [\n")
	for i, s := range c.Steps {
		b.WriteString("    [\n")
		for j := range s {
			raw, err := encode(&s[j])
			if err != nil {
				return fmt.Errorf("steps[%d][%d]: %w", i, j, err)
			}
			fmt.Fprintf(&b, "      %s%s\n", raw, comma(j, len(s)))
		}
		fmt.Fprintf(&b, "    ]%s\n", comma(i, len(c.Steps)))
	}
	b.WriteString("  ]\n}\n")
	_, err := w.Write(b.Bytes())
	return err
}

func comma(i, count int) string {
	if i+1 < count {
		return ","
	}
	return ""
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Keep writes the conversation to a file in dir, which it creates if needed, and returns the path REVISION-NAME.json.
// It replaces an existing file, and writes all of it or nothing.
func (c *Conversation) Keep(dir, name string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keeping a conversation: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return "", fmt.Errorf("keeping a conversation: %w", err)
	}
	path = filepath.Join(dir, fmt.Sprintf("%s-%s.json", c.Revision, name))
	if err = errors.Join(c.Write(tmp), tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("keeping a conversation as %s: %w", path, errors.Join(err, os.Remove(tmp.Name())))
	}
	return path, nil
}

// Open reads a file that Keep or a person has written.
func Open(path string) (*Conversation, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := Read(raw)
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	return c, nil
}

// lineError is an error at a line of a file. Its text begins with a colon, to follow the path.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string {
	return fmt.Sprintf(":%d: invalid conversation: %v", e.line, e.err)
}
func (e *lineError) Unwrap() error { return e.err }

// Read decodes a file. The text of an error begins with a colon and the number of the line.
func Read(raw []byte) (*Conversation, error) {
	var said struct {
		Kind    string `json:"mcp-conform"`
		Version int    `json:"version"`
		Conversation
	}
	said.Version = fileVersion
	if err := decodeStrict(raw, &said); err != nil {
		return nil, err
	}
	c := &said.Conversation
	var err error
	switch {
	case said.Kind != fileKind:
		err = fmt.Errorf(`expected "mcp-conform": %q, found %q`, fileKind, said.Kind)
	case said.Version != fileVersion:
		err = fmt.Errorf("expected version %d, found %d: use the mcp-conform that wrote it", fileVersion, said.Version)
	case c.Revision == "":
		err = errors.New("revision: missing")
	}
	if err != nil {
		return nil, &lineError{1, err}
	}
	return c, nil
}

// decodeStrict decodes JSON without unknown members and further text.
func decodeStrict(raw []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	at := dec.InputOffset()
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("unexpected text after its end")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, err = int64(len(bytes.TrimSpace(raw))), errors.New("the text is truncated")
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &wrong):
		at, err = wrong.Offset, jsonvalue.Plain(err)
	default: // an unknown member, wherever it is
		err = jsonvalue.Plain(err)
		if i := bytes.Index(raw, []byte(unknownMember(err.Error()))); i >= 0 {
			at = int64(i)
		}
	}
	return &lineError{1 + bytes.Count(raw[:min(at, int64(len(raw)))], []byte("\n")), err}
}

func unknownMember(text string) string { return strings.TrimPrefix(text, "unknown member ") }

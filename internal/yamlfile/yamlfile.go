// Package yamlfile decodes YAML files strictly. Its errors name file, line and column, and show the place with a
// caret.
package yamlfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Decode decodes the one document of a file into v. An empty file leaves v as it is. Unknown members are errors.
// A text is as it is written: 1.50 stays 1.50.
func Decode(name string, data []byte, v any) error {
	if err := checkUTF8(name, data); err != nil {
		return err
	}
	root, err := parse(data)
	if root != nil {
		err = cmp.Or((&decoder{reflect.TypeOf(v).Elem()}).value(root, reflect.ValueOf(v).Elem()), err)
	}
	return inFile(name, data, err)
}

// errMore is the error of a file with more than one document.
var errMore = errors.New("expected one YAML document, found more")

// parse returns the root of the first document; nil for an empty file, and for an invalid name or alias. A second
// document is an error.
func parse(data []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var document, next yaml.Node
	if err := loader.Load(&document); err != nil || len(document.Content) == 0 {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	if err := document.Load(new(any)); err != nil {
		return nil, err
	}
	err = loader.Load(&next)
	if errors.Is(err, io.EOF) || err == nil && len(next.Content) > 0 && kindOf(next.Content[0]) == nothing {
		return document.Content[0], nil
	}
	return document.Content[0], errMore
}

// placed is an error about a place of the file.
type placed struct {
	line, column int
	err          error
}

func (p *placed) Error() string { return p.err.Error() }
func (p *placed) Unwrap() error { return p.err }

func at(n *yaml.Node, format string, args ...any) error {
	return &placed{n.Line, n.Column, fmt.Errorf(format, args...)}
}

// inFile names the file and, if it is known, the place of an error.
func inFile(name string, data []byte, err error) error {
	var place *placed
	if many := new(yaml.LoadErrors); errors.As(err, &many) && len(many.Errors) > 0 {
		err = many.Errors[0]
	}
	if wrong := new(yaml.LoadError); errors.As(err, &wrong) {
		err = syntaxError(wrong, data)
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &place):
		return fmt.Errorf("%s:%d:%d: %w\n%s", name, place.line, place.column, place.err,
			excerpt(data, place.line, place.column))
	}
	return fmt.Errorf("%s: %w", name, err)
}

// syntaxError describes invalid YAML. What the file never ends is shown where it starts, or at the end of the text.
func syntaxError(e *yaml.LoadError, data []byte) error {
	message, mark, start := e.Message, e.Mark, e.ContextMark
	if e.ContextMsg != "" {
		message += ", " + e.ContextMsg
	}
	if mark.Line == 0 {
		return errors.New(message)
	}
	lines := strings.Split(strings.TrimRight(string(data), " \r\n"), "\n")
	last := len(lines)
	switch {
	case mark.Line > last && 0 < start.Line && start.Line <= last:
		mark = start
	case mark.Line > last:
		mark.Line, mark.Column = last, utf8.RuneCountInString(lines[last-1])
	case start.Line > 0 && start.Line != mark.Line:
		message += fmt.Sprintf(" of line %d", start.Line)
	}
	line := []rune(lines[mark.Line-1])
	switch {
	case e.Stage != yaml.ScannerStage || mark.Column < 1 || mark.Column > len(line):
	case line[mark.Column-1] == '\t':
		message += ": indent with spaces, not with tabs"
	case strings.ContainsRune("@`%", line[mark.Column-1]):
		message += ": use quotes around it"
	}
	return &placed{mark.Line, mark.Column, errors.New(message)}
}

// around is the number of lines before and after a line that an excerpt shows.
const around = 3

// excerpt shows a place with a caret.
func excerpt(data []byte, line, column int) string {
	lines := strings.Split(strings.TrimRight(string(data), " \r\n"), "\n")
	var b strings.Builder
	for i := max(1, line-around); i <= min(len(lines), line+around); i++ {
		mark := ' '
		if i == line {
			mark = '>'
		}
		head := fmt.Sprintf("%c%3d | ", mark, i)
		b.WriteString(strings.TrimRight(head+lines[i-1], " \r") + "\n")
		if i == line {
			b.WriteString(strings.Repeat(" ", len(head)+column-1) + "^\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// checkUTF8 names the place of the first invalid byte. YAML would replace it.
func checkUTF8(name string, data []byte) error {
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			before := data[:at]
			line := bytes.Count(before, []byte("\n")) + 1
			column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
			return fmt.Errorf("%s:%d:%d: invalid UTF-8, the byte 0x%02x: save the file as UTF-8", name, line, column, data[at])
		}
		at += size
	}
	return nil
}

// find returns the node at a path of names and indices; nil if it is missing.
func find(n *yaml.Node, path []any) *yaml.Node {
	for _, step := range path {
		if n == nil {
			return nil
		}
		n = child(resolved(n), step)
	}
	return n
}

func child(n *yaml.Node, step any) *yaml.Node {
	if i, isIndex := step.(int); isIndex {
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	for _, m := range membersOf(n) {
		if m.name.Value == step {
			return m.value
		}
	}
	return nil
}

// Lines returns a function for the line of the value at a path such as "rules", 2; 0 if the file has none there.
func Lines(data []byte) func(path ...any) int {
	root, _ := parse(data) // nil for what was not decoded
	return func(path ...any) int {
		if n := find(root, path); n != nil {
			return n.Line
		}
		return 0
	}
}

// ValueError describes an invalid value at a path of the file, such as "rules", 2, "reply".
func ValueError(name string, data []byte, err error, path ...any) error {
	root, _ := parse(data)
	if n := find(root, path); n != nil {
		err = &placed{n.Line, n.Column, err}
	}
	return inFile(name, data, err)
}

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
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/mcp-conform/mcp-conform/internal/words"
)

// Decode decodes the one document of a file into v. An empty file leaves v as it is. Unknown members are errors.
func Decode(name string, data []byte, v any) error {
	if err := checkUTF8(name, data); err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := decoder.Decode(v); err != nil && !errors.Is(err, io.EOF) {
		return syntaxError(name, err, v)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: expected one YAML document, found more", name)
	}
	return nil
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

var (
	// position matches the position in the YAML package's own messages.
	position = regexp.MustCompile(`^\[\d+:\d+\] `)
	// unknown matches its message about a member that the type does not have.
	unknown = regexp.MustCompile(`^unknown field "(.*)"$`)
	// mixed matches its message about nodes of different kinds, such as a text in place of a list.
	mixed = regexp.MustCompile(`^(\w+) was used where (\w+) is expected$`)
	// nodeWords are our words for kinds of nodes.
	nodeWords = map[string]string{
		"string":   "a text",
		"sequence": "a list",
		"mapping":  "a mapping",
		"int":      "a whole number",
		"float":    "a number",
		"boolean":  "true or false",
		"null":     "nothing",
	}
)

// syntaxError describes invalid YAML, a wrong type or an unknown member.
func syntaxError(name string, err error, v any) error {
	var placed yaml.Error
	if !errors.As(err, &placed) || placed.GetToken() == nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	at, text := placed.GetToken().Position, placed.FormatError(false, true)
	message, excerpt, _ := strings.Cut(position.ReplaceAllString(text, ""), "\n")
	var mistyped *yaml.TypeError
	if errors.As(err, &mistyped) {
		message = fmt.Sprintf("expected %s, found %s", typeWord(mistyped.DstType), typeWord(mistyped.SrcType))
	}
	if found := mixed.FindStringSubmatch(message); found != nil {
		message = fmt.Sprintf("expected %s, found %s", nodeWords[found[2]], nodeWords[found[1]])
	}
	if found := unknown.FindStringSubmatch(message); found != nil {
		known, owners := members(reflect.TypeOf(v), "", nil, nil)
		if i := slices.Index(known, found[1]); i >= 0 {
			message += fmt.Sprintf(" here: it belongs to %s", owners[i])
		} else if near := words.DidYouMean(found[1], known); near != "" {
			message += "; " + near
		}
	}
	return fmt.Errorf("%s:%d:%d: %s\n%s", name, at.Line, at.Column, message, strings.TrimRight(excerpt, " \n"))
}

// members adds the names of the members of a type and of what it holds, and what they are members of.
func members(t reflect.Type, owner string, found, owners []string) ([]string, []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return members(t.Elem(), owner, found, owners)
	case reflect.Slice, reflect.Map:
		return members(t.Elem(), "an element of "+owner, found, owners)
	case reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
			if name == "" || name == "-" || slices.Contains(found, name) {
				continue
			}
			found, owners = members(t.Field(i).Type, name, append(found, name), append(owners, cmp.Or(owner, "the file")))
		}
	}
	return found, owners
}

// typeWord is YAML's name for values of the type.
func typeWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// Line returns the line of the value at a path such as $.rules[2]; 0 if the file has none there.
func Line(data []byte, path string) int {
	at, err := yaml.PathString(path)
	if err != nil {
		return 0
	}
	node, err := at.ReadNode(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	return node.GetToken().Position.Line
}

// ValueError describes an invalid value at a path of the file, such as $.rules[2].reply.
func ValueError(name string, data []byte, path string, err error) error {
	at, pathErr := yaml.PathString(path)
	if pathErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	node, nodeErr := at.ReadNode(bytes.NewReader(data))
	excerpt, excerptErr := at.AnnotateSource(data, false)
	if nodeErr != nil || excerptErr != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	place := node.GetToken().Position
	lines := strings.TrimRight(string(excerpt), " \n")
	return fmt.Errorf("%s:%d:%d: %w\n%s", name, place.Line, place.Column, err, lines)
}

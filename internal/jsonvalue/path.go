package jsonvalue

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Join returns the path of a member of the object at path; the path of the body is "".
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// At returns the path of an element.
func At(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// Locate returns the offsets of the value at a path of a document without white space around it. If only its parent
// exists, it returns those of the parent and false; if neither exists, or the document is invalid, -1 and false.
func Locate(doc []byte, path string) (start, end int, found bool) {
	if !json.Valid(doc) {
		return -1, -1, false
	}
	start, end = 0, len(doc)
	names := steps(path)
	for i, name := range names {
		s, e, ok := inside(doc[start:end], name)
		switch {
		case ok:
			start, end = start+s, start+e
		case i == len(names)-1:
			return start, end, false
		default:
			return -1, -1, false
		}
	}
	return start, end, true
}

// Part returns the value at a path of a document as it is written; nil if there is none.
func Part(doc []byte, path string) json.RawMessage {
	if start, end, found := Locate(doc, path); found {
		return doc[start:end]
	}
	return nil
}

// steps splits a path such as params.messages[2] or result.inputRequests["a.b"].params into names and indexes.
func steps(path string) []string {
	var found []string
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case strings.HasPrefix(path, `["`):
			quoted, err := strconv.QuotedPrefix(path[1:])
			if err != nil {
				return found
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return found
			}
			found = append(found, name)
			path = strings.TrimPrefix(path[1+len(quoted):], "]")
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			found, path = append(found, index), rest
		default:
			n := strings.IndexAny(path, ".[")
			if n < 0 {
				n = len(path)
			}
			found, path = append(found, path[:n]), path[n:]
		}
	}
	return found
}

// inside returns the offsets of the first member with a name in a valid object, or of the item with an index.
func inside(doc []byte, name string) (start, end int, ok bool) {
	if len(doc) == 0 || doc[0] != '{' && doc[0] != '[' {
		return 0, 0, false
	}
	p := parser{raw: doc, i: 1}
	for i := 0; p.more(); i++ {
		here := doc[0] == '[' && strconv.Itoa(i) == name
		if doc[0] == '{' {
			text, _ := TextOf(p.part())
			here = text == name
			p.more() // skips the colon
		}
		start, p.i = p.i, p.i+size(doc[p.i:])
		if here {
			return start, p.i, true
		}
	}
	return 0, 0, false
}

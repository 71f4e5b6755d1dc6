package jsonvalue

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Members is an [Object] as a list in text order. Of several members with one name the last counts. Names and values
// share memory with the text: do not change it afterwards.
type Members []Member

// Member is a member of an object. Its value is complete JSON without surrounding white space.
type Member struct {
	Name  []byte
	Value json.RawMessage
}

// ReadMembers reads a JSON object; null gives nil. Errors are those of encoding/json.
func ReadMembers(raw []byte) (Members, error) {
	if text := bytes.Trim(raw, " \t\r\n"); IsKind(text, '{') && json.Valid(text) {
		return members(text), nil
	}
	var o Object
	return nil, json.Unmarshal(raw, &o)
}

// UnmarshalJSON reads a copy of an object, for encoding/json.
func (m *Members) UnmarshalJSON(raw []byte) error {
	read, err := ReadMembers(bytes.Clone(raw))
	*m = read
	return err
}

// members reads a valid object.
func members(raw json.RawMessage) Members {
	m := make(Members, 0, 4)
	var name json.RawMessage
	cut(raw, func(part json.RawMessage) {
		if name == nil {
			name = part
			return
		}
		text, same := verbatim(name)
		if !same {
			text = []byte(decode(name))
		}
		m, name = append(m, Member{text, part}), nil
	})
	return m
}

// Raw returns a member's value; nil if missing.
func (m Members) Raw(name string) json.RawMessage {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].Name) == name {
			return m[i].Value
		}
	}
	return nil
}

// Has reports whether the member is present and not null.
func (m Members) Has(name string) bool { return IsGiven(m.Raw(name)) }

// Read is [Object.Read].
func (m Members) Read(name string, v any) error {
	if raw := m.Raw(name); IsGiven(raw) {
		return ReadPart(raw, v)
	}
	return nil
}

// Object returns a member that is an object, else nil.
func (m Members) Object(name string) Members {
	if raw := m.Raw(name); IsKind(raw, '{') {
		return members(raw)
	}
	return nil
}

// Text returns a member that is a string, else "".
func (m Members) Text(name string) string {
	s, _ := TextOf(m.Raw(name))
	return s
}

// Names returns the sorted names without duplicates.
func (m Members) Names() []string { return m.Unknown(nil) }

// Unknown is Names without the known ones.
func (m Members) Unknown(known map[string]bool) []string {
	var names []string
	for i := range m {
		if !known[string(m[i].Name)] {
			names = append(names, string(m[i].Name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Members is a JSON object as a codec reads it: once, and by the names that it knows. It is an [Object] that costs little: a list in the order
// of the text, whose names and values, and the strings read from them, are parts of the text, not copies. Do not change that afterwards. The last
// of several members with one name counts.
type Members []Member

// Member is a member of an object. Its value is whole JSON, without white space around it.
type Member struct {
	Name  []byte
	Value json.RawMessage
}

// ReadMembers reads a JSON object, of which null is the nil one. The error is that of encoding/json.
func ReadMembers(raw []byte) (Members, error) {
	var few [16]Member // most objects have no more, and those are counted before they take memory
	m, err := AppendMembers(few[:0], raw)
	if m == nil {
		return nil, err
	}
	return append(make(Members, 0, len(m)), m...), nil
}

// AppendMembers is [ReadMembers] into m, which is empty and not nil.
func AppendMembers(m Members, raw []byte) (Members, error) {
	begin, end := space(raw, 0), -1
	if IsKind(raw[begin:], '{') {
		end = validMembers(raw, begin, 1, func(name, value []byte) { m = append(m, Member{name, value}) })
	}
	if end < 0 || space(raw, end) != len(raw) {
		var o Object
		return nil, json.Unmarshal(raw, &o)
	}
	return m, nil
}

// UnmarshalJSON reads an object for encoding/json, with copies.
func (m *Members) UnmarshalJSON(raw []byte) error {
	read, err := ReadMembers(bytes.Clone(raw))
	*m = read
	return err
}

// members reads what is known to be a valid object.
func members(raw []byte) Members {
	var few [8]Member // most objects have no more, and those are counted before they take memory
	m := few[:0]
	EachMember(raw, func(name []byte, value json.RawMessage) { m = append(m, Member{name, value}) })
	return append(make(Members, 0, len(m)), m...)
}

// Raw returns a member's value; nil when there is none.
func (m Members) Raw(name string) json.RawMessage {
	for i := len(m) - 1; i >= 0; i-- {
		if string(m[i].Name) == name {
			return m[i].Value
		}
	}
	return nil
}

// Has reports whether the member is there and is not null.
func (m Members) Has(name string) bool {
	v := m.Raw(name)
	return v != nil && !IsKind(v, 'n')
}

// Read is [Object.Read].
func (m Members) Read(name string, v any) error {
	raw := m.Raw(name)
	if raw == nil || IsKind(raw, 'n') {
		return nil
	}
	return ReadPart(raw, v)
}

// Text returns a member that is a string; "" when there is none.
func (m Members) Text(name string) string {
	s, _ := TextOf(m.Raw(name)) // not a string: there is none
	return s
}

// Names returns the members' names, sorted, each once.
func (m Members) Names() []string { return m.Unknown(nil) }

// Unknown is Names without those that are known.
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

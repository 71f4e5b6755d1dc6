package dialect

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Members is a cheap [Object]: a list in text order whose names, values and strings share memory with the text. Do not
// change the text afterwards. Of several members with one name the last counts.
type Members []Member

// Member is a member of an object. Its value is complete JSON without surrounding white space.
type Member struct {
	Name  []byte
	Value json.RawMessage
}

// ReadMembers reads a JSON object; null gives nil. Errors are those of encoding/json.
func ReadMembers(raw []byte) (Members, error) {
	var buffer [16]Member // enough for most objects, without an allocation
	m, err := AppendMembers(buffer[:0], raw)
	if m == nil {
		return nil, err
	}
	return append(make(Members, 0, len(m)), m...), nil
}

// AppendMembers is [ReadMembers] into m, which must be empty and not nil.
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

// UnmarshalJSON reads a copy of an object, for encoding/json.
func (m *Members) UnmarshalJSON(raw []byte) error {
	read, err := ReadMembers(bytes.Clone(raw))
	*m = read
	return err
}

// members reads a valid object.
func members(raw []byte) Members {
	var buffer [8]Member // see ReadMembers
	m := buffer[:0]
	EachMember(raw, func(name []byte, value json.RawMessage) { m = append(m, Member{name, value}) })
	return append(make(Members, 0, len(m)), m...)
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

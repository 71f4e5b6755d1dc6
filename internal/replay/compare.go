package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// Rules say what does not count when two messages are compared. JSON in strings is compared as JSON. The zero value
// compares all the rest.
type Rules struct{ ignored map[string]bool }

// NewRules returns rules that ignore members by their paths, such as "result.content.text" or "params.arguments.now": a
// path has names with dots between them, and means every element of an array.
func NewRules(paths []string) (*Rules, error) {
	r := &Rules{ignored: map[string]bool{}}
	for _, path := range paths {
		for name := range strings.SplitSeq(path, ".") {
			if name == "" || strings.ContainsAny(name, "[]$*") {
				return nil, fmt.Errorf("cannot ignore %q: expected names with dots between them, without indexes, * and $, "+
					`such as "result.content.text"`, path)
			}
		}
		r.ignored[path] = true
	}
	return r, nil
}

// Difference is the first difference between a recorded message and another one.
type Difference struct {
	// Path is where the two differ, such as "result.content[0].text".
	Path string
	// Recorded and Found are the values there, as JSON; "nothing" where there is none.
	Recorded, Found string
	// Count is how many values differ in all.
	Count int
}

func (d *Difference) String() string {
	recorded, found := fromDifference(d.Recorded, d.Found)
	return fmt.Sprintf("at %s the recording has %s, found %s", d.Path, recorded, found)
}

// Compare compares decoded values, which are at the path of the messages. It returns nil if they are equal.
func (r *Rules) Compare(path string, recorded, found any) *Difference {
	d := &Difference{}
	r.walk(d, path, path, recorded, found)
	if d.Count == 0 {
		return nil
	}
	return d
}

// walk compares values at a path. name is the path without indexes.
func (r *Rules) walk(d *Difference, path, name string, recorded, found any) {
	if r != nil && r.ignored[name] {
		return
	}
	switch a := recorded.(type) {
	case map[string]any:
		if b, ok := found.(map[string]any); ok && !r.otherKind(name, a, b) {
			r.walkObject(d, path, name, a, b)
			return
		}
	case []any:
		if b, ok := found.([]any); ok {
			for i := range max(len(a), len(b)) {
				r.walk(d, jsonvalue.At(path, i), name, jsonvalue.ItemOf(a, i), jsonvalue.ItemOf(b, i))
			}
			return
		}
	case string:
		b, _ := found.(string)
		if x, y := inner(a), inner(b); a != b && x != nil && y != nil {
			r.walk(d, path, name, x, y)
			return
		}
	}
	if jsonvalue.Equal(recorded, found) {
		return
	}
	if d.Count++; d.Count == 1 {
		d.Path, d.Recorded, d.Found = path, shown(recorded), shown(found)
	}
}

// otherKind reports whether two objects are of different types with different members, such as a text and a tool use:
// then they are shown whole.
func (r *Rules) otherKind(name string, a, b map[string]any) bool {
	if a["type"] == nil || b["type"] == nil || r != nil && r.ignored[jsonvalue.Join(name, "type")] {
		return false
	}
	return !jsonvalue.Equal(a["type"], b["type"]) &&
		!slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

// shown returns a value as JSON with its numbers as they were written.
func shown(v any) string {
	if v == jsonvalue.Missing {
		return fmt.Sprint(v)
	}
	return string(jsonvalue.Marshal(v))
}

func (r *Rules) walkObject(d *Difference, path, name string, a, b map[string]any) {
	names := append(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))...)
	slices.Sort(names)
	for _, member := range slices.Compact(names) {
		below := jsonvalue.Join(name, member)
		if name == "params.inputResponses" { // the paths of answers are the same in each revision
			below = "result"
		}
		r.walk(d, jsonvalue.Join(path, member), below, jsonvalue.MemberOf(a, member), jsonvalue.MemberOf(b, member))
	}
}

// inner returns the object or array that a string holds as JSON; nil for any other string.
func inner(text string) any {
	switch v := jsonvalue.Decode([]byte(text)).(type) {
	case map[string]any, []any:
		return v
	}
	return nil
}

// Comparable decodes the params of a request or a result, without what differs in every session: the fields of _meta
// that the protocol reserves, the progress token, the state of a round, and the name and version of the other side.
func Comparable(raw []byte) any {
	v := jsonvalue.Decode(raw)
	if o, ok := v.(map[string]any); ok {
		for _, name := range append([]string{"inputRequests", "clientInfo", "serverInfo"}, StateMembers...) {
			delete(o, name)
		}
		DropReserved(o)
	}
	if v == nil {
		return map[string]any{} // no params are empty ones
	}
	return v
}

// IsReserved reports whether a member of _meta is each connection's own: the progress token, and what the protocol
// reserves (basic/index#meta).
func IsReserved(name string) bool {
	return name == "progressToken" || strings.HasPrefix(name, metaPrefix)
}

// DropReserved removes such members from the _meta of an object, and a _meta without others.
func DropReserved(o map[string]any) {
	if meta, ok := o["_meta"].(map[string]any); ok {
		maps.DeleteFunc(meta, func(name string, _ any) bool { return IsReserved(name) })
		if len(meta) == 0 {
			delete(o, "_meta")
		}
	}
}

// requestParams are the params of a client's request as they are compared: without _meta. A retry keeps its state,
// which says what it continues.
func requestParams(method string, raw []byte) any {
	o, ok := jsonvalue.Decode(raw).(map[string]any)
	if !ok || method == "initialize" || method == "server/discover" {
		return map[string]any{} // each client says its own
	}
	delete(o, "_meta")
	if Carriers[method] != "" && o["arguments"] == nil {
		o["arguments"] = map[string]any{}
	}
	return o
}

// fromDifference shortens two texts: a long common beginning, and what is too long to read.
func fromDifference(a, b string) (string, string) {
	const context, most = 24, 120
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	clip := func(text string) string {
		if same > 2*context {
			text = "…" + strings.ToValidUTF8(text[same-context:], "")
		}
		if len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "…"
		}
		return text
	}
	return clip(a), clip(b)
}

package always

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance/internal/evidence"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

func (c *rendering) number() func(a, b json.Number) bool {
	if !dialects.FactsOf(c.from.Dialect).Doubles {
		return func(a, b json.Number) bool { return jsonvalue.Equal(a, b) }
	}
	return sameDouble
}

// sameDouble reports whether two numbers are the same double, which is what JavaScript has.
func sameDouble(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

// sameJSON compares JSON values. Rounded says that their numbers are equal only as doubles.
func sameJSON(want, got []byte) (same, rounded bool) {
	if jsonvalue.Same(want, got) {
		return true, false
	}
	w, g := jsonvalue.Decode(want), jsonvalue.Decode(got)
	at, _, _ := differing("value", w, g, sameDouble)
	same = at == "" && w != nil && g != nil
	return same, same
}

// differing returns the path of the first difference between two decoded documents, and the JSON there; "" for none.
func differing(path string, want, found any, same func(a, b json.Number) bool) (at, w, f string) {
	switch w := want.(type) {
	case json.Number:
		if f, ok := found.(json.Number); ok && same(w, f) {
			return "", "", ""
		}
	case []any:
		f, ok := found.([]any)
		for i := range min(len(w), len(f)) {
			if at, w, f := differing(jsonvalue.At(path, i), w[i], f[i], same); at != "" {
				return at, w, f
			}
		}
		if ok && len(w) == len(f) {
			return "", "", ""
		}
	case map[string]any:
		if f, ok := found.(map[string]any); ok {
			return differingMember(path, w, f, same)
		}
	default:
		if found == want {
			return "", "", ""
		}
	}
	return path, compact(want), compact(found)
}

func differingMember(path string, want, found map[string]any, same func(a, b json.Number) bool) (at, w, f string) {
	names := slices.Sorted(maps.Keys(want))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, known := want[name]; !known {
			names = append(names, name)
		}
	}
	for _, name := range names {
		at := path + "." + name
		if strings.ContainsAny(name, `."[]`) || name == "" {
			at = path + "[" + compact(name) + "]"
		}
		w, isSaid := want[name]
		f, isFound := found[name]
		switch {
		case !isSaid:
			return at, "left out", compact(f)
		case !isFound:
			return at, compact(w), "nothing"
		}
		if at, w, f := differing(at, w, f, same); at != "" {
			return at, w, f
		}
	}
	return "", "", ""
}

func compact(v any) string { return evidence.Clip(string(jsonvalue.Marshal(v))) }

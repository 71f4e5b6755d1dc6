package codectest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Members returns the sorted, unique words for the members of a JSON text, at any depth: words receives the path,
// without indices, and the value. The members inside an object whose path ends in opaque are left out; "" for none.
func Members(t *testing.T, text, opaque string, words func(path string, v any) []string) []string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if path != "" {
			for _, word := range words(path, v) {
				found[word] = true
			}
		}
		switch v := v.(type) {
		case map[string]any:
			if opaque != "" && strings.HasSuffix(path, opaque) {
				return
			}
			for name, inner := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), inner)
			}
		case []any:
			for _, inner := range v {
				walk(path, inner)
			}
		}
	}
	walk("", v)
	return slices.Sorted(maps.Keys(found))
}

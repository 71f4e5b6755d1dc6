package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// Validate does not panic, returns the same error every time and, if the published schemas are available, has their
// verdict.
func FuzzValidate(f *testing.F) {
	specs := map[string]*specification{}
	if dir := os.Getenv(sharedtest.Variable); dir != "" {
		for revision := range revisions {
			specs[revision] = readSpecification(f, dir, revision)
		}
	}
	known := slices.Sorted(maps.Keys(revisions))
	for name, list := range instances(f) {
		for _, message := range list {
			raw, err := json.Marshal(message)
			require.NoError(f, err)
			for i := range known {
				f.Add(uint8(i), string(name), raw)
			}
		}
	}
	f.Add(uint8(2), "CreateMessageRequestParams",
		[]byte(`{"messages":[],"maxTokens":1e999999999,"modelPreferences":{"costPriority":-1e-999999999}}`))
	f.Add(uint8(2), "SamplingMessage", []byte(`{"role":"user","role":"user"}`))
	f.Add(uint8(2), "SamplingMessage", []byte("{\"role\":\"\xff\"}"))
	f.Add(uint8(2), "SamplingMessage", []byte(`{"role":"user","content":[{"type":"video"},{"type":"tool_use"}]} x`))
	f.Fuzz(func(t *testing.T, which uint8, name string, raw []byte) {
		revision := known[int(which)%len(known)]
		err := validate(revision, Name(name), raw)
		require.Equal(t, err, validate(revision, Name(name), raw))
		for range 2 { // the second verdict is cached
			require.Equal(t, err, Validate(revision, Name(name), raw))
		}
		if revisions[revision]().named(Name(name)) == nil {
			require.Error(t, err)
			return
		}
		var violation *Error
		require.True(t, err == nil || errors.As(err, &violation) && violation.Message != "")
		message, broken := decode(raw)
		plain, plainErr := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if broken != nil {
			require.Equal(t, broken, err)
			stricter := regexp.MustCompile("appears twice|a number has|too many values").MatchString(broken.Error())
			require.True(t, plainErr != nil || !utf8.Valid(raw) || stricter, "encoding/json accepts it: %v", broken)
			return
		}
		require.NoError(t, plainErr)
		require.Equal(t, shape(plain), shape(message))
		if spec := specs[revision]; spec != nil {
			if theirs := spec.schema(t, Name(name)); theirs != nil {
				require.Equal(t, theirs.Validate(message) == nil, err == nil, "ours: %v", err)
			}
		}
	})
}

// shape returns a copy of a value without its numbers, which decode may change.
func shape(value any) any {
	switch value := value.(type) {
	case json.Number:
		return "number"
	case map[string]any:
		object := map[string]any{}
		for name, inner := range value {
			object[name] = shape(inner)
		}
		return object
	case []any:
		array := []any{}
		for _, inner := range value {
			array = append(array, shape(inner))
		}
		return array
	}
	return value
}

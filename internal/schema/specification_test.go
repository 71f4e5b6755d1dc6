package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/mcp-conform/mcp-conform/internal/sharedtest"
)

// pointer returns the definition of the published schema for one of our names.
func pointer(revision string, name Name) string {
	early, late := revision < "2025-11-25", revision >= "2026-07-28"
	switch {
	case name == CreateMessageRequestParams && early:
		return "CreateMessageRequest/properties/params"
	case name == RequestMeta && early:
		return "PingRequest/properties/params/properties/_meta"
	case name == RequestMeta && !late:
		return "RequestParams/properties/_meta"
	case name == RequestMeta:
		return "RequestMetaObject"
	case name == JSONRPCResponse && !early:
		return "JSONRPCResultResponse"
	case name == JSONRPCError && !early:
		return "JSONRPCErrorResponse"
	}
	return string(name)
}

// specification is the published schema of a revision.
type specification struct {
	revision, keyword string // "$defs" or, in draft-07, "definitions"
	document          map[string]any
	compiler          *jsonschema.Compiler
}

func readSpecification(t testing.TB, dir, revision string) *specification {
	text, err := os.ReadFile(filepath.Join(dir, "spec", revision+".schema.json"))
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	s := &specification{revision, "$defs", document.(map[string]any), jsonschema.NewCompiler()}
	if s.document["$defs"] == nil {
		s.keyword = "definitions"
	}
	repair(s)
	require.NoError(t, s.compiler.AddResource("spec:"+revision, s.document))
	return s
}

// repair corrects errors of a published schema. There are no other exceptions.
//
// The generator of the published files turns every TypeScript number into an integer unless a comment prevents it, and
// drops null from a union. So the file of 2026-07-28 forbids {"sampling": {"tools": {"ratio": 0.5}}} and metadata with
// a null, which schema.ts and the text allow: there JSONValue is any JSON. The same holds for the number that a user
// enters in an elicitation. A client must not fail because of this. (Upstream corrected the minimum and maximum of a
// requested number.)
func repair(s *specification) {
	if s.revision < "2026-07-28" {
		return
	}
	definitions := s.document["$defs"].(map[string]any)
	definitions["JSONValue"] = true
	content := definitions["ElicitResult"].(map[string]any)["properties"].(map[string]any)["content"].(map[string]any)
	value := content["additionalProperties"].(map[string]any)["anyOf"].([]any)[1].(map[string]any)
	value["type"] = []any{"string", "number", "boolean"}
}

// schema returns the definition for one of our names; nil if it has none.
func (s *specification) schema(t testing.TB, name Name) *jsonschema.Schema {
	pointer := pointer(s.revision, name)
	definition, _, _ := strings.Cut(pointer, "/")
	if s.document[s.keyword].(map[string]any)[definition] == nil {
		return nil
	}
	compiled, err := s.compiler.Compile("spec:" + s.revision + "#/" + s.keyword + "/" + pointer)
	require.NoError(t, err)
	return compiled
}

// instances returns the messages of testdata by name. Each is tested in every revision that has the name, valid or not.
func instances(t testing.TB) map[Name][]any {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	all := map[Name][]any{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		decoded, err := decode(text)
		require.NoError(t, err, file)
		for name, list := range decoded.(map[string]any) {
			require.NotContains(t, all, Name(name), "in two files")
			all[Name(name)] = list.([]any)
		}
	}
	return all
}

func TestSchemasAgreeWithThePublishedOnes(t *testing.T) {
	dir := sharedtest.Dir(t)
	for _, revision := range slices.Sorted(maps.Keys(revisions)) {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			all := instances(t) // a copy, to change
			spec := readSpecification(t, dir, revision)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				theirs, ours := spec.schema(t, name), revisions[revision]().named(name)
				require.Equal(t, theirs == nil, ours == nil, "only one of the two has %s", name)
				if ours == nil {
					continue
				}
				mutate := newMutator(spec, name)
				valid, seen := 0, 0
				message := []any{nil} // in an array, so that the whole message is changed too
				compare := func() {
					message := message[0]
					seen++
					want, got := theirs.Validate(message), ours.Validate(message)
					if (want == nil) != (got == nil) {
						text, _ := json.Marshal(message)
						t.Fatalf("%s: %s\nspecification: %v\nours: %v", name, text, want, got)
					}
				}
				for _, message[0] = range all[name] {
					if theirs.Validate(message[0]) == nil {
						valid++
					}
					compare()
					mutate.each("", message, compare)
				}
				require.NotZero(t, valid, "no message of testdata is a valid %s", name)
				require.Greater(t, seen, 50)
			}
		})
	}
}

func TestEachNameHasInstances(t *testing.T) {
	all := instances(t)
	for _, name := range exported {
		require.NotEmpty(t, all[name], "no instance of %s in testdata", name)
	}
	require.Len(t, all, len(exported))
}

// vocabulary returns the properties of a definition, and its strings in const and enum.
func vocabulary(definitions map[string]any, definition string) (properties, words map[string]bool) {
	properties, words = map[string]bool{}, map[string]bool{}
	been := map[string]bool{}
	var visit func(node any)
	visit = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if known, ok := node["properties"].(map[string]any); ok {
				for name := range known {
					properties[name] = true
				}
			}
			values, _ := node["enum"].([]any)
			for _, value := range append(values, node["const"]) {
				if word, ok := value.(string); ok {
					words[word] = true
				}
			}
			if ref, ok := node["$ref"].(string); ok && !been[ref] {
				been[ref] = true
				visit(definitions[path.Base(ref)])
			}
			for _, inner := range node {
				visit(inner)
			}
		case []any:
			for _, inner := range node {
				visit(inner)
			}
		}
	}
	visit(definitions[definition])
	return properties, words
}

// newMutator returns a mutator with the vocabulary of both schemas: either may be stricter.
func newMutator(spec *specification, name Name) mutator {
	definition, _, _ := strings.Cut(pointer(spec.revision, name), "/")
	names, words := vocabulary(spec.document[spec.keyword].(map[string]any), definition)
	ourNames, ourWords := vocabulary(merge(spec.revision), string(name))
	maps.Copy(names, ourNames)
	maps.Copy(words, ourWords)
	names["unknown"] = true
	return mutator{slices.Sorted(maps.Keys(names)), words, map[string]bool{}}
}

// mutator applies every small change to a message.
type mutator struct {
	names []string
	words map[string]bool
	// done has the objects that were changed, by place and properties, so that equal blocks of an array count once.
	done map[string]bool
}

// substitutes has a value of each kind that a schema may distinguish.
var substitutes = []any{
	nil, true, json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("1.0"),
	json.Number("9007199254740993"), json.Number("1e400"), "unknown", "https://example.com", "",
	[]any{}, []any{nil}, []any{"s"}, []any{json.Number("1")}, []any{map[string]any{}},
	map[string]any{}, map[string]any{"unknown": nil}, map[string]any{"unknown": map[string]any{}},
}

// each changes the message in place, one change at a time at every depth, and calls do for each. It restores the
// message. Place is the path of the message, without indexes.
func (m mutator) each(place string, message any, do func()) {
	switch inside := message.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(inside))
		key := fmt.Sprint(place, names, inside["type"], inside["method"])
		for _, name := range names {
			m.each(place+"/"+name, inside[name], do)
		}
		if !m.done[key] {
			m.done[key] = true
			m.change(inside, names, do)
		}
	case []any:
		for i, was := range inside {
			m.each(place+"/", was, do)
			for _, s := range m.instead(was) {
				inside[i] = s
				do()
			}
			inside[i] = was
		}
	}
}

// change removes and replaces each property, and adds the missing ones.
func (m mutator) change(object map[string]any, names []string, do func()) {
	for _, name := range names {
		was := object[name]
		delete(object, name)
		do()
		for _, s := range m.instead(was) {
			object[name] = s
			do()
		}
		object[name] = was
	}
	for _, name := range m.names {
		if _, there := object[name]; !there {
			object[name] = nil // which no known property may be
			do()
			delete(object, name)
		}
	}
}

func (m mutator) instead(of any) []any {
	word, _ := of.(string)
	if !m.words[word] {
		return substitutes
	}
	all := slices.Clone(substitutes)
	for _, other := range slices.Sorted(maps.Keys(m.words)) {
		all = append(all, other)
	}
	return all
}

func TestMutatorRestoresTheMessage(t *testing.T) {
	text := `{"a":[{"b":"user"},1],"c":{"d":null}}`
	message, err := decode([]byte(text))
	require.NoError(t, err)
	seen := map[string]bool{}
	m := mutator{[]string{"z"}, map[string]bool{"user": true, "assistant": true}, map[string]bool{}}
	m.each("", message, func() { seen[fmt.Sprint(message)] = true })
	again, err := json.Marshal(message)
	require.NoError(t, err)
	require.Equal(t, text, string(again))
	for _, want := range []string{
		"map[a:[map[b:assistant] 1] c:map[d:<nil>]]", "map[c:map[d:<nil>]]", "map[a:[] c:map[d:<nil>]]",
		"map[a:[map[b:user z:<nil>] 1] c:map[d:<nil>]]", "map[a:[map[b:user] 1] c:map[]]",
	} {
		require.Contains(t, seen, want)
	}
}

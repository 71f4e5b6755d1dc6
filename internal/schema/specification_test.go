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
)

// published are the schemas of the specification. They are not part of the repository.
const published = "../../../shared/spec"

// where says which definition of a published schema answers to a name of ours, where it is not the one of that name.
func where(revision string, name Name) string {
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

// specification is a published schema.
type specification struct {
	revision, keyword string // "$defs" or, in draft-07, "definitions"
	document          map[string]any
	compiler          *jsonschema.Compiler
}

// findSpecification reads a published schema, or returns nil where it is not at hand.
func findSpecification(t testing.TB, revision string) *specification {
	text, err := os.ReadFile(filepath.Join(published, revision+".schema.json"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	s := &specification{revision: revision, keyword: "$defs", document: document.(map[string]any), compiler: jsonschema.NewCompiler()}
	if s.document["$defs"] == nil {
		s.keyword = "definitions"
	}
	repair(s)
	require.NoError(t, s.compiler.AddResource("spec:"+revision, s.document))
	return s
}

// repair takes out of a published schema what we hold to be wrong in it. These are all the exceptions that there are.
//
// The published files are generated from TypeScript by a program that turns every number into an integer unless a comment
// says otherwise, and loses null in a union. So the file of 2026-07-28 forbids {"sampling": {"tools": {"ratio": 0.5}}} and
// metadata with a null, which schema.ts, and the text, allow: JSONValue is there any JSON. Likewise for the number that a
// person enters in an elicitation. An accusation on these grounds would be wrong. (For the minimum and maximum of a number
// asked for, upstream corrected the files.)
func repair(s *specification) {
	if s.revision < "2026-07-28" {
		return
	}
	definitions := s.document["$defs"].(map[string]any)
	definitions["JSONValue"] = true
	content := definitions["ElicitResult"].(map[string]any)["properties"].(map[string]any)["content"].(map[string]any)
	content["additionalProperties"].(map[string]any)["anyOf"].([]any)[1].(map[string]any)["type"] = []any{"string", "number", "boolean"}
}

// schema returns the definition for a name of ours, or nil when there is none.
func (s *specification) schema(t testing.TB, name Name) *jsonschema.Schema {
	pointer := where(s.revision, name)
	definition, _, _ := strings.Cut(pointer, "/")
	if s.document[s.keyword].(map[string]any)[definition] == nil {
		return nil
	}
	compiled, err := s.compiler.Compile("spec:" + s.revision + "#/" + s.keyword + "/" + pointer)
	require.NoError(t, err)
	return compiled
}

// instances are the messages of testdata, as they are, for each name. Each is shown to every revision that has the
// name, valid there or not.
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

func TestAgainstTheSpecification(t *testing.T) {
	for _, revision := range slices.Sorted(maps.Keys(revisions)) {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			all := instances(t) // our own, to change
			spec := findSpecification(t, revision)
			if spec == nil && os.Getenv("CI") != "true" {
				t.Skipf("the published schema is not at hand: put it at %s/%s.schema.json", published, revision)
			}
			require.NotNil(t, spec, "want %s/%s.schema.json", published, revision)
			for _, name := range slices.Sorted(maps.Keys(all)) {
				theirs, ours := spec.schema(t, name), revisions[revision]()[name]
				require.Equal(t, theirs == nil, ours == nil, "%s is there in one of the two only", name)
				if ours == nil {
					continue
				}
				mutate := newMutator(spec, name)
				valid, seen := 0, 0
				message := []any{nil} // in a list, so that it is changed as a whole too
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

// vocabulary lists the properties that a definition knows, and the strings that mean something in it: const and enum.
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

// newMutator returns a mutator that has the vocabulary of both sides: either may be stricter.
func newMutator(spec *specification, name Name) mutator {
	definition, _, _ := strings.Cut(where(spec.revision, name), "/")
	names, words := vocabulary(spec.document[spec.keyword].(map[string]any), definition)
	ourNames, ourWords := vocabulary(merge(spec.revision), string(name))
	maps.Copy(names, ourNames)
	maps.Copy(words, ourWords)
	names["unknown"] = true
	return mutator{slices.Sorted(maps.Keys(names)), words, map[string]bool{}}
}

// mutator makes every small change to a message.
type mutator struct {
	names []string
	words map[string]bool
	// done has the objects that were changed already, by place and properties: two text blocks in one array are as one.
	done map[string]bool
}

// substitutes has one value of each kind that a schema might tell apart.
var substitutes = []any{
	nil, true, json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("1.0"),
	json.Number("9007199254740993"), json.Number("1e400"), "unknown", "https://example.com", "",
	[]any{}, []any{nil}, []any{"s"}, []any{json.Number("1")}, []any{map[string]any{}},
	map[string]any{}, map[string]any{"unknown": nil}, map[string]any{"unknown": map[string]any{}},
}

// each changes the message in place, one change at a time at every depth, and calls do for each. Afterwards the
// message is what it was. The place is where the message is, without indexes.
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

// change drops each property, replaces it, and adds those that the object has not.
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
			object[name] = nil // no property that is known may be null
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

func TestTheMutatorLeavesAMessageAsItWas(t *testing.T) {
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

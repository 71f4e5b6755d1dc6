package schema

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// definitions has a folder for each revision. Their names sort by date.
//
//go:embed definitions
var definitions embed.FS

// revisions has the schemas of each revision.
var revisions = func() map[string]func() *schemas {
	all := map[string]func() *schemas{}
	for _, folder := range readDir("definitions") {
		all[folder.Name()] = sync.OnceValue(func() *schemas { return newSchemas(folder.Name()) })
	}
	return all
}()

// schemas has the schemas of one revision. Each is compiled at first use: a short run needs few of them.
type schemas struct {
	address  string
	defined  map[string]any
	mu       sync.Mutex // guards what follows
	compiler *jsonschema.Compiler
	compiled map[Name]*jsonschema.Schema
}

// The member that holds the draft of the published schema. Draft-07 asserts formats; 2020-12 does not.
const draft, draft07 = "$schema", "http://json-schema.org/draft-07/schema#"

func newSchemas(revision string) *schemas {
	merged := merge(revision)
	compiler := jsonschema.NewCompiler()
	if merged[draft] == draft07 {
		compiler.AssertFormat()
	}
	delete(merged, draft)
	all := &schemas{address: "mcp:" + revision, defined: merged, compiler: compiler,
		compiled: map[Name]*jsonschema.Schema{}}
	must(compiler.AddResource(all.address, map[string]any{"$defs": merged}))
	return all
}

// named returns the compiled schema; nil for a name that the revision does not have.
func (s *schemas) named(name Name) *jsonschema.Schema {
	if _, ok := s.defined[string(name)]; !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled[name] == nil {
		compiled, err := s.compiler.Compile(s.address + "#/$defs/" + string(name))
		must(err)
		s.compiled[name] = compiled
	}
	return s.compiled[name]
}

// merge returns the definitions of a revision: the oldest ones, patched by each later revision.
func merge(revision string) map[string]any {
	merged := map[string]any{}
	for _, folder := range readDir("definitions") {
		if folder.Name() > revision {
			break
		}
		for _, file := range readDir("definitions/" + folder.Name()) {
			text, err := definitions.ReadFile(path.Join("definitions", folder.Name(), file.Name()))
			must(err)
			var changes map[string]any
			must(json.Unmarshal(text, &changes))
			patch(merged, changes)
		}
	}
	return merged
}

func readDir(folder string) []fs.DirEntry {
	entries, err := definitions.ReadDir(folder)
	must(err)
	return entries
}

// patch applies a JSON merge patch (RFC 7396): null deletes, objects are merged, any other value replaces.
func patch(target, changes map[string]any) {
	for key, change := range changes {
		object, isObject := change.(map[string]any)
		switch {
		case change == nil:
			delete(target, key)
		case isObject:
			inner, ok := target[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				target[key] = inner
			}
			patch(inner, object)
		default:
			target[key] = change
		}
	}
}

// must panics on an error in the embedded files, which the tests of this package exclude.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("schema: our own definitions: %v", err))
	}
}

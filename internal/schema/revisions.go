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

// One folder for each revision; their names sort in the order in which they came out.
//
//go:embed definitions
var definitions embed.FS

// revisions gives the compiled schemas of each revision by name.
var revisions = func() map[string]func() map[Name]*jsonschema.Schema {
	all := map[string]func() map[Name]*jsonschema.Schema{}
	for _, folder := range readDir("definitions") {
		all[folder.Name()] = sync.OnceValue(func() map[Name]*jsonschema.Schema { return compile(folder.Name()) })
	}
	return all
}()

func compile(revision string) map[Name]*jsonschema.Schema {
	merged := merge(revision)
	compiler := jsonschema.NewCompiler()
	if revision < "2025-11-25" {
		// The published schemas are draft-07 up to here, where a format binds. In 2020-12 it only informs.
		compiler.AssertFormat()
	}
	mustBeSound(compiler.AddResource("mcp:"+revision, map[string]any{"$defs": merged}))
	compiled := map[Name]*jsonschema.Schema{}
	for name := range merged {
		s, err := compiler.Compile("mcp:" + revision + "#/$defs/" + name)
		mustBeSound(err)
		compiled[Name(name)] = s
	}
	return compiled
}

// merge returns the definitions of a revision: what all revisions up to it say, one upon the other.
func merge(revision string) map[string]any {
	merged := map[string]any{}
	for _, folder := range readDir("definitions") {
		if folder.Name() > revision {
			break
		}
		for _, file := range readDir("definitions/" + folder.Name()) {
			text, err := definitions.ReadFile(path.Join("definitions", folder.Name(), file.Name()))
			mustBeSound(err)
			var changes map[string]any
			mustBeSound(json.Unmarshal(text, &changes))
			patch(merged, changes)
		}
	}
	return merged
}

// readDir lists a folder in the order of its names.
func readDir(folder string) []fs.DirEntry {
	entries, err := definitions.ReadDir(folder)
	mustBeSound(err)
	return entries
}

// patch is a JSON merge patch: null deletes, objects are merged, everything else replaces.
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

// mustBeSound panics: our own embedded files are wrong, which the tests of this package would have shown.
func mustBeSound(err error) {
	if err != nil {
		panic(fmt.Sprintf("schema: our own definitions: %v", err))
	}
}

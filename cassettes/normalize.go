package cassettes

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// knownDialect is a dialect whose requests are compared by meaning.
type knownDialect struct {
	name string
	dialect.Facts
	volatile, ids, arguments [][]string // paths of members
}

var knownDialects = func() (all []knownDialect) {
	facts := dialects.Facts()
	for _, name := range dialects.Names() {
		if f := facts[name]; f.Compatible == "" {
			all = append(all, knownDialect{name, f, paths(f.Volatile), paths(f.IDs), paths(f.Arguments)})
		}
	}
	return all
}()

func paths(dotted []string) [][]string {
	all := make([][]string, len(dotted))
	for i, path := range dotted {
		all[i] = strings.Split(path, ".")
	}
	return all
}

func dialectOf(kind string) *knownDialect {
	name, _, _ := strings.Cut(kind, " ")
	for i := range knownDialects {
		if knownDialects[i].name == name {
			return &knownDialects[i]
		}
	}
	return nil
}

// serves reports whether a POST to the address uses the dialect. It returns what else the address says.
func (d *knownDialect) serves(u *url.URL) (detail string, ok bool) {
	if d.Detail != nil {
		return d.Detail(u)
	}
	return "", strings.HasSuffix(u.Path, d.Path)
}

// normalize removes what clients generate. Ids get new names in order of appearance: each result must stay with its
// call. Only the id members of a dialect are renamed: an "id" in a tool's input belongs to the user. Arguments that are
// JSON text are rewritten: a client that parses and restates a call changes spaces and member order.
func (d *knownDialect) normalize(body any) {
	eachMember(body, d.volatile, func(o map[string]any, name string) { delete(o, name) })
	names := map[string]string{}
	eachMember(body, d.ids, func(o map[string]any, name string) {
		id, ok := o[name].(string)
		if !ok {
			return
		}
		if names[id] == "" {
			names[id] = fmt.Sprintf("id %d", len(names)+1)
		}
		o[name] = names[id]
	})
	eachMember(body, d.arguments, func(o map[string]any, name string) {
		text, _ := o[name].(string)
		if json.Valid([]byte(text)) {
			o[name] = jsonvalue.Canonical(jsonvalue.Decode([]byte(text)))
		}
	})
}

// eachMember calls do with the members at the paths, through arrays, in the order of the elements.
func eachMember(tree any, paths [][]string, do func(o map[string]any, name string)) {
	for _, o := range objects(tree) {
		for i, path := range paths {
			if len(path) == 1 {
				do(o, path[0])
				continue
			}
			var below [][]string // of this and the later paths with the same beginning
			for k, other := range paths {
				if len(other) == 1 || other[0] != path[0] {
					continue
				}
				if k < i {
					below = nil
					break
				}
				below = append(below, other[1:])
			}
			if below != nil {
				eachMember(o[path[0]], below, do)
			}
		}
	}
}

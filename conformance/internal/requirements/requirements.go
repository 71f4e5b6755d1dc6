// Package requirements holds the table of normative statements about sampling clients, as data: statements.json. It
// says what the specification demands. How a check enforces it belongs in a chapter.
//
// The table holds every normative sentence (MUST, SHOULD, MAY) of the pages on sampling, cancellation, progress, multi
// round-trip requests and timeouts, including the duties of servers and users. Of the other pages (basic, transports,
// tasks, ping, the schema's comments on sampling) it holds the sentences that bind clients; of the revisions before
// 2025-11-25 only what checks enforce.
//
// Checks cite a statement by one ID for all revisions, "sampling/11". Its number on the page differs by revision.
package requirements

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Site is the address of the specification.
const Site = "https://modelcontextprotocol.io/specification/"

// Balance are the statements that every tool use gets its result.
var Balance = []string{"sampling/09"}

// Statement is one normative statement in one revision, in our own words.
type Statement struct {
	// ID names the statement in all revisions that make it, such as "sampling/11". Checks cite it. It is stable.
	ID string
	// Place is revision, page, and number or name on the page, such as "sampling/11". Reports name it.
	Place    string
	Revision server.Revision
	// URL leads to the section of the statement, or to its page.
	URL string
	// Level is the level of its keyword, the stricter of two. A type of the schema is a MUST.
	Level report.Level
	Text  string
	// Excluded says why no check enforces the statement; "" if checks do.
	Excluded string
}

//go:embed statements.json
var source []byte

// table is the content of statements.json.
type table struct {
	Revisions []revision
	// Reasons are why statements are excluded, by name.
	Reasons    map[string]string
	Statements []entry
}

// revision is a revision of the specification, oldest first.
type revision struct {
	Revision server.Revision
	// Like is an earlier revision. This one has its pages and its statements, as far as it does not list its own.
	Like server.Revision
	// Pages are the pages in their order, each with its path below the revision's root.
	Pages []struct{ Name, Path string }
}

// entry is a statement, in all revisions that make it in the same words. Two entries have the same ID if they differ
// in level, sentence or our words for it. No revision has both.
type entry struct {
	// ID is page and number in the newest revision when the statement was listed, or a name if the number is taken.
	ID    string
	Level report.Level
	Text  string
	// At is where it stands, by revision: page/number#anchor. "" removes it from a revision that is like another.
	At map[server.Revision]string
	// Excluded is the reason, or its name, by revision; "*" for all revisions.
	Excluded map[server.Revision]string
}

// statements are read when they are needed, so that a command that judges nothing starts faster.
var statements = sync.OnceValue(func() []Statement { return read(source) })

// byID holds the statements by revision and ID.
var byID = sync.OnceValue(func() map[server.Revision]map[string]*Statement {
	all := statements()
	index := map[server.Revision]map[string]*Statement{}
	for i := range all {
		s := &all[i]
		if index[s.Revision] == nil {
			index[s.Revision] = map[string]*Statement{}
		}
		index[s.Revision][s.ID] = s
	}
	return index
})

// In returns the statement with an ID in a revision; nil if the revision has none. Read only.
func In(revision server.Revision, id string) *Statement { return byID()[revision][id] }

// Known reports whether some revision has a statement with the ID.
func Known(id string) bool {
	return slices.ContainsFunc(statements(), func(s Statement) bool { return s.ID == id })
}

// Statements returns a copy of the table, by revision, page and place on the page.
func Statements() []Statement { return slices.Clone(statements()) }

// read panics on a malformed table: it is part of the program, and a test reads it.
func read(source []byte) []Statement {
	var t table
	d := json.NewDecoder(bytes.NewReader(source))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		panic(fmt.Sprintf("requirements: statements.json: %v", err))
	}
	var all []Statement
	for _, r := range t.Revisions {
		for _, page := range t.pages(r) {
			var here []Statement
			for i := range t.Statements {
				e := &t.Statements[i]
				if name, ok := strings.CutPrefix(t.of(e.At, r.Revision), page.Name+"/"); ok {
					here = append(here, t.statement(e, r.Revision, page.Name, page.Path, name))
				}
			}
			sort.SliceStable(here, func(i, j int) bool { return here[i].Place < here[j].Place })
			all = append(all, here...)
		}
	}
	return all
}

// pages returns the pages of a revision: its own ones, or those of the revision that it is like.
func (t *table) pages(r revision) []struct{ Name, Path string } {
	for r.Pages == nil && r.Like != "" {
		r = t.revision(r.Like)
	}
	return r.Pages
}

func (t *table) revision(name server.Revision) revision {
	i := slices.IndexFunc(t.Revisions, func(r revision) bool { return r.Revision == name })
	if i < 0 {
		panic("requirements: statements.json: unknown revision " + name)
	}
	return t.Revisions[i]
}

// of returns the value for a revision, or for the revision that it is like; "" if there is none.
func (t *table) of(values map[server.Revision]string, name server.Revision) string {
	for name != "" {
		if value, ok := values[name]; ok {
			return value
		}
		name = t.revision(name).Like
	}
	return ""
}

func (t *table) statement(e *entry, revision server.Revision, page, path, name string) Statement {
	name, anchor, _ := strings.Cut(name, "#")
	s := Statement{
		ID: e.ID, Place: fmt.Sprintf("%s/%s/%s", revision, page, name), Revision: revision,
		URL: fmt.Sprintf("%s%s/%s", Site, revision, path), Level: e.Level, Text: e.Text,
	}
	if anchor != "" {
		s.URL += "#" + anchor
	}
	reason := cmp.Or(t.of(e.Excluded, revision), e.Excluded["*"])
	s.Excluded = cmp.Or(t.Reasons[reason], reason)
	return s
}

// Package requirements holds the table of normative statements about sampling clients, as data: statements.json. It
// says what the specification demands. How a check enforces it belongs in a chapter.
//
// The table holds every normative sentence (MUST, SHOULD, MAY) of the pages on sampling, cancellation, progress, multi
// round-trip requests and timeouts, including the duties of servers and users. Of the other pages (basic, transports,
// tasks, ping, the schema's comments on sampling) it holds the sentences that bind clients; of the revisions before
// 2025-11-25 only what checks enforce.
package requirements

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Site is the address of the specification.
const Site = "https://modelcontextprotocol.io/specification/"

// Balance are the statements that every tool use gets its result.
var Balance = []string{"2025-11-25/sampling/08", "2026-07-28/sampling/09"}

// Statement is one normative statement of one revision, in our own words.
type Statement struct {
	// ID is revision, page and number or name, such as "2025-11-25/sampling/05". It is stable.
	ID string
	// URL leads to the section of the statement, or to its page.
	URL string
	// Level is the level of its keyword, the stricter of two. A type of the schema is a MUST.
	Level report.Level
	Text  string
	// Digest is the first 12 hexadecimal digits of the SHA-256 of the sentence, without asterisks and with single spaces.
	// It shows that the specification changed. "" for a type of the schema, and for sentences read in another draft.
	Digest string
	// Excluded says why no check enforces the statement; "" if checks do.
	Excluded string
}

// Revision returns the revision that the statement belongs to.
func (s *Statement) Revision() server.Revision {
	revision, _, _ := strings.Cut(s.ID, "/")
	return server.Revision(revision)
}

//go:embed statements.json
var source []byte

// table is the content of statements.json.
type table struct {
	// Pages are the pages in their order, each with its path below the revision's root.
	Pages []struct{ Revision, Name, Path string }
	// Reasons are why statements are excluded, by name.
	Reasons    map[string]string
	Statements []entry
}

// entry is one statement in all revisions that make it.
type entry struct {
	Level  report.Level
	Digest string
	Text   string
	// At is where it stands, by revision: page/number#anchor.
	At map[string]string
	// Excluded is the reason, or its name, by revision; "*" for all revisions.
	Excluded map[string]string
}

// statements are read when they are needed, so that a command that judges nothing starts faster.
var statements = sync.OnceValue(func() []Statement { return read(source) })

// ByID returns the statements by their IDs. Read only.
var ByID = sync.OnceValue(func() map[string]*Statement {
	all := statements()
	table := make(map[string]*Statement, len(all))
	for i := range all {
		table[all[i].ID] = &all[i]
	}
	return table
})

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
	for _, page := range t.Pages {
		var here []Statement
		for i := range t.Statements {
			e := &t.Statements[i]
			if name, ok := strings.CutPrefix(e.At[page.Revision], page.Name+"/"); ok {
				here = append(here, t.statement(e, page.Revision, page.Name, page.Path, name))
			}
		}
		slices.SortStableFunc(here, func(a, b Statement) int { return strings.Compare(a.ID, b.ID) })
		all = append(all, here...)
	}
	return all
}

func (t *table) statement(e *entry, revision, page, path, name string) Statement {
	name, anchor, _ := strings.Cut(name, "#")
	s := Statement{ID: revision + "/" + page + "/" + name, URL: Site + revision + "/" + path, Level: e.Level, Text: e.Text,
		Digest: e.Digest}
	if anchor != "" {
		s.URL += "#" + anchor
	}
	reason := cmp.Or(e.Excluded[revision], e.Excluded["*"])
	s.Excluded = cmp.Or(t.Reasons[reason], reason)
	return s
}

package requirements

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

const Site = "https://modelcontextprotocol.io/specification/"

// Statement is what the specification says in a sentence, or in a shape of its schema, about what a sampling client does. It is in our own
// words. Checks enforce it, or it says why none does.
//
// The table holds every normative sentence (MUST, SHOULD, MAY) of the pages on sampling, cancelling, progress, multi round-trip requests and
// timeouts, those of servers and people too, and of the other pages (basic, transports, tasks, ping, the schema's comments on sampling) those
// that bind clients. Of the revisions before 2025-11-25 it holds only what checks enforce.
type Statement struct {
	// ID is the revision, the page and a number, or the name of a shape or section, such as "2025-11-25/sampling/05". It is stable.
	ID string
	// URL leads to the section in which it stands, or to the page where it stands before the first section.
	URL string
	// Level is that of its keyword, the stricter where it has two. A shape of the schema is a MUST.
	Level report.Level
	// Says is the statement in our own words.
	Text string
	// Digest is the first 12 hexadecimal digits of the SHA-256 of the sentence, without asterisks and with single spaces, so that a change of
	// the specification is noticed; "" for what is no sentence, and for sentences that were read in another draft of the page.
	Digest string
	// Excluded says why no check enforces it; "" where checks do.
	Excluded string
}

// Why a statement is excluded, where several are for one reason.
const (
	forServers      = "a duty of servers"
	forRequestors   = "a duty of who asks for the task: in sampling, the server"
	forPeople       = "a duty of people: no client can break it"
	forInterfaces   = "a duty of user interfaces, which no wire shows"
	forOperators    = "a duty of who writes and runs the client, which no wire shows"
	forExtensions   = "a duty of extensions, and sampling uses none"
	permission      = "a permission: whoever makes use of it is right, and whoever does not is too"
	insideOnly      = "it goes on inside the client, where no wire shows it"
	ownPace         = "how long a client waits is its own choice, and may be longer than any run; what it does when it gives up is judged"
	noFigure        = "it names no figure that a client could be held to"
	notSampling     = "no sample depends on it"
	oneTransport    = "a client is judged over the standard transport that it is started for"
	ownKeys         = "it binds who makes up keys of their own, which sampling does not need"
	noErrors        = "a client sends no errors in this revision"
	eraProbe        = "whether a client speaks both eras only its maker knows: one that ends with a server of the other era is right, too"
	noServerHeaders = "no sample depends on a header of the server in this revision"
	paramHeaders    = "the tools of the fake server have no parameters to mirror: it is about calling tools, and no sample depends on it"
	toolTasks       = "it is about calling tools as tasks, which the fake server does not offer"
	mustsOnly       = "no known client takes sampling requests as tasks: only the MUSTs about tasks are judged"
	noInput         = "a task of sampling needs nothing more from the server that asked for it"
	noAuthorization = "sessions of the fake server have no authorization"
)

// page is a page of a revision: its name in IDs, its path in links, and its statements, each completed by [page.complete].
type page struct {
	revision   server.Revision
	name, path string
	statements []Statement
}

// pages are the table, in its order.
var pages = slices.Concat(older(server.V20250326), []page{batching}, older(server.V20250618), []page{
	sampling20251125, schema20251125, basic20251125, cancellation20251125, progress20251125, lifecycle20251125, ping20251125, transports20251125, tasks20251125,
	sampling20260728, schema20260728, basic20260728, mrtr20260728, cancellation20260728, progress20260728,
	versioning20260728, transports20260728, streamableHTTP20260728, stdio20260728,
})

// requirements are the statements by ID.
var ByID = byID(Statements())

// Statements returns the table: every normative statement about sampling clients, by revision, page and place on it.
func Statements() []Statement {
	var all []Statement
	for _, p := range pages {
		all = append(all, p.complete()...)
	}
	return all
}

func byID(all []Statement) map[string]*Statement {
	table := make(map[string]*Statement, len(all))
	for i := range all {
		table[all[i].ID] = &all[i]
	}
	return table
}

// complete returns the page's statements with their whole IDs and links.
func (p page) complete() []Statement {
	whole := slices.Clone(p.statements)
	for i := range whole {
		s := &whole[i]
		s.ID = string(p.revision) + "/" + p.name + "/" + s.ID
		anchor := s.URL
		s.URL = Site + string(p.revision) + "/" + p.path
		if anchor != "" {
			s.URL += "#" + anchor
		}
	}
	return whole
}

// Revision returns the revision of the specification in which the statement stands.
func (s *Statement) Revision() server.Revision {
	revision, _, _ := strings.Cut(s.ID, "/")
	return server.Revision(revision)
}

// must, should and may are statements of a page: the number on it, the anchor of the section, the digest, and what is said.
func must(number, anchor, digest, says string) Statement {
	return Statement{ID: number, URL: anchor, Level: report.Must, Digest: digest, Text: says}
}

func should(number, anchor, digest, says string) Statement {
	return Statement{ID: number, URL: anchor, Level: report.Should, Digest: digest, Text: says}
}

func may(number, anchor, digest, says string) Statement {
	return Statement{ID: number, URL: anchor, Level: report.May, Digest: digest, Text: says}
}

// schemaType is what the schema says of a type by its members alone.
func schemaType(name, says string) Statement {
	return Statement{ID: name, URL: strings.ToLower(name), Level: report.Must, Text: says}
}

// excluded says why no check enforces the statement.
func (s Statement) excluded(why string) Statement {
	s.Excluded = why
	return s
}

package server

import "slices"

// Revision is a revision of the protocol, by its date.
type Revision string

// The revisions that the server speaks.
const (
	V20250326 Revision = "2025-03-26"
	V20250618 Revision = "2025-06-18"
	V20251125 Revision = "2025-11-25"
	V20260728 Revision = "2026-07-28"
)

// AllRevisions returns every revision that the server speaks, oldest first.
func AllRevisions() []Revision { return []Revision{V20250326, V20250618, V20251125, V20260728} }

// Modern reports whether the revision is stateless: each request has its own version and capabilities, and sampling is
// part of an InputRequiredResult (2026-07-28, basic/versioning#terminology). The others are legacy.
func (r Revision) Modern() bool { return r >= V20260728 }

// HasSamplingTools reports whether a sampling request may hold tools, and content may be an array (since 2025-11-25).
func (r Revision) HasSamplingTools() bool { return r >= V20251125 }

// only returns the modern or the legacy revisions, newest first.
func only(revisions []Revision, modern bool) []Revision {
	found := slices.DeleteFunc(slices.Clone(revisions), func(r Revision) bool { return r.Modern() != modern })
	slices.Sort(found)
	slices.Reverse(found)
	return slices.Compact(found)
}

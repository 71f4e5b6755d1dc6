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

// features are what differs between revisions, apart from the schemas of messages (internal/schema).
type features struct {
	stateless, batches, samplingTools, tasks, errorsWithoutID, primingEvents bool

	state string
}

// table holds the revisions, oldest first. Each has the features of the one before it, with its own changes.
var table = inherit([]changes{
	{V20250326, func(f *features) { f.batches = true }},
	{V20250618, func(f *features) { f.batches = false }},
	{V20251125, func(f *features) {
		f.samplingTools, f.tasks, f.errorsWithoutID, f.primingEvents = true, true, true, true
	}},
	{V20260728, func(f *features) {
		f.stateless, f.tasks, f.primingEvents = true, false, false
		f.state = "requestState"
	}},
})

// changes are what a revision changes in the features of the one before it.
type changes struct {
	revision Revision
	apply    func(*features)
}

// entry is a revision with all its features.
type entry struct {
	Revision
	features
}

func inherit(all []changes) []entry {
	var entries []entry
	var f features
	for _, c := range all {
		c.apply(&f)
		entries = append(entries, entry{c.revision, f})
	}
	return entries
}

// features returns the features of a revision; those of the newest revision before it if it is unknown.
func (r Revision) features() features {
	i := slices.IndexFunc(table, func(e entry) bool { return e.Revision > r })
	switch {
	case i < 0:
		i = len(table)
	case i == 0:
		return features{}
	}
	return table[i-1].features
}

// AllRevisions returns every revision that the server speaks, oldest first.
func AllRevisions() []Revision {
	var all []Revision
	for _, e := range table {
		all = append(all, e.Revision)
	}
	return all
}

// DefaultRevisions returns the revisions that count where nobody names one: a legacy and a modern one. A new revision
// does not change them.
func DefaultRevisions() []Revision { return []Revision{V20251125, V20260728} }

// Modern reports whether the revision is stateless: each request has its own version and capabilities, and sampling is
// part of an InputRequiredResult (2026-07-28, basic/versioning#terminology). The others are legacy: they have sessions,
// and the server sends requests.
func (r Revision) Modern() bool { return r.features().stateless }

// HasSamplingTools reports whether a sampling request may hold tools, and content may be an array (since 2025-11-25).
func (r Revision) HasSamplingTools() bool { return r.features().samplingTools }

// HasBatches reports whether JSON-RPC messages may come in arrays (2025-03-26, basic/index#batching).
func (r Revision) HasBatches() bool { return r.features().batches }

// HasTasks reports whether a sampling request may be executed as a task (2025-11-25, basic/utilities/tasks).
func (r Revision) HasTasks() bool { return r.features().tasks }

// HasPrimingEvents reports whether a stream begins with an event that has an id and no message, so that the client can
// resume it at once (2025-11-25, basic/transports#sending-messages-to-the-server).
func (r Revision) HasPrimingEvents() bool { return r.features().primingEvents }

// StateMember returns the member that a retry copies from the result that asks for input: "requestState" in 2026-07-28
// (basic/patterns/mrtr#inputrequiredresult); "" in legacy revisions.
func (r Revision) StateMember() string { return r.features().state }

func only(revisions []Revision, modern bool) []Revision {
	found := slices.DeleteFunc(slices.Clone(revisions), func(r Revision) bool { return r.Modern() != modern })
	slices.Sort(found)
	slices.Reverse(found)
	return slices.Compact(found)
}

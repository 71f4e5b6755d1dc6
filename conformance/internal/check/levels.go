package check

import (
	"maps"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// Revisions by feature. A new revision is in those whose feature it has (package server).
var (
	// WithTools are the revisions in which a sampling request may carry tools, and content may be an array.
	WithTools = With(server.Revision.HasSamplingTools)
	// Legacy are the revisions with sessions, Modern those with input requests.
	Legacy = With(isLegacy)
	Modern = With(server.Revision.Modern)
	// NewestLegacy are the revisions with sessions and priming events. The transport is judged in them alone: older
	// revisions have no priming events and no retry, and their clients run the same code.
	NewestLegacy = With(server.Revision.HasPrimingEvents)
)

func isLegacy(r server.Revision) bool { return !r.Modern() }

// With returns the revisions that have a feature, oldest first.
func With(feature func(server.Revision) bool) []server.Revision {
	return slices.DeleteFunc(server.AllRevisions(), func(r server.Revision) bool { return !feature(r) })
}

// One level in all revisions.
var (
	Must   = Everywhere(report.Must)
	Should = Everywhere(report.Should)
	May    = Everywhere(report.May)
	Robust = Everywhere(report.Robust)
	Advice = Everywhere(report.Advice)
)

// Everywhere is one level in all revisions.
func Everywhere(l report.Level) map[server.Revision]report.Level { return In(server.AllRevisions(), l) }

// InLegacy is a level in the revisions with sessions.
func InLegacy(l report.Level) map[server.Revision]report.Level { return In(Legacy, l) }

// InModern is a level in the revisions with input requests.
func InModern(l report.Level) map[server.Revision]report.Level { return In(Modern, l) }

// SinceTools is a level in the revisions with tools and with content arrays, which came together.
func SinceTools(l report.Level) map[server.Revision]report.Level { return In(WithTools, l) }

// BeforeTools is a level in the revisions without tools.
func BeforeTools(l report.Level) map[server.Revision]report.Level {
	return In(With(func(r server.Revision) bool { return !r.HasSamplingTools() }), l)
}

// InNewestLegacy is a level in [NewestLegacy].
func InNewestLegacy(l report.Level) map[server.Revision]report.Level { return In(NewestLegacy, l) }

// Levels is one level in the revisions with sessions and another in those with input requests.
func Levels(legacy, modern report.Level) map[server.Revision]report.Level {
	return Both(InLegacy(legacy), InModern(modern))
}

// In is a level in some revisions.
func In(revisions []server.Revision, l report.Level) map[server.Revision]report.Level {
	levels := map[server.Revision]report.Level{}
	for _, r := range revisions {
		levels[r] = l
	}
	return levels
}

// Both are the levels of two sets of revisions.
func Both(some, others map[server.Revision]report.Level) map[server.Revision]report.Level {
	levels := maps.Clone(some)
	maps.Copy(levels, others)
	return levels
}

package check

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// WithTools are the revisions in which a sampling request may carry tools: the newest of each era.
var WithTools = []server.Revision{server.V20251125, server.V20260728}

// NewestLegacy is the newest revision with sessions. The transport is judged in it alone: older revisions have no
// priming events and no retry, and their clients run the same code.
var NewestLegacy = []server.Revision{server.V20251125}

// AllRevisions returns every revision that some scenario is played in, oldest first.
func AllRevisions() []server.Revision {
	return []server.Revision{server.V20250326, server.V20250618, server.V20251125, server.V20260728}
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
func Everywhere(l report.Level) map[server.Revision]report.Level { return Levels(l, l) }

// InLegacy is a level in the revisions with sessions, up to 2025-11-25.
func InLegacy(l report.Level) map[server.Revision]report.Level {
	return in(l, server.V20250326, server.V20250618, server.V20251125)
}

// InModern is a level in 2026-07-28.
func InModern(l report.Level) map[server.Revision]report.Level { return in(l, server.V20260728) }

// SinceTools is a level in the revisions with tools and with content arrays, which came together.
func SinceTools(l report.Level) map[server.Revision]report.Level { return in(l, WithTools...) }

// BeforeTools is a level in the revisions before 2025-11-25.
func BeforeTools(l report.Level) map[server.Revision]report.Level {
	return in(l, server.V20250326, server.V20250618)
}

// InNewestLegacy is a level in [NewestLegacy].
func InNewestLegacy(l report.Level) map[server.Revision]report.Level { return in(l, NewestLegacy...) }

// Levels is one level in the revisions with sessions and another in 2026-07-28.
func Levels(legacy, modern report.Level) map[server.Revision]report.Level {
	l := InLegacy(legacy)
	l[server.V20260728] = modern
	return l
}

func in(l report.Level, revisions ...server.Revision) map[server.Revision]report.Level {
	levels := map[server.Revision]report.Level{}
	for _, r := range revisions {
		levels[r] = l
	}
	return levels
}

// strictness orders the levels of the specification. Our own levels have -1: they need no statement.
func strictness(l report.Level) int {
	return slices.Index([]report.Level{report.May, report.Should, report.Must}, l)
}

// founded returns an error if the check's level is stricter than every statement that it enforces in the revision.
func (c *Check) founded(revision server.Revision) error {
	level := c.Levels[revision]
	if strictness(level) <= strictness(report.May) {
		return nil
	}
	highest := -1
	for _, s := range c.Enforces(revision) {
		highest = max(highest, strictness(s.Level))
	}
	if highest < strictness(level) {
		return fmt.Errorf("level %s in %s needs a statement of that level, found none", level, revision)
	}
	return nil
}

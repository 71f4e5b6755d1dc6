package check

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/conformance/internal/requirements"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

// strict is how much a level asks for; those of our own ask for nothing that the specification would have to say.
func strict(l report.Level) int {
	return slices.Index([]report.Level{report.May, report.Should, report.Must}, l)
}

// founded returns what is wrong with the levels of a check: one that is stricter than any statement that the check names in the revision.
func (c *Check) founded(revision server.Revision) error {
	level := c.Levels[revision]
	if strict(level) <= strict(report.May) {
		return nil
	}
	highest := -1
	for _, id := range c.Statements {
		if s := requirements.ByID[id]; s != nil && s.Revision() == revision {
			highest = max(highest, strict(s.Level))
		}
	}
	switch {
	case highest < 0:
		return fmt.Errorf("it is a %s of %s, and no requirement says so", level, revision)
	case highest < strict(level):
		return fmt.Errorf("it is a %s of %s, and what it enforces there is none", level, revision)
	}
	return nil
}

// declaring is how a client's limit is declared.
const LimitOption = "--client-timeout, conformance.ClientTimeout"

// newestLegacy is the revision whose transport is judged of those with sessions: the others know no priming events and no retry, and their clients
// speak the same code.
var NewestLegacy = []server.Revision{server.V20251125}

func InNewestLegacy(l report.Level) map[server.Revision]report.Level {
	return map[server.Revision]report.Level{server.V20251125: l}
}

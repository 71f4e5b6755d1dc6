package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

type listCommand struct {
	Requirements bool     `help:"${list_requirements}"`
	Revision     []string `placeholder:"DATE" help:"With --requirements: only these revisions (default: all)."`
	Format       string   `enum:"text,json,markdown" default:"text" help:"Format; markdown for requirements only."`
}

func (c *listCommand) Validate() error {
	switch {
	case !c.Requirements && c.Format == "markdown":
		return errors.New("--format markdown needs --requirements: use text or json, or add --requirements")
	case !c.Requirements && c.Revision != nil:
		return errors.New("--revision needs --requirements")
	}
	return knownRevisions(c.Revision)
}

func (c *listCommand) Run(_ context.Context, s streams) error {
	if c.Requirements {
		return listRequirements(s, c.Format, c.Revision)
	}
	list := conformance.Scenarios()
	for i := range list {
		list[i].Cases = append([]string{}, list[i].Cases...) // in JSON not null
	}
	if c.Format == "json" {
		return s.json(list)
	}
	for _, listed := range list {
		if err := listScenario(s, &listed); err != nil {
			return err
		}
	}
	return nil
}

func listScenario(s streams, l *conformance.Scenario) error {
	lines := fmt.Sprintf("%s — %s (%s)\n  cases: %s\n",
		l.ID, l.Purpose, strings.Join(revisionNames(l.Revisions), ", "), coverage(l.ID+"/", l.Cases))
	for _, c := range l.Checks {
		lines += fmt.Sprintf("  %-34s %-14s %s\n", c.ID, levelText(c.Levels), c.Rule)
	}
	_, err := fmt.Fprintln(s.out, lines)
	return err
}

// levelText is a check's level, such as "ROBUST/MUST" if the revisions differ.
func levelText(levels map[server.Revision]report.Level) string {
	var names []string
	for _, r := range server.AllRevisions() {
		if l, ok := levels[r]; ok && !slices.Contains(names, string(l)) {
			names = append(names, string(l))
		}
	}
	return strings.Join(names, "/")
}

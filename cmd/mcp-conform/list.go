package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
)

type listCommand struct {
	Requirements bool     `help:"List the statements of the specification instead, with the checks that enforce each and the mutants that prove them, or the reason why none does."`
	Revision     []string `placeholder:"DATE" help:"With --requirements: those of these revisions (default: all)."`
	Format       string   `enum:"text,json,markdown" default:"text" help:"Format: text or json; for the requirements also markdown."`
}

type listedScenario struct {
	ID        string            `json:"id"`
	Purpose   string            `json:"purpose"`
	Revisions []server.Revision `json:"revisions"`
	Cases     []string          `json:"cases"`
	Checks    []listedCheck     `json:"checks"`
}

type listedCheck struct {
	ID           string                           `json:"id"`
	Rule         string                           `json:"rule"`
	Levels       map[server.Revision]report.Level `json:"levels"`
	Cases        []string                         `json:"cases"`
	Requirements []report.Requirement             `json:"requirements"`
}

// Validate finds flags that make no sense.
func (c *listCommand) Validate() error {
	switch {
	case !c.Requirements && c.Format == "markdown":
		return errors.New("--format markdown: want text or json, or --requirements, which has a table")
	case !c.Requirements && c.Revision != nil:
		return errors.New("--revision: want --requirements with it")
	}
	return knownRevisions(c.Revision)
}

// Run lists the catalogue, or the table of requirements.
func (c *listCommand) Run(s streams) error {
	if c.Requirements {
		list, err := listRequirements(c.Format, c.Revision)
		if err != nil {
			return err
		}
		_, err = s.out.Write(list)
		return err
	}
	var list []listedScenario
	for _, scenario := range conformance.Scenarios() {
		listed := listedScenario{ID: scenario.ID, Purpose: scenario.Purpose, Revisions: scenario.Revisions, Cases: append([]string{}, scenario.Cases...)}
		for _, check := range scenario.Checks {
			listed.Checks = append(listed.Checks, listedCheck{ID: check.ID, Rule: check.Rule, Levels: check.Levels, Cases: check.Cases,
				Requirements: check.Requirements})
		}
		list = append(list, listed)
	}
	var b bytes.Buffer
	if c.Format == "json" {
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(list); err != nil {
			return err
		}
	} else {
		listText(&b, list)
	}
	_, err := s.out.Write(b.Bytes())
	return err
}

func listText(b *bytes.Buffer, list []listedScenario) {
	for _, s := range list {
		fmt.Fprintf(b, "%s — %s (%s)\n", s.ID, s.Purpose, strings.Join(revisionNames(s.Revisions), ", "))
		fmt.Fprintf(b, "  cases: %s\n", strings.Join(s.Cases, ", "))
		for _, c := range s.Checks {
			fmt.Fprintf(b, "  %-34s %-14s %s\n", c.ID, levelText(c.Levels), c.Rule)
		}
		b.WriteByte('\n')
	}
}

// levelText is a check's level, or its levels where the revisions differ.
func levelText(levels map[server.Revision]report.Level) string {
	var names []string
	for _, r := range conformance.AllRevisions() {
		if l, ok := levels[r]; ok && !slices.Contains(names, string(l)) {
			names = append(names, string(l))
		}
	}
	return strings.Join(names, "/")
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/dialects"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

const (
	// leastPatience is the shortest limit of a client that a busy machine does not blur.
	leastPatience = 500 * time.Millisecond
	// mostGenerated is how many conversations or malformed requests a run may generate: each takes a few exchanges.
	mostGenerated = 100_000
)

func revisionNames(revisions []server.Revision) []string {
	names := make([]string, len(revisions))
	for i, r := range revisions {
		names[i] = string(r)
	}
	return names
}

func (c *runCommand) Validate() error {
	if err := errors.Join(c.validateTimes(), c.validateGenerated(), c.Report.Validate(), c.validateShard(),
		c.validateGateway()); err != nil {
		return err
	}
	switch {
	case c.Builtin != "" && len(c.Command) > 0 && !c.Gateway:
		return errors.New("found both --client and a command: use one of them")
	case c.KeepRuns < 0:
		return fmt.Errorf("--keep-runs: expected at least 1, or 0 for all, found %d", c.KeepRuns)
	case c.Jobs < 1:
		return fmt.Errorf("-j: expected at least 1, found %d", c.Jobs)
	case c.Dialect != "":
		if err := oneOf("--dialect", c.Dialect, dialects.Names()); err != nil {
			return err
		}
	}
	for _, feature := range c.Has {
		if err := oneOf("--has", feature, harness.Features()); err != nil {
			return err
		}
	}
	return knownRevisions(c.Revision)
}

func (c *runCommand) validateTimes() error {
	switch {
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout: expected more than 0, found %s", c.Timeout)
	case c.CaseTime < 0:
		return fmt.Errorf("--case-timeout: expected more than 0, found %s", c.CaseTime)
	case c.Patience < 0 || c.Patience > 0 && c.Patience < leastPatience:
		return fmt.Errorf("--client-timeout: expected at least %s, found %s, which is too short to measure reliably",
			leastPatience, c.Patience)
	}
	return nil
}

func (c *runCommand) validateGenerated() error {
	for flag, n := range map[string]int{"--explore": c.explored(), "--fuzz": c.Fuzz} {
		if n < 0 || n > mostGenerated {
			return fmt.Errorf("%s: expected 0 to %d, found %d", flag, mostGenerated, n)
		}
	}
	switch {
	case c.generates() && c.Keep == "":
		return errors.New("--keep: the name of the folder is missing")
	case c.Kept != "" && (c.Fuzz > 0 || c.Explore != nil || len(c.Scenario)+len(c.Skip)+len(c.Revision) > 0):
		return errors.New("--conversation plays one conversation in its revision: omit --explore, --fuzz, --scenario, " +
			"--skip and --revision")
	case (c.Kept != "" || c.explored() > 0) && c.LLM != "script":
		return errors.New("--conversation, --explore and --llm replay exclude each other: no recording answers them")
	}
	return nil
}

func (c *runCommand) explored() int {
	if c.Explore == nil {
		return 0
	}
	return *c.Explore
}

// generates reports whether the run generates more than by default. Then it keeps what it finds.
func (c *runCommand) generates() bool { return c.Fuzz > 0 || c.explored() > 0 }

func knownRevisions(names []string) error {
	known := revisionNames(server.AllRevisions())
	for _, r := range names {
		if err := oneOf("--revision", r, known); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(flag, value string, known []string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, notOne(value, known))
}

func notOne(value string, known []string) error {
	return suggest(fmt.Errorf("expected one of %s, found %q", strings.Join(known, ", "), value), value, known)
}

// suggest adds to an error what a wrong name may mean.
func suggest(err error, name string, known []string) error {
	if near := words.DidYouMean(name, known); near != "" {
		return fmt.Errorf("%w; %s", err, near)
	}
	return err
}

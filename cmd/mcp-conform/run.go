package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/internal/shell"
)

type runCommand struct {
	Scenario []string      `placeholder:"GLOB" help:"Play only these scenarios, cases or checks; may be repeated."`
	Skip     []string      `placeholder:"GLOB" help:"Skip these scenarios, cases or checks; may be repeated."`
	Revision []string      `placeholder:"DATE" help:"Protocol revisions to judge (default: ${revisions})."`
	Builtin  string        `name:"client" placeholder:"NAME" help:"${run_client}"`
	Dialect  string        `placeholder:"NAME" help:"${run_dialect}"`
	Stdio    bool          `help:"${run_stdio}"`
	LLM      string        `name:"llm" enum:"script,replay" default:"script" help:"${run_llm}"`
	Format   string        `enum:"text,json" default:"text" help:"Format of the report: text or json."`
	Out      string        `placeholder:"DIR" help:"Also write results and traces to this folder."`
	Seed     int64         `default:"1" help:"Seed of session ids and request states."`
	Timeout  time.Duration `default:"${timeout}" help:"Time limit of one session with the client."`
	CaseTime time.Duration `name:"case-timeout" placeholder:"DURATION" help:"${run_case_timeout}"`
	Patience time.Duration `name:"client-timeout" placeholder:"DURATION" help:"${run_client_timeout}"`
	Jobs     int           `short:"j" default:"${jobs}" help:"Number of parallel sessions."`
	Fuzz     int           `placeholder:"N" help:"${run_fuzz}"`
	Frames   string        `placeholder:"DIR" default:"mcp-conform-frames" help:"Folder for --fuzz (${default})."`
	Frame    string        `placeholder:"FILE" help:"Play only this kept malformed request."`
	Strict   bool          `help:"Warnings fail the run, too."`
	Command  []string      `arg:"" optional:"" help:"${run_command}"`
}

const (
	// leastPatience is the shortest limit of a client that a busy machine does not blur.
	leastPatience = 500 * time.Millisecond
	// mostFuzz is how many malformed requests a run may generate: each takes a few exchanges.
	mostFuzz = 100_000
)

func revisionNames(revisions []server.Revision) []string {
	names := make([]string, len(revisions))
	for i, r := range revisions {
		names[i] = string(r)
	}
	return names
}

// Validate checks the flags before anything starts.
func (c *runCommand) Validate() error {
	if err := errors.Join(c.validateTimes(), c.validateFuzz()); err != nil {
		return err
	}
	switch {
	case c.Builtin != "" && len(c.Command) > 0:
		return errors.New("found both --client and a command: use one of them")
	case c.Jobs < 1:
		return fmt.Errorf("-j: expected at least 1, found %d", c.Jobs)
	case c.Dialect != "" && !slices.Contains(llm.Dialects(), c.Dialect):
		return fmt.Errorf("--dialect: expected one of %s, found %q", strings.Join(llm.Dialects(), ", "), c.Dialect)
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

func (c *runCommand) validateFuzz() error {
	switch {
	case c.Fuzz < 0 || c.Fuzz > mostFuzz:
		return fmt.Errorf("--fuzz: expected 0 to %d, found %d", mostFuzz, c.Fuzz)
	case c.Fuzz > 0 && c.Frames == "":
		return errors.New("--frames: the name of the folder is missing")
	case c.Frame != "" && (c.Fuzz > 0 || len(c.Scenario)+len(c.Skip)+len(c.Revision) > 0):
		return errors.New("--frame plays one request in its revision: omit --fuzz, --scenario, --skip and --revision")
	case c.Frame != "" && c.LLM != "script":
		return errors.New("--frame and --llm replay exclude each other: no recording answers a malformed request")
	}
	return nil
}

// knownRevisions returns an error for an unknown value of --revision.
func knownRevisions(names []string) error {
	known := revisionNames(conformance.AllRevisions())
	for _, r := range names {
		if !slices.Contains(known, r) {
			return fmt.Errorf("--revision: expected one of %s, found %q", strings.Join(known, ", "), r)
		}
	}
	return nil
}

// Run judges the client.
func (c *runCommand) Run(ctx context.Context, s streams) error {
	suite, err := c.suite()
	if err != nil {
		return err
	}
	if c.Fuzz > 0 {
		const note = "mcp-conform: playing %d malformed requests in each revision, from seed %d\n"
		fmt.Fprintf(s.err, note, c.Fuzz, c.Seed)
	}
	results, traces, runErr := suite.Run(ctx)
	if results == nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before the first result")}
		}
		return runErr
	}
	text := report.JSON(results)
	if c.Format == "text" {
		text = report.Text(results, report.TextOptions{Color: colors(s.out), Strict: c.Strict})
	}
	_, err = s.out.Write(text)
	if err == nil && c.Out != "" {
		var place string
		if place, err = save(c.Out, results, traces); err == nil {
			fmt.Fprintf(s.err, "mcp-conform: wrote results and traces to %s\n", place)
		}
	}
	return c.exit(ctx, results, errors.Join(err, runErr))
}

func (c *runCommand) suite() (*conformance.Suite, error) {
	client, err := c.client()
	if err != nil {
		return nil, usage(err)
	}
	suite := &conformance.Suite{Client: client, Only: c.Scenario, Skip: c.Skip, Seed: c.Seed, Timeout: c.Timeout,
		CaseTimeout: c.CaseTime, ClientTimeout: c.Patience, Parallel: c.Jobs, Tool: version(), Dialect: c.Dialect,
		Fuzz: c.Fuzz, Frame: c.Frame, Reproduce: c.reproduceCase, ReproduceFile: c.reproduceFrame}
	if c.Fuzz > 0 {
		suite.Frames = c.Frames
	}
	for _, r := range c.Revision {
		suite.Revisions = append(suite.Revisions, server.Revision(r))
	}
	if c.LLM == "replay" {
		return suite, c.replay(suite)
	}
	return suite, nil
}

// replay makes the cassettes answer, and skips what is not recorded.
func (c *runCommand) replay(suite *conformance.Suite) error {
	player, err := cassettes.Replay()
	if err != nil {
		return err
	}
	suite.Source = player
	suite.Skip = append(suite.Skip, cassettes.Unrecorded()...)
	recorded := cassettes.Scenarios()
	for _, s := range conformance.Scenarios() {
		if s.ID == "client" || slices.Contains(recorded, s.ID) {
			continue
		}
		if slices.Contains(c.Scenario, s.ID) {
			return usage(fmt.Errorf("--llm replay: there is no recording of scenario %s, only of %s",
				s.ID, strings.Join(recorded, ", ")))
		}
		suite.Skip = append(suite.Skip, s.ID, s.ID+"/*")
	}
	return nil
}

// exit chooses the exit code: the highest of 130, 3 and 1 that applies.
func (c *runCommand) exit(ctx context.Context, results *report.Results, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case err != nil:
		return &exitError{exitHarness, err}
	case results.Has(report.HarnessError):
		return &exitError{code: exitHarness}
	case results.Failed(c.Strict):
		return &exitError{code: exitFailed}
	}
	return nil
}

// client is the client to judge: a command, or a built-in one, which is this program again.
func (c *runCommand) client() (harness.Client, error) {
	command := harness.Command
	if c.Stdio {
		command = harness.CommandStdio
	}
	if len(c.Command) > 0 {
		return command(c.Command...), nil
	}
	name := c.Builtin
	if name == "" {
		name = builtinPrefix + "reference"
	}
	if _, err := builtin(name); err != nil {
		return harness.Client{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return harness.Client{}, fmt.Errorf("finding this program, to start the built-in client: %w", err)
	}
	client := command(self, "client", name)
	client.Name = name
	return client, nil
}

// reproduceCase returns the command that plays one case again; without a case, the revision.
func (c *runCommand) reproduceCase(revision server.Revision, caseID string) string {
	if c.Frame != "" {
		return c.reproduceFrame(c.Frame)
	}
	var flags []string
	if caseID != "" {
		flags = append(flags, "--scenario", caseID)
	}
	flags = append(flags, "--revision", string(revision))
	if strings.HasPrefix(caseID, "malformed/fuzz-") {
		flags = append(flags, "--fuzz", fmt.Sprint(c.Fuzz), "--seed", fmt.Sprint(c.Seed))
	}
	return c.commandLine(flags...)
}

// reproduceFrame returns the command that plays a kept malformed request.
func (c *runCommand) reproduceFrame(path string) string { return c.commandLine("--frame", path) }

// commandLine is a run with the flags, and those that choose the client.
func (c *runCommand) commandLine(flags ...string) string {
	words := append([]string{"mcp-conform", "run"}, flags...)
	if c.Stdio {
		words = append(words, "--stdio")
	}
	if c.Dialect != "" {
		words = append(words, "--dialect", c.Dialect)
	}
	if c.Patience > 0 {
		words = append(words, "--client-timeout", c.Patience.String())
	}
	if c.LLM != "script" {
		words = append(words, "--llm", c.LLM)
	}
	if c.Builtin != "" {
		words = append(words, "--client", c.Builtin)
	}
	if len(c.Command) > 0 {
		words = append(append(words, "--"), c.Command...)
	}
	return shell.Quote(words...)
}

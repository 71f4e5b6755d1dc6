package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
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
	Scenario []string      `placeholder:"GLOB" help:"Play and judge only these scenarios, cases or checks; may be repeated."`
	Skip     []string      `placeholder:"GLOB" help:"Leave these out; may be repeated."`
	Revision []string      `placeholder:"DATE" help:"Protocol revisions to judge (default: ${revisions})."`
	Builtin  string        `name:"client" placeholder:"NAME" help:"Judge a built-in client: builtin:reference, builtin:mutant/NAME."`
	Dialect  string        `placeholder:"NAME" help:"Tell the client of this model wire format only: ${dialects}."`
	Stdio    bool          `help:"The client launches its server over stdio, by {server-command}, {config} or its environment, in place of connecting to a URL."`
	LLM      string        `name:"llm" enum:"script,replay" default:"script" help:"What answers the model's requests: the scenarios' scripts, or the recorded cassettes."`
	Format   string        `enum:"text,json" default:"text" help:"Format of the report: text or json."`
	Out      string        `placeholder:"DIR" help:"Also write results and traces into this folder."`
	Seed     int64         `default:"1" help:"Seed of session ids and request states."`
	Timeout  time.Duration `default:"${timeout}" help:"How long one session with the client may take."`
	CaseTime time.Duration `name:"case-timeout" placeholder:"DURATION" help:"How long a session of one case may take (default: ${casetimeout}, or the timeout if that is less, or a third of it)."`
	Patience time.Duration `name:"client-timeout" placeholder:"DURATION" help:"How long the client waits for the model before it gives up. It is told so, and held to it; without it the client is told of ${clienttimeout}, and need not have that very limit."`
	Jobs     int           `short:"j" default:"${jobs}" help:"How many sessions may run at once."`
	Fuzz     int           `placeholder:"N" help:"Play N more malformed requests in each revision, made from the seed. Those that break the client are made small and kept."`
	Frames   string        `placeholder:"DIR" default:"mcp-conform-frames" help:"Folder for the malformed requests that --fuzz keeps (default: ${default})."`
	Frame    string        `placeholder:"FILE" help:"Play one malformed request that was kept, and nothing else."`
	Strict   bool          `help:"Fail on warnings, too."`
	Command  []string      `arg:"" optional:"" help:"The client's command, after --. {url} is the server's URL, {config} an mcp.json, {prompt} what a host is to do; without the first two the URL comes last. With --stdio {server-command} is what launches the server."`
}

// leastPatience is the shortest limit of a client that can be told from a machine that has no time for it.
const leastPatience = 500 * time.Millisecond

// vars are the defaults that help texts show.
func vars() map[string]string {
	return map[string]string{
		"revisions":     strings.Join(revisionNames(conformance.Revisions()), ", "),
		"dialects":      strings.Join(llm.Dialects(), ", "),
		"timeout":       harness.DefaultTimeout.String(),
		"casetimeout":   harness.DefaultCaseTimeout.String(),
		"clienttimeout": harness.DefaultClientTimeout.String(),
		"jobs":          fmt.Sprint(runtime.NumCPU()),
	}
}

func revisionNames(revisions []server.Revision) []string {
	names := make([]string, len(revisions))
	for i, r := range revisions {
		names[i] = string(r)
	}
	return names
}

// Validate finds flags that make no sense, before anything is started.
func (c *runCommand) Validate() error {
	switch {
	case c.Builtin != "" && len(c.Command) > 0:
		return errors.New("--client and a command were both given: want one of them")
	case c.Jobs < 1:
		return fmt.Errorf("-j %d: want at least 1", c.Jobs)
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout %s: want more than 0", c.Timeout)
	case c.Patience < 0:
		return fmt.Errorf("--client-timeout %s: want more than 0", c.Patience)
	case c.Patience > 0 && c.Patience < leastPatience:
		return fmt.Errorf("--client-timeout %s: want at least %s, for in less a busy machine shows more of itself than of the client", c.Patience, leastPatience)
	case c.CaseTime < 0:
		return fmt.Errorf("--case-timeout %s: want more than 0", c.CaseTime)
	}
	if err := c.validateFuzz(); err != nil {
		return err
	}
	if c.Dialect != "" && !slices.Contains(llm.Dialects(), c.Dialect) {
		return fmt.Errorf("--dialect %q: want one of %s", c.Dialect, strings.Join(llm.Dialects(), ", "))
	}
	return knownRevisions(c.Revision)
}

// knownRevisions returns what is wrong with the value of a flag that names revisions.
func knownRevisions(names []string) error {
	for _, r := range names {
		if !slices.Contains(conformance.AllRevisions(), server.Revision(r)) {
			return fmt.Errorf("--revision %q: want one of %s", r, strings.Join(revisionNames(conformance.AllRevisions()), ", "))
		}
	}
	return nil
}

// validateFuzz finds what makes no sense of the flags about malformed requests.
func (c *runCommand) validateFuzz() error {
	switch {
	case c.Fuzz < 0 || c.Fuzz > mostFuzz:
		return fmt.Errorf("--fuzz %d: want 0 to %d", c.Fuzz, mostFuzz)
	case c.Fuzz > 0 && c.Frames == "":
		return errors.New("--frames: want the name of a folder")
	case c.Frame != "" && (c.Fuzz > 0 || len(c.Scenario)+len(c.Skip)+len(c.Revision) > 0):
		return errors.New("--frame plays one request in its own revision: want none of --fuzz, --scenario, --skip and --revision beside it")
	case c.Frame != "" && c.LLM != "script":
		return errors.New("--frame and --llm replay were both given: no recording answers what is malformed")
	}
	return nil
}

// mostFuzz is how many malformed requests one run makes: each takes a few exchanges.
const mostFuzz = 100_000

// Run judges the client.
func (c *runCommand) Run(ctx context.Context, s streams) error {
	client, err := c.client()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	suite := conformance.Suite{Client: client, Only: c.Scenario, Skip: c.Skip, Seed: c.Seed, Timeout: c.Timeout, CaseTimeout: c.CaseTime, ClientTimeout: c.Patience,
		Parallel: c.Jobs, Tool: version(), Dialect: c.Dialect, Reproduce: c.again}
	suite.Fuzz, suite.Frame, suite.ReproduceFile = c.Fuzz, c.Frame, c.reproduce
	if c.Fuzz > 0 {
		suite.Frames = c.Frames
		fmt.Fprintf(s.err, "mcp-conform: %d malformed requests more in each revision are made from seed %d\n", c.Fuzz, c.Seed)
	}
	for _, r := range c.Revision {
		suite.Revisions = append(suite.Revisions, server.Revision(r))
	}
	if c.LLM == "replay" {
		if err := c.replay(&suite); err != nil {
			return err
		}
	}
	results, traces, runErr := suite.Run(ctx)
	if results == nil {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before anything was judged")}
		}
		return runErr
	}
	if c.Format == "json" {
		_, err = s.out.Write(report.JSON(results))
	} else {
		_, err = s.out.Write(report.Text(results, report.TextOptions{Color: colors(s.out), Strict: c.Strict}))
	}
	if err == nil && c.Out != "" {
		var where string
		if where, err = save(c.Out, results, traces); err == nil {
			fmt.Fprintf(s.err, "mcp-conform: results and traces are in %s\n", where)
		}
	}
	return c.exit(ctx, results, errors.Join(err, runErr))
}

// replay has the cassettes answer in place of the scripts, and leaves out what is not recorded.
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
			return &exitError{exitUsage, fmt.Errorf("--llm replay: scenario %s is not recorded, only %s are", s.ID, strings.Join(recorded, ", "))}
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
		return harness.Client{}, fmt.Errorf("this program cannot find itself, to start the built-in client: %w", err)
	}
	client := command(self, "client", name)
	client.Name = name
	return client, nil
}

// again is the command that plays one case again. The client as a whole has no case of its own.
func (c *runCommand) again(revision server.Revision, caseID string) string {
	if c.Frame != "" {
		return c.reproduce(c.Frame)
	}
	words := []string{"mcp-conform", "run"}
	if caseID != "" {
		words = append(words, "--scenario", caseID)
	}
	words = append(words, "--revision", string(revision))
	if strings.HasPrefix(caseID, "malformed/fuzz-") {
		words = append(words, "--fuzz", fmt.Sprint(c.Fuzz), "--seed", fmt.Sprint(c.Seed))
	}
	return c.onThisClient(words)
}

// reproduce is the command that plays a malformed request that was kept.
func (c *runCommand) reproduce(path string) string {
	return c.onThisClient([]string{"mcp-conform", "run", "--frame", path})
}

// onThisClient is a command line with what says which client is judged, and how.
func (c *runCommand) onThisClient(words []string) string {
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
		words = append(words, "--")
		words = append(words, c.Command...)
	}
	return shell.Quote(words...)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/conformance/recordings"
	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/harness/baseline"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/hooks"
)

// output are the flags for results.
type output struct {
	Verbose  bool        `short:"v" help:"Show the evidence, and a line for each check."`
	Format   string      `enum:"text,json" default:"text" help:"Format of the report: text or json."`
	NoTimes  bool        `name:"no-durations" help:"Leave times out of the report."`
	Out      string      `placeholder:"DIR" help:"Also write results and traces to this folder."`
	Report   reportFiles `placeholder:"FORMAT=FILE" help:"${run_report}"`
	KeepRuns int         `name:"keep-runs" placeholder:"N" help:"${run_keep_runs}"`
	Baseline string      `placeholder:"FILE" help:"${run_baseline}"`
	Strict   bool        `help:"Warnings fail the run, too."`

	last *report.Results // of an earlier run; nil for none
	runs string          // the folder of --out, in which Out is the folder of the run
}

type runCommand struct {
	invocation
	Scenario []string `placeholder:"GLOB" help:"Play only these scenarios, cases or checks; may be repeated."`
	Skip     []string `placeholder:"GLOB" help:"Skip these scenarios, cases or checks; may be repeated."`
	Revision []string `placeholder:"DATE" help:"Protocol revisions to judge (default: ${revisions})."`
	Builtin  string   `name:"client" placeholder:"NAME" help:"${run_client}"`
	Template []string `name:"config-template" sep:"none" placeholder:"FILE[=PATH]" help:"${run_template}"`
	Stdin    []string `sep:"none" placeholder:"LINE" help:"${run_stdin}"`
	Ready    string   `name:"stdin-after" placeholder:"PATTERN" help:"${run_ready}"`
	Answer   []string `sep:"none" placeholder:"PATTERN=TEXT[|NO]" help:"${run_answer}"`
	PTY      bool     `name:"pty" help:"Run the client in a terminal (Linux and macOS)."`
	Has      []string `placeholder:"FEATURE" help:"${run_has}"`
	Prepare  []string `sep:"none" placeholder:"WORD" help:"${run_prepare}"`
	Install  string   `placeholder:"TEXT" help:"${run_install}"`
	OwnHome  bool     `name:"own-home" help:"${run_own_home}"`
	Dialect  string   `placeholder:"NAME" help:"${run_dialect}"`
	Stdio    bool     `help:"${run_stdio}"`
	Agent    bool     `help:"${run_agent}"`
	Loop     string   `placeholder:"WHO" enum:"server,client," default:"" help:"${run_loop}"`
	LLM      string   `name:"llm" enum:"script,replay" default:"script" help:"${run_llm}"`
	gatewayFlags
	output
	Seed     int64         `default:"1" help:"Seed of session ids, request states and what --explore and --fuzz generate."`
	Timeout  time.Duration `default:"${timeout}" help:"Time limit of one session with the client."`
	CaseTime time.Duration `name:"case-timeout" placeholder:"DURATION" help:"${run_case_timeout}"`
	Patience time.Duration `name:"client-timeout" placeholder:"DURATION" help:"${run_client_timeout}"`
	Jobs     int           `short:"j" default:"${jobs}" help:"Number of parallel sessions."`
	Explore  *int          `placeholder:"N" help:"${run_explore}"`
	Fuzz     int           `placeholder:"N" help:"${run_fuzz}"`
	Keep     string        `placeholder:"DIR" default:"mcp-conform-conversations" help:"${run_keep}"`
	Kept     string        `name:"conversation" placeholder:"FILE" help:"Play only this kept conversation."`
	Shard    string        `placeholder:"I/N" help:"${run_shard}"`
	All      bool          `help:"${run_all}"`
	Config   string        `default:"${config}" placeholder:"FILE" help:"${run_config}"`
	Name     string        `placeholder:"NAME" help:"Name of the client in reports (default: its command)."`
	Command  []string      `arg:"" optional:"" help:"${run_command}"`
}

func (c *runCommand) sayWhatIsPlayed(s streams) {
	if c.generates() {
		const note = "mcp-conform: playing %d conversations and %d malformed requests in each revision, from seed %d\n"
		fmt.Fprintf(s.err, note, c.explored(), c.Fuzz, c.Seed)
	}
	if len(c.Command) == 0 && c.Builtin == "" {
		fmt.Fprintln(s.err, "mcp-conform: no command given: judging the built-in client builtin:reference")
	}
}

// softMemory is how much memory a run takes before it looks for garbage more often: a run shares its machine with the
// client. GOMEMLIMIT replaces it.
const softMemory = 212 << 20

// collectSeldom trades memory for time: a run has softMemory, and the built-in client ends soon. GOGC replaces it.
func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

func (c *runCommand) Run(ctx context.Context, s streams) error {
	if c.dashed() && strings.Join(c.Command, "") == "" {
		return usage(errors.New("expected the client's command after --, found none: an empty variable?"))
	}
	names, config, err := c.clients()
	if err != nil {
		return usage(err)
	}
	if names != nil {
		return c.runClients(ctx, s, names, config)
	}
	suite, known, err := c.ready(ctx, s)
	if err != nil {
		return err
	}
	c.sayWhatIsPlayed(s)
	done := func() {}
	if terminal(s.err) {
		suite.Progress, done = showProgress(s.err)
	}
	if c.Shard != "" {
		return c.playShard(ctx, suite, s, done)
	}
	return c.playAll(ctx, s, suite, known, done)
}

// ready checks and prepares all that the run reads and writes, before the first client starts.
func (c *runCommand) ready(ctx context.Context, s streams) (*conformance.Suite, *baseline.File, error) {
	c.nameFiles()
	suite, err := c.suite()
	if err != nil {
		return nil, nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, nil, usage(err)
	}
	known, err := c.readBaseline()
	if err = errors.Join(err, c.Report.prepare()); err != nil {
		return nil, nil, err
	}
	if err := c.claimOut(s.err); err != nil {
		return nil, nil, err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
		collectSeldom()
	}
	return suite, known, nil
}

// playAll plays and judges all that is asked for; done ends the display of the progress.
func (c *runCommand) playAll(ctx context.Context, s streams, suite *conformance.Suite, known *baseline.File,
	done func()) error {
	began := time.Now()
	if c.Out != "" || len(c.Report) > 0 {
		suite.Checkpoint = c.checkpoint(known, began)
	}
	results, traces, runErr := c.play(ctx, s, suite)
	done()
	if results == nil {
		release(c.Out)
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted before the first result")}
		}
		return runErr
	}
	results.Flags = hidden(deciding(c.words[1:]))
	return c.exit(ctx, results, errors.Join(runErr, c.finish(s, known, began, results, traces)))
}

// finish applies the baseline, writes the results as files, and shows them. Standard output comes last: a reader that
// has gone, such as head, ends the program. One file that cannot be written keeps no other from being written.
func (c *runCommand) finish(s streams, known *baseline.File, began time.Time, results *report.Results,
	traces []*trace.Trace) error {
	withKnown(results, known, began)
	shown := c.report(results, s, time.Since(began))
	err := errors.Join(c.Report.write(results, c.formatOptions(began, traces)),
		onGitHub(results, c.Strict, s.err))
	if c.Out != "" {
		saved := save(c.Out, results, traces, 0)
		if saved == nil {
			fmt.Fprintf(s.err, "mcp-conform: wrote results and traces to %s\n", c.Out)
		}
		if c.KeepRuns > 0 {
			saved = errors.Join(saved, removeRuns(c.runs, c.KeepRuns))
		}
		err = errors.Join(err, saved)
	}
	_, unseen := s.out.Write(shown)
	return errors.Join(err, unseen)
}

func withKnown(results *report.Results, known *baseline.File, began time.Time) {
	if known != nil {
		*results = *baseline.Apply(results, known.Entries, began.Format(time.DateOnly))
	}
}

// checkpoint returns a function that writes the files of an unfinished run, so that a killed run leaves what was done.
// An error shows again at the end of the run.
func (c *runCommand) checkpoint(known *baseline.File, began time.Time) func(*report.Results, []*trace.Trace) {
	saved := 0
	return func(results *report.Results, traces []*trace.Trace) {
		withKnown(results, known, began)
		_ = c.Report.write(results, c.formatOptions(began, traces))
		if c.Out != "" && save(c.Out, results, traces, saved) == nil {
			saved = len(traces)
		}
	}
}

// formatOptions has the time of the run or, without times, the beginning of Unix time: checks.json requires one.
func (c *runCommand) formatOptions(began time.Time, traces []*trace.Trace) formatOptions {
	if c.NoTimes {
		began = time.Unix(0, 0)
	}
	return formatOptions{c.Strict, began, traces}
}

// report encodes the results. One check that is selected alone shows its evidence.
func (c *runCommand) report(results *report.Results, s streams, took time.Duration) []byte {
	if c.NoTimes {
		took = 0
		for i := range results.Results {
			results.Results[i].DurationMS = 0
		}
	}
	if c.Format == "json" {
		return report.JSON(results)
	}
	checks := map[string]bool{}
	for i := range results.Results {
		if r := &results.Results[i]; r.Scenario != "client" && r.Scenario != "always" {
			checks[r.ID()] = true
		}
	}
	return report.Text(results, report.TextOptions{Color: terminal(s.out), Strict: c.Strict,
		Verbose: c.Verbose || len(checks) == 1, Took: took, Since: c.since(results),
		Hint: "-v: evidence · --out DIR: traces · explain ID: the rule"})
}

func (c *runCommand) suite() (*conformance.Suite, error) {
	client, err := c.client()
	if err != nil {
		return nil, usage(err)
	}
	client.Name = cmp.Or(c.Name, client.Name)
	suite := &conformance.Suite{Client: client, Only: c.Scenario, Skip: c.Skip, Seed: c.Seed, Timeout: c.Timeout,
		CaseTimeout: c.CaseTime, ClientTimeout: c.Patience, Parallel: c.Jobs, Dialect: c.Dialect,
		Loop: harness.Loop(c.Loop), Fuzz: c.Fuzz, Explore: c.explored(), Options: hooks.Options{Tool: version(),
			Conversation: c.Kept, Reproduce: c.reproduceResult, ReproduceFile: c.reproduceFile}}
	if c.Explore != nil && *c.Explore == 0 {
		suite.Explore = -1
	}
	if c.generates() {
		suite.Keep = c.Keep
	}
	for _, r := range c.Revision {
		suite.Revisions = append(suite.Revisions, server.Revision(r))
	}
	if c.LLM == "replay" {
		return suite, c.replay(suite)
	}
	return suite, nil
}

// replay makes the cassettes of the selected scenarios answer, and skips what is not recorded.
func (c *runCommand) replay(suite *conformance.Suite) error {
	scenarios := recordings.Scenarios()
	for _, s := range conformance.Scenarios() {
		if len(s.Cases) == 0 || slices.Contains(scenarios, s.ID) {
			continue
		}
		if slices.Contains(c.Scenario, s.ID) {
			return usage(fmt.Errorf("--llm replay: there is no recording of scenario %s, only of %s",
				s.ID, strings.Join(scenarios, ", ")))
		}
		suite.Skip = append(suite.Skip, s.ID, s.ID+"/*")
	}
	suite.Skip = append(suite.Skip, recordings.Unrecorded()...)
	player, err := recordings.Replay(recorded(c.Scenario)...)
	suite.Source = player
	return err
}

// recorded returns the names of the recordings that a selection needs; nil for all.
func recorded(selected []string) []string {
	var names []string
	for _, pattern := range selected {
		pattern, _, _ = strings.Cut(pattern, "/")
		before := len(names)
		for _, name := range recordings.Names() {
			scenario, _, _ := strings.Cut(name, ".")
			if matches, _ := path.Match(pattern, scenario); matches {
				names = append(names, name)
			}
		}
		if len(names) == before {
			return nil // such as always, whose rules apply to every case
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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
	if c.Gateway {
		return c.gateway()
	}
	if len(c.Command) > 0 {
		client := command(c.Command...)
		setup, err := c.setup()
		client.Setup = setup
		client.Agent, client.Has = client.Agent || c.Agent || setup.HasPrompt(), c.Has
		if setup.AfterTask && !client.Agent {
			err = fmt.Errorf("--stdin-after %s: expected a host with a task: use {prompt} or --agent", afterTask)
		}
		return client, err
	}
	if c.startsHost() {
		return harness.Client{}, errors.New(
			"--config-template, --stdin, --answer, --pty and --own-home: expected a command that they are for, after --")
	}
	if path, replays := strings.CutPrefix(c.Builtin, replayPrefix); replays {
		return c.replayed(path)
	}
	name := c.builtinName()
	if _, err := builtin(name); err != nil {
		return harness.Client{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return harness.Client{}, fmt.Errorf("finding this program, to start the built-in client: %w", err)
	}
	client := command(self, "client", name)
	client.Name, client.Agent, client.Has = name, c.Agent || isHost(name), c.Has
	return client, nil
}

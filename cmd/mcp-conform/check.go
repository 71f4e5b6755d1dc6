package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcp-conform/mcp-conform/fakes/server"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

type checkCommand struct {
	Paths []string `arg:"" placeholder:"PATH" help:"Folders of run --out, folders of traces, or traces."`
	output
}

func (c *checkCommand) Validate() error { return c.Report.Validate() }

// Run judges saved traces as a run would. A folder of run --out has the run's own flags, such as its selection.
func (c *checkCommand) Run(ctx context.Context, s streams) error {
	var traces []*trace.Trace
	for i, path := range c.Paths {
		c.Paths[i] = newestRun(path, s.err)
		more, err := savedTraces(c.Paths[i])
		if err != nil {
			return usage(err)
		}
		traces = append(traces, more...)
	}
	rs, err := readResults(c.Paths[0])
	switch {
	case len(c.Paths) == 1 && err == nil && len(rs.Flags) > 0:
		return c.judge(ctx, s, filepath.Join(c.Paths[0], "results.json"), rs, traces, "")
	case len(c.Paths) == 1 && isFolder(c.Paths[0]) && err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage(err)
	}
	flags, others := flagsFor(traces)
	if flags == nil {
		return usage(fmt.Errorf("%s: no session in a revision that is judged", c.Paths[0]))
	}
	for _, r := range others {
		fmt.Fprintf(s.err, "mcp-conform: a session in %s is not judged\n", cmp.Or(r, "an unknown revision"))
	}
	again := "mcp-conform check -v " + words.Quote(c.Paths...)
	return c.judge(ctx, s, c.Paths[0], &report.Results{Flags: flags}, traces, again)
}

// flagsFor returns flags for traces whose run is unknown, nil if none is in a revision that is judged, and the
// revisions of those that are in another.
func flagsFor(traces []*trace.Trace) (flags, others []string) {
	var revisions []string
	for _, t := range traces {
		if slices.Contains(server.AllRevisions(), server.Revision(t.Header.Revision)) {
			revisions = append(revisions, t.Header.Revision)
		} else {
			others = append(others, t.Header.Revision)
		}
	}
	if revisions == nil {
		return nil, others
	}
	flags = []string{"--client", builtinPrefix + "reference"}
	slices.Sort(revisions)
	for _, r := range slices.Compact(revisions) {
		flags = append(flags, "--revision", r)
	}
	return flags, others
}

// judge judges traces as the run with the flags of played would have. From is the file that has the flags, for errors.
// Again is the command that shows a result again; "" for that of the run.
func (o *output) judge(
	ctx context.Context, s streams, from string, played *report.Results, traces []*trace.Trace, again string,
) error {
	began := time.Now()
	run, err := parseRun(played.Flags)
	if err != nil {
		return usage(errors.New(from + ": " + err.Error()))
	}
	flags := run.output
	run.output, run.Shard = *o, ""
	run.Baseline = cmp.Or(o.Baseline, flags.Baseline)
	run.Strict, run.Verbose = o.Strict || flags.Strict, o.Verbose || flags.Verbose
	run.NoTimes = o.NoTimes || flags.NoTimes
	run.nameFiles()
	suite, err := run.suite()
	if err != nil {
		return err
	}
	if again != "" {
		suite.Reproduce = func(*report.Result) string { return again }
	}
	known, err := run.readBaseline()
	if err = errors.Join(err, run.Report.prepare()); err != nil {
		return err
	}
	results, err := suite.Judge(traces)
	if err != nil {
		return usage(err)
	}
	if err := run.claimOut(s.err); err != nil {
		return err
	}
	results.Flags = played.Flags
	return run.exit(ctx, results, run.finish(s, known, began, results, traces))
}

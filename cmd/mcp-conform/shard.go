package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/harness/report"
	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

const (
	shardName   = "shard.json"
	shardFormat = 2
	mostShards  = 1000
)

type shard struct {
	Format int      `json:"format"`
	Tool   string   `json:"tool"`
	Shard  int      `json:"shard"`
	Shards int      `json:"shards"`
	Flags  []string `json:"flags"`
	// Traces are the SHA-256 sums of the files in the folder traces, by name.
	Traces map[string]string `json:"traces"`

	dir string
}

func (c *runCommand) parts() (i, n int, err error) {
	if _, err := fmt.Sscanf(c.Shard, "%d/%d", &i, &n); err != nil || c.Shard != fmt.Sprintf("%d/%d", i, n) ||
		i < 1 || i > n || n > mostShards {
		return 0, 0, fmt.Errorf("--shard: expected I/N such as 1/4, with I from 1 to N, found %q", c.Shard)
	}
	return i, n, nil
}

func (c *runCommand) validateShard() error {
	if c.Shard == "" {
		return nil
	}
	_, _, err := c.parts()
	switch {
	case err != nil:
		return err
	case c.Out == "":
		return errors.New("--shard: expected --out DIR, whose traces mcp-conform merge judges")
	case len(c.Report) > 0 || c.Format != "text":
		return errors.New("--shard plays without judging: use --report and --format with mcp-conform merge")
	}
	return nil
}

// playShard plays a part of the run and saves its traces, also those of a part that is killed or interrupted, which has
// no shard.json. It fails only if it could not play.
func (c *runCommand) playShard(
	ctx context.Context, suite *conformance.Suite, s streams, done func(),
) error {
	suite.Shard, suite.Shards, _ = c.parts() // valid, by validateShard
	saved := 0
	suite.Checkpoint = func(_ *report.Results, traces []*trace.Trace) {
		if saveTraces(c.Out, traces, saved) == nil { // An error shows again at the end of the run.
			saved = len(traces)
		}
	}
	traces, err := suite.Play(ctx)
	done()
	if saveErr := saveTraces(c.Out, traces, 0); saveErr != nil {
		err = errors.Join(err, &exitError{exitHarness, saveErr})
	}
	switch {
	case ctx.Err() != nil:
		release(c.Out)
		return &exitError{exitInterrupted, errors.New("interrupted: the shard is not complete: play it again")}
	case err != nil:
		release(c.Out)
		return err
	}
	part := shard{Format: shardFormat, Tool: version(), Shard: suite.Shard, Shards: suite.Shards,
		Flags: hidden(deciding(c.words[1:]))}
	if part.Traces, err = traceSums(c.Out); err != nil {
		return &exitError{exitHarness, err}
	}
	err = writeBytes(filepath.Join(c.Out, shardName), append(jsonvalue.Indented(part), '\n'))
	if err == nil {
		fmt.Fprintf(s.err, "mcp-conform: wrote shard %s, %s, to %s\n", c.Shard, words.Count(len(traces), "session"), c.Out)
	}
	return err
}

// outputFlags are the flags of run that decide where results go, how they look and how fast they come, and whether a
// value follows.
var outputFlags = map[string]bool{"--shard": true, "--out": true, "--report": true, "--format": true,
	"--keep-runs": true, "--no-durations": false, "--verbose": false, "-v": false, "--jobs": true, "-j": true}

// deciding returns the flags and the command that decide the results: equal ones in all shards of a run.
func deciding(args []string) []string {
	var flags []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		value, output := outputFlags[name]
		switch {
		case args[i] == "--":
			return append(flags, args[i:]...)
		case !output:
			flags = append(flags, args[i])
		case value && !joined:
			i++
		}
	}
	return flags
}

type mergeCommand struct {
	Shards []string `arg:"" placeholder:"DIR" help:"The folders of run --shard I/N --out DIR, in any order."`
	output
}

func (c *mergeCommand) Validate() error { return c.Report.Validate() }

func (c *mergeCommand) Run(ctx context.Context, s streams) error {
	shards, traces, err := readShards(c.Shards)
	if err != nil {
		return usage(err)
	}
	played := &report.Results{Flags: shards[0].Flags}
	return c.judge(ctx, s, filepath.Join(shards[0].dir, shardName), played, traces, "")
}

// readShards reads the shards of one run, in order. Each must be there once.
func readShards(dirs []string) ([]shard, []*trace.Trace, error) {
	var all []shard
	var traces []*trace.Trace
	for _, dir := range dirs {
		one, err := readShard(dir)
		if err != nil {
			return nil, nil, err
		}
		if err := one.checkTraces(); err != nil {
			return nil, nil, err
		}
		more, err := readTraces(filepath.Join(one.dir, "traces"))
		if err != nil {
			return nil, nil, err
		}
		all, traces = append(all, one), append(traces, more...)
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Shard < all[j].Shard })
	first := all[0]
	for i, one := range all {
		if why := first.differs(&one); why != "" {
			return nil, nil, fmt.Errorf("%s and %s are of different runs: %s", first.dir, one.dir, why)
		}
		if i > 0 && one.Shard == all[i-1].Shard {
			return nil, nil, fmt.Errorf("%s and %s are both shard %d", all[i-1].dir, one.dir, one.Shard)
		}
	}
	if len(all) < first.Shards {
		return nil, nil, fmt.Errorf("expected %d shards, found %d: shard %s is missing", first.Shards, len(all),
			missingShards(all))
	}
	return all, traces, nil
}

// differs says why two shards are not of one run; "" if they are.
func (s *shard) differs(other *shard) string {
	switch {
	case s.Tool != other.Tool:
		return fmt.Sprintf("mcp-conform %s and %s", s.Tool, other.Tool)
	case s.Shards != other.Shards:
		return fmt.Sprintf("of %d and %d shards", s.Shards, other.Shards)
	case !slices.Equal(s.Flags, other.Flags):
		return fmt.Sprintf("their flags are\n\t%s\n\t%s", words.Quote(s.Flags...), words.Quote(other.Flags...))
	}
	return ""
}

// readShard reads the shard in a folder of --out. If its first run was killed, [claim] gave the next a folder in it.
func readShard(dir string) (shard, error) {
	path := filepath.Join(dir, shardName)
	if again, _ := filepath.Glob(filepath.Join(dir, "run-*", shardName)); len(again) > 0 {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			path = again[0]
		}
	}
	one := shard{dir: filepath.Dir(path)}
	raw, err := os.ReadFile(path)
	if _, there := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && there == nil {
		return one, fmt.Errorf("%s has no complete shard (%s): play it again", dir, shardName)
	}
	if err != nil {
		return one, fmt.Errorf("reading a shard: %w", err)
	}
	if err := json.Unmarshal(raw, &one); err != nil || one.Format != shardFormat || one.Shard < 1 ||
		one.Shard > one.Shards {
		return one, fmt.Errorf("%s: expected a shard in format %d, found another format or invalid JSON", path, shardFormat)
	}
	return one, nil
}

// traceSums returns the sums of the traces in the folder of a shard, by name.
func traceSums(dir string) (map[string]string, error) {
	sums := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(dir, "traces", "*.ndjson")) // "*.ndjson" is valid
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading traces: %w", err)
		}
		sums[filepath.Base(path)] = fmt.Sprintf("%x", sha256.Sum256(raw))
	}
	return sums, nil
}

// checkTraces returns an error unless the folder has exactly the traces that the shard wrote.
func (s *shard) checkTraces() error {
	found, err := traceSums(s.dir)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "traces")
	for _, name := range slices.Sorted(maps.Keys(s.Traces)) {
		switch found[name] {
		case s.Traces[name]:
		case "":
			return fmt.Errorf("%s: the shard's trace %s is missing: play the shard again", dir, name)
		default:
			return fmt.Errorf("%s: %s is not the trace that the shard wrote: play the shard again", dir, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if s.Traces[name] == "" {
			return fmt.Errorf("%s: %s is not a trace of the shard: remove the file", dir, name)
		}
	}
	return nil
}

func missingShards(all []shard) string {
	var missing []string
	for n := range all[0].Shards {
		if !slices.ContainsFunc(all, func(s shard) bool { return s.Shard == n+1 }) {
			missing = append(missing, fmt.Sprint(n+1))
		}
	}
	return strings.Join(missing, ", ")
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-conform/mcp-conform/harness/trace"
	"github.com/mcp-conform/mcp-conform/harness/trace/sequence"
)

type showCommand struct {
	Path    string `arg:"" placeholder:"PATH" help:"A trace, a folder of traces, or a folder of run --out."`
	Verbose bool   `short:"v" help:"Show the bodies of messages, too."`
	Case    string `placeholder:"SCENARIO/CASE" help:"Show only this case."`
	Check   string `placeholder:"ID" help:"Show only the case of a finding, with a mark at what it rests on."`
	Follow  bool   `short:"f" help:"Go on with what a run or a tap adds, until interrupted."`
}

func (c *showCommand) Validate() error {
	if c.Case != "" && c.Check != "" {
		return errors.New("found --case and --check: use one of them")
	}
	if c.Follow && c.Check != "" {
		return errors.New("found --follow and --check: a finding is of a run that is over")
	}
	return nil
}

// Run shows the traces, through a pager if standard output is a terminal.
func (c *showCommand) Run(ctx context.Context, s streams) error {
	if c.Follow {
		return c.follow(ctx, s.out)
	}
	files, err := traceFiles(c.Path)
	if err != nil {
		return usage(err)
	}
	chosen := func(string) sequence.Options { return sequence.Options{Case: c.Case} }
	if c.Check != "" {
		if chosen, err = c.findings(); err != nil {
			return usage(err)
		}
	}
	out, end := paged(s)
	shown := map[string]int{} // events, by revision
	wrong := c.each(out, files, shown, chosen)
	if wrong == nil && c.Case+c.Check != "" { // a session can end before the client calls the case's tool
		wrong = c.each(out, files, shown, func(revision string) sequence.Options {
			o := chosen(revision)
			o.Session = true
			return o
		})
	}
	if err := end(); err != nil {
		return err
	}
	if wrong != nil {
		return usage(wrong)
	}
	if len(shown) == 0 && c.Case != "" {
		return usage(fmt.Errorf("--case: %s has no event of %q", c.Path, c.Case))
	}
	return nil
}

// each shows the traces of the revisions of which nothing was shown before, and notes how many events it showed.
func (c *showCommand) each(
	out io.Writer, files []string, shown map[string]int, chosen func(revision string) sequence.Options,
) error {
	before, all := maps.Clone(shown), 0
	for _, n := range shown {
		all += n
	}
	var wrong error
	for _, file := range files {
		var of string
		n, err := c.show(&after{out, all > 0}, file, func(revision string) sequence.Options {
			of = revision
			o := chosen(revision)
			if before[revision] > 0 {
				o.Case = "-" // no case has this name
			}
			return o
		})
		if n > 0 {
			shown[of] += n
		}
		all, wrong = all+n, errors.Join(wrong, err)
	}
	return wrong
}

// follow shows what the traces have, and what they get, until the context ends. A file that cannot be read yet waits.
func (c *showCommand) follow(ctx context.Context, out io.Writer) error {
	if _, err := os.Stat(c.Path); err != nil {
		return usage(err)
	}
	shown, read := map[string][]byte{}, map[string]time.Time{}
	all := func(string) sequence.Options { return sequence.Options{Case: c.Case, Growing: true} }
	for {
		files, _ := traceFiles(c.Path) // none yet
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil || info.ModTime().Equal(read[file]) {
				continue
			}
			var text bytes.Buffer
			if _, err := c.show(&text, file, all); err != nil {
				continue
			}
			read[file] = info.ModTime()
			if _, err := out.Write(fresh(shown[file], text.Bytes())); err != nil {
				return err
			}
			shown[file] = text.Bytes()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// fresh returns the lines of a text from the first one on that an earlier text does not have.
func fresh(before, now []byte) []byte {
	for line := range bytes.Lines(before) {
		if !bytes.HasPrefix(now, line) {
			break
		}
		now = now[len(line):]
	}
	return now
}

// after writes an empty line before the first of its output, if something was written before.
type after struct {
	io.Writer
	separate bool
}

func (a *after) Write(p []byte) (int, error) {
	if a.separate {
		a.separate = false
		if _, err := io.WriteString(a.Writer, "\n"); err != nil {
			return 0, err
		}
	}
	return a.Writer.Write(p)
}

// show writes one trace, event by event, and returns how many it showed.
func (c *showCommand) show(out io.Writer, file string, chosen func(revision string) sequence.Options) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var w *sequence.Writer
	err = trace.Scan(f, func(part *trace.Trace) error {
		if w == nil {
			o := chosen(part.Header.Revision)
			o.Bodies = c.Verbose
			w = sequence.New(out, o)
		}
		return w.Add(part)
	})
	if w == nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return w.Shown, err
}

// findings returns what to show of the check in each revision: its case, and the events that the report names.
func (c *showCommand) findings() (func(revision string) sequence.Options, error) {
	rs, err := readResults(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--check: expected a folder of run --out, which has results: %w", err)
	}
	if err != nil {
		return nil, err
	}
	options := map[string]sequence.Options{}
	var known []string
	for i := range rs.Results {
		r := &rs.Results[i]
		known = append(known, r.ID())
		if r.ID() != c.Check {
			continue
		}
		o := sequence.Options{Case: r.Case, Marked: map[trace.Ref]bool{}}
		for _, e := range r.Evidence {
			o.Marked[trace.Ref{Case: e.Case, Seq: e.Seq}] = e.Seq > 0
			if o.Case == "" {
				o.Case = e.Case
			}
		}
		if o.Case == "" && len(r.Evidence) == 0 {
			o.Case = c.Check // nothing to show: no case has this name
		}
		options[r.Revision] = o
	}
	if len(options) == 0 {
		return nil, fmt.Errorf(
			"--check: no result of %q; %s",
			c.Check,
			hint(c.Check, slices.Compact(known), "see the report"),
		)
	}
	return func(revision string) sequence.Options {
		o, found := options[revision]
		if !found {
			o.Case = c.Check // no case has this name
		}
		return o
	}, nil
}

// traceFiles returns the files of a trace or a folder, in the order of the sessions.
func traceFiles(path string) ([]string, error) {
	if !isFolder(path) {
		return []string{path}, nil
	}
	for _, dir := range []string{filepath.Join(path, "traces"), path} {
		files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
		if err != nil {
			return nil, err
		}
		if files != nil {
			slices.SortStableFunc(files, func(a, b string) int { return len(a) - len(b) }) // -2 before -10
			return files, nil
		}
	}
	return nil, fmt.Errorf("%s: expected traces (*.ndjson), found none", path)
}

// paged returns where to write, and what ends it: a pager if standard output is a terminal and there is one.
func paged(s streams) (io.Writer, func() error) {
	buffered := bufio.NewWriter(s.out)
	command := strings.Fields(os.Getenv("PAGER"))
	if len(command) == 0 {
		command = []string{"less", "-FRX"}
	}
	if !terminal(s.out) || command[0] == "cat" {
		return buffered, buffered.Flush
	}
	pager := exec.Command(command[0], command[1:]...)
	pager.Stdout, pager.Stderr = os.Stdout, os.Stderr
	input, err := pager.StdinPipe()
	if err != nil || pager.Start() != nil {
		return buffered, buffered.Flush
	}
	buffered.Reset(input)
	return buffered, func() error {
		_ = buffered.Flush() // fails when the reader has seen enough
		_ = input.Close()
		return pager.Wait()
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/internal/yamlfile"
)

// clients are the configured clients that a command line names, and their configuration; nil for a command line with a
// client of its own, or without a configuration. With a configuration, a run names its client: if the default client
// passed, nobody would notice that no configured client ran.
func (c *runCommand) clients() ([]string, *configFile, error) {
	named := len(c.Command) > 0 && !c.dashed()
	there := exists(c.Config) || c.Config != configName // A missing file that is named is an error.
	switch {
	case c.All && len(c.Command) > 0:
		return nil, nil, errors.New("found both --all and names or a command: use one of them")
	case c.All && !there:
		return nil, nil, fmt.Errorf("--all: there is no %s: mcp-conform init writes one", c.Config)
	case !there, c.Builtin != "" && !c.All && !named, len(c.Command) > 0 && !named:
		return nil, nil, nil
	}
	file, err := readConfig(c.Config)
	if err != nil {
		return nil, nil, err
	}
	if c.All {
		return file.names(), file, nil
	}
	return c.Command, file, file.known(c.Command)
}

// known returns an error for a name that the configuration does not have, and for an empty list.
func (f *configFile) known(names []string) error {
	all := f.names()
	list := strings.Join(all, ", ")
	if len(names) == 0 {
		return fmt.Errorf("the client is missing: name one of %s (%s), or use --all, or --client builtin:reference", list,
			f.path)
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fmt.Errorf("unknown client %q in %s; %s", name, f.path,
				hint(name, all, "use one of "+list+", or -- before a command"))
		}
	}
	return nil
}

// runClients runs configured clients one after the other. All are checked before the first one runs.
func (c *runCommand) runClients(ctx context.Context, s streams, names []string, file *configFile) error {
	flags := c.command.Flags()
	given := givenFlags(flags)
	var runs []configured
	files := map[string]string{}
	for _, name := range names {
		words, err := file.arguments(name, flags, given)
		if err != nil {
			return usage(err)
		}
		run, err := parseRun(words[1:])
		if err != nil {
			flag := flagName.FindStringSubmatch(err.Error())
			return usage(file.wrongMember(fmt.Errorf("client %s: %w", name, err), name, append(flag, "", "")[1], given))
		}
		run.nameFiles()
		if run.Format == "json" && len(names) > 1 {
			return usage(errors.New("--format json: expected one client: use report with json: FILE"))
		}
		for _, path := range append(reportPaths(run.Report), run.Out) {
			if other := files[path]; other != "" && path != "" {
				return usage(fmt.Errorf("clients %s and %s write the same file %s: use {name} in it", other, name, path))
			}
			files[path] = name
		}
		runs = append(runs, configured{name, words, run})
	}
	worst := exitOK
	for i, c := range runs {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		err := execute(ctx, c.words, s)
		var selection *conformance.SelectionError
		if errors.As(err, &selection) {
			member := "scenario"
			if slices.Contains(c.run.Skip, selection.Pattern) {
				member = "skip"
			}
			err = usage(file.wrongMember(fmt.Errorf("client %s: %w", c.name, err), c.name, member, given))
		}
		worst = max(worst, exitCode(s, err))
		if ctx.Err() != nil {
			break
		}
	}
	if worst != exitOK {
		return &exitError{code: worst}
	}
	return nil
}

// configured is a run of a client of the configuration.
type configured struct {
	name  string
	words []string
	run   *runCommand
}

// flagName matches the first flag of an error.
var flagName = regexp.MustCompile(`--([a-z-]+)`)

// wrongMember is an error about a member of a client, or of the defaults. A flag of the command line has no place.
func (f *configFile) wrongMember(err error, name, member string, given map[string][]string) error {
	has := func(members yamlfile.Members) bool {
		return slices.ContainsFunc(members, func(m yamlfile.Member) bool { return m.Name == member })
	}
	members, _ := f.Clients[slices.Index(f.names(), name)].Value.(yamlfile.Members)
	switch {
	case given[member] != nil:
		return err
	case has(members):
		return f.wrong(err, "clients", name, member)
	case has(f.Defaults):
		return f.wrong(err, "defaults", member)
	}
	return f.wrong(err, "clients", name)
}

func reportPaths(files reportFiles) []string {
	var paths []string
	for _, path := range files {
		paths = append(paths, filepath.Clean(path))
	}
	return paths
}

// parseRun returns the run of a command line, without its first word.
func parseRun(words []string) (*runCommand, error) {
	run := &runCommand{}
	c, arguments := parserOf("run", "", run)
	err := c.ParseFlags(words)
	if err == nil {
		err = assign(c, run, arguments, nil, c.Flags().Args())
	} else {
		err = flagError(c, err)
	}
	return run, err
}

// givenFlags are the flags of the command line that win over those of a configuration, each as words.
func givenFlags(flags *pflag.FlagSet) map[string][]string {
	given := map[string][]string{}
	flags.Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*value); ok && f.Name != "all" && f.Name != "config" {
			given[f.Name] = v.words()
		}
	})
	return given
}

// nameFiles puts the client's name in place of {name} in the names of files.
func (c *runCommand) nameFiles() {
	name := func(path string) string { return strings.ReplaceAll(path, "{name}", cmp.Or(c.Name, "client")) }
	c.Out, c.Baseline, c.Keep = name(c.Out), name(c.Baseline), name(c.Keep)
	for format, path := range c.Report {
		c.Report[format] = name(path)
	}
}

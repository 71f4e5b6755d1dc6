package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// clients are the configured clients that a command line names, and their configuration; nil for a command line with a
// client of its own, or without a configuration. With a configuration, a run names its client: if the default client
// passed, nobody would notice that no configured client ran.
func (c *runCommand) clients(args arguments) ([]string, *configFile, error) {
	named := len(c.Command) > 0 && !slices.Contains(args, "--")
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
func runClients(ctx context.Context, s streams, names []string, file *configFile, parsed *kong.Context) error {
	given, flags := givenFlags(parsed), parsed.Selected().Flags
	var runs [][]string
	files := map[string]string{}
	for _, name := range names {
		words, err := file.arguments(name, flags, given)
		if err != nil {
			return usage(err)
		}
		run, err := parseRun(ctx, words, s)
		if err != nil {
			message := strings.TrimPrefix(err.Error(), "run: ")
			return usage(file.wrong(fmt.Errorf("client %s: %s", name, message), "clients", name))
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
		runs = append(runs, words)
	}
	worst := exitOK
	for i, words := range runs {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		worst = max(worst, run(ctx, words, s))
		if ctx.Err() != nil {
			break
		}
	}
	if worst != exitOK {
		return &exitError{code: worst}
	}
	return nil
}

func reportPaths(files reportFiles) []string {
	var paths []string
	for _, path := range files {
		paths = append(paths, filepath.Clean(path))
	}
	return paths
}

func parseRun(ctx context.Context, words []string, s streams) (*runCommand, error) {
	parsed := &cli{}
	parser, err := newParser(ctx, parsed, words, s, func(int) {})
	if err == nil {
		_, err = parser.Parse(words)
	}
	return &parsed.Run, err
}

func givenFlags(parsed *kong.Context) map[string][]string {
	given := map[string][]string{}
	for _, element := range parsed.Path {
		if flag := element.Flag; flag != nil && given[flag.Name] == nil && flag.Name != "all" && flag.Name != "config" {
			given[flag.Name] = givenWords(flag, flag.Target)
		}
	}
	return given
}

func givenWords(flag *kong.Flag, value reflect.Value) []string {
	var words []string
	switch value.Kind() {
	case reflect.Pointer:
		return givenWords(flag, value.Elem())
	case reflect.Slice:
		for i := range value.Len() {
			words = append(words, givenWords(flag, value.Index(i))...)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			words = append(words, flagWord(flag, key, fmt.Sprint(value.MapIndex(key))))
		}
	default:
		words = []string{flagWord(flag, nil, fmt.Sprint(value.Interface()))}
	}
	return words
}

// nameFiles puts the client's name in place of {name} in the names of files.
func (c *runCommand) nameFiles() {
	name := func(path string) string { return strings.ReplaceAll(path, "{name}", cmp.Or(c.Name, "client")) }
	c.Out, c.Baseline, c.Keep = name(c.Out), name(c.Baseline), name(c.Keep)
	for format, path := range c.Report {
		c.Report[format] = name(path)
	}
}

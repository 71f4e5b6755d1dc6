package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"text/tabwriter"

	"github.com/mcp-conform/mcp-conform/fakes/llm"
	"github.com/mcp-conform/mcp-conform/harness"
)

// serveKey is what the SDKs are told to use for a key. The fake takes any.
const serveKey = "sk-scripted-model"

//go:embed script.schema.json
var scriptSchema string

type serveCommand struct {
	LLM    string `name:"llm" placeholder:"FILE" help:"Serve the scripted model, by the rules in this YAML file."`
	Listen string `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Where to listen; loopback only (default: a free port of 127.0.0.1)."`
	Schema bool   `help:"Print the JSON Schema of scripts, and do nothing else."`
}

// Run serves until it is interrupted, which is how it is meant to end.
func (c *serveCommand) Run(ctx context.Context, s streams) error {
	if c.Schema {
		_, err := io.WriteString(s.out, scriptSchema)
		return err
	}
	if c.LLM == "" {
		return &exitError{exitUsage, errors.New("there is nothing to serve: want --llm FILE, or --schema to see what the file may say")}
	}
	script, err := readScript(c.LLM)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return &exitError{exitUsage, fmt.Errorf("--listen %q: want a loopback address with a port, such as 127.0.0.1:8080", c.Listen)}
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	script.options.Listener, script.options.Key = listener, serveKey
	model, err := llm.Start(script.options, script.rules...)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	err = announce(s.out, model, c.LLM, len(script.rules))
	if err == nil {
		<-ctx.Done()
	}
	model.Close()
	for _, unused := range model.Unused() {
		fmt.Fprintln(s.out, unused)
	}
	return err
}

// announce says where the model is, and what to tell programs that are to use it.
func announce(w io.Writer, model *llm.Server, file string, rules int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "the scripted model answers by the rules of %s (%d) until it is interrupted\n\n", file, rules)
	bases := model.Bases()
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		fmt.Fprintf(t, "%s\t%s\n", name, bases[name])
	}
	fmt.Fprintf(t, "journal\t%s%s\t(GET; DELETE empties it, and the rules begin anew)\n\n", model.URL, llm.JournalPath)
	variables := harness.ModelVariables(bases, serveKey)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(t, "export %s=%s\n", name, variables[name])
	}
	return t.Flush()
}

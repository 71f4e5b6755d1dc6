package main

import (
	"cmp"
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

// serveKey is the key for SDKs. The fake accepts any.
const serveKey = "sk-scripted-model"

//go:embed script.schema.json
var scriptSchema string

type serveCommand struct {
	LLM    string `name:"llm" placeholder:"FILE" help:"Serve the scripted model with the rules in this YAML file."`
	Listen string `default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"${serve_listen}"`
	Expose bool   `help:"${serve_expose}"`
	Key    string `placeholder:"KEY" env:"MCP_CONFORM_SERVE_KEY" help:"${serve_key}"`
	Schema bool   `help:"Only print the JSON Schema of scripts."`
}

// Run serves until it is interrupted, which is its normal end.
func (c *serveCommand) Run(ctx context.Context, s streams) error {
	if c.Schema {
		_, err := io.WriteString(s.out, scriptSchema)
		return err
	}
	if c.LLM == "" {
		return usage(errors.New("the script is missing: use --llm FILE (--schema prints the format)"))
	}
	script, err := readScript(c.LLM)
	if err != nil {
		return usage(err)
	}
	if err := c.checkAddress(); err != nil {
		return usage(err)
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	key := cmp.Or(c.Key, serveKey)
	script.options.Listener, script.options.Key, script.options.Exposed = listener, key, c.Expose
	model, err := llm.Start(script.options, script.rules...)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	for _, warning := range script.warnings {
		fmt.Fprintln(s.err, warning)
	}
	err = printAddresses(s.out, model, c.LLM, key, len(script.rules))
	if err == nil {
		<-ctx.Done()
	}
	model.Close()
	for _, unused := range model.Unused() {
		fmt.Fprintln(s.out, unused)
	}
	return err
}

// checkAddress requires a loopback address, or the flags that expose the model to other machines.
func (c *serveCommand) checkAddress() error {
	host, _, err := net.SplitHostPort(c.Listen)
	ip := net.ParseIP(host)
	switch {
	case err != nil:
		return fmt.Errorf("--listen: expected an address with a port, such as 127.0.0.1:8080, found %q", c.Listen)
	case c.Expose && c.Key == "":
		return errors.New("--expose: the key is missing: use --key KEY too")
	case !c.Expose && host != "localhost" && (ip == nil || !ip.IsLoopback()):
		return fmt.Errorf("--listen: expected a loopback address with a port, such as 127.0.0.1:8080, found %q: to answer "+
			"other machines, use --expose and --key KEY too", c.Listen)
	}
	return nil
}

func printAddresses(w io.Writer, model *llm.Server, file, key string, rules int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	count := "the rule"
	if rules != 1 {
		count = fmt.Sprintf("the %d rules", rules)
	}
	fmt.Fprintf(t, "serving %s of %s until interrupted\n\n", count, file)
	bases := model.BaseURLs()
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		fmt.Fprintf(t, "%s\t%s\n", name, bases[name])
	}
	const journal = "journal\t%s%s\t(GET reads it; DELETE empties it and resets the rules)\n\n"
	fmt.Fprintf(t, journal, model.URL, llm.JournalPath)
	variables := harness.ModelVariables(bases, key)
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		fmt.Fprintf(t, "export %s=%s\n", name, variables[name])
	}
	return t.Flush()
}

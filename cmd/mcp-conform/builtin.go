package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/client"
	"github.com/mcp-conform/mcp-conform/fakes/client/model"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/harness"
	"github.com/mcp-conform/mcp-conform/internal/proof/mutants"
	"github.com/mcp-conform/mcp-conform/internal/proof/reference"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

const (
	builtinPrefix = "builtin:"
	builtinHost   = builtinPrefix + "host"
)

type wire struct {
	name   string
	config reference.Config
}

// wires are all wires. The first two have the dialect that the run offers; the first is the default.
var wires = func() []wire {
	all := []wire{{"streamed", reference.Config{}}, {"plain", reference.Config{Plain: true}}}
	short := strings.NewReplacer("openai-", "", "gemini-2", "gemini", "-streamed", "")
	for _, form := range reference.Forms() {
		if form.Config.Dialect != dialect.OpenAIChat {
			all = append(all, wire{short.Replace(form.Name), form.Config})
		}
	}
	return all
}()

// builtin returns the client builtin:reference, builtin:client-loop, which runs the tool loop itself,
// builtin:host or builtin:mutant/NAME, each optionally with a wire at its end, such as /plain, /native or /anthropic.
// The default wire of a mutant is the first on which its fault shows.
func builtin(name string) (func(context.Context, harness.Env) error, error) {
	rest, ok := strings.CutPrefix(name, builtinPrefix)
	config, chosen := wires[0].config, false
	for _, w := range wires {
		if short, found := strings.CutSuffix(rest, "/"+w.name); found {
			rest, config, chosen = short, w.config, true
		}
	}
	if config.Loop = rest == "client-loop"; ok && (config.Loop || rest == "reference") {
		if config.Loop && !chosen {
			config.Edit = modelOfEnvironment
		}
		return reference.Client(config), nil
	}
	if ok && rest == "host" {
		return reference.Host(config), nil
	}
	if mutant, found := strings.CutPrefix(rest, "mutant/"); ok && found {
		if m := mutants.Find(mutant); m != nil {
			if !chosen {
				config = firstWire(m)
			}
			config.Loop, config.Host = m.Chapter == mutants.ClientLoop, m.Chapter == mutants.HostLoop
			return m.Client(config, nil), nil
		}
	}
	names := []string{builtinPrefix + "reference", builtinPrefix + "client-loop", builtinHost}
	for _, mutant := range mutantNames() {
		names = append(names, builtinPrefix+"mutant/"+mutant)
	}
	const otherwise = "use builtin:reference, builtin:client-loop, builtin:host or builtin:mutant/NAME " +
		"(mcp-conform selftest lists the names)"
	return nil, fmt.Errorf("unknown built-in client %q; %s", name, hint(name, names, otherwise))
}

func isHost(name string) bool {
	mutant, _, _ := strings.Cut(strings.TrimPrefix(name, builtinPrefix+"mutant/"), "/")
	m := mutants.Find(mutant)
	return strings.HasPrefix(name, builtinHost) || m != nil && m.Chapter == mutants.HostLoop
}

// modelOfEnvironment lets SAMPLING_PROVIDER and its like choose the model, if they are set.
func modelOfEnvironment(_ *harness.Env, _ *client.Options, m *model.Options) {
	if chosen, found, _ := model.FromEnvironment(os.Getenv); found {
		chosen.HTTP = m.HTTP
		*m = chosen
	}
}

// hint names what an unknown name may mean, or says otherwise what to do.
func hint(name string, known []string, otherwise string) string {
	return cmp.Or(words.DidYouMean(name, known), otherwise)
}

func firstWire(m *mutants.Mutant) reference.Config {
	for _, w := range wires {
		if m.ShowsIn(w.config) {
			return w.config
		}
	}
	return wires[0].config
}

func mutantNames() []string {
	var names []string
	for _, m := range mutants.All() {
		names = append(names, m.Name)
	}
	return names
}

type clientCommand struct {
	Name string `arg:"" help:"The client, such as builtin:reference."`
	URL  string `arg:"" optional:"" help:"Omit it over stdio."`
}

func (c *clientCommand) Run(ctx context.Context, _ streams) error {
	collectSeldom()
	run, err := builtin(c.Name)
	if err != nil {
		return usage(err)
	}
	env, err := harness.EnvFromProcess([]string{c.URL}, os.Getenv)
	if err != nil {
		return usage(err)
	}
	if err := run(ctx, env); err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/conformance/recordings"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/words"
)

type cassetteUpdate struct {
	File string `arg:"" help:"The cassette."`
	recordedCommand
}

func (c *cassetteUpdate) Run(ctx context.Context, s streams) error {
	f, err := cassettes.Read(c.File)
	if err != nil {
		return usage(err)
	}
	origin := cassettes.Recorded
	if f.Origin == cassettes.Scripted {
		origin = f.Origin
	}
	return c.run(ctx, s, c.File, cassettes.Update, cassettes.WithOrigin(origin))
}

// readCassette reads a file, or an embedded recording by its name.
func readCassette(name string) (*cassettes.File, error) {
	if strings.HasSuffix(name, ".yaml") {
		return cassettes.Read(name)
	}
	return recordings.Read(name)
}

type cassetteShow struct {
	File        string `arg:"" help:"A cassette, or the name of an embedded recording."`
	Interaction int    `default:"-1" placeholder:"N" help:"Show interaction N, from 0, with its bodies."`
}

func (c *cassetteShow) Run(_ context.Context, s streams) error {
	f, err := readCassette(c.File)
	if err != nil {
		return usage(err)
	}
	if n := len(f.Interactions); c.Interaction >= n {
		return usage(fmt.Errorf("--interaction %d: %s has %s, from 0", c.Interaction, c.File,
			words.Count(n, "interaction")))
	}
	if c.Interaction >= 0 {
		it := &f.Interactions[c.Interaction]
		_, err = fmt.Fprintf(s.out, "%s %s\n\n%s\n\n%s\n\n%s\n", it.Method, it.URL, indented(it.Request), answer(it),
			strings.TrimRight(indented(it.Response), "\n"))
		return err
	}
	origin := cmp.Or(string(f.Origin), "unknown")
	fmt.Fprintf(s.out, "%s: %s, origin: %s\n\n", c.File, words.Count(len(f.Interactions), "interaction"), origin)
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "#\tdialect\tmodel\trequest\tanswer\n")
	for i := range f.Interactions {
		it := &f.Interactions[i]
		model, request := question(it)
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n",
			it.Number, cmp.Or(it.Dialect, it.Method+" "+it.URL), model, request, answer(it))
	}
	return t.Flush()
}

func question(it *cassettes.Interaction) (model, request string) {
	if it.Decoded == nil {
		return "-", fmt.Sprintf("%d bytes", len(it.Request))
	}
	turn := it.Decoded.LastUserTurn()
	var blocks []dialect.Block
	for _, m := range turn {
		blocks = append(blocks, m.Content...)
	}
	content := quoted(dialect.PlainText(blocks))
	if n := len(dialect.Blocks(turn, dialect.ToolResult)); n > 0 {
		content = fmt.Sprintf("%d tool results", n)
	}
	return cmp.Or(it.Decoded.Model, "-"), fmt.Sprintf("turn %d, %s", it.Decoded.Turn(), content)
}

func quoted(text string) string {
	const most = 48
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

func answer(it *cassettes.Interaction) string {
	text := fmt.Sprintf("%d, %d bytes", it.Status, len(it.Response))
	if it.Stream {
		text += " in " + words.Count(it.Events, "event")
	}
	if it.Duration > 0 {
		took, first := it.Duration.Round(time.Millisecond), it.First.Round(time.Millisecond)
		text += fmt.Sprintf(", %s (the first after %s)", took, first)
	}
	if it.Cut != "" {
		text += ", cut short by the " + it.Cut
	}
	return text
}

func indented(body string) string {
	var lines bytes.Buffer
	if json.Indent(&lines, []byte(body), "", "  ") != nil {
		return body
	}
	return lines.String()
}

type cassetteLint struct {
	Files []string `arg:"" help:"Cassettes, or names of embedded recordings."`
}

func (c *cassetteLint) Run(_ context.Context, s streams) error {
	found := 0
	for _, name := range c.Files {
		f, err := readCassette(name)
		if err != nil {
			return usage(err)
		}
		for _, finding := range f.Lint(keysOfEnvironment(0)...) {
			fmt.Fprintf(s.out, "%s: %s\n", name, finding)
			found++
		}
	}
	if found > 0 {
		return &exitError{exitFailed, fmt.Errorf("%d findings: remove them, or record the cassette again", found)}
	}
	_, err := fmt.Fprintf(s.out, "ok: %s\n", words.Count(len(c.Files), "cassette"))
	return err
}

type cassetteImport struct {
	Folder string   `required:"" placeholder:"DIR" help:"Where to write the cassettes, as NAME.yaml."`
	Files  []string `arg:"" help:"Files of another recorder."`
}

func (c *cassetteImport) Run(_ context.Context, s streams) error {
	failed, unwritten := 0, false
	for _, file := range c.Files {
		name := strings.TrimSuffix(filepath.Base(file), ".gz")
		to := filepath.Join(c.Folder, strings.TrimSuffix(name, filepath.Ext(name))+".yaml")
		n, err := cassettes.Import(file, to, cassettes.WithSecrets(keysOfEnvironment(shortestKey)...))
		if err != nil {
			fmt.Fprintf(s.err, "mcp-conform: %v\n", err)
			failed++
			unwritten = unwritten || errors.Is(err, cassettes.ErrWrite)
			continue
		}
		fmt.Fprintf(s.out, "%s: %s from %s\n", to, words.Count(n, "interaction"), file)
	}
	if failed == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %s not imported", failed, words.Count(len(c.Files), "file"))
	if unwritten {
		return &exitError{exitHarness, err}
	}
	return usage(err)
}

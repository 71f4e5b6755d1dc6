package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mcp-conform/mcp-conform/cassettes"
	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

type cassetteCommand struct {
	Show cassetteShow `cmd:"" help:"Show what is in a cassette."`
	Lint cassetteLint `cmd:"" help:"Look for secrets in cassettes, and for bodies that are not valid."`
}

type cassetteShow struct {
	File        string `arg:"" help:"A cassette, or the name of an embedded recording."`
	Interaction int    `default:"-1" placeholder:"N" help:"Show this interaction whole, and no other."`
}

// Run lists the interactions, or shows one.
func (c *cassetteShow) Run(s streams) error {
	f, err := cassettes.Read(c.File)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if c.Interaction >= len(f.Interactions) {
		return &exitError{exitUsage, fmt.Errorf("--interaction %d: %s has %d, which count from 0", c.Interaction, c.File, len(f.Interactions))}
	}
	if c.Interaction >= 0 {
		_, err = fmt.Fprint(s.out, whole(&f.Interactions[c.Interaction]))
		return err
	}
	fmt.Fprintf(s.out, "%s: %d interactions, origin: %s\n\n", c.File, len(f.Interactions), cmp.Or(string(f.Origin), "not said"))
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "#\tdialect\tmodel\tasked\tanswered\n")
	for i := range f.Interactions {
		it := &f.Interactions[i]
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", it.Number, cmp.Or(it.Dialect, it.Method+" "+it.URL), model(it), asked(it), answered(it))
	}
	return t.Flush()
}

func model(it *cassettes.Interaction) string {
	if it.Asked == nil {
		return "-"
	}
	return cmp.Or(it.Asked.Model, "-")
}

// asked is the question in a few words.
func asked(it *cassettes.Interaction) string {
	if it.Asked == nil {
		return fmt.Sprintf("%d bytes", len(it.Request))
	}
	var blocks []dialect.Block
	for _, m := range it.Asked.LastUserTurn() {
		blocks = append(blocks, m.Content...)
	}
	if n := len(dialect.Blocks(it.Asked.LastUserTurn(), dialect.ToolResult)); n > 0 {
		return fmt.Sprintf("turn %d, %d tool results", it.Asked.Turn(), n)
	}
	return fmt.Sprintf("turn %d, %s", it.Asked.Turn(), quoted(dialect.PlainText(blocks)))
}

func quoted(text string) string {
	const most = 48
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// answered is the answer in a few words.
func answered(it *cassettes.Interaction) string {
	said := fmt.Sprintf("%d, %d bytes", it.Status, len(it.Response))
	if it.Stream {
		said += fmt.Sprintf(" in %d events", it.Events)
	}
	if it.Took > 0 {
		said += fmt.Sprintf(", %s (the first after %s)", it.Took.Round(time.Millisecond), it.First.Round(time.Millisecond))
	}
	if it.Cut != "" {
		said += ", cut short by the " + it.Cut
	}
	return said
}

// whole is an interaction with its bodies.
func whole(it *cassettes.Interaction) string {
	return fmt.Sprintf("%s %s\n\n%s\n\n%s\n\n%s\n", it.Method, it.URL, indented(it.Request), answered(it), strings.TrimRight(indented(it.Response), "\n"))
}

// indented is a body, in lines where it is JSON.
func indented(body string) string {
	var tree any
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&tree) != nil || dec.More() {
		return body
	}
	pretty, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		return body
	}
	return string(pretty)
}

type cassetteLint struct {
	Files []string `arg:"" help:"Cassettes, or names of embedded recordings."`
}

// Run says what it finds, and fails where it finds something.
func (c *cassetteLint) Run(s streams) error {
	found := 0
	for _, name := range c.Files {
		f, err := cassettes.Read(name)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		for _, finding := range f.Lint(environmentSecrets(os.Environ())...) {
			fmt.Fprintf(s.out, "%s: %s\n", name, finding)
			found++
		}
	}
	if found > 0 {
		return &exitError{exitFailed, fmt.Errorf("%d findings: take out what is named, or record the cassette again", found)}
	}
	_, err := fmt.Fprintf(s.out, "ok: %d cassettes\n", len(c.Files))
	return err
}

// word is what a password for tests is, such as postgres, and what conversations are full of.
var word = regexp.MustCompile(`^[A-Za-z]{0,15}$`)

// environmentSecrets are the values of variables that hold keys and tokens.
func environmentSecrets(environment []string) []string {
	var secrets []string
	for _, v := range environment {
		name, value, _ := strings.Cut(v, "=")
		if isSecretVariable(name) && !word.MatchString(value) {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

func isSecretVariable(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

var errNoCommand = errors.New("there is no command to run: want mcp-conform record --cassette FILE -- command…")

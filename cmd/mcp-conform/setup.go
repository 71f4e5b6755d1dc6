package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/harness"
)

// afterTask is the value of --stdin-after that waits for the end of the host's task in place of a pattern.
const afterTask = "{done}"

// mostOfPrepare is how much is shown of the end of what a failed --prepare printed, in bytes.
const mostOfPrepare = 2000

// setup reads the flags that say how to start a client that does not know the contract.
func (c *runCommand) setup() (harness.Setup, error) {
	s := harness.Setup{Input: c.Stdin, OwnHome: c.OwnHome, Terminal: c.PTY}
	for _, template := range c.Template {
		file, path, _ := strings.Cut(template, "=")
		raw, err := os.ReadFile(file)
		if err != nil {
			return s, fmt.Errorf("--config-template: %w", err)
		}
		if path != "" && !filepath.IsLocal(path) {
			return s, fmt.Errorf("--config-template: expected a path below the home folder, such as .config/host.json, "+
				"found %q", path)
		}
		if path != "" && c.OwnHome {
			return s, fmt.Errorf("--config-template %s: expected no --own-home beside it: the file would change yours", template)
		}
		s.Templates = append(s.Templates, harness.Template{Text: string(raw), Path: path, Name: filepath.Base(file)})
	}
	var err error
	switch {
	case c.Ready == afterTask:
		s.AfterTask = true
	case c.Ready != "":
		if s.Ready, err = pattern("--stdin-after", c.Ready); err != nil {
			return s, err
		}
		if c.Stdin == nil {
			return s, errors.New("--stdin-after: expected --stdin beside it")
		}
	}
	for _, answer := range c.Answer {
		at := strings.LastIndex(answer, "=")
		if at < 1 {
			return s, fmt.Errorf("--answer: expected PATTERN=TEXT, such as 'Allow.*\\?=y', found %q", answer)
		}
		a := harness.Answer{}
		if a.Pattern, err = pattern("--answer", answer[:at]); err != nil {
			return s, err
		}
		a.Text, a.Declines, _ = strings.Cut(answer[at+1:], "|")
		s.Answers = append(s.Answers, a)
	}
	return s, nil
}

func (c *runCommand) startsHost() bool {
	return len(c.Template)+len(c.Stdin)+len(c.Answer) > 0 || c.Ready != "" || c.PTY || c.OwnHome
}

// pattern compiles a pattern in which ^ and $ match at lines.
func pattern(flag, text string) (*regexp.Regexp, error) {
	p, err := regexp.Compile("(?m)" + text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return p, nil
}

func (c *runCommand) setupFlags() []string {
	var words []string
	for _, flag := range []struct {
		name   string
		values []string
	}{
		{"--config-template", c.Template}, {"--stdin", c.Stdin}, {"--stdin-after", []string{c.Ready}},
		{"--answer", c.Answer}, {"--has", c.Has},
	} {
		for _, value := range flag.values {
			if value != "" {
				words = append(words, flag.name, value)
			}
		}
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--agent", c.Agent}, {"--own-home", c.OwnHome}, {"--pty", c.PTY}} {
		if flag.set {
			words = append(words, flag.name)
		}
	}
	return words
}

// prepare runs the command that builds the client, or looks for what it needs. If that is missing, it says how to
// install it.
func (c *runCommand) prepare(ctx context.Context) error {
	if len(c.Prepare) == 0 {
		return nil
	}
	said, err := exec.CommandContext(ctx, c.Prepare[0], c.Prepare[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	text := strings.TrimSpace(string(said))
	text = strings.ToValidUTF8(text[max(0, len(text)-mostOfPrepare):], "")
	if text != "" {
		text = "\n" + text
	}
	if c.Install != "" {
		text += "\nto install what it needs: " + c.Install
	}
	return fmt.Errorf("--prepare: %s: %w%s", strings.Join(c.Prepare, " "), err, text)
}

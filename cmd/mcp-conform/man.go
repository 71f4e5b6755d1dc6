package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

type manCommand struct{ invocation }

func (m *manCommand) Run(_ context.Context, s streams) error {
	var b strings.Builder
	b.WriteString(".TH MCP-CONFORM 1\n.SH NAME\nmcp-conform \\- judge MCP clients that answer sampling requests\n" +
		".SH SYNOPSIS\n.B mcp-conform\n.I command\n[flags]\n.SH COMMANDS\n")
	writeCommands(&b, m.command.Root())
	b.WriteString(".SH EXIT STATUS\n0: ok. 1: a check failed, or the baseline is out of date. " +
		"2: usage or invalid input. 3: harness or environment. 130: interrupted.\n" +
		".SH FILES\n.TP\n.I " + roff(configName) + "\nClients by name.\n" +
		".TP\n.I " + roff(baselineName) + "\nKnown failures.\n")
	_, err := fmt.Fprint(s.out, b.String())
	return err
}

func writeCommands(b *strings.Builder, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		writeCommands(b, c)
		if c.HasSubCommands() || c.Hidden || c.Name() == "help" {
			continue
		}
		path := strings.TrimPrefix(c.CommandPath(), "mcp-conform ")
		fmt.Fprintf(b, ".SS %s\n%s\n.nf\n%s.fi\n", roff(path), roff(c.Short), roff(c.UsageString()))
	}
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

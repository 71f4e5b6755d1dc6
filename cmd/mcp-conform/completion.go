package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mcp-conform/mcp-conform/conformance"
	"github.com/mcp-conform/mcp-conform/fakes/server"
)

type completeCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// completion has what follows a command: its own commands, its flags, and the values of those that have a list.
type completion struct {
	path   string // such as "cassette lint"
	words  []string
	help   map[string]string
	values map[string][]string // by flag
}

func (c *completeCommand) Run(s streams, parsed *kong.Context) error {
	all := completions(parsed.Model.Node, "")
	print := map[string]func([]completion) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := fmt.Fprint(s.out, print(all))
	return err
}

func completions(node *kong.Node, path string) []completion {
	c := completion{path: path, help: map[string]string{}, values: map[string][]string{}}
	for _, child := range node.Children {
		if !child.Hidden {
			c.words = append(c.words, child.Name)
			c.help[child.Name] = child.Help
		}
	}
	for _, arg := range node.Positional {
		if arg.Enum != "" {
			c.words = append(c.words, arg.EnumSlice()...)
		}
	}
	for _, flag := range node.Flags {
		if flag.Hidden {
			continue
		}
		name := "--" + flag.Name
		c.words = append(c.words, name)
		c.help[name] = flag.Help
		if values := flagValues(flag); values != nil {
			c.values[name] = values
		}
	}
	all := []completion{c}
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, completions(child, strings.TrimSpace(path+" "+child.Name))...)
		}
	}
	return all
}

func flagValues(flag *kong.Flag) []string {
	switch flag.Name {
	case "scenario", "skip":
		var names []string
		for _, s := range conformance.Scenarios() {
			names = append(append(names, s.ID), s.Cases...)
		}
		return names
	case "revision":
		return revisionNames(server.AllRevisions())
	}
	if flag.Enum != "" {
		return flag.EnumSlice()
	}
	return nil
}

const bashHead = `# bash completion of mcp-conform: source <(mcp-conform completion bash)
_mcp_conform() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
`

func bashScript(all []completion) string {
	var b strings.Builder
	b.WriteString(bashHead)
	for _, c := range all[1:] {
		parent, last := "", c.path
		if at := strings.LastIndex(c.path, " "); at >= 0 {
			parent, last = c.path[:at], c.path[at+1:]
		}
		fmt.Fprintf(&b, "      %q) path=%q ;;\n", parent+" "+last, c.path)
	}
	b.WriteString("    esac\n  done\n  case \"$path $before\" in\n")
	for _, c := range all {
		for _, flag := range c.words {
			if values := c.values[flag]; values != nil {
				fmt.Fprintf(&b, "    %q) words=%q ;;\n", c.path+" "+flag, strings.Join(values, " "))
			}
		}
	}
	b.WriteString("  esac\n  [ -n \"$words\" ] || case \"$path\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    %q) words=%q ;;\n", c.path, strings.Join(c.words, " "))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n" +
		"  [[ $word == --* || ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- \"$word\"))\n}\n" +
		"complete -F _mcp_conform mcp-conform\n")
	return b.String()
}

func zshScript(all []completion) string {
	return "#compdef mcp-conform\n# zsh completion of mcp-conform: source <(mcp-conform completion zsh)\n" +
		"autoload -Uz bashcompinit && bashcompinit\n" + bashScript(all)
}

func fishScript(all []completion) string {
	var b strings.Builder
	b.WriteString("# fish completion of mcp-conform: mcp-conform completion fish | source\n")
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	for _, c := range all {
		path := strings.Fields(c.path)
		conditions := []string{"__fish_use_subcommand"}
		if len(path) > 0 {
			conditions = nil
			for _, word := range path {
				conditions = append(conditions, "__fish_seen_subcommand_from "+word)
			}
		}
		condition := quote(strings.Join(conditions, "; and "))
		for _, word := range c.words {
			line := "complete -c mcp-conform -n " + condition
			if name, isFlag := strings.CutPrefix(word, "--"); isFlag {
				line += " -l " + name
				if values := c.values[word]; values != nil {
					line += " -xa " + quote(strings.Join(values, " "))
				}
			} else {
				line += " -fa " + quote(word)
			}
			if help := c.help[word]; help != "" {
				line += " -d " + quote(firstSentence(help))
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}

type manCommand struct{}

func (manCommand) Run(s streams, parsed *kong.Context) error {
	var b strings.Builder
	b.WriteString(".TH MCP-CONFORM 1\n.SH NAME\nmcp-conform \\- judge MCP clients that answer sampling requests\n" +
		".SH SYNOPSIS\n.B mcp-conform\n.I command\n[flags]\n.SH COMMANDS\n")
	for _, child := range parsed.Model.Leaves(true) {
		path := strings.TrimPrefix(child.FullPath(), "mcp-conform ")
		fmt.Fprintf(&b, ".SS %s\n%s\n", roff(path+" "+strings.Join(argumentNames(child), " ")), roff(child.Help))
		for _, arg := range child.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(arg.Name), roff(arg.Help))
		}
		for _, flag := range child.Flags {
			if !flag.Hidden && flag.Name != "help" {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(flag.String()), roff(flag.Help))
			}
		}
	}
	b.WriteString(".SH EXIT STATUS\n0: ok. 1: a check failed, or the baseline is out of date. " +
		"2: usage or invalid input. 3: harness or environment. 130: interrupted.\n" +
		".SH FILES\n.TP\n.I " + roff(configName) + "\nClients by name.\n" +
		".TP\n.I " + roff(baselineName) + "\nKnown failures.\n")
	_, err := fmt.Fprint(s.out, b.String())
	return err
}

func argumentNames(node *kong.Node) []string {
	var names []string
	for _, arg := range node.Positional {
		names = append(names, arg.Summary())
	}
	return names
}

func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

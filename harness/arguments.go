package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/shell"
)

// Placeholders in the arguments of a client's command, anywhere within one.
const (
	urlPlace    = "{url}"    // the server's URL
	configPlace = "{config}" // the path of a configuration file that names the server, see writeConfig
	promptPlace = "{prompt}" // what a host with a conversation of its own is asked to do

	commandPlace = "{server-command}" // the command that launches the server over stdio, quoted for a shell
)

// fill puts in place what the arguments ask for. The URL comes last where nothing says where the server is: the last argument is where
// the official suite's clients look for it.
func fill(args []string, env *Env, config string) []string {
	put := strings.NewReplacer(urlPlace, env.URL, configPlace, config, promptPlace, env.prompt(), commandPlace, shell.Quote(env.Server...))
	filled := slices.Clone(args)
	for i := range filled {
		filled[i] = put.Replace(filled[i])
	}
	if env.Server == nil && !mentions(args, urlPlace) && !mentions(args, configPlace) {
		filled = append(filled, env.URL)
	}
	return filled
}

func mentions(args []string, place string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, place) })
}

// checkPlaces returns a CommandError for arguments that ask for what the client's transport does not have.
func (c *Client) checkPlaces() error {
	switch {
	case c.stdio && mentions(c.argv[1:], urlPlace):
		return &CommandError{c.argv[0], fmt.Errorf("its arguments have %s, and over stdio the server has no URL: want %s or %s", urlPlace, commandPlace, configPlace)}
	case !c.stdio && mentions(c.argv[1:], commandPlace):
		return &CommandError{c.argv[0], fmt.Errorf("its arguments have %s, and over HTTP no server is launched: want %s, or the client over stdio", commandPlace, urlPlace)}
	}
	return nil
}

// serverName is what the server is called in a configuration file.
const serverName = "mcp-conform"

// writeConfig writes the file that {config} stands for, into a folder, and returns its path. Hosts look for the server under mcpServers,
// or, as VS Code does, under servers; an entry with type and url is read by those that want a type, and by those that go by the url,
// and so is one with type and command.
func writeConfig(dir string, env *Env) (string, error) {
	reach := map[string]any{"type": "http", "url": env.URL}
	if env.Server != nil {
		reach = map[string]any{"type": "stdio", "command": env.Server[0], "args": env.Server[1:], "env": map[string]string{}}
	}
	entry := map[string]any{serverName: reach}
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": entry, "servers": entry}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "mcp.json")
	return path, os.WriteFile(path, append(raw, '\n'), 0o600)
}

// prompt is what a host is asked to do.
func (e *Env) prompt() string {
	which := "every tool"
	if e.Tools != nil {
		which = "each of the tools " + strings.Join(e.Tools, ", ")
	}
	return fmt.Sprintf("Call %s of the MCP server %s once, without arguments, one after the other, whatever each of them answers. Then you are done.", which, serverName)
}

package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/shell"
)

// Placeholders in a client's arguments, also inside one.
const (
	urlPlace     = "{url}"            // the server's URL
	configPlace  = "{config}"         // the path of a file that names the server, see writeConfig
	promptPlace  = "{prompt}"         // the task for a host with a conversation of its own
	commandPlace = "{server-command}" // the command that launches the server over stdio, quoted for a shell
)

// fill replaces the placeholders. Without {url} and {config} it appends the URL: clients written for the official
// suite look for it in the last argument.
func fill(args []string, env *Env, config string) []string {
	places := strings.NewReplacer(urlPlace, env.URL, configPlace, config,
		promptPlace, env.prompt(), commandPlace, shell.Quote(env.Server...))
	filled := slices.Clone(args)
	for i := range filled {
		filled[i] = places.Replace(filled[i])
	}
	if env.Server == nil && !mentions(args, urlPlace) && !mentions(args, configPlace) {
		filled = append(filled, env.URL)
	}
	return filled
}

func mentions(args []string, place string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, place) })
}

// checkPlaces returns a CommandError for placeholders that the client's transport does not have.
func (c *Client) checkPlaces() error {
	var err error
	switch {
	case c.stdio && mentions(c.argv[1:], urlPlace):
		err = errors.New("over stdio the server has no URL: use {server-command} or {config}, not {url}")
	case !c.stdio && mentions(c.argv[1:], commandPlace):
		err = errors.New("over HTTP it launches no server: use {url}, not {server-command}, or run it over stdio")
	default:
		return nil
	}
	return &CommandError{c.argv[0], err}
}

const serverName = "mcp-conform"

// writeConfig writes the file for {config} and returns its path. Hosts look for the server under mcpServers or, as VS
// Code does, under servers. An entry with type and url, or type and command, suits hosts that read the type and hosts
// that do not.
func writeConfig(dir string, env *Env) (string, error) {
	server := map[string]any{"type": "http", "url": env.URL}
	if env.Server != nil {
		server = map[string]any{"type": "stdio", "command": env.Server[0], "args": env.Server[1:], "env": struct{}{}}
	}
	servers := map[string]any{serverName: server}
	raw, err := json.MarshalIndent(map[string]any{"mcpServers": servers, "servers": servers}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "mcp.json")
	return path, os.WriteFile(path, append(raw, '\n'), 0o600)
}

func (e *Env) prompt() string {
	which := "every tool"
	if e.Tools != nil {
		which = "each of the tools " + strings.Join(e.Tools, ", ")
	}
	return fmt.Sprintf("Call %s of the MCP server %s once, without arguments, one after the other, "+
		"whatever each of them answers. Then you are done.", which, serverName)
}

package harness

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// arguments replaces the placeholders. {server-args} as an argument of its own becomes one for each word. If nothing
// says where the server is, it appends the URL: clients written for the official suite look for it in the last
// argument.
func (c *Client) arguments(env *Env, p place) []string {
	places := env.places(p)
	var filled []string
	for _, arg := range c.argv[1:] {
		if arg == argsPlace && env.Server != nil {
			filled = append(filled, env.Server[1:]...)
		} else {
			filled = append(filled, places(arg))
		}
	}
	if env.Server == nil && !mentions(c.texts(), urlPlace) && !mentions(c.argv, configPlace) {
		filled = append(filled, env.URL)
	}
	return filled
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
	raw := jsonvalue.Indented(map[string]any{"mcpServers": servers, "servers": servers})
	path := filepath.Join(dir, "mcp.json")
	return path, os.WriteFile(path, append(raw, '\n'), 0o600)
}

// promptMark identifies the conversation of a host's own on the model's wire. It begins the prompt, because hosts make
// titles from that.
var promptMark = (&Case{ID: "prompt"}).Mark()

var prompt = fmt.Sprintf("Task %s: Call every tool of the MCP server %s once, without arguments, one after the other, "+
	"whatever each of them answers. Then you are done.", promptMark, serverName)

package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Placeholders in the arguments of a client's command, anywhere within one.
const (
	urlPlace    = "{url}"    // the server's URL
	configPlace = "{config}" // the path of a configuration file that names the server, see writeConfig
	promptPlace = "{prompt}" // what a host with a conversation of its own is asked to do
)

// fill puts in place what the arguments ask for. The URL comes last where nothing says where the server is: the last argument is where
// the official suite's clients look for it.
func fill(args []string, env *Env, config string) []string {
	put := strings.NewReplacer(urlPlace, env.URL, configPlace, config, promptPlace, env.prompt())
	filled := slices.Clone(args)
	for i := range filled {
		filled[i] = put.Replace(filled[i])
	}
	if !mentions(args, urlPlace) && !mentions(args, configPlace) {
		filled = append(filled, env.URL)
	}
	return filled
}

func mentions(args []string, place string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, place) })
}

// serverName is what the server is called in a configuration file.
const serverName = "mcp-conform"

// writeConfig writes the file that {config} stands for, into a folder, and returns its path. Hosts look for the server under mcpServers,
// or, as VS Code does, under servers; an entry with type and url is read by those that want a type, and by those that go by the url.
func writeConfig(dir string, env *Env) (string, error) {
	entry := map[string]any{serverName: map[string]string{"type": "http", "url": env.URL}}
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

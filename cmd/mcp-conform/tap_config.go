package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// configuration prints a host's configuration in which every server goes through a tap. A server that is launched is
// launched by its tap. A tap of one with a URL must be started by hand: it says how.
func (c *tapCommand) configuration(s streams) error {
	raw, err := os.ReadFile(c.Config)
	if err != nil {
		return usage(err)
	}
	config, err := jsonvalue.Parse(raw)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", c.Config, err))
	}
	found := 0
	for _, name := range []string{"mcpServers", "servers"} {
		servers := config.Member(name)
		if servers == nil {
			continue
		}
		for i := range servers.Items {
			one, err := c.through(servers.Items[i], s)
			if err != nil {
				return usage(fmt.Errorf("%s: %s.%s: %w", c.Config, name, servers.Names[i], err))
			}
			servers.Items[i] = one
			found++
		}
	}
	if found == 0 {
		return usage(errors.New(c.Config + ": expected servers in mcpServers or servers, found none"))
	}
	return s.json(json.RawMessage(config.Bytes()))
}

// through returns the configuration of a server that is reached through a tap.
func (c *tapCommand) through(server *jsonvalue.Node, s streams) (*jsonvalue.Node, error) {
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return nil, err
	}
	one, err := jsonvalue.ReadObject(server.Bytes())
	if err != nil {
		return nil, err
	}
	flags := []any{"tap", "--out", out}
	if c.NoBodies {
		flags = append(flags, "--no-bodies")
	}
	switch command, address := jsonvalue.TextIn(one, "command"), jsonvalue.TextIn(one, "url"); {
	case command != "":
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		words, _ := one["args"].([]any)
		one["command"], one["args"] = program, append(append(flags, "--", command), words...)
	case address != "":
		at, err := httpURL(address)
		if err != nil {
			return nil, err
		}
		free, err := freeAddress()
		if err != nil {
			return nil, err
		}
		one["url"] = "http://" + free + at.Path
		fmt.Fprintf(s.err, "run this beside the host: mcp-conform %s --listen %s %s\n",
			strings.TrimSuffix(fmt.Sprintln(flags...), "\n"), free, address)
	default:
		return nil, errors.New("expected a command or a url")
	}
	return jsonvalue.Parse(jsonvalue.Marshal(one))
}

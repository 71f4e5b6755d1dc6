// Package recipes has a configuration of mcp-conform for some MCP hosts and gateways that people use: a folder each, as
// mcp-conform init NAME writes it. README.md lists them.
package recipes

import "embed"

// Files are the files of the recipes, a folder for each host or gateway.
//
//go:embed */*.java */*.json */*.kt */*.mjs */*.py */*.rs */*.toml */*.xml */*.yaml
var Files embed.FS

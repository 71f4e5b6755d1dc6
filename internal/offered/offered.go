// Package offered recognises the tools of a server among those that a client offers to its model. Clients put prefixes
// before the names, and replace characters.
package offered

import (
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Match returns the name of the server's tool that a client offers as t; "" for any other tool. The
// client may put a prefix before the name, such as mcp__server__ or server/. The longest name that fits counts. A tool
// with the description of one of the server's tools may have any name.
func Match(t *dialect.Tool, tools []dialect.Tool) string {
	found := ""
	name := plain(t.Name)
	for i := range tools {
		candidate := &tools[i]
		if candidate.Description != "" && strings.Contains(t.Description, candidate.Description) {
			return candidate.Name
		}
		prefix, fits := strings.CutSuffix(name, plain(candidate.Name))
		fits = fits && (prefix == "" || strings.HasSuffix(prefix, "_"))
		if fits && len(candidate.Name) > len(found) {
			found = candidate.Name
		}
	}
	return found
}

// Rename returns blocks in which each use of one of the server's tools has the name under which the request offers it.
func Rename(blocks []dialect.Block, tools []dialect.Tool, req *dialect.Request) []dialect.Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		b := &blocks[i]
		at := slices.IndexFunc(req.Tools, func(t dialect.Tool) bool {
			return b.Type == dialect.ToolUse && Match(&t, tools) == b.Name
		})
		if at >= 0 {
			b.Name = req.Tools[at].Name
		}
	}
	return blocks
}

// plain is a name without differences that hosts make: case, and the characters between words.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

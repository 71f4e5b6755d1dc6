package gemini

import (
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// stream returns the chunks of a stream, with text in fragments. Up to 2.x adjacent calls share a chunk, and the last
// chunk has the finish reason. From 3 on each call has a chunk, and the finish reason comes with an empty text. late
// sends the last call after the finish reason.
func (c *completion) stream(late bool) []json.RawMessage {
	if c.blocked {
		return []json.RawMessage{c.refused()}
	}
	groups := c.groups()
	var held []part
	if last := len(groups) - 1; late && last >= 0 && groups[last][0].call != nil {
		calls := groups[last]
		held, groups[last] = calls[len(calls)-1:], calls[:len(calls)-1]
		if len(groups[last]) == 0 {
			groups = groups[:last]
		}
	}
	ownChunks := generation(c.model) > 2
	if ownChunks || len(groups) == 0 {
		groups = append(groups, []part{{}})
	}
	u := c.usage
	var chunks []json.RawMessage
	add := func(parts []part, finish, message string) {
		for _, p := range parts {
			u.add(p)
		}
		chunks = append(chunks, c.response(c.candidate(parts, finish, message), u))
	}
	for i, parts := range groups {
		switch {
		case i < len(groups)-1:
			add(parts, "", "")
		case !ownChunks || c.finish == "MALFORMED_FUNCTION_CALL":
			add(parts, c.finish, c.message)
		default:
			add(parts, c.finish, "")
		}
	}
	if held != nil {
		add(held, "", "")
	}
	return chunks
}

// groups returns the parts of each chunk.
func (c *completion) groups() [][]part {
	var groups [][]part
	inCalls := false
	for _, p := range c.parts {
		switch {
		case p.call != nil && inCalls && generation(c.model) == 2:
			groups[len(groups)-1] = append(groups[len(groups)-1], p)
		case p.call != nil:
			groups = append(groups, []part{p})
		default:
			fragments := dialect.Fragments(p.text)
			if len(fragments) == 0 && p.signature != "" {
				fragments = []string{""}
			}
			for i, fragment := range fragments {
				next := part{text: fragment, thought: p.thought}
				if i == len(fragments)-1 {
					next.signature = p.signature
				}
				groups = append(groups, []part{next})
			}
		}
		inCalls = p.call != nil
	}
	return groups
}

// event writes an event like the API: a space after each colon of the JSON, lines that end in CRLF.
func event(v any) []byte {
	return append(append([]byte("data: "), spaced(jsonvalue.Marshal(v))...), "\r\n\r\n"...)
}

// spaced adds a space after each JSON colon outside strings.
func spaced(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+len(raw)/8)
	inString, escaped := false, false
	for _, b := range raw {
		out = append(out, b)
		switch {
		case escaped:
			escaped = false
		case b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case b == ':' && !inString:
			out = append(out, ' ')
		}
	}
	return out
}

package gemini

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// stream returns the chunks of a stream, with text in fragments. Up to 2.x adjacent calls share a chunk, and the last
// chunk has the finish reason. From 3 on each call has a chunk, and the finish reason comes with an empty text. late
// sends the last call after the finish reason.
func (c *completion) stream(late bool) []generateResponse {
	if c.blocked {
		return []generateResponse{c.refused()}
	}
	groups := c.groups()
	var held []part
	if last := len(groups) - 1; late && last >= 0 && groups[last][0].isCall() {
		calls := groups[last]
		held, groups[last] = calls[len(calls)-1:], calls[:len(calls)-1]
		if len(groups[last]) == 0 {
			groups = groups[:last]
		}
	}
	apart := generation(c.model) > 2
	if apart || len(groups) == 0 {
		groups = append(groups, []part{{Text: new(string)}})
	}
	u := usage{Prompt: c.usage.Prompt, Details: c.usage.Details}
	var chunks []generateResponse
	for i, parts := range groups {
		for _, p := range parts {
			u.add(p)
		}
		said := candidate{Content: content{parts, "model"}}
		if i == len(groups)-1 {
			said.FinishReason, said.SafetyRatings = c.finish, c.ratings()
			if !apart || c.finish == "MALFORMED_FUNCTION_CALL" {
				said.FinishMessage = c.message
			}
		}
		chunks = append(chunks, c.response(said, u))
	}
	if held != nil {
		u.add(held[0])
		chunks = append(chunks, c.response(candidate{Content: content{held, "model"}}, u))
	}
	return chunks
}

// groups returns the parts of each chunk.
func (c *completion) groups() [][]part {
	var groups [][]part
	inCalls := false
	for _, p := range c.parts {
		switch {
		case p.isCall() && inCalls && generation(c.model) == 2:
			groups[len(groups)-1] = append(groups[len(groups)-1], p)
		case p.isCall():
			groups = append(groups, []part{p})
		default:
			fragments := dialect.Fragments(*p.Text)
			if len(fragments) == 0 && p.ThoughtSignature != "" {
				fragments = []string{""}
			}
			for i, fragment := range fragments {
				said := part{Text: &fragment, Thought: p.Thought}
				if i == len(fragments)-1 {
					said.ThoughtSignature = p.ThoughtSignature
				}
				groups = append(groups, []part{said})
			}
		}
		inCalls = p.isCall()
	}
	return groups
}

// event writes an event like the API: a space after each colon of the JSON, lines that end in CRLF.
func event(v any) []byte {
	return append(append([]byte("data: "), spaced(dialect.Marshal(v))...), "\r\n\r\n"...)
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

// indented indents JSON by two spaces, as the API does outside events.
func indented(v any) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, dialect.Marshal(v), "", "  "); err != nil {
		panic(err) // Marshal writes JSON
	}
	return out.Bytes()
}

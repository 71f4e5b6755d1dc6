package cassettes

import "github.com/mcp-conform/mcp-conform/internal/secrets"

// span is a range of bytes; To is exclusive.
type span = secrets.Span

func (c *scrubber) Replace(text string) string { return secrets.Replace(text, redacted, c.known...) }

func (c *scrubber) inText(text string) []edit {
	var edits []edit
	for _, s := range c.find(text) {
		edits = append(edits, edit{s, redacted})
	}
	return edits
}

// find returns the secrets of a text, however often it is escaped, in order and without overlap.
func (c *scrubber) find(text string) []span { return secrets.Find(text, c.known...) }

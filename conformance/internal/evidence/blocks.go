package evidence

import (
	"fmt"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Only returns the blocks of one type.
func Only(blocks []dialect.Block, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, b := range blocks {
		if b.Type == t {
			found = append(found, b)
		}
	}
	return found
}

// BlocksOf returns the blocks of one type of all messages, in order.
func BlocksOf(messages []dialect.Message, t dialect.BlockType) []dialect.Block {
	var found []dialect.Block
	for _, m := range messages {
		found = append(found, Only(m.Content, t)...)
	}
	return found
}

// Joined returns the texts of the blocks without a separator.
func Joined(blocks []dialect.Block) string {
	var all strings.Builder
	for _, b := range Only(blocks, dialect.Text) {
		all.WriteString(b.Text)
	}
	return all.String()
}

// Holds reports whether the blocks contain a text, which may be split over several blocks.
func Holds(blocks []dialect.Block, text string) bool {
	return strings.Contains(dialect.PlainText(blocks), text) || strings.Contains(Joined(blocks), text)
}

// Describe lists blocks for a report, one per line with its path; tool uses and results with their ids.
func Describe(blocks []dialect.Block) string {
	if len(blocks) == 0 {
		return "none"
	}
	var lines []string
	for _, b := range blocks {
		line := b.Path + "  "
		switch b.Type {
		case dialect.ToolUse:
			line += fmt.Sprintf("tool use %s: %s(%s)", QuoteID(b.ID), b.Name, Compact(b.Input))
		case dialect.ToolResult:
			line += fmt.Sprintf("result for %s: %q", QuoteID(b.ID), Clip(dialect.PlainText(b.Content)))
		default:
			line += string(b.Type)
		}
		lines = append(lines, line)
	}
	const most = 6
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// QuoteID returns the id, or a note if it is empty.
func QuoteID(id string) string {
	if id == "" {
		return "(no id)"
	}
	return id
}

// DescribeMessages lists messages for a report, one per line.
func DescribeMessages(messages []dialect.Message) string {
	var lines []string
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf("%s  %s: %s", m.Path, m.Role, Quote(dialect.PlainText(m.Content))))
	}
	return strings.Join(lines, "\n")
}

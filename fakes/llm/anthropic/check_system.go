package anthropic

import (
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// noSystemMessages matches the models that refuse every system message: all before Opus 4.8. Newer models accept them
// in the middle of a conversation, at certain places: see the provider's guide, "Mid-conversation system messages".
var noSystemMessages = regexp.MustCompile(
	`claude-(instant|[123]\b|(sonnet|haiku)-[34]\b|opus-(3\b|4([-.][0-7])?([-@:]\d{8}|\D*$)))`)

// systemBlocks are the block types of a system message. A beta adds blocks that change the tools; they are not
// supported.
var systemBlocks = []string{"text"}

// isDirective reports whether the message is empty and only configures the following output. A beta allows it anywhere.
func (m *message) isDirective(isBeta bool) bool {
	return isBeta && m.role == "system" && len(m.content) == 0 && m.Has("output_config")
}

// checkSystem enforces the place of system messages: after a user message, and before an assistant message or the end.
func checkSystem(q *request, isBeta bool) *dialect.Error {
	for i := range q.messages {
		m := &q.messages[i]
		if m.role != "system" || m.isDirective(isBeta) {
			continue
		}
		switch before, after := q.neighbor(i, -1), q.neighbor(i, 1); {
		case before == nil:
			return invalid("%s: its role is system, and it is the first: the system prompt is system, beside messages", m.path)
		case before.role == "assistant" && !before.endsInServerResult():
			return invalid("%s: its role is system, and it follows the assistant: want it after a user's message, or a "+
				"result of the provider's own tools", m.path)
		case after != nil && after.role == "user":
			return invalid(
				"%s: its role is system, and a user's message follows: want it before the assistant's, or at the end", m.path)
		}
		if noSystemMessages.MatchString(q.model) {
			return invalid("%s: its role is system, which the model %s does not take: the system prompt is system, beside "+
				"messages", m.path, q.model)
		}
	}
	return nil
}

// neighbor returns the nearest message that is not a system message, in direction 1 or -1. Nil: there is none.
func (q *request) neighbor(i, direction int) *message {
	for i += direction; i >= 0 && i < len(q.messages); i += direction {
		if q.messages[i].role != "system" {
			return &q.messages[i]
		}
	}
	return nil
}

// endsInServerResult reports whether the last block is the result of a tool that the provider runs itself.
func (m *message) endsInServerResult() bool {
	return len(m.content) > 0 && strings.HasSuffix(m.content[len(m.content)-1].kind, "_tool_result")
}

package anthropic

import (
	"regexp"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// Newer models take messages of the role system in the middle of a conversation, and in its places only: see the page "Mid-conversation system
// messages" of the provider's guide. withoutSystem are the models that are known to refuse them wherever they stand: all before Opus 4.8.
var withoutSystem = regexp.MustCompile(`claude-(instant|[123]\b|(sonnet|haiku)-[34]\b|opus-(3\b|4([-.][0-7])?([-@:]\d{8}|\D*$)))`)

// inSystem are the blocks of such a message; those that change the tools are for a beta.
var inSystem = []string{"text"}

// isDirective reports whether the message says nothing and only sets how the model is to answer from there on, which a beta permits at any place.
func (m *message) isDirective(isBeta bool) bool {
	return isBeta && m.role == "system" && len(m.content) == 0 && m.Has("output_config")
}

// checkSystem holds the rule of messages of the role system: some in a row come after a user's message, and after the last of them comes the
// assistant's or nothing.
func checkSystem(q *request, isBeta bool) *dialect.Error {
	for i := range q.messages {
		m := &q.messages[i]
		if m.role != "system" || m.isDirective(isBeta) {
			continue
		}
		switch before, after := q.beside(i, -1), q.beside(i, 1); {
		case before == nil:
			return invalid("%s: its role is system, and it is the first: the system prompt is system, beside messages", m.path)
		case before.role == "assistant" && !before.endsInServerResult():
			return invalid("%s: its role is system, and it follows the assistant: want it after a user's message, or a result of the provider's own tools", m.path)
		case after != nil && after.role == "user":
			return invalid("%s: its role is system, and a user's message follows: want it before the assistant's, or at the end", m.path)
		}
		if withoutSystem.MatchString(q.model) {
			return invalid("%s: its role is system, which the model %s does not take: the system prompt is system, beside messages", m.path, q.model)
		}
	}
	return nil
}

// beside returns the nearest message in the direction, 1 or -1, that is not of the role system; nil where there is none.
func (q *request) beside(i, direction int) *message {
	for i += direction; i >= 0 && i < len(q.messages); i += direction {
		if q.messages[i].role != "system" {
			return &q.messages[i]
		}
	}
	return nil
}

// endsInServerResult reports whether the last block is a result of a tool that the provider runs itself.
func (m *message) endsInServerResult() bool {
	return len(m.content) > 0 && strings.HasSuffix(m.content[len(m.content)-1].kind, "_tool_result")
}

package anthropic

import (
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// The block types that each place allows. The assistant's turn also holds the results of the provider's own tools.
var (
	userBlocks      = []string{"text", "image", "document", "search_result", "tool_result", "container_upload"}
	assistantBlocks = []string{"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
		"web_search_tool_result", "web_fetch_tool_result",
		"code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
		"tool_search_tool_result"}
	messageBlocks = slices.Concat(userBlocks, assistantBlocks)
	resultBlocks  = []string{"browser_state", "document", "image", "search_result", "text", "tool_reference"}
)

func checkMessages(q *request) *dialect.Error {
	for i := range q.messages {
		if err := q.messages[i].check(i == len(q.messages)-1, q.beta); err != nil {
			return err
		}
	}
	return checkSystem(q)
}

func (m *message) check(last, isBeta bool) *dialect.Error {
	if !isBeta {
		if err := api.CheckKnown(m.node, "message", m.Path+"."); err != nil {
			return err
		}
	}
	switch m.role {
	case "user", "assistant", "system":
	default:
		return invalid("messages: Unexpected role \"%s\". Allowed roles are \"user\" or \"assistant\"", m.role)
	}
	prefill := last && m.role == "assistant" // the beginning of the answer
	if m.empty() {
		if !prefill && !m.isDirective(isBeta) {
			return invalid("%s: all messages must have non-empty content except for the optional final assistant message",
				place(m.Path))
		}
		return nil
	}
	for _, b := range m.content {
		if err := m.checkPlace(&b); err != nil {
			return err
		}
		if err := b.check(messageBlocks, isBeta); err != nil {
			return err
		}
	}
	if err := m.checkBlanks(); err != nil {
		return err
	}
	b := m.content[len(m.content)-1]
	if prefill && b.kind == "text" && strings.TrimRight(b.text, " \t\r\n") != b.text {
		return invalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// checkBlanks refuses texts without characters that can be seen, except white space beside the assistant's
// tool uses and texts with citations.
func (m *message) checkBlanks() *dialect.Error {
	beside := m.role == "assistant" && (m.has("tool_use") ||
		slices.ContainsFunc(m.content, func(b block) bool { return b.kind == "text" && b.raw != nil && b.Has("citations") }))
	for _, b := range m.content {
		switch {
		case b.kind != "text":
		case b.text == "":
			return invalid("messages: text content blocks must be non-empty")
		case strings.TrimSpace(b.text) == "" && !beside:
			return invalid("messages: text content blocks must contain non-whitespace text")
		}
	}
	return nil
}

func (m *message) empty() bool {
	return len(m.content) == 0 || m.content[0].raw == nil && m.content[0].text == ""
}

// checkPlace refuses a block in the turn of the wrong role. The words of the API are in microsoft/agent-framework#4328
// for tool uses, and in reports of users for the others; those for a system message are not known.
func (m *message) checkPlace(b *block) *dialect.Error {
	words := "%[1]s: `%[2]s` blocks can only be in `assistant` messages"
	switch inUser := slices.Contains(userBlocks, b.kind); {
	case !inUser && !slices.Contains(assistantBlocks, b.kind), b.kind == "text", inUser && m.role == "user",
		!inUser && m.role == "assistant":
		return nil
	case m.role == "system":
		words = "%[1]s: a system message cannot have the type %[2]q: expected text" + dialect.OwnWords
	case b.kind == "tool_result":
		words = "%[1]s: `%[2]s` blocks can only be in `user` messages"
	case inUser:
		words = "%[1]s.content: '%[2]s' blocks are not permitted within assistant turns"
	case strings.HasSuffix(b.kind, "thinking"):
		words = "%[1]s.content: thinking blocks may only be in `assistant` messages"
	}
	return invalid(words, place(m.Path), b.kind)
}

func (b *block) check(allowed []string, isBeta bool) *dialect.Error {
	if b.raw == nil { // a string
		return nil
	}
	if !slices.Contains(allowed, b.kind) && !(isBeta && !api.Has("block", b.kind)) {
		return unexpectedTag(b.path, b.kind, allowed...)
	}
	if !isBeta && api.Has("block", b.kind) {
		if err := api.CheckKnown(b.node, "block", b.tagged()+"."); err != nil {
			return err
		}
	}
	switch b.kind {
	case "text":
		return b.require(b.Has("text"), "text")
	case "thinking":
		return b.checkThinking()
	case "redacted_thinking":
		return b.require(b.Text("data") != "", "data")
	case "image":
		return b.checkImage()
	case "tool_use":
		return b.checkUse()
	case "tool_result":
		return b.checkResult(isBeta)
	}
	return nil
}

func (b *block) checkThinking() *dialect.Error {
	for _, name := range []string{"thinking", "signature"} {
		if err := b.require(jsonvalue.IsKind(b.Raw(name), '"'), name); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) require(has bool, name string) *dialect.Error {
	if has {
		return nil
	}
	return missing(b.tagged(), name)
}

// tagged returns the path of a block as the API writes it before a member: with the type. See
// anthropics/claude-code#4378.
func (b *block) tagged() string { return b.path + "." + b.kind }

func missing(path, name string) *dialect.Error {
	return invalid("%s: Field required", jsonvalue.Join(place(path), name))
}

var mediaTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

func (b *block) checkImage() *dialect.Error {
	source := b.Object("source")
	if source == nil {
		return missing(b.tagged(), "source")
	}
	path := place(b.tagged()) + ".source"
	switch kind := source.Text("type"); kind {
	case "url", "file":
		if name := map[string]string{"url": "url", "file": "file_id"}[kind]; source.Text(name) == "" {
			return missing(path+"."+kind, name)
		}
		return nil
	case "base64":
	default:
		return unexpectedTag(path, kind, "base64", "file", "url")
	}
	mediaType := source.Text("media_type")
	if !slices.Contains(mediaTypes, mediaType) {
		return invalid("%s.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", path)
	}
	data, err := base64.StdEncoding.DecodeString(source.Text("data"))
	switch {
	case err != nil: // anthropics/anthropic-sdk-typescript#603
		return invalid("%s.base64: invalid base64 data", path)
	case len(data) == 0: // anthropics/claude-code#12750
		return invalid("%s.base64: image cannot be empty", path)
	}
	if found := http.DetectContentType(data); found != mediaType {
		return invalid("%s.base64: The image was specified using the %s media type, but the image appears to be a %s image",
			path, mediaType, found)
	}
	return nil
}

func (b *block) checkUse() *dialect.Error {
	for _, name := range []string{"id", "name", "input"} {
		if err := b.require(b.Has(name), name); err != nil {
			return err
		}
	}
	switch {
	case !toolID.MatchString(b.id):
		return mismatch(b.tagged()+".id", toolID)
	case !toolName.MatchString(b.Text("name")):
		return mismatch(b.tagged()+".name", toolName)
	case !jsonvalue.IsKind(b.Raw("input"), '{'):
		return invalid("%s.input: Input should be a valid dictionary", place(b.tagged()))
	}
	return nil
}

func (b *block) checkResult(isBeta bool) *dialect.Error {
	if err := b.require(b.Has("tool_use_id"), "tool_use_id"); err != nil {
		return err
	}
	if !toolID.MatchString(b.id) {
		return mismatch(b.tagged()+".tool_use_id", toolID)
	}
	hasContent := false
	for _, inner := range b.content {
		inner.path = b.tagged() + strings.TrimPrefix(inner.path, b.path)
		if err := inner.check(resultBlocks, isBeta); err != nil {
			return err
		}
		if b.Bool("is_error") && inner.kind != "text" {
			return invalid("%s: all content must be type \"text\" if is_error is true", place(b.tagged()))
		}
		hasContent = hasContent || inner.kind != "text" || inner.text != ""
	}
	if b.Bool("is_error") && !hasContent {
		return invalid("%s: content cannot be empty if `is_error` is true", place(b.tagged()))
	}
	return nil
}

// checkHistory enforces the API's rule for tools: the very next turn begins with one tool result for each tool use.
// The API combines consecutive messages of a role to one turn first. Each result belongs to one tool use, and all
// ids of the tool uses in a turn differ. A result after other content does not count (guide to tool use,
// "Handling results from client tools").
func checkHistory(q *request) *dialect.Error {
	t := &turn{}
	for i := range q.messages {
		m := &q.messages[i]
		if m.role == "system" { // may not separate a tool use from its result: see checkSystem
			continue
		}
		if m.role != t.role {
			if err := t.end(); err != nil {
				return err
			}
			t = &turn{role: m.role, asked: t.uses, before: t.last, results: map[string]bool{}, leading: true}
		}
		t.last = i
		for _, b := range m.content {
			if err := t.add(&b); err != nil {
				return err
			}
		}
	}
	if err := t.end(); err != nil {
		return err
	}
	return checkAnswered(t.uses, nil, t.last)
}

// turn is the content of consecutive messages of a role.
type turn struct {
	role    string
	asked   []string // the ids of the tool uses in the turn before
	before  int      // the index of that turn's last message
	uses    []string // ids
	results map[string]bool
	leading bool // only results so far
	last    int  // the index of the last message
}

func (t *turn) add(b *block) *dialect.Error {
	switch _, repeated := t.results[b.id]; {
	case b.kind == "tool_use" && slices.Contains(t.uses, b.id):
		return invalid("messages: `tool_use` ids must be unique")
	case b.kind == "tool_use":
		t.uses = append(t.uses, b.id)
	case b.kind != "tool_result":
	case !slices.Contains(t.asked, b.id):
		return invalid("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must "+
			"have a corresponding `tool_use` block in the previous message.", place(b.path), b.id)
	case repeated:
		return invalid("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s",
			place(b.path), b.id)
	default:
		t.results[b.id] = t.leading
	}
	t.leading = t.leading && b.kind == "tool_result"
	return nil
}

// end refuses a turn without the results of the tool uses before it.
func (t *turn) end() *dialect.Error { return checkAnswered(t.asked, t.results, t.before) }

// checkAnswered refuses tool uses of message i that have no result in the next message.
func checkAnswered(uses []string, results map[string]bool, i int) *dialect.Error {
	open := slices.DeleteFunc(slices.Clone(uses), func(id string) bool { return results[id] })
	if len(open) == 0 {
		return nil
	}
	return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each "+
		"`tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(open, ", "))
}

// noSystemMessages matches the models that refuse every system message: all before Opus 4.8. Newer models accept them
// in the middle of a conversation, at certain places: see the provider's guide, "Mid-conversation system messages".
var noSystemMessages = regexp.MustCompile(
	`claude-(instant|[123]\b|(sonnet|haiku)-[34]\b|opus-(3\b|4([-.][0-7])?([-@:]\d{8}|\D*$)))`)

// isDirective reports whether the message is empty and only configures the following output. A beta allows it anywhere.
func (m *message) isDirective(isBeta bool) bool {
	return isBeta && m.role == "system" && len(m.content) == 0 && m.Has("output_config")
}

// checkSystem enforces the place of system messages: after a user message, and before an assistant message or the end.
func checkSystem(q *request) *dialect.Error {
	for i := range q.messages {
		m := &q.messages[i]
		if m.role != "system" || m.isDirective(q.beta) {
			continue
		}
		if noSystemMessages.MatchString(q.Text("model")) {
			return invalid("%s.role: role 'system' is not supported on this model", place(m.Path))
		}
		switch before, after := q.neighbor(i, -1), q.neighbor(i, 1); {
		case before == nil:
			return ours("%s: the first message cannot be a system message: the system prompt is system, beside messages",
				place(m.Path))
		case before.role == "assistant" && !before.endsInServerResult():
			return ours("%s: a system message cannot follow the assistant: expected it after a user's message, or a result of "+
				"the provider's own tools", place(m.Path))
		case after != nil && after.role == "user":
			return ours("%s: a user's message cannot follow a system message: expected it before the assistant's, or at the end",
				place(m.Path))
		}
	}
	return nil
}

// neighbor returns the nearest message that is not a system message, in direction 1 or -1; nil for none.
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

package validity

import (
	"fmt"
	"iter"

	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// history is what the messages so far say about the next one.
type history struct {
	open  map[string]bool // tool uses of the message before
	found []Fault
}

// checkHistory checks that each tool use has its result in the next message (2025-11-25,
// client/sampling#message-content-constraints). The messages are valid by the schema.
func checkHistory(messages []map[string]any) []Fault {
	h := &history{}
	for i, m := range messages {
		h.check(i, m, messages[i+1:])
	}
	if len(h.open) > 0 {
		h.add(TrailingUse, at(len(messages)-1), "expected a result for each tool use, found the end of the messages")
	}
	return h.found
}

func (h *history) add(kind Kind, path, format string, args ...any) {
	h.found = append(h.found, Fault{kind, path, fmt.Sprintf(format, args...)})
}

// at is the path of the content of the nth message.
func at(n int) string { return fmt.Sprintf("messages[%d].content", n) }

// blocksOf yields the blocks of a content with their paths, given that of the content. Invalid content has none.
func blocksOf(content any, path string) iter.Seq2[string, map[string]any] {
	return func(yield func(string, map[string]any) bool) {
		blocks, _ := jsonvalue.Blocks(content)
		_, several := content.([]any)
		for i, b := range blocks {
			at := path
			if several {
				at += fmt.Sprintf("[%d]", i)
			}
			if !yield(at, b) {
				return
			}
		}
	}
}

// check checks the nth message, whose tool uses are open then.
func (h *history) check(n int, m map[string]any, later []map[string]any) {
	uses, results := map[string]bool{}, map[string]bool{}
	known, others := len(h.found), 0
	for path, b := range blocksOf(m["content"], at(n)) {
		switch b["type"] {
		case "tool_use":
			h.use(path, m["role"], jsonvalue.TextIn(b, "id"), uses)
		case "tool_result":
			h.result(path, m["role"], jsonvalue.TextIn(b, "toolUseId"), results)
			continue
		}
		others++
	}
	switch {
	case len(results) > 0 && others > 0:
		h.add(MixedContent, at(n), "expected only tool results, found other content beside them")
	case len(results) == len(h.open) || len(h.found) > known:
	case len(results) > 0:
		h.add(MissingResult, at(n), "expected a result for each of %d tool uses before, found %d", len(h.open),
			len(results))
	case hasResults(later):
		h.add(LateResult, at(n), "expected the results of the tool uses before, found them only later")
	default:
		h.add(NoResult, at(n), "expected the results of the tool uses before, found none")
	}
	h.open = uses
}

func hasResults(messages []map[string]any) bool {
	for _, m := range messages {
		if len(jsonvalue.OfType(m["content"], "tool_result")) > 0 {
			return true
		}
	}
	return false
}

func (h *history) use(path string, role any, id string, uses map[string]bool) {
	switch {
	case role != "assistant":
		h.add(UseInUser, path, "expected a tool use under the role assistant, found %q under the role user", id)
	case uses[id]:
		h.add(DuplicateUseID, path, "expected an id for each tool use, found two with the id %q", id)
	default:
		uses[id] = true
	}
}

func (h *history) result(path string, role any, id string, results map[string]bool) {
	switch {
	case role != "user":
		h.add(ResultInAssistant, path, "expected a tool result under the role user, found %q under the role assistant", id)
	case results[id]:
		h.add(DuplicateResult, path, "expected one result for each tool use, found two for %q", id)
	case !h.open[id]:
		h.add(OrphanResult, path, "expected a tool use %q in the message before, found none", id)
	default:
		results[id] = true
	}
}

package anthropic

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
	"github.com/mcp-conform/mcp-conform/internal/jsonvalue"
)

// A beta keeps conversations as threads (message-threads-2026-08-12): the tool runner of the SDK for TypeScript uses
// them. A request creates a thread, which has the id of the answer. The next one continues it, and has only the new
// messages; system and tools are the thread's.

// Complete puts the conversation of a thread before the messages of a request that continues it. The result creates a
// thread with all of them.
func (messages) Complete(body []byte, kept func(id string) json.RawMessage) ([]byte, *dialect.Error) {
	if !bytes.Contains(body, []byte(`"previous_message_id"`)) {
		return body, nil
	}
	var thread jsonvalue.Members
	var added, before []json.RawMessage
	q, err := jsonvalue.ReadMembers(body)
	if err != nil || q.Read("thread", &thread) != nil || thread.Text("type") != "continue" ||
		q.Read("messages", &added) != nil {
		return body, nil // refused later
	}
	id := thread.Text("previous_message_id")
	stored, err := jsonvalue.ReadMembers(kept(id))
	if err != nil {
		refused := ours("thread: unknown previous_message_id %s", id)
		refused.Status, refused.Kind, refused.Code = http.StatusNotFound, "", "thread_not_found"
		return nil, refused
	}
	_ = stored.Read("messages", &before) // our own
	all := []any{"messages", append(before, added...), "thread", jsonvalue.Ordered("type", "create")}
	for _, m := range append(q, stored...) {
		if name := string(m.Name); name != "thread" && name != "messages" {
			all = append(all, name, m.Value)
		}
	}
	if q.Has("system") || q.Has("tools") {
		return nil, ours("thread: system and tools are those of the thread: leave them out")
	}
	return jsonvalue.Ordered(all...), nil
}

// Keep returns a thread's conversation up to the answer, by the id of the answer.
func (messages) Keep(req *dialect.Request, a dialect.Answer) map[string]json.RawMessage {
	q, refused := dialect.Parsed(req, parse)
	if refused != nil || !q.Has("thread") {
		return nil
	}
	r, err := readReply(slices.Concat(a.Chunks...))
	if err != nil {
		return nil
	}
	content := []any{}
	for _, b := range r.Content {
		content = append(content, contentBlock(b))
	}
	var all []json.RawMessage
	_ = q.Read("messages", &all) // checked by parse
	all = append(all, jsonvalue.Ordered("role", "assistant", "content", content))
	thread := []any{"messages", all}
	for _, name := range []string{"system", "tools"} {
		if q.Has(name) {
			thread = append(thread, name, q.Raw(name))
		}
	}
	return map[string]json.RawMessage{r.id: jsonvalue.Ordered(thread...)}
}

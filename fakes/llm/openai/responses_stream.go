package openai

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// emit adds an event with the next sequence number. The members are in alphabetical order, as in real traffic.
func (r *response) emit(kind string, members ...any) {
	i := 0
	for i < len(members) && members[i].(string) < "sequence_number" {
		i += 2
	}
	data := dialect.Ordered(slices.Concat([]any{"type", kind}, members[:i], []any{"sequence_number", r.sequence},
		members[i:])...)
	r.sequence++
	r.events = append(r.events, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data))
}

func (r *response) stream() [][]byte {
	r.emit("response.created", "response", r.object("in_progress"))
	r.emit("response.in_progress", "response", r.object("in_progress"))
	for i := range r.output {
		it := &r.output[i]
		r.emit("response.output_item.added", "item", it.write(true), "output_index", i)
		switch {
		case it.call != nil:
			r.streamCall(it, i)
		case it.thought != nil:
			r.streamThought(it, i)
		default:
			for j, p := range it.parts {
				r.streamPart(it.id, i, j, p)
			}
		}
		r.emit("response.output_item.done", "item", it.write(false), "output_index", i)
	}
	r.emit("response."+r.status, "response", r.object(r.status))
	return r.events
}

func (r *response) streamCall(it *outputItem, i int) {
	const kind = "response.function_call_arguments."
	arguments := string(it.call.Input)
	for _, fragment := range dialect.Fragments(arguments) {
		r.emit(kind+"delta", "delta", fragment, "item_id", it.id, "output_index", i)
	}
	r.emit(kind+"done", "arguments", arguments, "item_id", it.id, "output_index", i)
}

func (r *response) streamThought(it *outputItem, i int) {
	const kind = "response.reasoning_summary_"
	text := it.thought.Text
	if text == "" {
		return
	}
	r.emit(kind+"part.added", "item_id", it.id, "output_index", i, "part", summaryPart(""), "summary_index", 0)
	for _, fragment := range dialect.Fragments(text) {
		r.emit(kind+"text.delta", "delta", fragment, "item_id", it.id, "output_index", i, "summary_index", 0)
	}
	r.emit(kind+"text.done", "item_id", it.id, "output_index", i, "summary_index", 0, "text", text)
	r.emit(kind+"part.done", "item_id", it.id, "output_index", i, "part", summaryPart(text), "summary_index", 0)
}

func (r *response) streamPart(id string, i, j int, p outputPart) {
	kind, member := "response.output_text.", "text"
	var logprobs any = []string{}
	if p.refusal {
		kind, member, logprobs = "response.refusal.", "refusal", dialect.Absent
	}
	part := func(kind, text string) {
		r.emit("response.content_part."+kind, "content_index", j, "item_id", id, "output_index", i, "part", p.write(text))
	}
	part("added", "")
	for _, fragment := range dialect.Fragments(p.text) {
		r.emit(kind+"delta", "content_index", j, "delta", fragment, "item_id", id, "logprobs", logprobs, "output_index", i)
	}
	r.emit(kind+"done", "content_index", j, "item_id", id, "logprobs", logprobs, "output_index", i, member, p.text)
	part("done", p.text)
}

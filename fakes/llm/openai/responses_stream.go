package openai

import (
	"fmt"
	"slices"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// say adds an event with the next sequence number. The members are in alphabetical order, as in real traffic.
func (r *response) say(kind string, members ...any) {
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
	r.say("response.created", "response", r.object("in_progress"))
	r.say("response.in_progress", "response", r.object("in_progress"))
	for i := range r.output {
		it := &r.output[i]
		r.say("response.output_item.added", "item", it.write(true), "output_index", i)
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
		r.say("response.output_item.done", "item", it.write(false), "output_index", i)
	}
	r.say("response."+r.status, "response", r.object(r.status))
	return r.events
}

func (r *response) streamCall(it *outputItem, i int) {
	const kind = "response.function_call_arguments."
	arguments := string(it.call.Input)
	for _, fragment := range dialect.Fragments(arguments) {
		r.say(kind+"delta", "delta", fragment, "item_id", it.id, "output_index", i)
	}
	r.say(kind+"done", "arguments", arguments, "item_id", it.id, "output_index", i)
}

func (r *response) streamThought(it *outputItem, i int) {
	const kind = "response.reasoning_summary_"
	text := it.thought.Text
	if text == "" {
		return
	}
	r.say(kind+"part.added", "item_id", it.id, "output_index", i, "part", summaryPart(""), "summary_index", 0)
	for _, fragment := range dialect.Fragments(text) {
		r.say(kind+"text.delta", "delta", fragment, "item_id", it.id, "output_index", i, "summary_index", 0)
	}
	r.say(kind+"text.done", "item_id", it.id, "output_index", i, "summary_index", 0, "text", text)
	r.say(kind+"part.done", "item_id", it.id, "output_index", i, "part", summaryPart(text), "summary_index", 0)
}

func (r *response) streamPart(id string, i, j int, p outputPart) {
	kind, member := "response.output_text.", "text"
	var logprobs any = []string{}
	if p.refusal {
		kind, member, logprobs = "response.refusal.", "refusal", dialect.Absent
	}
	part := func(kind, text string) {
		r.say("response.content_part."+kind, "content_index", j, "item_id", id, "output_index", i, "part", p.write(text))
	}
	part("added", "")
	for _, fragment := range dialect.Fragments(p.text) {
		r.say(kind+"delta", "content_index", j, "delta", fragment, "item_id", id, "logprobs", logprobs, "output_index", i)
	}
	r.say(kind+"done", "content_index", j, "item_id", id, "logprobs", logprobs, "output_index", i, member, p.text)
	part("done", p.text)
}

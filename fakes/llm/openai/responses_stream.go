package openai

import (
	"encoding/json"
	"fmt"

	"github.com/mcp-conform/mcp-conform/fakes/llm/dialect"
)

// event is a stream event. Its type decides which members it has.
type event struct {
	Type         string          `json:"type"`
	Arguments    *string         `json:"arguments,omitempty"`
	ContentIndex *int            `json:"content_index,omitempty"`
	Delta        string          `json:"delta,omitempty"`
	Error        json.RawMessage `json:"error,omitempty"`
	Item         json.RawMessage `json:"item,omitempty"`
	ItemID       string          `json:"item_id,omitempty"`
	Logprobs     *[]string       `json:"logprobs,omitempty"`
	OutputIndex  *int            `json:"output_index,omitempty"`
	Part         json.RawMessage `json:"part,omitempty"`
	Refusal      *string         `json:"refusal,omitempty"`
	Response     json.RawMessage `json:"response,omitempty"`
	Sequence     int             `json:"sequence_number"`
	SummaryIndex *int            `json:"summary_index,omitempty"`
	Text         *string         `json:"text,omitempty"`
}

// say adds an event with its name and the next sequence number.
func (r *response) say(e event) {
	e.Sequence = r.sequence
	r.sequence++
	r.events = append(r.events, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.Type, dialect.Marshal(e)))
}

// stream returns the events, each with its name and a blank line.
func (r *response) stream() [][]byte {
	r.say(event{Type: "response.created", Response: r.object("in_progress")})
	r.say(event{Type: "response.in_progress", Response: r.object("in_progress")})
	for i := range r.stored {
		it := &r.stored[i]
		r.say(event{Type: "response.output_item.added", Item: it.write(true), OutputIndex: &i})
		switch {
		case it.call != nil:
			r.streamCall(it, i)
		case it.thought != nil:
			r.streamThought(it, i)
		default:
			for j, p := range it.parts {
				r.streamPart(it, i, j, p)
			}
		}
		r.say(event{Type: "response.output_item.done", Item: it.write(false), OutputIndex: &i})
	}
	r.say(event{Type: "response." + r.status, Response: r.object(r.status)})
	return r.events
}

func (r *response) streamCall(it *outputItem, i int) {
	arguments := string(it.call.Input)
	for _, fragment := range dialect.Fragments(arguments) {
		r.say(event{Type: "response.function_call_arguments.delta", Delta: fragment, ItemID: it.id, OutputIndex: &i})
	}
	r.say(event{Type: "response.function_call_arguments.done", Arguments: &arguments, ItemID: it.id, OutputIndex: &i})
}

func (r *response) streamThought(it *outputItem, i int) {
	text, first := it.thought.Text, 0
	if text == "" {
		return
	}
	at := func(kind string) event {
		return event{Type: "response." + kind, ItemID: it.id, OutputIndex: &i, SummaryIndex: &first}
	}
	added, done := at("reasoning_summary_part.added"), at("reasoning_summary_part.done")
	added.Part, done.Part = summaryPart(""), summaryPart(text)
	r.say(added)
	for _, fragment := range dialect.Fragments(text) {
		delta := at("reasoning_summary_text.delta")
		delta.Delta = fragment
		r.say(delta)
	}
	whole := at("reasoning_summary_text.done")
	whole.Text = &text
	r.say(whole)
	r.say(done)
}

func (r *response) streamPart(it *outputItem, i, j int, p outputPart) {
	at := func(kind string) event {
		return event{Type: "response." + kind, ItemID: it.id, OutputIndex: &i, ContentIndex: &j}
	}
	added, done := at("content_part.added"), at("content_part.done")
	added.Part, done.Part = p.write(true), p.write(false)
	r.say(added)
	name := "output_text"
	if p.refusal {
		name = "refusal"
	}
	whole := at(name + ".done")
	whole.Text = &p.text
	logprobs := &[]string{}
	if p.refusal {
		whole.Text, whole.Refusal, logprobs = nil, &p.text, nil
	}
	for _, fragment := range dialect.Fragments(p.text) {
		delta := at(name + ".delta")
		delta.Delta, delta.Logprobs = fragment, logprobs
		r.say(delta)
	}
	whole.Logprobs = logprobs
	r.say(whole)
	r.say(done)
}

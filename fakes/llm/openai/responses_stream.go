package openai

import "github.com/mcp-conform/mcp-conform/fakes/llm/dialect"

func (r *response) emit(e responseEvent) {
	e.Sequence = r.sequence
	r.sequence++
	r.events.addJSON("event: "+e.Type+"\ndata: ", &e)
}

func (r *response) stream() [][]byte {
	r.emit(responseEvent{Type: "response.created", Response: r.object("in_progress")})
	r.emit(responseEvent{Type: "response.in_progress", Response: r.object("in_progress")})
	for i := range r.output {
		it := &r.output[i]
		r.emit(responseEvent{Type: "response.output_item.added", Item: it.write(true), OutputIndex: &i})
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
		r.emit(responseEvent{Type: "response.output_item.done", Item: it.write(false), OutputIndex: &i})
	}
	r.emit(responseEvent{Type: "response." + r.status, Response: r.object(r.status)})
	return r.events.each()
}

func (r *response) streamCall(it *outputItem, i int) {
	const kind = "response.function_call_arguments."
	arguments := string(it.call.Input)
	for _, fragment := range dialect.Fragments(arguments) {
		r.emit(responseEvent{Type: kind + "delta", Delta: fragment, ItemID: it.id, OutputIndex: &i})
	}
	r.emit(responseEvent{Type: kind + "done", Arguments: &arguments, ItemID: it.id, OutputIndex: &i})
}

func (r *response) streamThought(it *outputItem, i int) {
	const kind = "response.reasoning_summary_"
	text, summary := it.thought.Text, 0
	if text == "" {
		return
	}
	emit := func(e responseEvent) {
		e.Type, e.ItemID, e.OutputIndex, e.SummaryIndex = kind+e.Type, it.id, &i, &summary
		r.emit(e)
	}
	emit(responseEvent{Type: "part.added", Part: summaryPart("")})
	for _, fragment := range dialect.Fragments(text) {
		emit(responseEvent{Type: "text.delta", Delta: fragment})
	}
	emit(responseEvent{Type: "text.done", Text: &text})
	emit(responseEvent{Type: "part.done", Part: summaryPart(text)})
}

func (r *response) streamPart(id string, i, j int, p outputPart) {
	emit := func(e responseEvent) {
		e.Type, e.ContentIndex, e.ItemID, e.OutputIndex = "response."+e.Type, &j, id, &i
		r.emit(e)
	}
	kind, done := "output_text.", responseEvent{Logprobs: []string{}, Text: &p.text}
	if p.refusal {
		kind, done = "refusal.", responseEvent{Refusal: &p.text}
	}
	emit(responseEvent{Type: "content_part.added", Part: p.write("")})
	for _, fragment := range dialect.Fragments(p.text) {
		emit(responseEvent{Type: kind + "delta", Delta: fragment, Logprobs: done.Logprobs})
	}
	done.Type = kind + "done"
	emit(done)
	emit(responseEvent{Type: "content_part.done", Part: p.write(p.text)})
}

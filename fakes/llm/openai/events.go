package openai

// writer writes the events of a stream into one buffer.
type writer struct {
	c         *completion
	withUsage bool
	head      string // of each event, up to the choices
	out       builder
	ends      []int
}

func (c *completion) writer(withUsage bool, events int) *writer {
	head := make(builder, 0, 256)
	head.raw(`data: {"id":`).text(c.id).raw(`,"object":"chat.completion.chunk","created":`).number(c.created).raw(
		`,"model":`).text(c.model)
	if c.style.isOpenAI {
		head.raw(`,"service_tier":"default"`)
	}
	if c.style.comments {
		head.raw(`,"provider":"Scripted"`)
	}
	if c.style.fingerprint != "" {
		head.raw(`,"system_fingerprint":`).textOr(c.reasoning, c.style.fingerprint)
	}
	head.raw(`,"choices":[`)
	return &writer{c: c, withUsage: withUsage, head: string(head),
		out: make(builder, 0, events*(len(head)+120)+len(c.text)), ends: make([]int, 0, events+2)}
}

func (w *writer) raw(event string) {
	w.out.raw(event)
	w.end()
}

// choice writes an event with one choice.
func (w *writer) choice(d delta) {
	s := w.c.style
	w.out.raw(w.head).raw(`{"index":0,"delta":`).raw(d.json)
	if s.logprobs && !w.c.reasoning {
		w.out.raw(`,"logprobs":null`)
	}
	switch {
	case d.finishes:
		w.out.raw(`,"finish_reason":`).text(w.c.finish)
		if s.repeatedFinish {
			w.out.raw(`,"native_finish_reason":`).text(w.c.finish)
		}
	case !s.noNullFinish:
		w.out.raw(`,"finish_reason":null`)
		if s.repeatedFinish {
			w.out.raw(`,"native_finish_reason":null`)
		}
	}
	w.out.raw("}]")
	switch {
	case d.finishes && s.joinedFinish:
		w.out.raw(`,"usage":`)
		w.count()
	case d.finishes && s.groqUsage:
		w.out.raw(`,"x_groq":{"id":`).text(w.c.requestID).raw(`,"usage":`)
		w.count()
		w.out.raw(`},"usage":`)
		w.count()
	case s.groqUsage && len(w.ends) == 0:
		w.out.raw(`,"x_groq":{"id":`).text(w.c.requestID).raw(`,"seed":1}`)
	case w.withUsage && s.isOpenAI:
		w.out.raw(`,"usage":null`)
	}
	w.out.raw("}\n\n")
	w.end()
}

func (w *writer) usage() {
	s := w.c.style
	w.out.raw(w.head)
	if s.repeatedFinish {
		w.out.raw(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":`).text(w.c.finish)
		w.out.raw(`,"native_finish_reason":`).text(w.c.finish).raw(`}`)
	}
	w.out.raw(`],"usage":`)
	w.count()
	if s.groqUsage {
		w.out.raw(`,"service_tier":"on_demand"`)
	}
	w.out.raw("}\n\n")
	w.end()
}

// count writes the usage object with the server's members.
func (w *writer) count() {
	s, u := w.c.style, w.c.usage
	w.out.raw(`{"prompt_tokens":`).number(int64(u.prompt)).raw(`,"completion_tokens":`).number(int64(u.completion))
	w.out.raw(`,"total_tokens":`).number(int64(u.prompt + u.completion))
	switch {
	case s.groqUsage:
		w.out.raw(`,"queue_time":0.2,"prompt_time":0.02,"completion_time":0.17,"total_time":0.19`)
	case s.joinedFinish:
		w.out.raw(`,"prompt_tokens_details":{"cached_tokens":0}`)
	case s.noNullFinish:
		w.out.raw(`,"prompt_tokens_details":{"text_tokens":`).number(int64(u.prompt)).raw(`,"audio_tokens":0,` +
			`"image_tokens":0,"cached_tokens":0}`)
		w.out.raw(`,"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,` +
			`"rejected_prediction_tokens":0},` +
			`"num_sources_used":0,"cost_in_usd_ticks":0`)
	default:
		w.out.raw(`,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},` +
			`"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,` +
			`"rejected_prediction_tokens":0}`)
	}
	w.out.raw("}")
}

func (w *writer) end() { w.ends = append(w.ends, len(w.out)) }

func (w *writer) events() [][]byte {
	events, begin := make([][]byte, len(w.ends)), 0
	for i, end := range w.ends {
		events[i], begin = w.out[begin:end:end], end
	}
	return events
}
